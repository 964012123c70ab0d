"""Figures of the optimizer x symmetry x activation ablation: estimates in, ``Figure`` out. Intervals are 95%."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from actlab.figures.repro import error_bar
from actlab.figures.style import canvas, colour, marker, styled, words_alone
from actlab.records.ablation import BASE, LOSS_LABEL, Alignment, Protocol, words
from actlab.records.ablation.reading import Values, times
from actlab.statistics.estimate import Estimate

LEGEND: dict[str, Any] = {"loc": "outside upper center", "fontsize": 8}
PUBLISHED_SHADE = "#737373"


def _nothing() -> Figure:
    """A study without records says so."""
    return words_alone("no record yet")


def by_arm(found: Mapping[tuple[str, str, str], Estimate], label: str = LOSS_LABEL) -> Figure:
    """A quantity of every arm: optimizers across, colour the activation, filled marks bQ+bV and hollow ones symmetric;
    unrecorded arms are named."""
    if not found:
        return _nothing()
    optimizers = list(dict.fromkeys(o for o, _, _ in found))
    series = list(dict.fromkeys((m, a) for _, m, a in found))
    with styled():
        figure, (axes,) = canvas(width=6.4, height=3.2)
        for i, (mode, activation) in enumerate(series):
            shift = (i - (len(series) - 1) / 2) * 0.16
            look: dict[str, Any] = {
                "fmt": marker(activation),
                "color": colour(activation),
                "markerfacecolor": "white" if mode == BASE else colour(activation),
            }
            for place, optimizer in enumerate(optimizers):
                estimate = found.get((optimizer, mode, activation))
                if estimate is None or np.isnan(estimate.value):
                    said = "not run" if estimate is None else "diverged"
                    axes.text(place + shift, 0.02, said, transform=axes.get_xaxis_transform(), rotation=90, fontsize=7)
                else:
                    axes.errorbar(place + shift, estimate.value, error_bar(estimate), **look)
            axes.errorbar([], [], label=f"{words(activation)}, {words(mode)}", **look)
        axes.set_xticks(range(len(optimizers)), [words(o) for o in optimizers])
        axes.set_xlim(-0.5, len(optimizers) - 0.5)
        axes.set_ylabel(label)
        figure.legend(ncols=2, **LEGEND)
    return figure


def gains(found: Mapping[tuple[str, str], Estimate], interactions: Mapping[str, Estimate]) -> Figure:
    """Gain of bQ+bV by optimizer and activation on the left; on the right its difference between the activations."""
    if not found:
        return _nothing()
    optimizers = list(dict.fromkeys(o for o, _ in found))
    activations = list(dict.fromkeys(a for _, a in found))
    with styled():
        figure, (left, right) = canvas(1, 2, width=8.0, height=3.4)
        for i, activation in enumerate(activations):
            points = {
                place + (i - (len(activations) - 1) / 2) * 0.2: found[o, activation]
                for place, o in enumerate(optimizers)
            }
            _points(left, points, marker(activation), colour(activation), words(activation))
        _points(right, dict(enumerate(interactions.values())), "o", "black", "")
        for axes, names in ((left, optimizers), (right, list(interactions))):
            axes.axhline(0, color=PUBLISHED_SHADE, linewidth=1)
            axes.set_xticks(range(len(names)), [words(n) for n in names])
        left.set_ylabel("gain of bQ+bV (nats per token)")
        right.set_ylabel("gain, PReLU less GELU (nats)")
        figure.legend(ncols=2, **LEGEND)
    return figure


def _points(axes: Axes, points: Mapping[float, Estimate], mark: str, shade: str, label: str) -> None:
    for place, estimate in points.items():
        if not np.isnan(estimate.value):
            axes.errorbar(place, estimate.value, error_bar(estimate), fmt=mark, color=shade)
    axes.errorbar([], [], fmt=mark, color=shade, label=label or "_nolegend_")


def protocol(found: Protocol) -> Figure:
    """Single-batch losses of one real run, and the lowest of k of them; the line is the mean over all batches."""
    ks = list(found.reported)
    values = [found.reported[k] for k in ks]
    with styled():
        figure, (left, right) = canvas(1, 2, width=8.0, height=3.0)
        left.hist(found.batch_losses, bins=20, color=colour("gelu"))
        left.yaxis.set_major_locator(MaxNLocator(integer=True))
        left.axvline(found.mean, color="black", linewidth=1)
        left.set(xlabel=f"loss on one batch of {found.batch_tokens:,} tokens (nats)", ylabel="batches")
        right.errorbar(
            ks, [e.value for e in values], np.hstack([error_bar(e) for e in values]), fmt="o", color=colour("gelu")
        )
        right.axhline(found.mean, color="black", linewidth=1)
        right.set_xscale("log", base=2)
        right.set_xticks(ks, [str(k) for k in ks])
        margin = 0.1 * float(
            np.ptp(found.batch_losses)
        )  # an interval grows without bound as k nears the number of batches
        right.set_ylim(found.batch_losses.min() - margin, found.mean + 2 * margin)
        right.set(xlabel="evaluations, of which the lowest is reported", ylabel="expected lowest loss (nats)")
    return figure


def rates(found: Mapping[tuple[str, str], Mapping[float, Estimate]]) -> Figure:
    """Loss against the learning rate, in multiples of the published one: a panel an optimizer, hollow marks symmetric,
    filled ones bQ+bV.

    A loss far above all others is written out with its arm and rate.
    """
    if not found:
        return _nothing()
    optimizers = list(dict.fromkeys(o for o, _ in found))
    values = [e.value for by in found.values() for e in by.values() if not np.isnan(e.value)]
    low, high = min(values), min(max(values), 1.6 * min(values))  # a rate that throws training off would hide all else
    with styled():
        figure, panels = canvas(1, len(optimizers), width=8.4, height=3.2)
        for axes, optimizer in zip(panels, optimizers, strict=True):
            for i, mode in enumerate(m for o, m in found if o == optimizer):
                by_factor = {factor: e for factor, e in found[optimizer, mode].items() if e.value <= high}
                look: dict[str, Any] = {
                    "color": "black" if mode == BASE else colour("swiglu"),
                    "markerfacecolor": "white" if mode == BASE else colour("swiglu"),
                }
                for factor, estimate in by_factor.items():
                    axes.errorbar(factor * (1 + 0.06 * i), estimate.value, error_bar(estimate), fmt="o", **look)
                label = words(mode) if optimizer == optimizers[0] else "_nolegend_"
                axes.plot(
                    list(by_factor),
                    [e.value for e in by_factor.values()],
                    color=look["color"],
                    linewidth=0.8,
                    label=label,
                )
            axes.set_xscale("log")
            factors = sorted({factor for (o, _), by in found.items() if o == optimizer for factor in by})
            axes.set_xticks(factors, [times(factor) for factor in factors])
            axes.minorticks_off()
            axes.annotate(words(optimizer), (0.5, 1.02), xycoords="axes fraction", ha="center")
            axes.set_ylim(low - 0.1 * (high - low) - 0.05, high + 0.1 * (high - low) + 0.05)
            beyond = [
                f"{words(mode)}: {e.value:.0f} at {times(f)}"
                for (o, mode), by in found.items()
                for f, e in by.items()
                if o == optimizer and e.value > high
            ]
            said = "\n".join(["off the scale:", *beyond] if beyond else [])
            axes.annotate(said, (0.96, 0.97), xycoords="axes fraction", ha="right", va="top", fontsize=7)
        panels[0].set_ylabel(LOSS_LABEL)
        figure.supxlabel("learning rate over the published one", fontsize=10)
        figure.legend(ncols=2, **LEGEND)
    return figure


def curves(found: Mapping[tuple[str, str], tuple[Values, Sequence[Estimate]]]) -> Figure:
    """Validation loss against tokens, means over seeds with their intervals as bands: colour the optimizer, dashed
    lines bQ+bV."""
    if not found:
        return _nothing()
    with styled():
        figure, (axes,) = canvas(width=5.8, height=3.4)
        for (optimizer, mode), (tokens, losses) in found.items():
            means, lows, highs = ([getattr(e, part) for e in losses] for part in ("value", "low", "high"))
            axes.plot(
                tokens,
                means,
                color=colour(optimizer),
                linestyle="-" if mode == BASE else "--",
                label=f"{words(optimizer)}, {words(mode)}",
            )
            axes.fill_between(tokens, lows, highs, color=colour(optimizer), alpha=0.15, linewidth=0)
        axes.set(xlabel="training tokens", ylabel=LOSS_LABEL)
        axes.legend(fontsize=8)
    return figure


def alignment(found: Mapping[str, Sequence[Alignment]]) -> Figure:
    """Mean cosine of keys with bQ, head by head, a panel a symmetry mode; wide bars are the middle 95% of random
    directions, thin ones intervals."""
    if not found:
        return _nothing()
    with styled():
        figure, panels = canvas(1, len(found), width=8.0, height=3.2)
        ends = [end for heads in found.values() for h in heads for end in (h.low, h.high, h.cosine.low, h.cosine.high)]
        reach = 1.1 * float(np.nanmax(np.abs(ends)))
        for axes, (mode, heads) in zip(panels, found.items(), strict=True):
            for place, head in enumerate(heads):
                axes.bar(place, head.high - head.low, 0.7, bottom=head.low, color=PUBLISHED_SHADE, alpha=0.3)
                axes.errorbar(place, head.cosine.value, error_bar(head.cosine), fmt="o", color=colour("swiglu"))
            axes.axhline(0, color="black", linewidth=0.8)
            axes.set_xticks(range(len(heads)), [f"{head.layer + 1}.{head.head + 1}" for head in heads])
            axes.set(xlabel=f"{words(mode)}: layer.head", ylim=(-reach, reach))
        panels[0].set_ylabel("mean cosine of keys with bQ")
    return figure
