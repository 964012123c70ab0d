"""The one comparison beside the functions that it replaces: every estimate, limit, p-value, Holm's p-value and outcome
of the recorded studies. It goes with them."""

from dataclasses import astuple

import numpy as np
import pytest

import actlab
from actlab.records import ablation, families, mnist, repro, store
from actlab.records.labels import METRICS
from actlab.statistics.significance import adjusted

pytestmark = pytest.mark.slow


def same(found, index, expected):
    """Rows of the new table, by their factors, beside (estimate, p) of the old functions."""
    rows = found.set_index(index)
    assert set(rows.index) == set(expected)
    for key, (estimate, p) in expected.items():
        row = rows.loc[[key]].iloc[0]
        new = row[["difference", "low", "high", "n", "p_holm"]].to_numpy(float)
        np.testing.assert_allclose(new, [*astuple(estimate)[:4], p], rtol=0, atol=1e-12, err_msg=str(key))
        assert row["p"] == pytest.approx(estimate.p_value(), abs=1e-12, rel=0)


@pytest.mark.parametrize(("study", "cells"), [("repro-lite", 30), ("extreme", 5), ("repro-partial", 30)])
def test_grids(committed, study, cells):
    """At the end of training, in every metric: 65 cells, 2 metrics each are 130 comparisons, and the others."""
    trials, pairs = actlab.load(study)
    grid = repro.read_study(study)
    assert len(families.comparisons(grid, "val_loss")) == cells
    for metric in (name for name in METRICS if name in trials or name in pairs):
        found = actlab.contrasts(trials if metric in trials else pairs, metric)
        same(found, ["model", "activation"], families.comparisons(grid, metric))
        planned = actlab.contrasts(trials if metric in trials else pairs, metric, planned=40)
        same(planned, ["model", "activation"], families.comparisons(grid, metric, planned=40))


def test_image_sweep(committed):
    """64 cells, one family a network."""
    trials, _ = actlab.load("mnist")
    cell = ["hidden", "learning_rate", "batch_size"]
    found = actlab.contrasts(trials, "val_accuracy", by=cell, factor="network", family="network")
    old = mnist.tested(mnist.read(store.load_study("mnist")))
    same(found, ["network", *cell], {(n, *at): test for n, tests in old.items() for at, test in tests.items()})
    assert len(found) == 64


def test_ablation_effects(committed):
    """8 effects of bQ+bV."""
    trials, _ = actlab.load("ablation-tuned")
    found = actlab.contrasts(trials, "val_loss", ["optimizer", "activation"], "symmetry", "symmetric")
    old = ablation.effects(ablation.read(store.load_study("ablation-tuned")))
    same(found, ["optimizer", "activation"], adjusted(old))
    assert len(found) == 8
