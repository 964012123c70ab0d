"""Rules of the claims on GPT-2 with GELU or PReLU, four optimizers and broken symmetry. Each reads a ``Factorial``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import words
from actlab.records.store import Record
from actlab.records.tables import COLUMNS, of_records
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval
from actlab_audit.verdicts import Between, Finding, absent, decided, measured, ran, signed

PUBLISHED: dict[str, tuple[float, float]] = {
    "ecd": (3.7992, 3.60),
    "adamw": (3.5412, 3.53),
    "sgdm": (3.6534, 3.66),
    "soap": (3.3673, 3.51),
}
"""Optimizer -> published validation loss (nats a token) with PReLU, (symmetric, bQ+bV); the latter are quoted with two
digits and a tilde."""
BASE, BROKEN = "symmetric", "bQbV"
ARM = ["optimizer", "symmetry", "activation"]
SETTING = ["dataset", "vocab_size", "scale", "batch_size", "context", "iterations"]
"""What every arm of one reading shares."""
PUBLISHED_SCALE, PUBLISHED_TOKENS = "124m", 500_000_000


class Factorial(NamedTuple):
    """A row a trial, of one setting, and the records behind it, one an arm."""

    trials: pd.DataFrame
    records: list[Record]

    @property
    def losses(self) -> pd.DataFrame:
        """A column a published cell of the recorded optimizers, a row a seed: the final loss; NaN for a trial that
        diverged or is not recorded."""
        cells = [(o, s, a) for o in PUBLISHED for s in (BASE, BROKEN) for a in ("gelu", "random_prelu")]
        recorded = [cell for cell in cells if cell[0] in set(self.trials["optimizer"])] or cells
        wide = self.trials.pivot(index="seed", columns=ARM, values="val_loss").astype(float)
        return wide.reindex(columns=pd.MultiIndex.from_tuples(recorded, names=ARM))

    @property
    def effects(self) -> pd.DataFrame:
        """A column an (optimizer, activation), a row a seed: loss with bQ+bV minus that without (nats), seed by seed,
        for the arms share start and batches; below 0 it helps."""
        return self.losses.xs(BROKEN, level="symmetry", axis=1) - self.losses.xs(BASE, level="symmetry", axis=1)


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms. Where an optimizer ran at several rates, its arms are those of the rate
    that most of them have, of two such rates that nearest to the published one.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
    """
    own = [record for record in records if record.get("kind") == "ablation"]
    trials = of_records(own)[0].reindex(columns=list(COLUMNS))
    about = {record["arm"]: record for record in own}
    trials = trials.assign(
        context=[about[arm]["config"]["model_size"]["block_size"] for arm in trials["record"]],
        vocab_size=[about[arm]["provenance"]["data"]["vocab_size"] for arm in trials["record"]],
    )
    arms = trials.drop_duplicates([*ARM, "rate_factor"]).groupby("optimizer")["rate_factor"]
    rate = {o: max(at, key=lambda x, at=at: ((at == x).sum(), -abs(math.log(x)))) for o, at in arms}  # type: ignore[misc]
    trials = trials[trials["rate_factor"] == trials["optimizer"].map(rate)]
    several = {name: [*map(str, trials[name].unique())] for name in SETTING if trials[name].nunique() > 1}
    if several:
        differ = "; ".join(f"{name}={' | '.join(values)}" for name, values in several.items())
        raise BadInput(f"records of different settings cannot be read together: {differ}")
    return Factorial(trials, [record for record in own if record["rate_factor"] == rate[record["optimizer"]]])


def lacks(f: Factorial) -> str:
    """What is missing for any verdict."""
    return "" if len(f.trials) else "no record yet"


def _parameters(f: Factorial) -> str:
    return f"{f.trials['parameters'].min():,} parameters"


def _tokens(f: Factorial) -> int:
    """Of the longest trial that ended well; 0 without one."""
    done = f.trials[f.trials["status"] == "done"]
    return int(done.eval("iterations * batch_size * context").max()) if len(done) else 0


def _scale(f: Factorial) -> str:
    """What the records are of, in words."""
    return f"{_parameters(f)}, {_tokens(f):,} tokens"


def _as_published(f: Factorial) -> bool:
    """Whether the records are of the published model and budget."""
    return set(f.trials["scale"]) == {PUBLISHED_SCALE} and _tokens(f) >= 0.999 * PUBLISHED_TOKENS


def eight_runs(f: Factorial) -> Finding:
    """S01: all eight GELU cells."""
    found = f.trials[f.trials["symmetry"].isin([BASE, BROKEN]) & (f.trials["activation"] == "gelu")]
    count = len(found[found["optimizer"].isin(PUBLISHED)].drop_duplicates(ARM))
    return ran(count == 8, f"{count} of the 8 cells are recorded ({_scale(f)})")


def budget(f: Factorial) -> Finding:
    """S04: 500 million tokens in one trial."""
    return ran(_as_published(f), f"longest recorded trial: {_tokens(f):,} tokens, with {_parameters(f)}")


def settings(f: Factorial, optimizer: str, stated: Mapping[str, Any], says: str) -> Finding:
    """S08 to S11: the recorded settings of an optimizer at its published rate are the published ones."""
    records = [r for r in f.records if r["optimizer"] == optimizer and r["rate_factor"] == 1.0]
    if not records:
        return absent(f"no record of {words(optimizer)} at its published rate")
    used = [r["config"]["optimizer_settings"] for r in records]
    fits = all(found.get(key) == value for found in used for key, value in stated.items())
    return ran(fits, f"{len(records)} arms ran with {says.format(**used[0])}")


def loss(f: Factorial, optimizer: str, symmetry: str, published: tuple[float, float]) -> Finding:
    """S12 to S19: at the published size our interval meets the published loss, from and to by its digits."""
    ours = mean_interval(f.losses.get((optimizer, symmetry, "random_prelu"), []))
    if not _as_published(f):
        return absent(f"needs {PUBLISHED_TOKENS:,} tokens at 124 million parameters; at {_scale(f)}: {measured(ours)}")
    if math.isnan(ours.low):
        return absent(f"{measured(ours)}: one seed has no interval")
    meets = Between(ours.low, ours.high).meets(Between(*published))
    return decided(meets, f"{measured(ours)} nats, whole validation sample")


def effects(f: Factorial) -> Finding:
    """S20: signs of the four gains at the published size; below it, ours beside what single batches can resolve."""
    gains = f.effects.xs("random_prelu", level="activation", axis=1)
    found = {str(o): e for o, values in gains.items() if (e := mean_interval(values)).n}
    said = "; ".join(f"{words(o)} {signed(e)}" for o, e in found.items()) or "no pair of arms yet"
    done = [trial["analyses"]["batch_losses"] for r in f.records for trial in r["trials"] if trial["status"] == "done"]
    if spreads := [np.std(losses, ddof=1) for losses in done if len(losses) > 1]:
        said += f"; single batches of one model differ by {np.mean(spreads):.2f} nats (sd)"
    if not _as_published(f) or len(found) < len(PUBLISHED) or any(math.isnan(e.low) for e in found.values()):
        return absent(f"bQ+bV minus symmetric with PReLU at {_scale(f)}: {said}")
    agree = not any(e.excludes(PUBLISHED[o][1] - PUBLISHED[o][0]) for o, e in found.items())
    return decided(agree, f"bQ+bV minus symmetric with PReLU: {said}")


def prelu_contributes(f: Factorial) -> Finding:
    """S21: the interaction of bQ+bV with the activation; only records of the published size and budget decide."""
    found = interaction(f)
    if math.isnan(found.low):
        return absent("not all arms have two seeds")
    said = f"effect of bQ+bV under PReLU minus that under GELU: {signed(found)} nats, n = {found.n}, at {_scale(f)}"
    if not found.excludes(0) or not _as_published(f):
        return absent(f"{said}: {'of another size and budget' if found.excludes(0) else 'undecided'}")
    return decided(found.value < 0, said)


def interaction(f: Factorial) -> Estimate:
    """The effect of bQ+bV under random PReLU minus that under GELU, averaged over optimizers: below 0 is in favour of
    PReLU. A seed that misses a cell has none."""
    prelu, gelu = (f.effects.xs(name, level="activation", axis=1) for name in ("random_prelu", "gelu"))
    return mean_interval((prelu - gelu).mean(axis=1, skipna=False))


def slopes(f: Factorial, activation: str, per_feature: int) -> Finding:
    """S22, S23: parameters of an activation a hidden feature, beyond those of a GPT-2 whose activation has none."""
    found = [r for r in f.records if r["activation"] == activation]
    if not found:
        return absent(f"no arm with {words(activation)} yet")
    fits = all(_of_activation(r) == per_feature for r in found)
    said = f"{len(found)} arms with {words(activation)}: parameters of the activation a hidden feature"
    return decided(fits, f"{said} are {'' if fits else 'not '}{per_feature}")


def _of_activation(record: Record) -> float:
    """Parameters a hidden feature, of which there are 4 L C, beyond those of a GPT-2 of the recorded size with biases,
    learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2 C."""
    size, vocab_size = record["config"]["model_size"], record["provenance"]["data"]["vocab_size"]
    layers, width = size["n_layer"], size["n_embd"]
    plain = (vocab_size + size["block_size"] + layers * (12 * width + 13) + 2) * width
    return float((record["n_parameters"] - plain) / (4 * layers * width))
