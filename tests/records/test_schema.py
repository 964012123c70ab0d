"""Records against the models of their kinds: the first entry that is not as asked is named with its place."""

import json

import ablations
import grids
import pytest
import yaml
from damage import DROP, changed

from actlab.errors import RecordError
from actlab.records import store
from actlab.records.schema import check_content, check_record

FINAL = ("trials", 0, "final", "val_loss")


def test_what_fits():
    """Records of every kind; further keys, empty lists, NaN and whole numbers for numbers."""
    check_record(grids.floor())
    check_record(ablations.record("ecd", "bQbV", "gelu"))
    for place, put in (
        ((*FINAL[:3], "more"), []),
        (FINAL, float("nan")),
        (FINAL, None),
        (FINAL, 2),
        (("reproducibility_metrics", 0, "total_variation"), 1.0 + 1e-7),
    ):
        check_record(changed(grids.record(), place, put))


WRONG = yaml.safe_load(r"""
- [[trials], DROP, "trials.trials: Field required"]
- [[model_name], 3, 'model_name: Input should be a valid string, found 3']
- [[trials, 0, final, val_loss], low, "trials.0.done.final.val_loss: Input should be a valid number, found 'low'"]
- [[trials, 0, n_parameters], true, 'trials.0.done.n_parameters: Input should be a valid integer, found True']
- [[trials, 1, status], lost, "trials.1: .*'lost' .* expected tags: 'done', 'diverged', 'failed'"]
- [[trials], [], "trials: expected one or more, found none"]
- [[avg_mine], low, "avg_mine: expected a number, found 'low'"]
- [[trials, 1, label], "42", one is named twice]
- [[trials, 1, seed], 44, "43 says another seed, 44"]
- [[reproducibility_metrics, 0, between], ["42"], 'reproducibility_metrics.0.between: List should have']
- [[reproducibility_metrics, 0, between], ["42", "7"], 'once, but that of 42 and 43 is missing \(and 1 more\)']
- [[reproducibility_metrics, 0, between], ["42", "42"], 'once, but that of 42 and 43 is missing']
- [[reproducibility_metrics, 0, between], ["42", "44"], 'once, but that of 42 and 43 is missing']
- [[reproducibility_metrics], [], 'that of 42 and 43 is missing \(and 2 more\)']
- [[reproducibility_metrics, 0, total_variation], 1.01, 'total_variation: Input should be less than or equal to 1']
- [[reproducibility_metrics, 0, relative_pd], -0.01, 'relative_pd: Input should be greater than or equal to 0']
- [[reproducibility_metrics, 0, churn], .nan, 'churn: Input should be']
- [[trials, 0, final, val_accuracy], 100.5, 'val_accuracy: Input should be less than or equal to 100']
- [[config, activation], gelu, "activation: it says 'relu', but its settings have 'gelu'"]
- [[config, model], convlm, "model_name: it says 'charlm', but its settings have 'convlm'"]
- [[config, parts], [1], 'config.parts: Input should be a valid dictionary, found \[1\]']
- [[trials, 0, label], abc, "trials.0.done.label: String should match .*, found 'abc'"]
- [[trials, 0, seed], first, "trials.0.done.seed: Input should be a valid integer, found 'first'"]
- [[provenance, date], yesterday, 'provenance.date: .*Invalid isoformat string']
- [[activation], "x<img src=x onerror=alert(1)>", "activation: String should match"]
- [[study], "../x", "study: String should match"]
- [[arm], "a b", "arm: String should match"]
- [[average], [{total_variation: 3}], 'average.*.0.total_variation: Input should be less']
- [[ensembles], {"2": [{total_variation: -1}]}, 'ensembles.2.0.total_variation: Input should be greater']
- [[ensembles], {"two": []}, 'ensembles.two.*: String should match']
- [[equal_compute], [{iteration: 3, pairs: []}], 'equal_compute.0.size: Field required']
- [[trajectory], [{iteration: 5, pairs: [{total_variation: 0.1}]}], 'trajectory.0.pairs.0.relative_pd: Field required']
- [[as_published], {trials: [{val_loss: 2.0}]}, 'as_published.trials.0.label: Field required']
- [[config, scale], [lite], 'config.scale: Input should be a valid string']
- [[metrics], {own: {label: mine}}, 'metrics.own.note: Field required']
- [[config, dataset], DROP, 'config.dataset: Field required']
- [[config, dataset], null, 'config.dataset: Input should be a valid string, found None']
- [[provenance, tuning], {rates: [0.1]}, 'provenance.tuning, seeds: Field required']
- [[provenance, tuning], {rates: [low], seeds: [1]}, "provenance.tuning, rates.0: .* valid number.*, found 'low'"]
- [[provenance, tuning], {rates: [0.1], seeds: []}, 'provenance.tuning, seeds: List should have at least 1 item']
- [[provenance, tuning], {rates: [0.1], seeds: [1], keep: 0}, 'provenance.tuning, keep: .* greater than or equal to 1']
- [[provenance, tuning], {rates: [0.1], seeds: [1], factor: 1}, 'provenance.tuning, factor: .* greater than 1']
- [[kind], lists, "'lists' .* expected tags: 'trials', 'floor'"]
- [[kind], 3, "record 'charlm-relu', : Input tag '3'"]
""")
"""Place in a record, what is put there, what the error says."""


@pytest.mark.parametrize(("place", "put", "message"), WRONG)
def test_what_does_not(place, put, message):
    with pytest.raises(RecordError, match=message):
        check_record(changed(grids.record(), place, DROP if put == "DROP" else put))


@pytest.mark.parametrize(("name", "put"), [("optimizer", "sgdm"), ("symmetry", "bQ"), ("rate_factor", 3.0)])
def test_every_factor_is_that_of_the_settings(name, put):
    """By it the record is found in tables; its settings are what was trained."""
    record = ablations.record("ecd", "bQbV", "gelu")
    record["config"][name] = record[name]
    check_record(record)
    with pytest.raises(RecordError, match=f"{name}: it says {put!r}, but its settings have"):
        check_record({**record, name: put})


PAIR = {"total_variation": 0.1, "relative_pd": 0.1, "churn": 0.1, "jensen_shannon": 0.1}


@pytest.mark.parametrize(
    ("networks", "message"),
    [
        ([["42", "43"], ["42", "7"]], "7 is none of its trials"),
        ([["42", "43"], ["43", "42"]], r"\['43', '42'\] is there twice"),
        ([[["42"], ["7"]]], "7 is none of its trials"),
        ([[["42", "43"], ["43", "44"]]], "share a trial"),
        ([[["42", "43"], ["44"]], [["44"], ["43", "42"]]], "is there twice"),
    ],
)
def test_every_pair_is_of_the_records_trials(networks, message):
    """Once: intervals count the runs that pairs name."""
    pairs = [PAIR | {"between": between} for between in networks]
    alone = isinstance(networks[0][0], str)
    for block, content in {
        "average": {"0.9": pairs},
        "trajectory": [{"iteration": 2, "pairs": pairs}],
        "ensembles": {"2": pairs},
        "equal_compute": [{"size": 2, "iteration": 3, "pairs": pairs, "losses": []}],
    }.items():
        if alone == (block in ("average", "trajectory")):
            with pytest.raises(RecordError, match=f"{block}: .*{message}"):
                check_record(grids.record() | {block: content})
    check_record(grids.record() | {"trajectory": [{"iteration": 2, "pairs": [PAIR | {"between": ["43", "42"]}]}]})


def test_half_a_character_is_in_no_record():
    """Wherever it stands, free texts too: one sentence in ASCII, before any reader meets it. A whole one is read."""
    for place in (("activation",), ("provenance", "machine", "\ud800"), ("metrics",), ("trials", 0, "started")):
        made = grids.identified(grids.record()) | {"checksum": None}
        made = changed(made, place, {"own": {"label": "a \udc00", "note": ""}} if place == ("metrics",) else "b\ud800")
        made["checksum"] = store.checksum(made)
        path = store.path_of("made-up", made["arm"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made))
        with pytest.raises(RecordError) as fault:
            store.load(path)
        assert str(fault.value).isascii()
        path.unlink()
    whole = changed(grids.record(), ("provenance", "machine", "processor"), "\U0001f600 and \\ud800")
    assert store.load(grids.saved(whole, "made-up"))["provenance"]["machine"]["processor"][0] == "\U0001f600"


def test_a_number_that_no_table_holds():
    """Wherever it stands, also where no reader asks for it."""
    for place in (FINAL, ("provenance", "machine", "processor")):
        with pytest.raises(RecordError, match=r"val_loss: .* a number below 2|processor: .* a number below 2"):
            held(changed(grids.record(), place, 10**400))


def held(record):
    check_content(record, store.canonical(record))


def test_what_could_be_markup():
    """In any text that a page takes for a name or a machine; words about own metrics and sources of own parts are free,
    and escaped where they are shown."""
    script = "<img src=x onerror=alert(1)>"
    held(grids.record() | {"metrics": {"mine": {"label": script}}, "provenance": {"plugins": {"a.py": script}}})
    for place, put in (
        (("provenance", "machine", "processor"), script),
        (("provenance", "machine", "processor"), "a \x1b[2J processor"),
        (("provenance", "machine"), {script: 1}),
        (("config", "protocol"), [script]),
    ):
        with pytest.raises(RecordError, match=r"record 'charlm-relu', .*: '(<img|a ).*' could be markup, not a name"):
            held(changed(grids.record(), place, put))
