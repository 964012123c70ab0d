"""The ablation read from records: seeds in order, missing as missing, known effects found, single batches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.ablations import BATCHES, GAIN, made_up, record, records

from actlab.errors import BadInput
from actlab.records import ablation


def test_values_come_in_the_order_of_seeds() -> None:
    """Of every arm the same seeds at the same places; a missing arm is NaN; levels in the study's order."""
    f = made_up()
    losses = [t["final"]["val_loss"] for t in f.done("ecd", "bQbV", "gelu")]
    assert f.values("ecd", "bQbV", "gelu").tolist() == losses
    assert np.isnan(f.values("ecd", "bQ", "gelu")).tolist() == [True] * 3
    assert f.levels("optimizer") == ["ecd", "adamw", "sgdm", "soap"]
    factors = (10.0, 0.333, 1.0)
    assert ablation.read([record("ecd", "bQbV", "gelu", f) for f in factors]).levels("rate_factor") == sorted(factors)


def test_a_diverged_trial_is_no_number() -> None:
    """It keeps its row and its status, and has no loss."""
    broken = record("ecd", "bQbV", "gelu")
    broken["trials"][1] |= {"status": "diverged"}
    f = ablation.read([{"kind": "baseline"}, broken])
    assert np.isnan(f.values("ecd", "bQbV", "gelu")).tolist() == [False, True, False]
    assert f.trials["status"].tolist() == ["done", "diverged", "done"]
    assert len(f.done("ecd", "bQbV", "gelu")) == 2


def test_other_settings_are_not_mixed() -> None:
    """Losses of two vocabularies, sizes or lengths cannot be compared."""
    with pytest.raises(BadInput, match=r"cannot be read together: dataset=novels.*; dataset=pydoc"):
        ablation.read([record("ecd", "bQbV", "gelu"), record("ecd", "symmetric", "gelu", dataset="pydoc")])


def test_gains_are_paired_by_seed() -> None:
    """Symmetric minus bQ+bV: seeds differ by half a nat, gains are known to a hundredth."""
    for (_, activation), found in ablation.gains(made_up()).items():
        assert found.value == pytest.approx(GAIN[activation], abs=0.01)
        assert found.high - found.low < 0.03
        assert found.n == 3


def test_the_interaction_is_the_difference_of_gains() -> None:
    """0.3 under PReLU minus 0.1 under GELU, for each optimizer and on average."""
    found = ablation.interactions(made_up())
    assert list(found) == ["ecd", "adamw", "sgdm", "soap", "all"]
    assert all(e.value == pytest.approx(0.2, abs=0.01) for e in found.values())
    assert found["all"].excludes(0)
    assert not ablation.interactions(made_up(gain={"gelu": 0.1, "random_prelu": 0.1}))["all"].excludes(0.0)


def test_main_effects_average_over_the_other_factors() -> None:
    """bQ+bV gains 0.2 on average; GELU is behind PReLU by 0.05 and half the difference of gains."""
    found = ablation.main_effects(made_up())
    assert found["symmetry"].value == pytest.approx(0.2, abs=0.01)
    assert found["activation"].value == pytest.approx(0.15, abs=0.01)


def test_a_missing_cell_leaves_no_average() -> None:
    """Rather none than one over other cells."""
    f = ablation.read(records()[:-1])
    assert ablation.main_effects(f)["symmetry"].n == 0
    assert ablation.interactions(f)["all"].n == 0
    assert ablation.interactions(f)["ecd"].n == 3
    assert ablation.main_effects(ablation.read([])) == ablation.interactions(ablation.read([])) == {}


def test_rates_are_those_that_were_run() -> None:
    """A rate of one seed has a value and no interval."""
    more = [record("ecd", mode, "gelu", 3.0, seeds=1) for mode in ("symmetric", "bQbV")]
    found = ablation.rates(ablation.read([*records(("ecd", "adamw")), *more]))
    assert list(found["ecd", "symmetric"]) == [1.0, 3.0]
    assert list(found["adamw", "symmetric"]) == [1.0]
    assert found["ecd", "symmetric"][3.0].n == 1
    assert math.isnan(found["ecd", "symmetric"][3.0].low)


def test_the_lowest_of_many_batches_is_optimistic() -> None:
    """One batch is fair; the lowest of 122 normal draws of sd 0.25 lies about 2.5 sd below the mean, as a simulation
    says."""
    found = ablation.protocol(made_up())
    assert found is not None
    assert found.reported[1].value == pytest.approx(found.mean)
    generator = np.random.default_rng(0)
    simulated = np.mean([generator.choice(found.batch_losses, 64, replace=False).min() for _ in range(4000)])
    assert found.reported[64].value == pytest.approx(simulated, abs=0.01)
    assert 2 < (found.mean - found.reported[122].value) / found.batch_losses.std(ddof=1) < 3.2
    assert found.reported[8].low < found.reported[8].value < found.reported[8].high


def test_no_batches_no_protocol() -> None:
    """A short text has one batch: nothing is said."""
    short = record("adamw", "symmetric", "gelu")
    for trial in short["trials"]:
        trial["analyses"]["batch_losses"] = [4.0]
    f = ablation.read([short])
    assert ablation.protocol(f) is None
    assert ablation.batches(f) is None
    assert ablation.protocol(ablation.read([])) is None


def test_easy_batches_are_easy_for_every_model() -> None:
    """The text's part of the spread cancels between two arms, and one batch is the easiest for all."""
    found = ablation.batches(made_up())
    assert found is not None
    assert (found.trials, found.batches, found.same_easiest) == (48, BATCHES, 48)
    assert found.spread == pytest.approx(0.25, abs=0.05)
    assert found.paired_spread == pytest.approx(0, abs=1e-9)
