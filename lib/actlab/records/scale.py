"""Size and sensitivity as read from records: the same arms at several numbers of parameters. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.records.estimates import against
from actlab.records.families import quoted, told
from actlab.records.repro import ArmResults, Grid, apart, read
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import paired_difference, rank_correlation
from actlab.statistics.variance import block_share
from actlab.wording import bullets, normal_tails, signed, with_interval

REFERENCE = "relu"
ALPHA = 0.05
NO_RECORD = "no record yet"


@dataclass(frozen=True)
class Sizes:
    """The grids of one model, smallest first; each has its own number of parameters."""

    model: str = ""
    grids: tuple[Grid, ...] = ()
    activations: tuple[str, ...] = field(default=())
    primary: Grid | None = None
    """The grid whose family decides where an arm has its trials (``records.families``)."""

    def arms(self, activation: str) -> list[ArmResults]:
        """The activation's arms, one a size where it is recorded."""
        return [grid.arms[self.model, activation] for grid in self.grids if (self.model, activation) in grid.arms]

    def complete(self) -> list[Grid]:
        """The sizes at which every activation of the study is recorded."""
        return [grid for grid in self.grids if len(grid.arms) == len(self.activations)]


def read_sizes(records: Iterable[Record], primary: Grid | None = None) -> Sizes:
    """A study of one model at several scales, from its records, and the grid that it quotes; an empty one from none."""
    found = usual((record for record in records if record["kind"] == "trials"), apart=("scale",))
    if not found:
        return Sizes()
    grids = sorted((read(group) for group in apart(found).values()), key=parameters)
    names = {arm.activation for grid in grids for arm in grid.arms.values()}
    order = sorted(names, key=lambda name: (name != REFERENCE, name))
    return Sizes(found[0]["model_name"], tuple(grids), tuple(order), primary)


def parameters(grid: Grid) -> int:
    """Of the reference arm, or the first one: the arms of a size are matched within 1%."""
    arms = {activation: arm for (_, activation), arm in grid.arms.items()}
    return arms.get(REFERENCE, next(iter(arms.values()))).n_parameters


def scale_of(grid: Grid) -> str:
    """The scale's name."""
    return str(next(iter(grid.arms.values())).record["config"]["scale"])


def share(grid: Grid) -> Estimate:
    """Share of the variance of the final validation loss that lies between activations: two-way omega squared, arms
    share seeds (``block_share``)."""
    return _share(tuple(tuple(map(float, arm.values("val_loss"))) for arm in grid.arms.values()))


@cache
def _share(losses: tuple[tuple[float, ...], ...]) -> Estimate:
    """Of (arms, seeds) losses: computed once, for text, table and figure."""
    return block_share(np.array(losses).T, np.random.default_rng(0))


def trend(sizes: Sizes) -> float:
    """Spearman's rank correlation of share and number of parameters; NaN below three complete sizes."""
    grids = sizes.complete()
    if len(grids) < 3:
        return float("nan")
    points = np.array([[float(parameters(g)) for g in grids], [share(g).value for g in grids]])
    return float(rank_correlation(points[:, None])[0])


def verdict(sizes: Sizes) -> str:
    """The decision rule of params/scale.yaml: supported, contradicted or undecided; what it waits for where it cannot
    be asked."""
    grids = sizes.complete()
    if len(grids) < 3:
        return f"waits for records: complete sizes: {len(grids)}, and a trend needs three"
    smallest, largest = share(grids[0]), share(grids[-1])
    if trend(sizes) == -1 and largest.high < smallest.low:
        return "supported"
    return "contradicted" if largest.low > smallest.high else "undecided"


def table(sizes: Sizes) -> pd.DataFrame:
    """One row a size: parameters, trials, loss and total variation of the reference, share of variance of the
    activation."""
    rows = {}
    for grid in sizes.grids:
        relu = grid.arms.get((sizes.model, REFERENCE))
        rows[scale_of(grid)] = {
            "parameters": f"{parameters(grid):,}",
            "activations recorded": f"{len(grid.arms)} of {len(sizes.activations)}",
            "trials": sum(len(arm.done) for arm in grid.arms.values()),
            "relu: validation loss (nats)": with_interval(relu.estimate("val_loss")) if relu else NO_RECORD,
            "relu: total variation": with_interval(relu.estimate("total_variation")) if relu else NO_RECORD,
            "share of the loss's variance between activations": with_interval(share(grid), 3)
            if len(grid.arms) > 1
            else NO_RECORD,
        }
    return pd.DataFrame.from_dict(rows or {NO_RECORD: {"parameters": ""}}, orient="index")


Comparison = tuple[Grid, str, Estimate, float]
"""Size, activation, difference from relu paired by seed, p-value after Holm over all sizes and activations."""


def comparisons(sizes: Sizes, metric: str = "val_loss") -> list[Comparison]:
    """Every activation minus relu at every size (Holm over all of them); what the primary family has is quoted from
    it."""
    cells = [
        (grid, activation, (arm, grid.arms[sizes.model, REFERENCE]))
        for grid in sizes.grids
        if (sizes.model, REFERENCE) in grid.arms
        for (_, activation), arm in grid.arms.items()
        if activation != REFERENCE
    ]
    tested = against([pair for *_, pair in cells], metric)
    return [
        (grid, a, *(quoted(pair[0], sizes.primary, metric) or own))
        for (grid, a, pair), own in zip(cells, tested, strict=True)
    ]


def growth(sizes: Sizes, metric: str = "val_loss") -> dict[str, Estimate]:
    """By activation: its difference from relu at the largest complete size less that at the smallest, paired by
    seed."""
    grids = sizes.complete()
    if len(grids) < 2:
        return {}

    def apart(grid: Grid, activation: str) -> NDArray[np.float64]:
        return grid.arms[sizes.model, activation].values(metric) - grid.arms[sizes.model, REFERENCE].values(metric)

    names = [name for name in sizes.activations if name != REFERENCE]
    return {name: paired_difference(apart(grids[-1], name), apart(grids[0], name)) for name in names}


def differences(sizes: Sizes, metric: str = "val_loss") -> pd.DataFrame:
    """A row an activation, a column a size: the difference from relu with its interval; a star where it is significant
    (Holm, 5%)."""
    rows: dict[str, dict[str, str]] = {}
    for grid, activation, difference, p in comparisons(sizes, metric):
        star = " *" if p < ALPHA else ""
        rows.setdefault(f"{activation} minus relu", {})[f"{parameters(grid):,} parameters"] = (
            f"{with_interval(difference)}{star}"
        )
    return pd.DataFrame.from_dict(rows or {NO_RECORD: {"": ""}}, orient="index").fillna(NO_RECORD)


def sentences(sizes: Sizes) -> dict[str, str]:
    """What the rule says, and what it rests on."""
    if not sizes.grids:
        waiting = dict.fromkeys(("scale_rule", "scale_sure", "scale_tails", "scale_growth"), "No record yet")
        return {"scale_extent": "No record yet: `actlab run params/scale.yaml` makes them", **waiting}
    grids = sizes.complete()
    counts = ", ".join(f"{parameters(grid):,}" for grid in sizes.grids)
    plural = "" if len(sizes.grids) == 1 else "s"
    complete = "all" if len(grids) == len(sizes.grids) else f"{len(grids)} of them"
    found = {
        "scale_extent": f"The model {sizes.model} at {len(sizes.grids)} size{plural} ({counts} parameters), every activation at {complete}"
    }
    shares = "; ".join(
        f"{100 * e.value:.0f}% [{100 * e.low:.0f}, {100 * e.high:.0f}] at {parameters(g):,}"
        for g in grids
        for e in [share(g)]
    )
    decided = f'That sensitivity falls with scale: "{verdict(sizes)}"'
    seeds = f"95%, n = {share(grids[0]).n if grids else 0} seeds that all arms share"
    found["scale_rule"] = (
        f"{decided}. Share of the loss's variance between activations: {shares or 'no complete size'} ({seeds})"
    )
    tested = comparisons(sizes)
    again = {a: (e, p) for g, a, e, p in tested if quoted(g.arms[sizes.model, a], sizes.primary, "val_loss")}
    own = [test for test in tested if not quoted(test[0].arms[sizes.model, test[1]], sizes.primary, "val_loss")]
    named = [f"{a} at {parameters(g):,} ({e.value:+.3f} nats)" for g, a, e, p in own if p < ALPHA]
    head = f"{len(named)} of {len(own)} differences of loss from relu are significant (Holm-adjusted, 5%)"
    found["scale_sure"] = f"{head}: {', '.join(named) or 'none'}" + (
        f". At lite size the arms {told(again, sizes.primary)}" if again else ""
    )
    found["scale_tails"] = normal_tails(max((e.n for _, _, e, _ in own), default=0))
    found["scale_growth"] = ""
    if grown := growth(sizes):
        first, last = (f"{parameters(grid):,}" for grid in (grids[0], grids[-1]))
        moves = ", ".join(f"{name} {signed(e)}" for name, e in grown.items())
        found["scale_growth"] = (
            f"Not part of the rule: from {first} to {last} parameters a difference of loss from relu moves by (nats, 95%) {moves}"
        )
    return found


def listed(sizes: Sizes) -> object:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(sizes).values())
