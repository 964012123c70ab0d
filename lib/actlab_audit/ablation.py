"""Rules of the claims on GPT-2 with GELU or PReLU, four optimizers and broken symmetry. Each reads the runs of an
ablation, a row a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

import actlab
from actlab.errors import BadInput
from actlab.records.labels import words
from actlab_audit import numbers
from actlab_audit.evidence import recorded
from actlab_audit.verdicts import Between, Finding, decided, expected, measured, unexplained

PRELU = "random_prelu"
OPTIMIZERS = [*numbers.prelu_losses]
SETTING = ["dataset", "vocab_size", "scale", "batch_size", "block_size", "iterations"]
"""What every arm of one reading shares."""
DERIVED = """
tokens = iterations * batch_size * block_size * (status == "done")
slopes = (parameters - (vocab_size + block_size + n_layer * (12 * n_embd + 13) + 2) * n_embd) / (4 * n_layer * n_embd)
published = scale == "124m" and iterations * batch_size * block_size >= 499_500_000
"""
"""Columns: the tokens of a trial that ended well; the parameters of an activation a hidden feature, of which there are
4 L C, beyond those of a GPT-2 with biases, learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2 C;
whether it is of the published model and budget, 500 million tokens."""
LOWEST = "the lowest of many single batches"
"""What the published losses are, by their files."""


def read(study: str) -> pd.DataFrame | None:
    """The runs of an ablation at the published learning rates; None where there are none.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
    """
    runs = recorded(study)
    if runs.empty or (runs := runs.query("rate_factor == 1")).empty:
        return None
    differ = [f"{name}={' | '.join(map(str, runs[name].unique()))}" for name in SETTING if runs[name].nunique() > 1]
    if differ:
        raise BadInput(f"records of different settings cannot be read together: {'; '.join(differ)}")
    return runs.eval(DERIVED)


def gains(runs: pd.DataFrame) -> pd.DataFrame:
    """A row an optimizer, activation and seed: the loss with bQ+bV minus that without (nats), for the arms share start
    and batches; below 0 it helps. NaN for a trial that diverged or is not recorded."""
    losses = runs.pivot(index=["optimizer", "activation", "seed"], columns="symmetry", values="val_loss")
    losses = losses.reindex(columns=["symmetric", "bQbV"]).astype(float)
    return (losses["bQbV"] - losses["symmetric"]).rename("gain").reset_index()


def _at_scale(runs: pd.DataFrame) -> str:
    """What the records are of, in words."""
    parameters = Between(runs["parameters"].min(), runs["parameters"].max())
    tokens, vocabulary = runs["tokens"].max(), runs["vocab_size"].iloc[0]
    return f"at {parameters} parameters, {tokens:,.0f} tokens of a vocabulary of {vocabulary:,}"


def loss(runs: pd.DataFrame, optimizer: str, symmetry: str, published: Sequence[float]) -> Finding:
    """S12 to S19: at the published size one further run meets the published loss, from and to by its digits."""
    own = runs.query("optimizer == @optimizer and symmetry == @symmetry and activation == @PRELU")
    if own.empty:
        return Finding("not run", "no record of this arm")
    ours = actlab.means(own, "val_loss", "optimizer").iloc[0]
    said = f"{measured(ours)}, on the whole validation sample (nats), {_at_scale(own)}"
    if not own["published"].all() or math.isnan(ours["low"]):
        return Finding("not run", said)
    verdict = decided(expected(ours, 1).meets(Between(*published)))
    return unexplained(Finding(verdict, said), LOWEST)


def effects(runs: pd.DataFrame) -> Finding:
    """S20: the four gains of a further pair of runs at the published size; below it, ours."""
    found = actlab.means(gains(runs).query("activation == @PRELU"), "gain", "optimizer").query("n > 0")
    each = "; ".join(f"{words(e['optimizer'])} {measured(e, '+.3f')}" for _, e in found.iterrows())
    said = f"bQ+bV minus symmetric with PReLU {_at_scale(runs)}: {each or 'no pair of arms yet'}"
    if not runs["published"].all() or len(found) < len(OPTIMIZERS) or found["low"].isna().any():
        return Finding("not run", said)
    agree = []
    for _, ours in found.iterrows():
        symmetric, broken = numbers.prelu_losses[ours["optimizer"]]
        gap = broken - symmetric
        agree.append(expected(ours, 1).meets(Between(gap - 0.005, gap + 0.005)))
    return unexplained(Finding(decided(all(agree)), said), LOWEST)


def effect(runs: pd.DataFrame, under: str, beyond: str = "") -> pd.Series:
    """What bQ+bV changes under an activation (nats), ``beyond`` what it changes under another, averaged over
    optimizers: below 0 it helps. A seed that misses a cell has none."""
    table = gains(runs).pivot(index=["activation", "seed"], columns="optimizer", values="gain")
    means = table.reindex(columns=OPTIMIZERS).mean(axis=1, skipna=False).unstack("activation")
    means = means.reindex(columns=[under, beyond])
    nats = means[under] - means[beyond] if beyond else means[under]
    return actlab.means(nats.rename("nats").reset_index().assign(of=""), "nats", "of").iloc[0]


def helps(runs: pd.DataFrame, under: str, beyond: str = "") -> Finding:
    """S21, S21b: bQ+bV lowers the loss; only records of the published size and budget decide."""
    found = effect(runs, under, beyond)
    than = f" beyond that under {words(beyond)}" if beyond else ""
    said = f"bQ+bV minus symmetric under {words(under)}{than}, over the optimizers (nats): {measured(found, '+.3f')}"
    if not runs["published"].all() or math.isnan(found["low"]):
        return Finding("not run", f"{said}, {_at_scale(runs)}")
    return Finding(decided(found["high"] < 0, found["low"] > 0), said)
