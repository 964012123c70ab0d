"""Figures of the sources of irreproducibility. Intervals are 95%, jackknifed over trials; small marks are single pairs
or seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.repro import error_bar, singles
from actlab.figures.style import canvas, colour, dashes, marker, styled, words_alone
from actlab.records import equal_loss
from actlab.records.sources import METRIC, STREAMS, Sources, all_streams, ensembles, trajectory

LABEL = "mean total variation (0 to 1)"


def _panels(sources: Sources, height: float = 3.2) -> tuple[Figure, list[Axes], list[str]]:
    models = sources.models or ["no record yet"]
    figure, panels = canvas(1, len(models), width=8.0 if len(models) > 1 else 6.4, height=height)
    if len(sources.models) != 1:
        for axes, model in zip(panels, models, strict=True):
            axes.annotate(model, (0.03, 1.02), xycoords="axes fraction", fontsize=9)
    panels[0].set_ylabel(LABEL)
    return figure, panels, sources.models


def _legend(figure: Figure, panels: list[Axes]) -> None:
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=6, fontsize=8)


def _offset(sources: Sources, activation: str, width: float = 0.16) -> float:
    return (sources.activations.index(activation) - (len(sources.activations) - 1) / 2) * width


def by_stream(sources: Sources) -> Figure:
    """What varying each stream does: a panel a model, a group a stream, a mark an activation."""
    with styled():
        figure, panels, models = _panels(sources)
        for axes, model in zip(panels, models, strict=False):
            for x, stream in enumerate(STREAMS):
                for activation, arm in sources.recorded(model, stream).items():
                    place, estimate = x + _offset(sources, activation), arm.shown(METRIC)
                    style: Any = {"fmt": marker(activation), "color": colour(activation), "label": activation}
                    axes.errorbar(place, estimate.value, error_bar(estimate), **style)
                    pairs = singles(arm, METRIC)
                    axes.plot(
                        np.full(len(pairs), place + 0.05),
                        pairs,
                        ".",
                        color=colour(activation),
                        markersize=2.5,
                        alpha=0.5,
                    )
            axes.set_xticks(
                range(len(STREAMS)), [words.replace(" ", "\n", 1) for words in STREAMS.values()], fontsize=8
            )
            axes.set_ylim(bottom=0)
            axes.grid(axis="x", visible=False)
        _legend(figure, panels)
    return figure


def over_time(sources: Sources) -> Figure:
    """Prediction difference between seeds against the iteration: a panel a model, a line an activation; every stream
    varies."""
    with styled():
        figure, panels, models = _panels(sources)
        for axes, model in zip(panels, models, strict=False):
            for activation, arm in sources.recorded(model, "all").items():
                found = trajectory(arm)
                steps = np.array([step for step, _ in found])
                low, value, high = (np.array([getattr(e, name) for _, e in found]) for name in ("low", "value", "high"))
                axes.plot(
                    steps,
                    value,
                    color=colour(activation),
                    dashes=dashes(activation),
                    marker=marker(activation),
                    label=activation,
                )
                axes.fill_between(steps, low, high, color=colour(activation), alpha=0.15, linewidth=0)
            axes.set_ylim(bottom=0)
        figure.supxlabel("iteration", fontsize=10)
        _legend(figure, panels)
    return figure


def over_loss(sources: Sources) -> Figure:
    """Prediction difference between seeds against the validation loss, which falls to the right; a dotted line marks
    the loss of the comparison."""
    levels = equal_loss.levels(all_streams(sources))
    with styled():
        figure, panels, models = _panels(sources)
        for axes, model in zip(panels, models, strict=False):
            for activation, arm in sources.recorded(model, "all").items():
                losses, (_, found) = arm.curves(METRIC)[1].losses.mean(axis=1), zip(*trajectory(arm), strict=True)
                bars = [[error_bar(e)[side][0] for e in found] for side in (0, 1)]
                style: Any = {
                    "color": colour(activation),
                    "dashes": dashes(activation),
                    "marker": marker(activation),
                    "label": activation,
                }
                axes.errorbar(losses, [e.value for e in found], bars, **style)
            if model in levels:
                axes.axvline(levels[model].loss, color="#333333", linestyle=":", linewidth=0.8)
            axes.set_ylim(bottom=0)
            axes.invert_xaxis()
        figure.supxlabel("validation loss (nats per character), training goes to the right", fontsize=10)
        _legend(figure, panels)
    return figure


def floors(sources: Sources) -> Figure:
    """Perturbed trials against themselves on a logarithmic axis, one mark a seed; a value of 0 has no place there and
    is counted in the table."""
    if not sources.perturbed:
        return words_alone("no record yet of a perturbed trial")
    with styled():
        figure, panels, models = _panels(sources)
        for axes, model in zip(panels, models, strict=False):
            for x, variant in enumerate(sources.perturbations):
                for activation in sources.activations:
                    values = sources.perturbation(model, activation, variant)
                    values = values[values > 0]
                    place = np.full(len(values), x + _offset(sources, activation))
                    axes.plot(
                        place,
                        values,
                        marker(activation),
                        color=colour(activation),
                        markerfacecolor="none",
                        label=activation,
                    )
            for activation, arm in sources.recorded(model, "all").items():
                x = len(sources.perturbations)
                axes.plot(
                    x + _offset(sources, activation),
                    arm.estimate(METRIC).value,
                    marker(activation),
                    color=colour(activation),
                )
            axes.set_yscale("log")
            names = [*sources.perturbations.values(), "another seed"]
            axes.set_xticks(range(len(names)), [_wrapped(name) for name in names], fontsize=7)
            axes.set_xlim(-0.5, len(names) - 0.5)
            axes.grid(axis="x", visible=False)
        _legend(figure, panels)
    return figure


def _wrapped(words: str, width: int = 12) -> str:
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def by_ensemble(sources: Sources) -> Figure:
    """Prediction difference between two ensembles against their size; every stream varies."""
    with styled():
        figure, panels, models = _panels(sources, 2.9)
        for axes, model in zip(panels, models, strict=False):
            sizes: set[int] = set()
            for activation, arm in sources.recorded(model, "all").items():
                found = ensembles(arm)
                sizes |= set(found)
                for size, estimate in found.items():
                    style: Any = {"fmt": marker(activation), "color": colour(activation), "label": activation}
                    axes.errorbar(
                        size + _offset(sources, activation, 0.06), estimate.value, error_bar(estimate), **style
                    )
            axes.set_xticks(sorted(sizes))
            axes.set_ylim(bottom=0)
        figure.supxlabel("trials in an ensemble", fontsize=10)
        _legend(figure, panels)
    return figure
