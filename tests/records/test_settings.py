"""Several arms of one cell: the larger record of a grown arm stands for it, other settings are told apart by what
differs."""

import grids

from actlab import report
from actlab.records.settings import differing, named
from actlab.records.store import current
from actlab.report import summary

SIX = (2.0, 2.1, 2.2, 2.3, 2.4, 2.5)


def of(iterations=4, activation="relu", losses=SIX[:3], **config):
    """A record of an arm at some settings."""
    made = grids.record(activation=activation, losses=losses)
    recipe = made["config"]["recipe"] | {"iterations": iterations, "batch_size": 2, "learning_rate": 0.001}
    about = {"model": "charlm", "activation": activation, "dataset": "pydoc", "scale": "quick"}
    return made | {
        "arm": f"charlm-{activation}-{iterations}{len(losses)}",
        "config": made["config"] | about | {"recipe": recipe} | config,
    }


GROWN = small, large, other, _ = of(), of(losses=SIX), of(iterations=6), of(iterations=6, activation="gelu")
"""Three trials and six of the same settings, and two arms of other ones."""


def test_a_grown_arm_is_read_at_its_larger_size():
    """Three trials and six of the same settings and first seed are one arm; other settings, another first seed or other
    activations are not."""
    later = of(trials=["50", "51", "52"])
    assert current([small, large, other, later]) == [large, other, later]
    assert current([large, small]) == [large]
    assert differing([large, other]) == ["iterations"]
    assert differing([small, later]) == ["seed"]


def test_two_versions_of_an_own_metric_are_told_apart():
    """By their files' hashes: neither stands for the other."""
    first, second = (of(metrics={"half": sha256}) for sha256 in ("0123456789", "abcdef0123"))
    assert current([first, second]) == [first, second]
    assert [named(one, differing([first, second])) for one in (first, second)] == [
        "metrics=half 01234567",
        "metrics=half abcdef01",
    ]


def test_a_report_shows_every_setting():
    """The growth of a study, and a second setting in it, fail nowhere: the larger record and both settings are shown by
    name."""
    grids.save(*GROWN, study="grown-quick")
    found = report.load("grown-quick")
    assert [*dict.fromkeys(group for group, _ in found.cells)] == ["charlm, iterations=4", "charlm, iterations=6"]
    text = summary.text(found, summary.tables_of(found))
    assert "charlm, iterations=4" in text
    assert "charlm, iterations=6" in text


def test_what_no_setting_tells_apart_has_its_hash_in_its_name():
    """Two records that differ in a model's size only (a scale was redefined) do not fall together."""
    a, b = of(model_size={"n_embd": 64}), of(model_size={"n_embd": 128})
    a["arm"], b["arm"] = "charlm-relu-aaa", "charlm-relu-bbb"
    names = differing([a, b])
    assert [named(record, names) for record in (a, b)] == ["arm=aaa", "arm=bbb"]
