"""Networks of another kind beside the training of single ones: a known shift, at the end and at equal loss."""

import numpy as np
import pandas as pd
import pytest

import actlab

SEEDS = [str(i) for i in range(5)]


def test_a_known_shift_is_found_at_the_end_and_at_equal_loss():
    """Single networks differ by 0.1 (3 - loss); the others by 0.05 less at the loss at which they end."""
    losses = {0: 3.0, 1: 2.5, 2: 2.2, 3: 2.0}
    curves = pd.DataFrame(
        [
            {"model": "m", "activation": "a", "trial": s, "seed": int(s), "iteration": i, "val_loss": loss}
            for s in SEEDS
            for i, loss in losses.items()
        ]
    )
    couples = [(s, t) for s in SEEDS for t in SEEDS if s < t]
    rows = [{"model": "m", "activation": "a", "first": s, "second": t} for s, t in couples]
    along = pd.DataFrame(
        [row | {"iteration": i, "total_variation": 0.1 * (3 - x)} for row in rows for i, x in losses.items()]
    )
    for change, extrapolated in ((0.1, False), (-0.1, True)):
        others = pd.DataFrame([row | {"total_variation": 0.1 * (1 - change) - 0.05} for row in rows])
        of_others = pd.DataFrame(
            [
                {"model": "m", "activation": "a", "seed": int(s), "val_loss": 2 + change, "single_loss": 2.0}
                for s in SEEDS
            ]
        )
        found = actlab.beside_training(curves, along, others, of_others)
        assert found["left_out"].tolist() == ["", *SEEDS]
        np.testing.assert_allclose(
            found[["end", "equal_loss", "loss"]], [[-0.05 - 0.1 * change, -0.05, change]] * 6, atol=1e-12
        )
        assert set(found["extrapolated"]) == {extrapolated}
        few = along[along["first"].isin(SEEDS[:3]) & along["second"].isin(SEEDS[:3])]
        found = actlab.beside_training(curves, few, others, of_others)
        assert found["left_out"].tolist() == ["", *SEEDS[:3]]  # of the runs that both have


def test_where_a_training_came_down_to_a_loss():
    """Linear between evaluations; beyond the last by a line through the last three."""
    losses, values = [3.0, 2.5, 2.2, 2.0], [0.0, 0.05, 0.08, 0.1]
    assert actlab.at_loss(losses, values, 2.1) == (pytest.approx(0.09), False)
    assert actlab.at_loss(losses, values, 1.8) == (pytest.approx(0.12), True)


def test_the_mean_of_groups_again_without_each_run(committed):
    """What ``without_each`` gives, ``jackknife`` turns into the interval of ``means``."""
    _, pairs = actlab.load("answer-fresh")
    read = (
        actlab.without_each(pairs, "churn")
        .groupby(["model", "activation"], sort=False)["value"]
        .apply(actlab.jackknife)
        .unstack()
    )
    whole = actlab.means(pairs, "churn").set_index(["model", "activation"])
    np.testing.assert_allclose(
        read[["estimate", "low", "high"]], whole[["estimate", "low", "high"]], rtol=0, atol=1e-14
    )
