"""Figures of the reproducibility grid: a ``Grid`` in, a ``Figure`` out. Intervals are 95%; small marks are single
trials or pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.style import canvas, colour, dashes, marker, outlined, styled, words_alone
from actlab.records.repro import METRICS, TRIAL_METRICS, ArmResults, Grid
from actlab.statistics.estimate import Estimate


def error_bar(estimate: Estimate) -> list[list[float]]:
    """Matplotlib's ``yerr`` of an interval; nothing where there is none."""
    if np.isnan(estimate.low):
        return [[0.0], [0.0]]
    return [[estimate.value - estimate.low], [estimate.high - estimate.value]]


def singles(arm: ArmResults, metric: str) -> np.ndarray:
    """The values behind an estimate: one a pair, or one a trial."""
    if metric not in TRIAL_METRICS:
        matrix = arm.matrix(metric)
        return matrix[np.triu_indices(len(matrix), 1)]
    return arm.values(metric)


def _bar(axes: Axes, x: float, arm: ArmResults, metric: str, width: float = 0.7) -> None:
    estimate = arm.shown(metric)
    axes.bar(x, estimate.value, width, color=colour(arm.activation), alpha=0.75, edgecolor="none")
    axes.errorbar(x, estimate.value, error_bar(estimate), color="#333333", linewidth=1.2)
    points = singles(arm, metric)
    beside = np.full(len(points), x + 0.2 * width)  # on the error bar they could not be seen
    axes.plot(beside, points, "o", color="#333333", markersize=3.2, markeredgecolor="white", markeredgewidth=0.4)


def curves(grid: Grid) -> Figure:
    """Training and validation loss against the iteration, a row a model on the same axes; a line is the mean over
    trials, its band their range."""
    if not grid.arms:
        return words_alone("no record yet")
    with styled():
        figure, panels = canvas(len(grid.models), 2, width=7.6, height=0.4 + 2.2 * len(grid.models))
        for row, model in enumerate(grid.models):
            panels[2 * row + 1].sharex(panels[2 * row])
            panels[2 * row + 1].sharey(panels[2 * row])
            for axes, name in zip(panels[2 * row : 2 * row + 2], ("train_loss", "val_loss"), strict=True):
                _lines(axes, grid, model, name)
            panels[2 * row].set_ylabel(f"{model}: loss (nats)")
        for axes, words in zip(panels[:2], ("training batches", "whole validation split"), strict=True):
            outlined(axes, words, (0.98, 0.95), xycoords="axes fraction", ha="right", va="top", fontsize=8)
        _shared_legend(figure, panels)
        figure.supxlabel("iteration", fontsize=10)
    return figure


def _lines(axes: Axes, grid: Grid, model: str, name: str) -> None:
    for arm in grid.of_model(model):
        steps, values = arm.curve(name)
        known = ~np.isnan(values).all(axis=0)
        steps, values = steps[known], values[:, known]
        axes.plot(
            steps,
            np.nanmean(values, axis=0),
            color=colour(arm.activation),
            dashes=dashes(arm.activation),
            label=arm.activation,
        )
        axes.fill_between(
            steps,
            np.nanmin(values, axis=0),
            np.nanmax(values, axis=0),
            color=colour(arm.activation),
            alpha=0.15,
            linewidth=0,
        )
    if name == "val_loss":
        place: Any = {
            "xytext": (0, 3),
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "ha": "right",
            "va": "bottom",
        }
        for level, words in ((grid.baseline.get(key, {}).get("val_loss"), key) for key in ("unigram", "bigram")):
            if level is not None:
                axes.axhline(level, color="#666666", linewidth=0.8, linestyle=":")
                outlined(axes, f"{words} table", (0.99, level), fontsize=7, color="#666666", **place)


def _mark(axes: Axes, arm: ArmResults, x: str, y: str) -> None:
    first, second = arm.shown(x), arm.shown(y)
    style: Any = {
        "fmt": marker(arm.activation),
        "color": colour(arm.activation),
        "linewidth": 0.8,
        "markersize": 6.5,
        "label": arm.activation,
    }
    axes.errorbar(first.value, second.value, error_bar(second), error_bar(first), **style)


def scatter(grid: Grid, x: str = "val_accuracy", y: str = "total_variation") -> Figure:
    """Every arm of the grid: one panel a model, one mark an activation, with both intervals."""
    with styled():
        rows = -(-len(grid.models) // 3)
        figure, panels = canvas(rows, min(3, len(grid.models)), width=8.0, height=0.6 + 2.3 * rows)
        for axes, model in zip(panels, grid.models, strict=False):
            for arm in grid.of_model(model):
                _mark(axes, arm, x, y)
            axes.annotate(model, (0.03, 1.02), xycoords="axes fraction", fontsize=9)
        for axes in panels[len(grid.models) :]:
            axes.axis("off")
        _shared_legend(figure, panels)
        figure.supxlabel(grid.metrics[x].label, fontsize=10)
        figure.supylabel(grid.metrics[y].label, fontsize=10)
    return figure


def _shared_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=6, fontsize=8)


def bars(grid: Grid, metric: str) -> Figure:
    """Every arm: a group a model, a bar an activation: mean over trials (or pairs), its interval, and the single
    values."""
    with styled():
        figure, (axes,) = canvas(width=8.0 if len(grid.models) > 1 else 5.6, height=3.2)
        if len(grid.models) > 1:
            _grouped(axes, grid, metric)
            _shared_legend(figure, [axes])
        else:
            _ungrouped(axes, grid, metric)
    return figure


def _ungrouped(axes: Axes, grid: Grid, metric: str) -> None:
    for x, activation in enumerate(grid.activations):
        if (grid.models[0], activation) in grid.arms:
            _bar(axes, x, grid.arms[grid.models[0], activation], metric)
        else:
            axes.annotate(
                "not run", (x, 0), (0, 4), textcoords="offset points", ha="center", va="bottom", rotation=90, fontsize=8
            )
    axes.set_xticks(range(len(grid.activations)), list(grid.activations))
    axes.set_xlim(-0.6, len(grid.activations) - 0.4)  # as wide where nothing was run
    axes.set_ylabel(grid.metrics[metric].label)
    axes.grid(axis="x", visible=False)


def _grouped(axes: Axes, grid: Grid, metric: str) -> None:
    step = 0.84 / max(len(grid.activations), 1)
    for g, model in enumerate(grid.models):
        for i, activation in enumerate(grid.activations):
            if (model, activation) in grid.arms:
                _bar(
                    axes,
                    g + (i - (len(grid.activations) - 1) / 2) * step,
                    grid.arms[model, activation],
                    metric,
                    step * 0.9,
                )
    for activation in grid.activations:
        axes.bar(0, 0, color=colour(activation), label=activation)
    axes.set_xticks(range(len(grid.models)), list(grid.models), fontsize=8)
    axes.set_ylabel(grid.metrics[metric].label)
    axes.grid(axis="x", visible=False)


def four_panels(grid: Grid, metric: str = "total_variation") -> Figure:
    """The reference study's summary: grouped bars, box plot of single pairs, heat map of means, and sensitivity (CV%)
    with its interval."""
    with styled():
        figure, (top_left, top_right, bottom_left, bottom_right) = canvas(2, 2, width=10.0, height=7.0)
        _grouped(top_left, grid, metric)
        _boxes(top_right, grid, metric)
        _heat(bottom_left, grid, metric)
        _sensitivity(bottom_right, grid, metric)
        if len(grid.models) > 4:
            for axes in (top_left, top_right):
                axes.tick_params(axis="x", labelrotation=30)
        _shared_legend(figure, [top_left])
    return figure


def _boxes(axes: Axes, grid: Grid, metric: str) -> None:
    values = [np.concatenate([singles(arm, metric) for arm in grid.of_model(m)] or [np.array([])]) for m in grid.models]
    axes.boxplot([v[~np.isnan(v)] for v in values], tick_labels=list(grid.models), medianprops={"color": "#333333"})
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylabel(f"{grid.metrics[metric].label}\nall pairs of all activations")


def _heat(axes: Axes, grid: Grid, metric: str) -> None:
    estimates = grid.estimates(metric)
    table = np.array(
        [[estimates[m, a].value if (m, a) in estimates else np.nan for a in grid.activations] for m in grid.models]
    )
    image = axes.imshow(table, cmap="cividis", aspect="auto")
    middle = (np.nanmin(table) + np.nanmax(table)) / 2 if not np.isnan(table).all() else 0
    for (row, column), value in np.ndenumerate(table):
        text, ink = (
            ("not run", "#333333") if np.isnan(value) else (f"{value:.3f}", "white" if value < middle else "black")
        )
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)
    axes.set_xticks(range(len(grid.activations)), list(grid.activations), fontsize=8)
    axes.set_yticks(range(len(grid.models)), list(grid.models), fontsize=8)
    axes.grid(visible=False)
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, label=grid.metrics[metric].label)


def _sensitivity(axes: Axes, grid: Grid, metric: str) -> None:
    for y, model in enumerate(grid.models):
        estimate = grid.sensitivity(model, metric)
        if not np.isnan(estimate.value):
            axes.barh(y, estimate.value, color="#8DA0CB")
            axes.errorbar(estimate.value, y, xerr=error_bar(estimate), color="#333333")
    axes.set_yticks(range(len(grid.models)), list(grid.models), fontsize=8)
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("CV% over activations, 95% intervals")


def pair_heat(arm: ArmResults, metric: str = "total_variation") -> Figure:
    """Every pair of an arm's trials as a square."""
    with styled():
        figure, (axes,) = canvas(width=4.0, height=3.2)
        image = axes.imshow(arm.matrix(metric), cmap="cividis")
        axes.set_xticks(range(len(arm.labels)), arm.labels)
        axes.set_yticks(range(len(arm.labels)), arm.labels)
        axes.set(xlabel="seed", ylabel="seed")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, label=METRICS[metric].label)
    return figure


def floors(grid: Grid, metric: str = "total_variation") -> Figure:
    """Seeds against the noise floor, on a logarithmic axis: other seeds, one weight moved by one ULP; the same seed
    again is 0.

    A group a model, or for one model a place an activation.
    """
    if not any(arm.floor for arm in grid.arms.values()):
        return words_alone("no noise floor has been recorded yet")
    with styled():
        figure, (axes,) = canvas(width=8.0 if len(grid.models) > 1 else 5.6, height=3.2)
        groups = [model for model in grid.models if grid.of_model(model)]
        for g, model in enumerate(groups):
            for arm in grid.of_model(model):
                i = grid.activations.index(arm.activation)
                _against_floor(
                    axes, i if len(grid.models) == 1 else g + (i - (len(grid.activations) - 1) / 2) * 0.13, arm, metric
                )
        axes.set_yscale("log")
        axes.set_ylabel(grid.metrics[metric].label)
        axes.grid(axis="x", visible=False)
        if len(grid.models) > 1:
            axes.set_xticks(range(len(groups)), groups, fontsize=8)
            _shared_legend(figure, [axes])
        else:
            axes.set_xticks(range(len(grid.activations)), list(grid.activations))
            axes.set_xlim(-0.6, len(grid.activations) - 0.4)
    return figure


def _against_floor(axes: Axes, x: float, arm: ArmResults, metric: str) -> None:
    nudge = arm.floor_of(metric, "nudge")
    axes.plot(x, arm.estimate(metric).value, marker(arm.activation), color=colour(arm.activation), label=arm.activation)
    axes.plot(
        x, nudge if nudge > 0 else np.nan, marker(arm.activation), color=colour(arm.activation), markerfacecolor="none"
    )
