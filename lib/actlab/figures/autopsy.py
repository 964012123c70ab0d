"""Figures of the autopsy: each published anomaly with its defect on and off. Intervals are 95%; what has no record says
so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.repro import error_bar
from actlab.figures.style import canvas, colour, dashes, marker, styled
from actlab.records.autopsy import Evidence
from actlab.records.repro import ArmResults, Grid

ON, OFF = "#B2182B", "#0072B2"
"""As published, corrected."""


def _waiting(axes: Axes, what: str = "no record yet") -> None:
    axes.text(0.5, 0.5, what, ha="center", va="center", transform=axes.transAxes, color="#666666")


def _line(axes: Axes, arm: ArmResults, until: int, label: str, **style: Any) -> None:
    """The mean validation loss of an arm up to an iteration."""
    steps, values = arm.curve("val_loss")
    chosen = steps <= until
    axes.plot(steps[chosen], np.nanmean(values[:, chosen], axis=0), label=label, **style)


def _tables(axes: Axes, grid: Grid, names: Sequence[str] = ("unigram", "bigram")) -> None:
    for name in names:
        if name in grid.baseline:
            level = grid.baseline[name]["val_loss"]
            axes.axhline(level, color="#666666", linewidth=0.8, linestyle=":")
            axes.annotate(
                f"{name} table",
                (0.99, level),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                fontsize=7,
                color="#666666",
            )


def identical(evidence: Evidence) -> Figure:
    """Validation loss: corrected relu and gelu as lines; arms that ignored their activation as hollow marks, on relu's
    line or on each other."""
    models = list(dict.fromkeys(model for model, _ in evidence.on if model != "charlm")) or ["no model"]
    with styled():
        figure, panels = canvas(1, len(models), width=8.0, height=2.9)
        for axes, model in zip(panels, models, strict=True):
            mine = {a: reading for (m, a), reading in evidence.on.items() if m == model}
            if not mine:
                _waiting(axes)
                continue
            until = max(reading.end for reading in mine.values())
            for activation in ("relu", "gelu"):
                if (model, activation) in evidence.off.arms:
                    style = {"color": colour(activation), "dashes": dashes(activation)}
                    _line(axes, evidence.off.arms[model, activation], until, f"{activation}, corrected", **style)
            for size, (activation, reading) in zip((9, 5), mine.items(), strict=False):
                style = {
                    "color": colour(activation),
                    "linestyle": "none",
                    "marker": marker(activation),
                    "markerfacecolor": "none",
                }
                _line(axes, reading.arm, until, f"{activation}, as published", markersize=size, **style)
            axes.annotate(model, (0.97, 0.95), xycoords="axes fraction", ha="right", va="top", fontsize=9)
        panels[0].set_ylabel("validation loss (nats)")
        figure.supxlabel("iteration", fontsize=10)
        _legend(figure, panels)
    return figure


def _legend(figure: Figure, panels: Sequence[Axes], columns: int = 4) -> None:
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=columns, fontsize=8)


def leak(evidence: Evidence) -> Figure:
    """convlm with padding on both sides and causal: validation loss against the iteration; accuracy at all positions
    and at last ones."""
    reading, corrected = evidence.on.get(("convlm", "relu")), evidence.off.arms.get(("convlm", "relu"))
    with styled():
        figure, (losses, accuracies) = canvas(1, 2, width=8.0, height=3.0)
        if reading is None:
            _waiting(losses)
            _waiting(accuracies)
            return figure
        if corrected is not None:
            _line(losses, corrected, reading.end, "padded on the left (corrected)", color=OFF)
        _line(losses, reading.arm, reading.end, "padded on both sides (as published)", color=ON, marker="o")
        _tables(losses, evidence.off)
        losses.set(xlabel="iteration", ylabel="validation loss (nats)", ylim=(0, None))
        losses.legend(fontsize=8)
        bars = {
            "all positions": reading.value("val_accuracy"),
            "last positions\nof 1,000 windows": reading.published("val_accuracy"),
        }
        for x, (label, estimate) in enumerate(bars.items()):
            accuracies.bar(x, estimate.value, 0.6, color=ON, alpha=0.75)
            accuracies.errorbar(x, estimate.value, error_bar(estimate), color="#333333")
            accuracies.text(x, 2, label, ha="center", fontsize=8, color="white")
        accuracies.set(xticks=[], ylabel="accuracy of the leaking convlm (%)", ylim=(0, 100))
        accuracies.grid(axis="x", visible=False)
    return figure


def itself(evidence: Evidence) -> Figure:
    """For each arm: two seeds on different inputs, one model on different inputs, two seeds on the same inputs."""
    with styled():
        figure, (axes,) = canvas(width=7.5, height=0.9 + 0.45 * max(2, len(evidence.on)))
        if not evidence.on:
            _waiting(axes)
            return figure
        for y, reading in enumerate(evidence.on.values()):
            kinds = (
                (reading.between(), "o", ON, "two seeds, different inputs (as published)"),
                (reading.itself(), "s", "#E69F00", "one model against itself, different inputs"),
                (reading.paired(), "D", OFF, "two seeds, same inputs (corrected)"),
            )
            for shift, (estimate, mark, shade, label) in zip((-0.18, 0.0, 0.18), kinds, strict=True):
                axes.errorbar(
                    estimate.value,
                    y + shift,
                    xerr=error_bar(estimate),
                    fmt=mark,
                    color=shade,
                    label=label if y == 0 else None,
                )
        axes.set_yticks(range(len(evidence.on)), [f"{m}, {a}" for m, a in evidence.on], fontsize=8)
        axes.set(xlabel="mean total variation (0 to 1)", xlim=(-0.02, 1))
        axes.invert_yaxis()
        _legend(figure, [axes], 2)
    return figure


def drawn(evidence: Evidence) -> Figure:
    """For each arm: accuracy at the last positions of 1,000 random windows, as published, and at all positions of the
    validation split."""
    with styled():
        figure, (axes,) = canvas(width=7.0, height=0.9 + 0.4 * max(2, len(evidence.on)))
        if not evidence.on:
            _waiting(axes)
            return figure
        for y, reading in enumerate(evidence.on.values()):
            kinds = (
                (reading.published("val_accuracy"), "o", ON, "1,000 last positions"),
                (reading.value("val_accuracy"), "D", OFF, "all positions"),
            )
            for shift, (estimate, mark, shade, label) in zip((-0.12, 0.12), kinds, strict=True):
                axes.errorbar(
                    estimate.value,
                    y + shift,
                    xerr=error_bar(estimate),
                    fmt=mark,
                    color=shade,
                    label=label if y == 0 else None,
                )
        axes.set_yticks(range(len(evidence.on)), [f"{m}, {a}" for m, a in evidence.on], fontsize=8)
        axes.set(xlabel="validation accuracy (%)", xlim=(0, 102))
        axes.invert_yaxis()
        _legend(figure, [axes])
    return figure


def trade_off(points: Sequence[Mapping[str, Any]]) -> Figure:
    """Prediction difference against training loss, one mark an arm and snapshot: on different inputs (hollow: one
    model), and on the same inputs."""
    with styled():
        figure, (left, right) = canvas(1, 2, width=8.0, height=3.2)
        for axes in (left, right):
            if not points:
                _waiting(axes)
        for point in points:
            label = f"{point['model']}, {point['activation']}"
            style: Any = {"color": colour(point["model"]), "marker": marker(point["activation"]), "linestyle": "none"}
            left.plot(point["train_loss"], point["between"], label=label, **style)
            left.plot(point["train_loss"], point["itself"], markerfacecolor="none", markersize=9, **style)
            right.plot(point["train_loss"], point["paired"], **style)
        left.set_ylabel("mean total variation (0 to 1)")
        for axes, words in ((left, "different inputs (hollow: one model)"), (right, "same inputs")):
            axes.annotate(words, (0.97, 0.95), xycoords="axes fraction", ha="right", va="top", fontsize=8)
            axes.set_ylim(bottom=-0.04 * axes.get_ylim()[1])  # marks at 0 stay whole
        figure.supxlabel("training loss (nats)", fontsize=10)
        _legend(figure, [left], 3)
    return figure


def plateau(evidence: Evidence) -> Figure:
    """tinylstm's validation loss with the character tables: at lite scale and trained for longer."""
    with styled():
        figure, (axes,) = canvas(width=6.0, height=3.0)
        arms = [*evidence.off.of_model("tinylstm")[:1], *evidence.longer.of_model("tinylstm")[:1]]
        if not arms:
            _waiting(axes)
        for arm, words, style in zip(arms, ("the study's length", "trained on"), ((), (3, 1)), strict=False):
            steps = int(arm.record["config"]["recipe"]["iterations"])
            _line(
                axes,
                arm,
                steps,
                f"{words}: {steps:,} iterations, n = {len(arm.labels)}",
                color=colour("tinylstm"),
                dashes=style or (1, 0),
            )
        _tables(axes, evidence.off)
        axes.set(xlabel="iteration", ylabel="validation loss (nats)")
        if arms:
            axes.legend(fontsize=8)
    return figure


def swiglu(evidence: Evidence) -> Figure:
    """charlm under relu and swiglu: both published measures on different inputs, and total variation on the same
    inputs."""
    readings = {a: evidence.on[("charlm", a)] for a in ("relu", "swiglu") if ("charlm", a) in evidence.on}
    groups = ("total variation,\ndifferent inputs", "relative PD,\ndifferent inputs", "total variation,\nsame inputs")
    with styled():
        figure, (axes,) = canvas(width=6.5, height=3.2)
        if not readings:
            _waiting(axes)
        for i, (activation, reading) in enumerate(readings.items()):
            for x, estimate in enumerate((reading.between(), reading.between("relative_pd"), reading.paired())):
                place = x + (i - 0.5) * 0.36
                axes.bar(
                    place,
                    estimate.value,
                    0.32,
                    color=colour(activation),
                    alpha=0.75,
                    label=activation if x == 0 else None,
                )
                axes.errorbar(place, estimate.value, error_bar(estimate), color="#666666")
        axes.set_xticks(range(3), groups, fontsize=8)
        axes.set_ylabel("difference of two seeds")
        axes.grid(axis="x", visible=False)
        _legend(figure, [axes])
    return figure


def bars(values: Mapping[str, float], published: float, label: str) -> Figure:
    """One bar a value, with the published number as a line."""
    with styled():
        figure, (axes,) = canvas(width=5.6, height=2.8)
        if not values:
            _waiting(axes)
        for x, (name, value) in enumerate(values.items()):
            axes.bar(x, value, 0.6, color=ON if name == "mixed" else OFF, alpha=0.75)
            axes.text(x, value, f"{value:.1f}", ha="center", va="bottom", fontsize=8)
        axes.axhline(published, color="#333333", linewidth=1, linestyle="--")
        axes.annotate(
            "published", (0.99, published), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
        )
        axes.set_xticks(range(len(values)), list(values))
        axes.set_ylabel(label)
        axes.grid(axis="x", visible=False)
    return figure


def last_and_best(last: Mapping[str, Sequence[float]], best: Mapping[str, float | Sequence[float]]) -> Figure:
    """Losses of one model by activation: every trial and the mean, at the last step and at the lowest validation loss
    (or its mean alone)."""
    with styled():
        figure, (axes,) = canvas(width=5.6, height=3.0)
        if not last:
            _waiting(axes)
        for side, tone, losses, when in ((-0.12, ON, last, "last step"), (0.12, OFF, best, "lowest validation loss")):
            for x, (name, values) in enumerate(losses.items()):
                axes.plot(
                    x + side,
                    float(np.mean(values)),
                    "_",
                    color=tone,
                    markersize=18,
                    label=f"{when} (dash: mean)" if x == 0 else None,
                )
                if np.size(values) > 1:
                    axes.plot(np.full(np.size(values), x + side), values, marker(name), color=tone, alpha=0.7)
        axes.set_xticks(range(len(last)), list(last))
        axes.set_xlim(-0.6, max(1, len(last)) - 0.4)  # a mark stays near its tick, however few there are
        axes.set_ylabel("validation loss (nats)")
        axes.grid(axis="x", visible=False)
        if last:
            _legend(figure, [axes], 2)
    return figure


def printed(rows: Mapping[str, tuple[float, float]], label: str, logarithmic: bool = False) -> Figure:
    """name -> (as printed, as counted): two marks a row, joined where they differ."""
    with styled():
        figure, (axes,) = canvas(width=7.0, height=1.0 + 0.3 * len(rows))
        for y, (stated, found) in enumerate(rows.values()):
            axes.plot([stated, found], [y, y], color="#999999", linewidth=1)
            axes.plot(stated, y, "o", color=ON, label="printed" if y == 0 else None)
            axes.plot(found, y, "D", color=OFF, markerfacecolor="none", label="counted" if y == 0 else None)
        axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
        axes.set_ylim(len(rows) - 0.5, -0.5)  # the first row on top, no mark cut
        if logarithmic:
            axes.set_xscale("log")
        axes.set_xlabel(label)
        _legend(figure, [axes])
    return figure
