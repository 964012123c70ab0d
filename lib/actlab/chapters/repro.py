"""The page of reproducibility between seeds as sentences, whose every number is computed from records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from actlab.figures.style import NO_RECORD
from actlab.records.families import family_size, tested
from actlab.records.labels import METRICS
from actlab.records.repro import ArmResults, Grid, shared
from actlab.records.wording import extremes, listing, signed, significance, small, span
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import Chosen, jackknife, spearman
from actlab.statistics.significance import REFERENCE

FEWEST_PAIRS = 10
"""Below so many differences a rank correlation says nothing worth a sentence."""

FAR = 1e-4
"""Total variation that a perturbation of 1 ULP reaches where it grows; a sentence names the two sides of it."""


def sentences(grid: Grid) -> dict[str, str]:
    """Name -> sentence, in the order of the page."""
    return {
        "answer": answer(grid),
        "total_variation": compared(grid, "total_variation"),
        "val_loss": compared(grid, "val_loss"),
        "trade": progress(grid),
        "seeds": seeds(grid),
        "baselines": baselines(grid),
    }


def answer(grid: Grid) -> str:
    """The page's answer: in how many comparisons the activation changes the loss, and the agreement of two seeds."""
    tests = tested(grid, "val_loss"), tested(grid, "total_variation")
    if not tests[0]:
        return "no record compares an activation with relu yet"
    loss, tv = (sum(test.significant for test in found) for found in tests)
    there = sum(test.significant and test.arm.model in stuck(grid) for test in tests[1])
    means = [grid.arms[model, REFERENCE].estimate("total_variation").value for model in learned(grid)]
    without = f" (without {listing(stuck(grid))}, which has learned too little)" * bool(stuck(grid))
    apart = f"two {REFERENCE} networks differ by a total variation of {span(means, '.2f')}{without}. " if means else ""
    return (
        f"{apart}After the same number of steps {loss} of {len(tests[0])} validation losses differ significantly from "
        f"{REFERENCE}'s (Holm-adjusted, 5%); so do {tv} differences between seeds"
        f"{f', {there} of them in {listing(stuck(grid))}' * bool(there)}. The others are undecided"
    )


def compared(grid: Grid, metric: str) -> str:
    """How many arms differ significantly from relu in a metric, and which most; nothing where there is no pair of
    arms. What another study's family decides is named, not counted."""
    tests = tested(grid, metric)
    if not tests:
        return ""
    own = {f"{t.arm.activation} in {t.arm.model}": (t.difference, t.p) for t in tests if not t.quoted}
    again = [t for t in tests if t.quoted]
    known = learned(grid)
    aside = [f"{t.arm.activation} in {t.arm.model}" for t in tests if known and t.arm.model not in known]
    said = significance(own, METRICS[metric].short, family_size(grid), aside)
    if not again or not grid.primary:
        return said
    told = [f"{t.arm.activation} {signed(t.difference)}, {'not ' * (not t.significant)}significant" for t in again]
    return f"{said}. Tested on the page after equal steps: {listing(told)}"


def by_the_margin(grid: Grid, margin: float) -> str:
    """Which activations change the loss beside relu, by the rule of params/extreme.yaml.

    Args:
        grid: the arms.
        margin: of equivalence, in nats: an activation is equivalent if all of its 95% interval lies within it.
    """
    words = ("significantly higher", "significantly lower", "equivalent", "undecided")
    found: dict[str, list[str]] = {word: [] for word in words}
    for test in tested(grid, "val_loss"):
        e = test.difference
        near = "equivalent" if -margin < e.low and e.high < margin else "undecided"
        far = f"significantly {'lower' if e.value < 0 else 'higher'}"
        found[far if test.significant else near].append(test.arm.activation)
    told = [f"{word} under {listing(names)}" for word, names in found.items() if names]
    return f"compared with relu's, the validation loss is {'; '.join(told)} (Holm-adjusted; margin {margin:g} nats)"


def learned(grid: Grid) -> list[str]:
    """The models whose relu has a lower mean loss than the unigram table: the others have learned nothing yet."""
    level = grid.baseline["unigram"]["val_loss"] if grid.baseline else math.inf
    known = [grid.arms[model, REFERENCE] for model in grid.models if (model, REFERENCE) in grid.arms]
    return [arm.model for arm in known if arm.estimate("val_loss").value < level]


def stuck(grid: Grid) -> list[str]:
    """The models whose relu has not."""
    known = learned(grid)
    return [model for model in grid.models if model not in known and (model, REFERENCE) in grid.arms]


def seeds(grid: Grid) -> str:
    """How often two seeds choose another next character; nothing before a model has learned something."""
    arms = [arm for model in learned(grid) for arm in grid.of_model(model)]
    churn = {f"{arm.activation} in {arm.model}": 100 * arm.estimate("churn").value for arm in arms}
    if not churn:
        return ""
    told = extremes(churn, "{:.1f}%".format)
    return f"two runs that differ only in the seed predict another next character at {told} of the positions"


def baselines(grid: Grid) -> str:
    """Which models have arms whose interval does not lie below the character tables."""
    if not grid.baseline:
        return f"the character tables have {NO_RECORD}"
    said = []
    for name in ("unigram", "bigram"):
        level = grid.baseline[name]["val_loss"]
        behind = dict.fromkeys(arm.model for arm in grid.arms.values() if not arm.estimate("val_loss").high < level)
        aside = f" except in configurations of {listing(behind)}" if behind else ""
        said.append(f"below that of the {name} table ({level:.3f} nats){aside}")
    return f"the 95% interval of the loss lies {', '.join(said)}"


def association(arms: Sequence[tuple[ArmResults, ArmResults]]) -> Estimate:
    """Rank correlation (Spearman) over pairs of arms of their differences in total variation and in validation loss,
    with a jackknife that leaves one seed at a time out of all.

    The interval speaks of other seeds of these arms, not of other arms. ``n`` counts seeds; NaN below three of them or
    below three pairs of arms.
    """

    def statistic(seeds: Chosen) -> float:
        metrics = ("total_variation", "val_loss")
        return spearman(*([a.mean(metric, seeds) - b.mean(metric, seeds) for a, b in arms] for metric in metrics))

    seeds = shared([arm for pair in arms for arm in pair])
    enough = len(arms) > 2 and len(seeds) > 2
    wide = jackknife(statistic if enough else lambda _: math.nan, seeds)
    return replace(wide, low=max(wide.low, -1.0), high=min(wide.high, 1.0)) if enough else wide


def progress(grid: Grid) -> str:
    """Whether arms that agree more have learned less after the same steps; nothing where there are too few differences
    from relu to tell it by."""
    known = learned(grid)
    pairs = [pair for (model, _), pair in grid.couples(REFERENCE).items() if model in known]
    if len(pairs) < FEWEST_PAIRS or np.isnan((found := association(pairs)).value):
        return ""
    sign = "higher" if found.high < 0 else "lower" if found.low > 0 else ""
    meaning = f"lower disagreement between seeds goes with {sign} loss" if sign else "undecided"
    return (
        f"exploratory: over {len(pairs)} differences from relu, those in total variation and those in validation loss "
        f"have a rank correlation of {signed(found, 2)}: {meaning}"
    )


def floor(grid: Grid) -> str:
    """The noise floor in a sentence: which activations carry a 1-ULP perturbation far, and how near the others stay."""
    moved, failed = grid.floors(), sum(value > 0 for value in grid.floors("repeat").values())
    far = {activation: value for (_, activation), value in moved.items() if value > FAR}
    models = listing(dict.fromkeys(model for model, _ in moved))
    near = [value for value in moved.values() if value <= FAR]
    again = f"did NOT give the same bits in {failed} arms" if failed else "gives the same bits"
    return (
        f"the same seed run again {again}. At a low learning rate, with one weight moved by one unit in the last "
        f"place, two runs of {models} end at least {small(min(far.values(), default=FAR))} of total variation apart "
        f"under {listing(far)}, at most {small(max(near, default=0.0))} under the other activations (one pair each)"
    )
