"""Rules of the claims on GPT-2 with GELU or PReLU, four optimizers and broken symmetry. Each reads the runs of an
ablation, a row a run."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

import actlab
from actlab.errors import BadInput
from actlab.records.labels import words
from actlab.records.store import load_study
from actlab_audit import numbers
from actlab_audit.evidence import recorded
from actlab_audit.verdicts import (
    Between,
    Estimate,
    Finding,
    absent,
    bracketed,
    decided,
    excludes,
    expected,
    measured,
    unexplained,
)

ARM = ["optimizer", "symmetry", "activation"]
PRELU, GELU = "random_prelu", "gelu"
SETTING = ["dataset", "vocab_size", "scale", "batch_size", "block_size", "iterations"]
"""What every arm of one reading shares."""
DERIVED = """
tokens = iterations * batch_size * block_size * (status == "done")
slopes = (parameters - (vocab_size + block_size + n_layer * (12 * n_embd + 13) + 2) * n_embd) / (4 * n_layer * n_embd)
"""
"""Columns: the tokens of a trial that ended well; the parameters of an activation a hidden feature, of which there are
4 L C, beyond those of a GPT-2 with biases, learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2 C."""
LOWEST = "the lowest of many single batches"
"""What the published losses are, by their files."""
PUBLISHED_SCALE, PUBLISHED_TOKENS = "124m", 500_000_000


def read(study: str) -> pd.DataFrame | None:
    """The runs of an ablation at the published learning rates; None where there are none.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
    """
    runs = recorded(study)
    if runs.empty or (runs := runs[runs["rate_factor"] == 1]).empty:
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


def _scale(runs: pd.DataFrame) -> str:
    """What the records are of, in words."""
    parameters = Between(runs["parameters"].min(), runs["parameters"].max())
    text = "" if _as_published(runs) else f" of another text (vocabulary {runs['vocab_size'].iloc[0]:,})"
    return f"{parameters} parameters, {runs['tokens'].max():,.0f} tokens{text}"


def _as_published(runs: pd.DataFrame) -> bool:
    """Whether the records are of the published model and budget."""
    return {*runs["scale"]} == {PUBLISHED_SCALE} and runs["tokens"].max() >= 0.999 * PUBLISHED_TOKENS


def loss(runs: pd.DataFrame, optimizer: str, symmetry: str, published: tuple[float, float]) -> Finding:
    """S12 to S19: at the published size one further run meets the published loss, from and to by its digits."""
    runs = runs[(runs[ARM] == [optimizer, symmetry, PRELU]).all(axis=1)]
    if runs.empty:
        return absent("no record of this arm")
    ours = actlab.means(runs, "val_loss", ARM).iloc[0]
    if not _as_published(runs):
        return absent(
            f"needs {PUBLISHED_TOKENS:,} tokens at 124 million parameters; at {_scale(runs)} (nats): {measured(ours)}"
        )
    if math.isnan(ours["low"]):
        return absent(f"{measured(ours)}: one seed has no interval")
    found = decided(expected(ours, 1).meets(Between(*published)), f"{measured(ours)} nats, whole validation sample")
    return unexplained(found, LOWEST)


def effects(runs: pd.DataFrame) -> Finding:
    """S20: the four gains of a further pair of runs at the published size; below it, ours and what single batches can
    resolve."""
    runs = runs.query("activation == @PRELU")
    found = actlab.means(gains(runs), "gain", "optimizer").set_index("optimizer")
    found = found.reindex(numbers.prelu_losses).query("n > 0")
    said = "; ".join(f"{words(optimizer)} {bracketed(e)}" for optimizer, e in found.iterrows()) or "no pair of arms yet"
    own = [record for record in load_study(runs["study"].iloc[0]) if record["arm"] in {*runs["record"]}]
    done = [t["analyses"]["batch_losses"] for record in own for t in record["trials"] if t["status"] == "done"]
    if spreads := [np.std(losses, ddof=1) for losses in done if len(losses) > 1]:
        said += f"; single batches of one model differ by {np.mean(spreads):.2f} nats (sd)"
    if not _as_published(runs) or len(found) < len(numbers.prelu_losses) or found["low"].isna().any():
        return absent(f"bQ+bV minus symmetric with PReLU at {_scale(runs)}: {said}")
    gaps = {o: np.subtract(*numbers.prelu_losses[o][::-1]) for o in found.index}
    agree = all(expected(e, 1).meets(Between(gaps[o] - 0.005, gaps[o] + 0.005)) for o, e in found.iterrows())
    return unexplained(decided(agree, f"bQ+bV minus symmetric with PReLU: {said}"), LOWEST)


def prelu_contributes(runs: pd.DataFrame) -> Finding:
    """S21: the interaction of bQ+bV with the activation; only records of the published size and budget decide."""
    found = interaction(runs)
    if math.isnan(found["low"]):
        return absent("not all arms have two seeds")
    said = f"effect of bQ+bV under PReLU minus that under GELU: {bracketed(found)} nats, n = {found['n']:.0f}"
    said = f"{said}, at {_scale(runs)}"
    if not excludes(found, 0) or not _as_published(runs):
        return absent(f"{said}: {'of another size and budget' if excludes(found, 0) else 'not significant'}")
    return decided(bool(found["estimate"] < 0), said)


def interaction(runs: pd.DataFrame) -> Estimate:
    """The effect of bQ+bV under random PReLU minus that under GELU, averaged over optimizers: below 0 is in favour of
    PReLU. A seed that misses a cell has none."""
    return _mean(_effect(runs, PRELU) - _effect(runs, GELU))


def alone(runs: pd.DataFrame) -> Finding:
    """S21b: the effect of bQ+bV under GELU; only records of the published size and budget decide."""
    found = _mean(_effect(runs, GELU))
    if math.isnan(found["low"]):
        return absent("not all arms with GELU have two seeds")
    said = f"bQ+bV minus symmetric under GELU, over the optimizers: {bracketed(found)} nats, n = {found['n']:.0f}"
    if not _as_published(runs):
        return absent(f"{said}, at {_scale(runs)}: of another size and budget")
    return decided(bool(found["estimate"] < 0) if excludes(found, 0) else None, said)


def _effect(runs: pd.DataFrame, activation: str) -> pd.Series:
    """By seed: what bQ+bV changes (nats), averaged over optimizers."""
    own = gains(runs).query("activation == @activation")
    return (
        own.pivot(index="seed", columns="optimizer", values="gain")
        .reindex(columns=[*numbers.prelu_losses])
        .mean(axis=1, skipna=False)
    )


def _mean(by_seed: pd.Series) -> Estimate:
    """Over seeds, with its interval."""
    return actlab.means(by_seed.rename("nats").reset_index().assign(of=""), "nats", "of").iloc[0]
