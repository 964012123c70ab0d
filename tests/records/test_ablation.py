"""Effects of the ablation's factors: known ones are found, pairing by seed removes the luck that arms share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.ablations import GAIN, made_up, record, records

from actlab.records import ablation


def test_gains_are_paired_by_seed() -> None:
    """Seeds differ by half a nat, gains are sure to a hundredth."""
    for (_, activation), found in ablation.gains(made_up()).items():
        assert found.value == pytest.approx(GAIN[activation], abs=0.01)
        assert found.high - found.low < 0.03
        assert found.n == 3


def test_a_gain_is_positive_where_bqbv_helps() -> None:
    """Direction: symmetric less bQ+bV."""
    f = made_up()
    expected = f.values("ecd", "symmetric", "gelu") - f.values("ecd", "bQbV", "gelu")
    assert ablation.gain_values(f, "ecd", "gelu").tolist() == expected.tolist()
    assert (expected > 0).all()


def test_the_interaction_is_the_difference_of_gains() -> None:
    """0.3 under PReLU less 0.1 under GELU, for each optimizer and on average."""
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


def test_curves_are_means_over_seeds() -> None:
    """Tokens across, losses down."""
    tokens, losses = ablation.curves(made_up(), "gelu")["ecd", "bQbV"]
    assert tokens.tolist() == [0, 512 * 600]
    assert losses[0].value == pytest.approx(losses[1].value + 2)
    assert losses[1].value == ablation.arms(made_up())["ecd", "bQbV", "gelu"].value


def test_tables_name_what_is_missing() -> None:
    """Sixteen rows always."""
    assert len(ablation.arms_table(made_up())) == 16
    partly = ablation.arms_table(ablation.read(records(("ecd",))))
    assert (partly == "no record yet").all(axis=1).sum() == 12
    assert ablation.published_table().loc["ECD", "gain"] == "+0.20"
    assert np.array_equal(ablation.published_table().index, ["ECD", "AdamW", "SGDM", "SOAP"])
