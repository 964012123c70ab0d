"""Anomalies of the texts alone: the recomputed values are the known ones."""

from __future__ import annotations

import pytest
from scipy import stats
from tests.support import autopsies

from actlab.chapters.autopsy import WAITING, printed, shown
from actlab.claims.published import numbers as p
from actlab.records.autopsy import Evidence
from actlab.records.repro import read


def test_anova_again() -> None:
    """F(2, 6) = 8.341 (of the unrounded losses), p = 0.0185; the stated F has p = 0.0186 and not the stated 0.024."""
    found = printed.anova()
    assert (found.statistic, found.p_value) == (pytest.approx(8.341, abs=3e-3), pytest.approx(0.01851, abs=2e-5))
    assert printed.p_of_stated_f() == pytest.approx(0.0186, abs=5e-5)
    assert abs(printed.p_of_stated_f() - p.anova["p_value"]) > 0.005


def test_tukey_again() -> None:
    """0.0269 and 0.0301, where 0.019 and 0.031 were printed."""
    assert {pair: round(p_value, 4) for pair, p_value in printed.tukeys().items()} == {
        "swish against relu": 0.0269,
        "swish against gelu": 0.0301,
    }


def test_the_order_flips() -> None:
    """Swish leads at the last step, gelu at the lowest loss."""
    assert printed.order(printed.at_the_end()).startswith("swish")
    assert printed.order(p.charlm_best) == "gelu < swish < relu"
    assert "gelu < swish < relu" in printed.significance(Evidence()).off


def test_trials_past_their_best_are_counted() -> None:
    """Of charlm's trials, those whose lowest loss came before the end."""
    assert printed.past_the_best(autopsies.evidence().off) == (15, 15)
    assert printed.past_the_best(Evidence().off) == (0, 0)


def test_our_runs_that_overfit() -> None:
    """By the last loss gelu leads, by the lowest relu; the test is SciPy's; without records the row waits."""
    relu, gelu = (
        autopsies.corrected("charlm", "relu", (2.5, 2.6, 2.7)),
        autopsies.corrected("charlm", "gelu", (2.0, 2.1, 2.2)),
    )
    for trial in gelu["trials"]:
        trial["best"]["val_loss"] = 3.0 + trial["final"]["val_loss"]
    found = printed.significance(Evidence(overfit=read([relu, gelu])))
    expected = stats.f_oneway((2.5, 2.6, 2.7), (2.0, 2.1, 2.2))
    assert (
        f"at the last step: gelu < relu, F = {expected.statistic:.2f}, p = {expected.pvalue:.4f}; gelu less relu -0.500"
        in found.on
    )
    assert "6 of 6 trials end above their lowest loss at step 10" in found.on
    assert "each trial's lowest loss: relu < gelu" in found.off
    for trial in gelu["trials"]:
        trial["final"]["val_loss"] -= 100.0
    assert "p < 0.0001; gelu less relu" in printed.significance(Evidence(overfit=read([relu, gelu]))).on
    for waiting in (Evidence(), Evidence(overfit=read([relu]))):
        assert printed.significance(waiting).on.startswith(f"our runs on little text, at the last step: {WAITING}; ")


def test_the_rule_of_the_runs_that_overfit() -> None:
    """gelu is surely better at the last step and surely worse at the lowest loss: reproduced, and it decides that
    comparison; else not."""
    losses = {"relu": (2.5, 2.6, 2.7), "gelu": (2.0, 2.1, 2.21), "swish": (2.9, 3.0, 3.11)}
    arms = {name: autopsies.corrected("charlm", name, values) for name, values in losses.items()}
    assert "is not reproduced: 9 of 9" in printed.rule(read(arms.values()))
    for trial in arms["gelu"]["trials"]:
        trial["best"]["val_loss"] = 0.5 + trial["final"]["val_loss"]
    said = printed.rule(read(arms.values()))
    assert (
        "is reproduced: 9 of 9 trials end above their lowest loss; gelu < relu < swish at the last step, relu < gelu < swish at the lowest"
        in said
    )
    assert said.endswith("decides: gelu")
    assert printed.rule(read([arms["relu"]])).endswith("waits for records of gelu, swish")


def test_durations_add_up_to_more() -> None:
    """881.9 minutes, not 683.8; minigpt's 267 are those of four activations."""
    found = printed.durations(Evidence())
    assert "881.9 minutes, 198.1 more" in found.on
    assert "66.8 each" in found.off
    assert {"as counted", "remark"} < set(shown(found).index)


def test_counts() -> None:
    """No model of the partial scale has 765,000 parameters; three of the full scale have 10.8 million."""
    found = printed.counted(autopsies.evidence())
    assert "0 of 6 models have it at partial scale, 3 at full scale" in found.defect
    assert "convlm 1,217,601" in found.on
    assert printed.sizes()["charlm, full"] == (10.8e6, 10_795_776)
