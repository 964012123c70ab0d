"""The one comparison beside the functions that it replaces: every estimate, limit, p-value, Holm's p-value and outcome
of the recorded studies. It goes with them."""

from dataclasses import astuple

import numpy as np
import pytest

import actlab
from actlab.chapters import answer
from actlab.records import ablation, families, mnist, repro, store
from actlab.records.companions import FURTHER
from actlab.records.labels import METRICS
from actlab.statistics.significance import adjusted

pytestmark = pytest.mark.slow
WORDS = {"more reproducible": "lower", "less reproducible": "higher"}


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


@pytest.mark.parametrize(
    ("study", "share", "cells"),
    [
        ("answer", 0.0, 30),
        ("answer-fresh", 0.0, 4),
        ("answer-novels", 0.0, 9),
        ("answer-rate", 0.0, 9),
        ("answer-same-rate", 0.0, 2),
        ("answer-same-rate", FURTHER, 2),
    ],
)
def test_equal_loss(committed, study, share, cells):
    """The confirmatory study and its companions: differences, loss, equivalence and outcome."""
    old = answer.read(study)
    decisions, levels = old.comparisons(earlier=share), old.levels(earlier=share)
    curves, along = actlab.load_curves(study), actlab.load_pairs(study, of="along")
    bigram = actlab.load_baselines(study).loc["bigram", "val_loss"]
    choice = {"share": share, "exclude_above": bigram, "planned": old.planned, "margin": old.margin}
    found = actlab.equal_loss(curves, along, **choice)
    same(found, ["model", "activation"], {cell: (d.difference, d.adjusted) for cell, d in decisions.items()})
    rows = found.set_index(["model", "activation"])
    assert len(rows) == cells
    for (model, activation), d in decisions.items():
        row = rows.loc[(model, activation)]
        assert row["loss"] == pytest.approx(levels[model].loss, abs=1e-12, rel=0)
        assert row["estimate"] == pytest.approx(levels[model].values[activation].value, abs=1e-12, rel=0)
        assert row["p_equivalent_holm"] == pytest.approx(d.equivalence_adjusted, abs=1e-12, rel=0)
        assert row["outcome"] == WORDS.get(d.outcome, d.outcome)


def test_means_over_architectures(committed):
    """``at_equal_loss`` across groups and ``jackknife`` beside the registered mean over architectures."""
    old = answer.read()
    bigram = actlab.load_baselines("answer").loc["bigram", "val_loss"]
    tables = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    read = actlab.at_equal_loss(*tables, exclude_above=bigram, across=True)
    wide = read.pivot(index="left_out", columns=["activation", "model"], values="value")
    for name in ("gelu", "swiglu"):
        found = actlab.jackknife((wide[name] - wide["relu"]).mean(axis=1))
        estimate = old.pooled(name)
        np.testing.assert_allclose(found[["estimate", "low", "high", "n"]], astuple(estimate)[:4], rtol=0, atol=1e-12)


def test_ensembles_of_two(committed):
    """Total variation of ensembles at equal training compute minus that of single networks."""
    pairs = actlab.load_pairs("answer", of="equal_compute")
    found = actlab.contrasts(pairs[pairs["size"] <= 2], "total_variation", ["model", "activation"], "size", 1)
    relu = found[found["activation"] == "relu"].set_index("model")
    for model, remedy in answer.read().remedies()["ensemble of 2"].items():
        new = relu.loc[model, ["difference", "low", "high", "n"]].to_numpy(float)
        np.testing.assert_allclose(new, astuple(remedy.variation)[:4], rtol=0, atol=1e-12)
