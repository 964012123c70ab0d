"""The full-scale report asked again: does the activation change less in larger models (the rule of params/scale.yaml),
and which of the published scales are run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from actlab.figures.primitives import Line, line, lines
from actlab.records import repro
from actlab.records.families import Tested, tested
from actlab.records.repro import Grid, shared
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import paired_difference, spearman
from actlab.statistics.significance import REFERENCE
from actlab.statistics.variance import block_share

LOSS, SHARE = "loss minus relu's (nats)", "share of the loss's variance between activations"
CAPTION = (
    "The losses differ more from relu's in larger networks (left: validation loss minus relu's after equal steps, "
    "paired by seed; below 0 predicts better); whether the activation's share of the loss's variance (right) changes "
    "is undecided. Bars: 95% intervals"
)


def read(records: Iterable[Record], primary: Grid | None = None) -> Grid:
    """A study of one model at several scales, a row a size, and the grid that it quotes."""
    arms = usual((record for record in records if record["kind"] == "trials"), apart=("scale",))
    return replace(repro.read(arms), primary=primary)


def sizes(grid: Grid) -> dict[str, int]:
    """Row of the grid -> parameters of its first arm, smallest first: the arms of a size are matched within 1%."""
    found = {row: grid.of_model(row)[0].n_parameters for row in grid.models}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def complete(grid: Grid) -> list[str]:
    """The sizes at which every activation of the study is recorded, smallest first."""
    return [row for row in sizes(grid) if len(grid.of_model(row)) == len(grid.activations)]


def share(grid: Grid, row: str) -> Estimate:
    """Share of the variance of the final validation loss at a size that lies between activations: two-way omega
    squared, arms share seeds (``block_share``)."""
    arms = grid.of_model(row)
    return _share(tuple(tuple(map(float, arm.values("val_loss", shared(arms)))) for arm in arms))


@cache
def _share(losses: tuple[tuple[float, ...], ...]) -> Estimate:
    """Of (arms, seeds) losses: computed once, for text, table and figure."""
    return block_share(np.array(losses).T, np.random.default_rng(0))


def shares(grid: Grid) -> dict[int, Estimate]:
    """Parameters -> share of every complete size, smallest first."""
    return {sizes(grid)[row]: share(grid, row) for row in complete(grid)}


def trend(grid: Grid) -> float:
    """Spearman's rank correlation of share and number of parameters; NaN below three complete sizes."""
    found = shares(grid)
    return spearman([*found], [e.value for e in found.values()]) if len(found) > 2 else math.nan


def verdict(grid: Grid) -> str:
    """The decision rule of params/scale.yaml: supported, contradicted or undecided; what it waits for where it cannot
    be asked."""
    found = list(shares(grid).values())
    if len(found) < 3:
        return f"waits for records: complete sizes: {len(found)}, and a trend needs three"
    if math.isclose(trend(grid), -1) and found[-1].high < found[0].low:
        return "supported"
    return "contradicted" if found[-1].low > found[0].high else "undecided"


def comparisons(grid: Grid) -> list[Tested]:
    """The loss of every activation minus relu's at every size, smallest first (Holm over all of them); what the primary
    family has is quoted from it."""
    return sorted(tested(grid, "val_loss"), key=lambda found: sizes(grid)[found.arm.model])


def growth(grid: Grid) -> dict[str, Estimate]:
    """By activation: how much further its loss lies from relu's at the largest complete size than at the smallest, on
    the side where it lies there, paired by seed."""
    rows, couples, found = complete(grid), grid.couples(REFERENCE), {}
    if len(rows) < 2:
        return {}
    for name in sorted(name for row, name in couples if row == rows[-1]):
        four = [arm for row in (rows[0], rows[-1]) for arm in couples[row, name]]
        small, relu_small, large, relu_large = (arm.values("val_loss", shared(four)) for arm in four)
        side = float(np.sign(np.mean(large - relu_large)))
        found[name] = paired_difference(side * (large - relu_large), side * (small - relu_small))
    return found


def figure(grid: Grid) -> Figure:
    """Against the number of parameters: each activation's loss minus relu's, and the share of the loss's variance that
    lies between activations."""
    by_activation: dict[str, dict[float, Estimate]] = {}
    for test in comparisons(grid):
        by_activation.setdefault(test.arm.activation, {})[float(sizes(grid)[test.arm.model])] = test.difference
    found: dict[tuple[str, str], Line] = {(LOSS, activation): line(e) for activation, e in by_activation.items()}
    if by_size := shares(grid):
        found[SHARE, "all activations"] = line(by_size)
    return lines(found, "parameters", "", kind="bars", zero=True, log=True, columns=2, share=False, height=2.8)
