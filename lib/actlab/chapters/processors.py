"""The same seed on another kind of processor, and in bfloat16: what rounding alone makes of a result, from records and
replays.

Two processors add the same numbers in another order, so that every sum may differ in its last digits; seed, data and
versions are the same. bfloat16 is compared by the plan of params/dtype.yaml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.repro import FAR
from actlab.chapters.template import frame
from actlab.figures.primitives import points
from actlab.figures.style import NO_RECORD
from actlab.records import repro
from actlab.records.labels import METRICS
from actlab.records.preregistration import params_of
from actlab.records.replays import PROCESSOR, load_twins, twins
from actlab.records.repro import Grid
from actlab.records.sources import Sources
from actlab.records.wording import extremes, listing, signed, small, span
from actlab.statistics.equal_loss import decide
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import ALPHA, REFERENCE

__all__ = ["PROCESSOR", "twins"]
read = load_twins
NEAR, ANYWAY = 1e-6, 1e-3
"""Total variation below which it does not grow without a GPU (params/rounding.yaml); above which it does at a low rate
(params/rounding-slow.yaml)."""
SMOOTH_ARMS, MANY = 30, 4
"""Of params/rounding-tuned.yaml: planned configurations without the reference; architectures that contradict it."""
NOWHERE = 1e-10
"""Where a difference of 0 is drawn, on an axis that has no place for it."""
HALF, WHOLE = "dtype", "repro-lite"
"""The study in bfloat16, and that of the same arms in float32."""
NO_HALF = f"{NO_RECORD}: `actlab run params/dtype.yaml` makes them on a processor with bfloat16 arithmetic"
ARM = ["model", "activation"]


def figure(found: pd.DataFrame) -> Figure:
    """A panel a model, on a logarithmic axis: how far every trial's losses lie apart between two processors (small
    marks), and those of two seeds."""
    arms = {(m, a, a): arm for (m, a), arm in found.groupby(ARM, sort=False)}
    singles = {key: arm["apart"].clip(lower=NOWHERE) for key, arm in arms.items()}
    seeds = {
        key: Estimate(arm["between_seeds"].iloc[0], nan, nan, len(arm), "mean over pairs of seeds")
        for key, arm in arms.items()
    }
    return points(seeds, "losses apart (nats); 1e-10 stands for 0", singles=singles, log=True)


def reach(found: pd.DataFrame) -> str:
    """How far losses lie apart under relu and otherwise, the architecture apart where they do most."""
    relu, others = (found[found["other"] == other] for other in (False, True))
    worst = others.loc[others["apart"].idxmax(), "model"]
    rest, there = (others.loc[(others["model"] == worst) == of, "apart"] for of in (False, True))
    return (
        f"{span(relu['apart'], '.2g')} nats under {REFERENCE}. Under the others it changes by at most "
        f"{small(max(rest, default=0.0))}, in {worst} by at most {small(max(there))}"
    )


def summary(found: pd.DataFrame) -> str:
    """relu against all others, by architecture, and on which kinds of processor."""
    medians = found.groupby(["other", "model"])["apart"].median()
    kinds = sorted({name for both in found["processors"] for name in both})
    return (
        f"on another kind of CPU the validation loss changes by {reach(found)}. Medians by architecture are "
        f"{extremes(dict(medians[False]))} under {REFERENCE}. Those of the others are {extremes(dict(medians[True]))}. "
        f"These are {len(found)} runs on {listing(kinds)}, with the same versions of the software"
    )


def growing(grid: Grid | Sources) -> str:
    """In how many architectures a perturbation of 1 ULP grows under the reference, and in which under another
    activation."""
    grown = [cell for cell, moved in grid.floors().items() if moved > FAR]
    asked = {model for model, activation in grid.floors() if activation == REFERENCE}
    past = sum(activation == REFERENCE for _, activation in grown)
    others = listing(dict.fromkeys(model for model, activation in grown if activation != REFERENCE))
    return f"under {REFERENCE} in {past} of {len(asked)} architectures, under other activations in {others}"


def figure_rates(grids: Mapping[str, Grid | Sources]) -> Figure:
    """A panel a model, a row an activation, a mark a study: how far one seed ends from itself after 1 ULP; an exact 0
    has no place on the logarithmic axis."""
    found = {
        (*cell, name): Estimate(moved, nan, nan, 1, "one pair")
        for name, grid in grids.items()
        for cell, moved in grid.floors().items()
        if moved > 0
    }
    return points(found, METRICS["total_variation"].label, log=True)


def grown(grids: Mapping[str, Grid | Sources]) -> str:
    """Where it grows in each of these studies."""
    return f"more than {FAR:g} apart: " + "; ".join(f"{name}, {growing(grid)}" for name, grid in grids.items())


def at_tuned_rates(tuned: Sources) -> str:
    """Whether it stays small under smooth activations at tuned rates, by the rule of params/rounding-tuned.yaml."""
    others = {cell: moved for cell, moved in tuned.floors().items() if cell[1] != REFERENCE}
    grown = [model for (model, _), moved in others.items() if moved > FAR]
    every = "supported" if not grown and len(others) == SMOOTH_ARMS else "undecided"
    return (
        f"at tuned rates the hypothesis that 1 ULP leads at most {FAR:g} apart under all activations but {REFERENCE} "
        f"is {'contradicted' if len(set(grown)) >= MANY else every}: {len(grown)} of {len(others)} configurations "
        f"exceed this, in {len(set(grown))} architectures (one pair each)"
    )


def causes(cpu: Sources, gpu: Grid, slow: Sources) -> pd.DataFrame:
    """A row a configuration: the same perturbation on a CPU, on a GPU and at a third of the learning rate, and what its
    growth in that architecture needs by the rules of params/rounding.yaml and params/rounding-slow.yaml."""
    here = pd.Series(cpu.floors(), dtype=float)
    low = pd.Series(slow.floors(), dtype=float).reindex(here.index)
    most, at_low = (moved.groupby(level=0).transform(lambda both: both.max(skipna=False)) for moved in (here, low))
    gpus = np.where(most > FAR, "no", np.where(most < NEAR, "yes", "undecided"))
    rates = np.where(at_low <= FAR, "yes", np.where(at_low > ANYWAY, "no", "undecided"))
    found = {"CPU": here, "GPU": pd.Series(gpu.floors()), "CPU, a third of the rate": low}
    rows = pd.DataFrame(found).loc[here.index].map(small)
    rows["needs a GPU"], rows["needs the rate"] = gpus, rates
    return rows.set_axis([", ".join(cell) for cell in here.index])


def on_both(cpu: Grid, gpu: Grid) -> list[str]:
    """A sentence an arm that both have: the losses of one seed, and the total variation between seeds."""
    said = []
    for cell, arm in ((cell, arm) for cell, arm in cpu.arms.items() if cell in gpu.arms):
        losses = [each.values("val_loss", arm.labels) for each in (arm, gpu.arms[cell])]
        here, there = (each.arms[cell].estimate("total_variation").value for each in (cpu, gpu))
        said.append(
            f"the same seeds on a CPU and on a GPU, {cell[1]} in {cell[0]}: losses at most "
            f"{small(np.abs(np.subtract(*losses)).max())} nats apart; mean total variation between seeds {here:.3f} "
            f"and {there:.3f}"
        )
    return said


def bfloat16() -> tuple[str, pd.DataFrame]:
    """The records in bfloat16 and in float32, compared by the committed plan."""
    half, whole = (repro.read_study(study) for study in (HALF, WHOLE))
    params = params_of(HALF)
    return equivalence(half, whole, params["plan"], len(params["model"]) * len(params["activations"]))


def equivalence(half: Grid, whole: Grid, plan: Mapping[str, Any], arms: int) -> tuple[str, pd.DataFrame]:
    """The hypothesis, by the plan's rule over all its ``arms``, in a sentence; a row an outcome of the plan and arm
    that both studies have, each outcome a family of its own."""
    rows: dict[str, dict[str, str]] = {}
    cells = [cell for cell in half.arms if cell in whole.arms]
    for outcome in plan["outcomes"]:
        margin = float(outcome["margin"])
        found = {cell: half.arms[cell].minus(whole.arms[cell], outcome["metric"]) for cell in cells}
        for cell, one in decide(found, margin).items():
            apart = min(abs(one.difference.low), abs(one.difference.high)) > margin and one.adjusted < ALPHA
            same = "equivalent" if one.equivalence_adjusted < ALPHA else "undecided"
            rows[f"{', '.join(cell)}: {outcome['name']}"] = {
                "bfloat16 minus float32": signed(one.difference, 5),
                "margin": f"{margin:g}",
                "verdict": "beyond the margin" if apart else same,
            }
    if not rows:
        return NO_HALF, frame({})
    counts = Counter(row["verdict"] for row in rows.values())
    planned = arms * len(plan["outcomes"])
    every = "supported" if counts["equivalent"] == planned else "undecided"
    word = "contradicted" if counts["beyond the margin"] else every
    told = f"{counts['equivalent']} of {planned} planned comparisons are equivalent within their margins"
    return f"that training in bfloat16 is equivalent to float32 is {word}: {told}", frame(rows)
