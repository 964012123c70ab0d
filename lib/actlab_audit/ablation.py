"""Rules of the claims on GPT-2 with GELU or PReLU, four optimizers and broken symmetry. Each reads a ``Factorial``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import words
from actlab.records.store import Record
from actlab.records.tables import COLUMNS, of_records
from actlab_audit.verdicts import Between, Estimate, Finding, absent, decided, excludes, mean_of, measured, signed

PUBLISHED: dict[str, tuple[float, float]] = {
    "ecd": (3.7992, 3.60),
    "adamw": (3.5412, 3.53),
    "sgdm": (3.6534, 3.66),
    "soap": (3.3673, 3.51),
}
"""Optimizer -> published validation loss (nats a token) with PReLU, (symmetric, bQ+bV); the latter are quoted with two
digits and a tilde."""
BASE, BROKEN = "symmetric", "bQbV"
ACTIVATIONS = ("gelu", "random_prelu")
ARM = ["optimizer", "symmetry", "activation"]
SETTING = ["dataset", "vocab_size", "scale", "batch_size", "block_size", "iterations"]
"""What every arm of one reading shares."""
DERIVED = """
tokens = iterations * batch_size * block_size * (status == "done")
slopes = (parameters - (vocab_size + block_size + n_layer * (12 * n_embd + 13) + 2) * n_embd) / (4 * n_layer * n_embd)
"""
"""Columns: the tokens of a trial that ended well; the parameters of an activation a hidden feature, of which there are
4 L C, beyond those of a GPT-2 with biases, learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2 C."""
PUBLISHED_SCALE, PUBLISHED_TOKENS = "124m", 500_000_000


class Factorial(NamedTuple):
    """A row a trial, of one setting, and the records behind it, one an arm."""

    trials: pd.DataFrame
    records: list[Record]

    @property
    def losses(self) -> pd.DataFrame:
        """A column a published cell, a row a seed: the final loss; NaN for a trial that diverged or is not recorded."""
        wide = self.trials.pivot(index="seed", columns=ARM, values="val_loss").astype(float)
        return wide.reindex(columns=pd.MultiIndex.from_product([PUBLISHED, (BASE, BROKEN), ACTIVATIONS], names=ARM))

    @property
    def effects(self) -> pd.DataFrame:
        """A column an (optimizer, activation), a row a seed: loss with bQ+bV minus that without (nats), seed by seed,
        for the arms share start and batches; below 0 it helps."""
        return self.losses.xs(BROKEN, level="symmetry", axis=1) - self.losses.xs(BASE, level="symmetry", axis=1)


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms at the published learning rates.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
    """
    own = [r for r in records if r.get("kind") == "ablation" and r["rate_factor"] == 1.0]
    trials = of_records(own)[0].reindex(columns=list(COLUMNS))
    facts = {r["arm"]: _facts(r) for r in own}
    about = pd.DataFrame.from_dict(facts, orient="index")
    trials = trials.join(about[about.columns.difference(COLUMNS)], on="record") if own else trials
    differ = [f"{n}={' | '.join(map(str, trials[n].unique()))}" for n in SETTING if own and trials[n].nunique() > 1]
    if differ:
        raise BadInput(f"records of different settings cannot be read together: {'; '.join(differ)}")
    return Factorial(trials.eval(DERIVED) if own else trials, own)


def _facts(record: Record) -> dict[str, Any]:
    """Of an arm: its data, model size and optimizer settings; several values as one text."""
    config = record["config"]
    parts = record["provenance"].get("data"), config.get("model_size"), config.get("optimizer_settings")
    own = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    sizes = ("vocab_size", "block_size", "n_layer", "n_embd")
    if lost := [name for name in sizes if not isinstance(own.get(name), int)]:
        raise BadInput(f"the record of {record['arm']} does not say its {', '.join(lost)}")
    return {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in own.items()}


def lacks(f: Factorial) -> str:
    """What is missing for any verdict."""
    return "" if len(f.trials) else "no record yet"


def _scale(f: Factorial) -> str:
    """What the records are of, in words."""
    return f"{f.trials['parameters'].min():,} parameters, {f.trials['tokens'].max():,} tokens"


def _as_published(f: Factorial) -> bool:
    """Whether the records are of the published model and budget."""
    return set(f.trials["scale"]) == {PUBLISHED_SCALE} and f.trials["tokens"].max() >= 0.999 * PUBLISHED_TOKENS


def loss(f: Factorial, optimizer: str, symmetry: str, published: tuple[float, float]) -> Finding:
    """S12 to S19: at the published size our interval meets the published loss, from and to by its digits."""
    ours = mean_of(f.losses[optimizer, symmetry, "random_prelu"])
    if not _as_published(f):
        return absent(f"needs {PUBLISHED_TOKENS:,} tokens at 124 million parameters; at {_scale(f)}: {measured(ours)}")
    if math.isnan(ours["low"]):
        return absent(f"{measured(ours)}: one seed has no interval")
    meets = Between(ours["low"], ours["high"]).meets(Between(*published))
    return decided(meets, f"{measured(ours)} nats, whole validation sample")


def effects(f: Factorial) -> Finding:
    """S20: signs of the four gains at the published size; below it, ours beside what single batches can resolve."""
    gains = f.effects.xs("random_prelu", level="activation", axis=1)
    found = {str(o): e for o, values in gains.items() if (e := mean_of(values))["n"]}
    said = "; ".join(f"{words(o)} {signed(e)}" for o, e in found.items()) or "no pair of arms yet"
    done = [trial["analyses"]["batch_losses"] for r in f.records for trial in r["trials"] if trial["status"] == "done"]
    if spreads := [np.std(losses, ddof=1) for losses in done if len(losses) > 1]:
        said += f"; single batches of one model differ by {np.mean(spreads):.2f} nats (sd)"
    if not _as_published(f) or len(found) < len(PUBLISHED) or any(math.isnan(e["low"]) for e in found.values()):
        return absent(f"bQ+bV minus symmetric with PReLU at {_scale(f)}: {said}")
    agree = not any(excludes(e, PUBLISHED[o][1] - PUBLISHED[o][0]) for o, e in found.items())
    return decided(agree, f"bQ+bV minus symmetric with PReLU: {said}")


def prelu_contributes(f: Factorial) -> Finding:
    """S21: the interaction of bQ+bV with the activation; only records of the published size and budget decide."""
    found = interaction(f)
    if math.isnan(found["low"]):
        return absent("not all arms have two seeds")
    said = f"effect of bQ+bV under PReLU minus that under GELU: {signed(found)} nats, n = {found['n']}, at {_scale(f)}"
    if not excludes(found, 0) or not _as_published(f):
        return absent(f"{said}: {'of another size and budget' if excludes(found, 0) else 'undecided'}")
    return decided(bool(found["estimate"] < 0), said)


def interaction(f: Factorial) -> Estimate:
    """The effect of bQ+bV under random PReLU minus that under GELU, averaged over optimizers: below 0 is in favour of
    PReLU. A seed that misses a cell has none."""
    gelu, prelu = (f.effects.xs(name, level="activation", axis=1) for name in ACTIVATIONS)
    return mean_of((prelu - gelu).mean(axis=1, skipna=False))
