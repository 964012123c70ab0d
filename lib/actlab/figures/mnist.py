"""Figures of the feed-forward sweep: estimates in, ``Figure`` out. Intervals are 95%."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.repro import error_bar
from actlab.figures.style import canvas, colour, styled, words_alone
from actlab.records.mnist import LABELS, Search, words
from actlab.statistics.estimate import Estimate

TOO_FEW = "no search: an arm has fewer trials than two draws"
MARKS = {"relu": "o", "geglu_equal_width": "D", "geglu_equal_parameters": "s"}


BAND_ENDS = 16
"""A fifth of an arm's 80 trials: with more draws the best hangs on a few of them, and its interval widens without
meaning, in the end beyond 100%."""


def width_sweep(found: Mapping[str, Mapping[int, Estimate]], metric: str = "val_accuracy") -> Figure:
    """Accuracy against the hidden units of the plain network."""
    with styled():
        figure, (axes,) = canvas(width=5.6, height=3.4)
        for i, (network, by_hidden) in enumerate(found.items()):
            for hidden, estimate in by_hidden.items():
                shifted = hidden * (1 + 0.04 * (i - 1))
                axes.errorbar(
                    shifted, estimate.value, error_bar(estimate), fmt=MARKS.get(network, "o"), color=colour(network)
                )
            axes.plot([], [], MARKS.get(network, "o"), color=colour(network), label=words(network))
        axes.set_xscale("log", base=2)
        ticks = sorted({h for by_hidden in found.values() for h in by_hidden})
        axes.set_xticks(ticks, [str(h) for h in ticks])
        axes.set(xlabel="hidden units of the plain network", ylabel=LABELS[metric])
        axes.legend(fontsize=8)
    return figure


def epochs(found: Mapping[str, Mapping[int, Estimate]], metric: str = "val_accuracy") -> Figure:
    """Accuracy against the number of epochs."""
    with styled():
        figure, (axes,) = canvas(width=5.6, height=3.2)
        for network, by_epochs in found.items():
            places, estimates = list(by_epochs), list(by_epochs.values())
            bars = np.hstack([error_bar(estimate) for estimate in estimates])
            axes.errorbar(
                places,
                [e.value for e in estimates],
                bars,
                fmt=f"{MARKS.get(network, 'o')}-",
                color=colour(network),
                label=words(network),
            )
        ticks = sorted({number for by_epochs in found.values() for number in by_epochs})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [str(number) for number in ticks], minor=False)
        axes.minorticks_off()
        axes.set(xlabel="epochs", ylabel=LABELS[metric])
        axes.legend(fontsize=8)
    return figure


def trials_of_searches(searches: Sequence[Search]) -> Figure:
    """Accuracy of each draw, a panel a budget k, as the first study drew it."""
    if not searches:
        return words_alone(TOO_FEW)
    budgets = sorted({search.k for search in searches})
    with styled():
        figure, panels = canvas(1, len(budgets), width=8.0, height=2.8)
        for axes, k in zip(panels, budgets, strict=True):
            chosen = [search for search in searches if search.k == k]
            step = 0.8 / len(chosen)
            for i, search in enumerate(chosen):
                places = np.arange(k) + (i - (len(chosen) - 1) / 2) * step
                axes.bar(places, search.scores, step * 0.9, color=colour(search.network), label=words(search.network))
            axes.set_xticks(range(k), [str(n + 1) for n in range(k)])
            axes.set_xlabel(f"draw, k = {k}")
        panels[0].set_ylabel(LABELS["val_accuracy"])
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)
    return figure


def bootstrap_histograms(searches: Sequence[Search], resamples: int = 10_000, seed: int = 0) -> Figure:
    """The published picture: maxima of resamples of the k scores, a panel a budget; the bars below are the percentile
    intervals.

    Stems with a mark on top, since the few values of one search lie far apart or close together.
    """
    if not searches:
        return words_alone(TOO_FEW)
    budgets = sorted({search.k for search in searches})
    generator = np.random.default_rng(seed)
    with styled():
        figure, panels = canvas(1, len(budgets), width=8.0, height=2.8)
        for axes, k in zip(panels, budgets, strict=True):
            for place, search in enumerate(s for s in searches if s.k == k):
                maxima = generator.choice(search.scores, (resamples, k)).max(axis=1)
                values, counts = np.unique(maxima, return_counts=True)
                look: dict[str, Any] = {"color": colour(search.network), "marker": MARKS.get(search.network, "o")}
                axes.vlines(values, 0, counts / resamples, color=colour(search.network), linewidth=1.2)
                axes.plot(values, counts / resamples, linestyle="none", label=words(search.network), **look)
                axes.plot(
                    [search.bootstrap.low, search.bootstrap.high], [-0.06 - 0.06 * place] * 2, markersize=3, **look
                )
            axes.axhline(0, color="black", linewidth=0.8)
            axes.set_ylim(-0.26, 1)
            axes.set_yticks(np.linspace(0, 1, 6))
            axes.set_xlabel(f"best of k = {k} (%)")
        panels[0].set_ylabel("share of resamples")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)
    return figure


def best_of_k(curves: Mapping[str, Sequence[Estimate]], ks: Sequence[int] = range(1, 65)) -> Figure:
    """Expected best validation accuracy against the budget k of a random search; bands are 95% intervals, up to k =
    ``BAND_ENDS``."""
    with styled():
        figure, (axes,) = canvas(width=5.6, height=3.4)
        for network, estimates in curves.items():
            values, low, high = (np.array([getattr(e, name) for e in estimates]) for name in ("value", "low", "high"))
            known = ~np.isnan(low) & (np.array(list(ks)) <= BAND_ENDS)
            axes.plot(list(ks), values, color=colour(network), label=words(network))
            axes.fill_between(
                np.array(list(ks))[known],
                low[known],
                np.minimum(high[known], 100),
                color=colour(network),
                alpha=0.15,
                linewidth=0,
            )
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="budget k of the random search", ylabel=f"expected best {LABELS['val_accuracy']}")
        axes.legend(fontsize=8)
    return figure


def differences(found: Mapping[str, Mapping[tuple[int, float, int], Estimate]]) -> Figure:
    """Paired differences from ReLU: a panel a batch size and network, the rate across, a mark a width."""
    found = {network: cells for network, cells in found.items() if cells}
    if not found:
        return words_alone("no network shares seeds with ReLU")
    batches = sorted({cell[2] for cells in found.values() for cell in cells})
    with styled():
        figure, panels = canvas(len(found), len(batches), width=8.0, height=2.3 * len(found))
        for row, (network, cells) in enumerate(found.items()):
            for column, batch in enumerate(batches):
                _panel(
                    panels[row * len(batches) + column],
                    network,
                    {cell: e for cell, e in cells.items() if cell[2] == batch},
                    batch,
                )
        figure.supxlabel("learning rate of Adam", fontsize=10)
        figure.supylabel("accuracy less ReLU's (percentage points)", fontsize=10)
    return figure


def _panel(axes: Axes, network: str, cells: Mapping[tuple[int, float, int], Estimate], batch: int) -> None:
    widths = sorted({hidden for hidden, _, _ in cells})
    rates = sorted({rate for _, rate, _ in cells})
    for i, hidden in enumerate(widths):
        for x, rate in enumerate(rates):
            if (hidden, rate, batch) not in cells:
                continue
            estimate = cells[hidden, rate, batch]
            place = x + (i - (len(widths) - 1) / 2) * 0.16
            shade = 0.35 + 0.65 * i / max(len(widths) - 1, 1)
            axes.errorbar(
                place, estimate.value, error_bar(estimate), fmt="o", markersize=3, color=colour(network), alpha=shade
            )
            if x == 0:
                top = np.nanmax([estimate.value, estimate.high])
                axes.annotate(
                    str(hidden), (place, top), textcoords="offset points", xytext=(0, 3), fontsize=6, ha="center"
                )
    axes.margins(y=0.15)  # room for the numbers below the panel's name
    axes.axhline(0, color="#666666", linewidth=0.8)
    axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
    axes.annotate(f"{words(network)}, batch {batch}", (0.02, 1.03), xycoords="axes fraction", fontsize=8)
