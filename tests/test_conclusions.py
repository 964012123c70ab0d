"""The report's tables and sentences say what the records say, and that there are none."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import grids

from actlab import conclusions
from actlab.claims.evidence import Evidence
from actlab.claims.verdicts import signs
from actlab.grid import read
from actlab.statistics.power import detectable_two_sample


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
    found = conclusions.extent(lite())
    assert found["state"].to_dict() == {"lite": "recorded", "partial": conclusions.WAITS, "full": conclusions.WAITS}
    assert found.loc["lite", "trials"] == 10
    assert found.loc["full", "parameters"] == "2,711,105 to 10,795,776"
    assert (conclusions.beside(lite(), "full")["n"] == "0").all()
    said = conclusions.sentences(lite())["scales"]
    assert said == "There are records at lite scale; without any record, and so without a verdict, is the scale of partial and of full"
    assert conclusions.sentences(Evidence({}))["scales"].startswith("There are records at no scale")


def test_published_values_stand_beside_ours() -> None:
    """The report's 1.5555 nats for charlm with relu, and our mean with its interval."""
    full = read([grids.record("charlm", "relu", (1.0, 1.1, 1.2))])
    row = conclusions.beside(Evidence({"full": full}), "full").loc[("charlm", "relu")]
    assert row.iloc[0] == "1.5555"
    assert row["validation loss, ours"].startswith("1.1000 [")
    assert row["n"] == "3"
    assert len(conclusions.beside(Evidence({}), "partial")) == 9


def test_recommendations_count_what_is_sure() -> None:
    """gelu predicts better and agrees less, swish the other way round, in both models."""
    said = list(conclusions.recommendations(lite(("gelu", 1.0, 0.5), ("swish", 3.0, 0.02))))
    assert "4 of 4 comparisons with relu surely change the loss (Holm, 5%), 2 of them for the better" in said[0]
    assert "of the 2 activations that surely lower the loss, 0 surely lower" in said[1]
    assert "and 2 surely raise it (charlm gelu (-" in said[1]
    assert "minigpt swish (+0.99" in said[2]
    assert list(conclusions.recommendations(Evidence({}))) == ["No record compares an activation with relu yet"]


def test_trials_needed_are_the_statistics_of_power() -> None:
    """The recorded spread times Cohen's d."""
    evidence = lite()
    grid = evidence.grids["lite"]
    spread = float(np.median([arm.values("val_loss").std(ddof=1) for arm in grid.arms.values()]))
    assert f"3 trials {3.0695 * spread:.3f}"[:13] in conclusions.trials_needed(grid)
    assert detectable_two_sample(3) == pytest.approx(3.07, abs=0.005)


def test_shares_need_two_activations() -> None:
    """One activation has no share; of two, the one that changes the loss by 1 nat has nearly all of it."""
    assert "fewer than two" in conclusions.shares(lite())["over"].iloc[0]
    found = conclusions.shares(lite(("gelu", 1.0, 0.1)))
    assert float(found.loc["lite", "activation"].split(" ")[0]) > 99


def test_front_page_without_records() -> None:
    """Every published sensitivity is listed, ours said to be missing."""
    assert (conclusions.front_page(Evidence({}))["ours"] == "no record").all()


def test_signs_are_of_all_comparisons() -> None:
    """The same rule as the ledger's."""
    assert signs([]) == []
