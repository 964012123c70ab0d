"""Figures of the optimizer x symmetry x activation ablation, at the published and at tuned learning rates."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import ablation_tuned as tuned
from actlab.figures.primitives import line, lines, points
from actlab.figures.style import words_alone
from actlab.records.ablation import (
    BASE,
    LOSS_LABEL,
    Factorial,
    Protocol,
    arms,
    arms_table,
    batches_table,
    main_effects_table,
    outside_null,
    published_table,
    rates,
    times,
    words,
)
from actlab.records.ablation import gains as gains_of
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

EFFECT = "loss with bQ+bV minus loss without (nats; below 0 it helps)"


def figure_effects(f: Factorial, losses: tuned.Losses) -> Figure:
    """The effect of bQ+bV by optimizer and activation, at the published rates and at tuned ones."""
    found = {("published rates", words(o), words(a)): _turned(e) for (o, a), e in gains_of(f).items()}
    if tuned.complete(losses):
        for o in tuned.OPTIMIZERS:
            for a in tuned.ACTIVATIONS:
                found["tuned rates", words(o), words(a)] = mean_interval(tuned.effect(losses, o, a))
    return points(found, EFFECT, zero=True, columns=2, height=2.2)


def _turned(e: Estimate) -> Estimate:
    """A gain (without minus with) as an effect (with minus without)."""
    return Estimate(-e.value, -e.high, -e.low, e.n, e.level, e.method)


def figure_arms(f: Factorial) -> Figure:
    """The loss of every arm: filled marks bQ+bV, hollow ones symmetric; an arm without a record says so."""
    found: dict[tuple[str, str, str], Estimate | None] = {}
    for o, m, a in [*arms(f), *f.missing]:
        found["", words(o), f"{words(a)}, {words(m)}"] = arms(f).get((o, m, a))
    hollow = [key for key in found if key[2].endswith(words(BASE))]
    return points(found, LOSS_LABEL, hollow=hollow, height=3.0)


FARTHEST = 1.6
"""A loss beyond so many times the lowest one would hide all others in the figure of rates: it is told in words."""


def figure_rates(f: Factorial) -> Figure:
    """Loss against the learning rate in multiples of the published one: a panel an optimizer."""
    found = {(o, mode): {x: e for x, e in by.items() if e.value <= _highest(f)} for (o, mode), by in rates(f).items()}
    made = {(words(o), words(mode)): line(by) for (o, mode), by in found.items() if by}
    return lines(made, "learning rate over the published one", LOSS_LABEL, bars=True, log="x", columns=2, height=2.0)


def beyond(f: Factorial) -> str:
    """What ``figure_rates`` leaves out."""
    found = [
        f"{words(o)} {words(mode)} {e.value:.0f} at {times(x)}"
        for (o, mode), by in rates(f).items()
        for x, e in by.items()
        if e.value > _highest(f)
    ]
    return f"Not drawn, at multiples of the published rate: {', '.join(found)} nats" if found else ""


def _highest(f: Factorial) -> float:
    return FARTHEST * min((e.value for by in rates(f).values() for e in by.values() if e.value == e.value), default=0.0)


def figure_protocol(found: Protocol | None) -> Figure:
    """The lowest of k single-batch losses of one real run; the dotted line is its mean over all batches. Near the
    number of batches an interval has no bound, and is not drawn."""
    if found is None:
        return words_alone("no run has measured several batches: the validation text is too short")
    bounded = {
        k: e if 2 * k <= len(found.batch_losses) else replace(e, low=nan, high=nan) for k, e in found.reported.items()
    }
    x, y = "evaluations k, of which the lowest is reported", "expected lowest loss (nats)"
    expected = {("", "lowest of k batches"): line(bounded)}
    return lines(expected, x, y, bars=True, log="x", levels={"mean over all batches": found.mean}, height=2.8)


def tables(f: Factorial) -> dict[str, pd.DataFrame]:
    """Title -> every table of the page at the published rates."""
    return {
        "The published table: losses with random PReLU, one run each (nats)": published_table(),
        "Every arm": arms_table(f),
        "Effects averaged over the other factors": main_effects_table(f),
        "What single batches report": batches_table(f),
        "Keys beside the mean of bQ: heads outside the null of random directions": outside_null(f),
    }
