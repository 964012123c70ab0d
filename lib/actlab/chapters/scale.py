"""Does the activation matter less in larger models: the same arms at several numbers of parameters, by the decision
rule of params/scale.yaml."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.template import frame
from actlab.figures.primitives import Line, line, lines
from actlab.figures.style import NO_RECORD
from actlab.records import repro
from actlab.records.estimates import ALPHA, REFERENCE
from actlab.records.families import Tested, tested, told
from actlab.records.repro import Grid
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.records.wording import normal_tails, signed, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import paired_difference, rank_correlation
from actlab.statistics.variance import block_share

LOSS, SHARE = "loss minus relu's (nats)", "share of the loss's variance between activations"


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
    return _share(tuple(tuple(map(float, arm.values("val_loss"))) for arm in grid.of_model(row)))


@cache
def _share(losses: tuple[tuple[float, ...], ...]) -> Estimate:
    """Of (arms, seeds) losses: computed once, for text, table and figure."""
    return block_share(np.array(losses).T, np.random.default_rng(0))


def trend(grid: Grid) -> float:
    """Spearman's rank correlation of share and number of parameters; NaN below three complete sizes."""
    rows = complete(grid)
    if len(rows) < 3:
        return float("nan")
    points = np.array([[float(sizes(grid)[row]) for row in rows], [share(grid, row).value for row in rows]])
    return float(rank_correlation(points[:, None])[0])


def verdict(grid: Grid) -> str:
    """The decision rule of params/scale.yaml: supported, contradicted or undecided; what it waits for where it cannot
    be asked."""
    rows = complete(grid)
    if len(rows) < 3:
        return f"waits for records: complete sizes: {len(rows)}, and a trend needs three"
    smallest, largest = share(grid, rows[0]), share(grid, rows[-1])
    if trend(grid) == -1 and largest.high < smallest.low:
        return "supported"
    return "contradicted" if largest.low > smallest.high else "undecided"


def comparisons(grid: Grid, metric: str = "val_loss") -> list[Tested]:
    """Every activation minus relu at every size, smallest first (Holm over all of them); what the primary family has is
    quoted from it."""
    return sorted(tested(grid, metric), key=lambda found: sizes(grid)[found[0].model])


def growth(grid: Grid) -> dict[str, Estimate]:
    """By activation: its loss minus relu's at the largest complete size minus that at the smallest, paired by seed."""
    rows = complete(grid)
    if len(rows) < 2:
        return {}
    small, large = (
        {
            a: grid.arms[row, a].values("val_loss") - grid.arms[row, REFERENCE].values("val_loss")
            for a in grid.activations
        }
        for row in (rows[0], rows[-1])
    )
    return {a: paired_difference(large[a], small[a]) for a in sorted(grid.activations) if a != REFERENCE}


def figure(grid: Grid) -> Figure:
    """Against the number of parameters: each activation's loss minus relu's, and the share of the loss's variance that
    lies between activations."""
    by_activation: dict[str, dict[float, Estimate]] = {}
    for arm, estimate, _, _ in comparisons(grid):
        by_activation.setdefault(arm.activation, {})[float(sizes(grid)[arm.model])] = estimate
    found: dict[tuple[str, str], Line] = {(LOSS, activation): line(e) for activation, e in by_activation.items()}
    shares = {size: share(grid, row) for row, size in sizes(grid).items() if len(grid.of_model(row)) > 1}
    if shares:
        found[SHARE, "all activations"] = line(shares)
    return lines(found, "parameters", "", bars=True, zero=True, log="x", columns=2, share=False, height=2.8)


def table(grid: Grid) -> pd.DataFrame:
    """One row a size: parameters, trials, loss and total variation of the reference, share of variance of the
    activation."""
    rows = {}
    for row, size in sizes(grid).items():
        arms, relu = grid.of_model(row), grid.arms.get((row, REFERENCE))
        rows[arms[0].record["config"]["scale"]] = {
            "parameters": f"{size:,}",
            "activations recorded": f"{len(arms)} of {len(grid.activations)}",
            "trials": sum(len(arm.done) for arm in arms),
            "relu: validation loss (nats)": with_interval(relu.estimate("val_loss")) if relu else NO_RECORD,
            "relu: total variation": with_interval(relu.estimate("total_variation")) if relu else NO_RECORD,
            SHARE: with_interval(share(grid, row), 3) if len(arms) > 1 else NO_RECORD,
        }
    return frame(rows)


def differences(grid: Grid) -> pd.DataFrame:
    """A row an activation, a column a size: the difference of loss from relu with its interval; a star where it is
    significant (Holm, 5%)."""
    rows: dict[str, dict[str, str]] = {}
    for arm, difference, p, _ in comparisons(grid):
        cell = f"{with_interval(difference)}{' *' if p < ALPHA else ''}"
        rows.setdefault(f"{arm.activation} minus relu", {})[f"{sizes(grid)[arm.model]:,} parameters"] = cell
    return frame(rows).replace("", NO_RECORD)


def sentences(grid: Grid) -> dict[str, str]:
    """What the rule says, and what it rests on."""
    if not grid.arms:
        waiting = dict.fromkeys(("scale_rule", "scale_sure", "scale_tails", "scale_growth"), NO_RECORD.capitalize())
        return {"scale_extent": f"{NO_RECORD.capitalize()}: `actlab run params/scale.yaml` makes them", **waiting}
    rows, found = complete(grid), sizes(grid)
    plural, counts = "" if len(found) == 1 else "s", ", ".join(f"{size:,}" for size in found.values())
    whole = "all" if len(rows) == len(found) else f"{len(rows)} of them"
    shares = {found[row]: share(grid, row) for row in rows}
    listed = "; ".join(
        f"{100 * e.value:.0f}% [{100 * e.low:.0f}, {100 * e.high:.0f}] at {size:,}" for size, e in shares.items()
    )
    seeds = f"95%, n = {share(grid, rows[0]).n if rows else 0} seeds that all arms share"
    every = comparisons(grid)
    own = [test for test in every if not test[3]]
    again = {arm.activation: (e, p) for arm, e, p, quoted in every if quoted}
    named = [f"{arm.activation} at {found[arm.model]:,} ({e.value:+.3f} nats)" for arm, e, p, _ in own if p < ALPHA]
    moves = ", ".join(f"{name} {signed(e)}" for name, e in growth(grid).items())
    said = {
        "scale_extent": f"The model {grid.arms[next(iter(grid.arms))].record['model_name']} at {len(found)} "
        f"size{plural} ({counts} parameters), every activation at {whole}",
        "scale_rule": f'That sensitivity falls with scale: "{verdict(grid)}". Share of the loss\'s variance between '
        f"activations: {listed or 'no complete size'} ({seeds})",
        "scale_sure": f"{len(named)} of {len(own)} differences of loss from relu are significant (Holm-adjusted, 5%): "
        f"{', '.join(named) or 'none'}" + (f". At lite size the arms {told(again, grid.primary)}" if again else ""),
        "scale_tails": normal_tails(max((e.n for _, e, _, _ in own), default=0)),
        "scale_growth": "",
    }
    if moves:
        said["scale_growth"] = (
            f"Not part of the rule: from {found[rows[0]]:,} to {found[rows[-1]]:,} parameters a difference of loss "
            f"from relu moves by (nats, 95%) {moves}"
        )
    return said
