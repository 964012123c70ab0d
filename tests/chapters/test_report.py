"""The report's tables and sentences say what the records say, and that there are none."""

from __future__ import annotations

import numpy as np
from tests.support import grids

from actlab.chapters import report
from actlab.claims.evidence import Evidence
from actlab.records.repro import read
from actlab.statistics.power import detectable_paired


def lite(*activations: tuple[str, float, float]) -> Evidence:
    """charlm and minigpt at lite scale: relu at loss 2 and PD 0.1; others with the loss and PD given."""
    noise = np.random.default_rng(0).normal(0, 0.01, (2, 1 + len(activations), 5))
    records = []
    for i, m in enumerate(("charlm", "minigpt")):
        for j, (a, loss, pd) in enumerate((("relu", 2.0, 0.1), *activations)):
            records.append(grids.record(m, a, tuple(loss + noise[i, j]), pd))
    return Evidence({"lite": read([*records, grids.baseline()])})


def test_what_waits_is_said() -> None:
    """Scales without records say so in every cell; those with records have numbers."""
    found = report.extent(lite())
    assert found["state"].to_dict() == {
        "lite": "recorded",
        "partial": "no record yet",
        "full": "no record; waits for a GPU",
    }
    assert found.loc["lite", "trials"] == 10
    assert found.loc["full", "parameters"] == "2,711,105 to 10,795,776"
    assert "params/repro-partial-cpu.yaml" in found.loc["partial", "params file"]
    assert set(report.beside(lite(), "full")["ours"]) == {"no record; waits for a GPU"}
    assert set(report.beside(lite(), "partial")["ours"]) == {"no record yet"}
    said = report.sentences(lite())["scales"]
    assert said == "There are records at lite scale; the partial and the full scale have no record, and so no verdict"
    both = Evidence({scale: lite().grids["lite"] for scale in ("lite", "partial")})
    assert report.sentences(both)["scales"].endswith(
        "lite and partial scale; the full scale has no record, and so no verdict"
    )
    assert report.sentences(Evidence({}))["scales"].startswith("There are records at no scale")


def test_published_values_stand_beside_ours() -> None:
    """The report's 1.5555 nats for charlm with relu, and our mean with its interval."""
    full = read([grids.record("charlm", "relu", (1.0, 1.1, 1.2))])
    table = report.beside(Evidence({"full": full}), "full")
    row = table.loc[("charlm", "relu")]
    assert (row.iloc[0], row["loss (nats), published"]) == ("0.9061", "1.5555")
    assert row["loss (nats), ours"].startswith("1.1000 [")
    assert row["n"] == "3"
    assert (table["n"] == "0").sum() == len(table) - 1


def test_published_tables_hold_what_was_published() -> None:
    """At partial scale no loss was; one model's rows stand together; a column has one number of decimals."""
    table = report.beside(Evidence({}), "partial")
    assert list(table) == ["total variation, published", "accuracy (%), published", "ours"]
    assert [model for model, _ in table.index] == ["charlm"] * 5 + [
        "tinylstm",
        "minigpt",
        "hybridlm",
        "nanotransformer",
    ]
    assert set(table["accuracy (%), published"]) == {"not given", "14.53", "33.13", "43.20", "37.37"}


def test_recommendations_count_what_is_sure() -> None:
    """gelu predicts better and agrees less, swish the other way round, in both models."""
    said = list(report.recommendations(lite(("gelu", 1.0, 0.5), ("swish", 3.0, 0.02))))
    assert (
        "4 of 4 comparisons with relu significantly change the loss (Holm-adjusted, 5%), 2 of them for the better"
        in said[0]
    )
    assert (
        "significantly lower the loss (2), none also lowers the difference between seeds significantly; 2 "
        "significantly raise it" in said[1]
    )
    assert "2 of 4 arms significantly agree more than relu: charlm swish (+" in said[2]
    assert "minigpt swish (+0.99" in said[2]
    assert said[2].endswith("; none of them with a significantly better loss")
    worse = list(report.recommendations(lite(("gelu", 3.0, 0.5))))
    assert (
        "2 of 2 comparisons with relu significantly change the loss (Holm-adjusted, 5%), none of them for the better"
        in worse[0]
    )
    assert worse[1] == "Where agreement is all that counts: none of 2 arms significantly agrees more than relu"
    assert list(report.recommendations(Evidence({}))) == ["No record compares an activation with relu yet"]


def test_trials_needed_are_paired_and_at_the_first_step_of_holm() -> None:
    """Standard deviation of paired differences times the effect that n pairs show at 0.05 / comparisons; and what the
    exact test could say."""
    grid = lite(("gelu", 1.0, 0.5)).grids["lite"]
    pairs = [(grid.arms[model, "gelu"], grid.arms[model, "relu"]) for model in grid.models]
    spread = float(np.median([(a.values("val_loss") - b.values("val_loss")).std(ddof=1) for a, b in pairs]))
    effect = detectable_paired(5, 0.05 / len(pairs))
    said = report.trials_needed(grid)
    assert f"5 find {effect:.2f} ({effect * spread:.3f} nats" in said
    assert "five find 1.68" in said
    assert "cannot go below 0.0625, so that it could call nothing significant" in said


def test_shares_need_two_activations() -> None:
    """One activation has no share; of two, the one that changes the loss by 1 nat has nearly all of it."""
    assert "fewer than two" in report.shares(lite())["over"].iloc[0]
    found = report.shares(lite(("gelu", 1.0, 0.1)))
    assert float(found.loc["lite", "activation"].split(" ")[0]) > 99
