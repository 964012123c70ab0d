"""The share of variance between activations, as two cells of `notebooks/report.ipynb` compute it: the textbook formula,
and its coverage."""

import math

import nbformat
import numpy as np
import pandas as pd
import pytest

from actlab import paths

CHARLM = np.array([[1.55377, 1.55269, 1.56011], [1.55847, 1.52676, 1.57674], [1.47377, 1.51979, 1.49850]]).T
"""Final losses of the reference's CharLM at full scale: three seeds, relu, gelu, swish."""


def shares_of(*tables, draws=5_000):
    """The page's rows, of tables of losses with a row a seed and a column an activation."""
    losses = [pd.DataFrame(table).rename_axis("seed").stack().rename("val_loss").reset_index() for table in tables]
    trials = pd.concat(losses, keys=range(len(tables)), names=["model"]).reset_index("model")
    page = {"np": np, "pd": pd, "sizes": "", "trials": trials.rename(columns={"level_1": "activation"})}
    for cell in nbformat.read(paths.ROOT / "notebooks" / "report.ipynb", 4).cells:
        if cell.source.startswith(("squares, tables =", "from scipy import special")):
            exec(cell.source.replace("5_000", str(draws)), page)
    return page["variance"]


def test_the_share_by_hand():
    """Omega squared of the two-way model (Hays 1963) from the mean squares: 0.000625 between arms, 0 between seeds,
    0.000484 for the rest; the interval around it; a seed that misses an arm is left out."""
    found = shares_of(np.vstack([CHARLM, [1.5, math.nan, 1.5]]), CHARLM)
    (_, row), (_, again) = found.iterrows()
    assert row["n"] == 3
    assert row["value"] == pytest.approx(0.563410, abs=1e-6)
    assert 0 <= row["low"] < row["value"] < row["high"] < 1
    assert row.equals(again)


def test_the_share_of_arms_that_do_not_differ_and_of_too_little():
    noise = np.random.default_rng(1).normal(size=(4, 1)) + np.array([[0, 1.0], [1, 0], [0, 1], [1, 0]])
    ((_, same),) = shares_of(noise, [[1.0, 2.0]], [[1.0], [2.0]]).iterrows()
    assert (same["value"], same["low"]) == (0, 0)


def test_the_interval_covers_where_arms_share_seeds():
    """Five arms, three seeds, a correlation of 0.8 by seed, a share of 0.8: 96% measured (one-way intervals: 80%)."""
    generator, effects, repeats = np.random.default_rng(0), np.array([-1, -0.5, 0, 0.2, 1.3]), 250
    effects = (effects - effects.mean()) / effects.std() * 2

    def draw():
        return effects + 0.8**0.5 * generator.normal(size=(3, 1)) + 0.2**0.5 * generator.normal(size=(3, 5))

    found = shares_of(*(draw() for _ in range(repeats)), draws=200)
    covered = (found["low"] <= 0.8) & (found["high"] >= 0.8)
    assert covered.mean() > 0.95 - 3 * (0.95 * 0.05 / repeats) ** 0.5
