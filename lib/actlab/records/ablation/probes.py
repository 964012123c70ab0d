"""What the ablation measured on trained models beside the loss: single batches, keys along bQ, copying. Reads records,
trains nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from actlab.records.ablation.effects import arms
from actlab.records.ablation.reading import BASE, BROKEN, PUBLISHED_EVALUATIONS, Factorial, Values, words
from actlab.records.store import Record
from actlab.statistics.best_of_k import best_of_k_curve
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, paired_difference


@dataclass(frozen=True)
class Protocol:
    """What the published way to validate would have said of one real trained run: the lowest of k single-batch
    losses."""

    arm: str
    """In words."""
    label: str
    """The trial's seed."""
    batch_losses: Values
    """(B,) nats per token, of single batches spread over the validation split."""
    batch_tokens: int
    reported: dict[int, Estimate]
    """k -> the expected lowest of k batches, drawn from these without replacement."""

    @property
    def mean(self) -> float:
        """The loss over all batches: what there is to know."""
        return float(self.batch_losses.mean())

    @property
    def spread(self) -> float:
        """Standard deviation from batch to batch (nats)."""
        return float(self.batch_losses.std(ddof=1))

    def optimism(self, k: int) -> float:
        """How far the expected lowest loss lies below the mean (nats)."""
        return self.mean - self.reported[k].value


def protocol(
    f: Factorial, optimizer: str = "adamw", symmetry: str = BASE, activation: str = "gelu", seed: int = 0
) -> Protocol | None:
    """The published protocol applied to the first recorded trial of an arm; ``None`` without a trial that measured at
    least two batches.

    The model is the trained one at every draw, so this is the part of the optimism that has nothing to do with
    training. ``seed`` makes the resamples of the intervals.
    """
    record = f.record(optimizer, symmetry, activation)
    trial = (
        next((t for t in f.done(record) if len(t["analyses"].get("batch_losses", ())) > 1), None) if record else None
    )
    if record is None or trial is None:
        return None
    losses = np.array(trial["analyses"]["batch_losses"])
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64, PUBLISHED_EVALUATIONS) if k <= len(losses)]
    found = best_of_k_curve(losses, ks, np.random.default_rng(seed), lower_is_better=True)
    arm = ", ".join(words(record[factor]) for factor in ("optimizer", "symmetry", "activation"))
    return Protocol(arm, trial["label"], losses, trial["analyses"]["batch_tokens"], dict(zip(ks, found, strict=True)))


@dataclass(frozen=True)
class Batches:
    """What single batches are worth over all recorded trials at the published rates."""

    trials: int
    batches: int
    spread: float
    """Mean over trials of the standard deviation from batch to batch (nats)."""
    paired_spread: float
    """The same of the difference of two arms on the same batch: symmetric less bQ+bV, seed by seed."""
    same_easiest: int
    """Trials whose lowest batch is the one that is lowest most often: then "the best evaluation" is a property of the
    text."""


def batches(f: Factorial) -> Batches | None:
    """Spread of single batches and how far it is shared by arms; ``None`` where no trial measured two."""
    rows, differences = [], []
    for record in (r for r in f.records if r["rate_factor"] == 1.0):
        mine = _batch_losses(f, record)
        rows += list(mine.values())
        if (
            record["symmetry"] == BASE
            and (other := f.record(record["optimizer"], BROKEN, record["activation"])) is not None
        ):
            theirs = _batch_losses(f, other)
            differences += [mine[seed] - theirs[seed] for seed in mine if seed in theirs]
    if not rows:
        return None
    table = np.array(rows)
    _, times = np.unique(table.argmin(axis=1), return_counts=True)
    paired = float(np.mean([d.std(ddof=1) for d in differences])) if differences else math.nan
    return Batches(len(table), table.shape[1], float(table.std(axis=1, ddof=1).mean()), paired, int(times.max()))


def _batch_losses(f: Factorial, record: Record) -> dict[int, Values]:
    found = {trial["seed"]: np.array(trial["analyses"]["batch_losses"]) for trial in f.done(record)}
    return {seed: losses for seed, losses in found.items() if len(losses) > 1}


def batches_table(f: Factorial) -> pd.DataFrame:
    """``batches`` in words; says so where no trial measured two."""
    found = batches(f)
    if found is None:
        return pd.DataFrame({"": {"single batches": "not measured: the validation text is too short"}})
    rows = {
        "single batches of each trial": f"{found.batches}",
        "spread from batch to batch in one trial (sd in nats, mean over the trials)": f"{found.spread:.3f}",
        "the same of the difference symmetric less bQ+bV on one batch": f"{found.paired_spread:.3f}",
        "trials with the same easiest batch": f"{found.same_easiest} of {found.trials}",
    }
    return pd.DataFrame({"": rows})


@dataclass(frozen=True)
class Alignment:
    """Mean cosine of keys with the mean of bQ in one head of one arm, over seeds, and the same with random
    directions."""

    layer: int
    head: int
    cosine: Estimate
    low: float
    """Mean over seeds of the lower limit of the middle 95% under random directions; ``high`` likewise."""
    high: float
    outside: int
    """Seeds whose cosine lies outside its own limits."""


def alignments(f: Factorial, optimizer: str, symmetry: str, activation: str, what: str = "keys") -> list[Alignment]:
    """Layer by layer, head by head; ``what`` is ``keys`` (as they enter the softmax) or ``embeddings`` (as published).
    Empty without a record."""
    record = f.record(optimizer, symmetry, activation)
    trials = [trial["analyses"]["alignment"][what] for trial in f.done(record)] if record else []
    if not trials:
        return []
    cosine, low, high = (
        np.array([t[name] for t in trials]) for name in ("cosine", "low", "high")
    )  # (seeds, layers, heads)
    outside = (cosine < low) | (cosine > high)
    _, layers, heads = cosine.shape
    return [
        Alignment(
            i,
            j,
            mean_interval(cosine[:, i, j]),
            float(low[:, i, j].mean()),
            float(high[:, i, j].mean()),
            int(outside[:, i, j].sum()),
        )
        for i in range(layers)
        for j in range(heads)
    ]


def outside_null(f: Factorial, what: str = "keys") -> pd.DataFrame:
    """By optimizer and symmetry: in how many heads (layers x heads x seeds x activations) the cosine leaves the middle
    95% of random directions.

    The last column is the standard deviation over keys of bQ . k / sqrt(hs): what bQ does to attention, for a part that
    all keys share cancels.
    """
    rows = {}
    for optimizer in f.levels("optimizer"):
        for mode in f.levels("symmetry"):
            found = [
                head
                for activation in f.levels("activation")
                for head in alignments(f, optimizer, mode, activation, what)
            ]
            if found:
                heads, away = sum(head.cosine.n for head in found), sum(head.outside for head in found)
                mean = float(np.mean([head.cosine.value for head in found]))
                shown = (
                    str(heads),
                    f"{away} ({100 * away / heads:.0f}%)",
                    f"{mean:+.3f}",
                    f"{_logit_spread(f, optimizer, mode, what):.3f}",
                )
                rows[words(optimizer), words(mode)] = dict(
                    zip(("heads", "outside the null", "mean cosine", "spread of logits"), shown, strict=True)
                )
    return pd.DataFrame.from_dict(rows, orient="index")


def _logit_spread(f: Factorial, optimizer: str, symmetry: str, what: str) -> float:
    """Mean over heads, seeds and activations of the spread over keys of the logit that bQ adds."""
    records = [r for r in f.records if (r["optimizer"], r["symmetry"], r["rate_factor"]) == (optimizer, symmetry, 1.0)]
    return float(
        np.mean(
            [trial["analyses"]["alignment"][what]["logit_spread"] for record in records for trial in f.done(record)]
        )
    )


def copying(f: Factorial, kind: str = "repeated", score: str = "top1") -> dict[tuple[str, str, str], Estimate]:
    """Arm -> share of items completed (or ``loss``, nats), with a t interval over seeds; ``kind``: ``repeated`` or
    ``changed``."""
    return {cell: mean_interval(_scores(f, cell, kind, score)) for cell in arms(f)}


def _scores(f: Factorial, cell: tuple[str, str, str], kind: str, score: str) -> list[float]:
    """(seeds,) a copying score of one arm; NaN where a trial is missing or not done."""
    record = f.record(*cell)
    by_seed = {trial["seed"]: trial["analyses"]["copying"][kind][score] for trial in f.done(record)} if record else {}
    return [by_seed.get(seed, math.nan) for seed in f.levels("seed")]


def copying_items(f: Factorial, kind: str = "repeated") -> int:
    """How many items each trial was asked; 0 without a record."""
    return next((trial["analyses"]["copying"][kind]["items"] for record in f.records for trial in f.done(record)), 0)


def copying_gains(f: Factorial) -> dict[tuple[str, str], Estimate]:
    """(optimizer, activation) -> symmetric less bQ+bV loss on the repeated items (nats), paired by seed. Positive:
    bQ+bV copies better."""
    found = {}
    for optimizer in f.levels("optimizer"):
        for activation in f.levels("activation"):
            one, two = (_scores(f, (optimizer, mode, activation), "repeated", "loss") for mode in (BASE, BROKEN))
            found[optimizer, activation] = paired_difference(one, two)
    return found
