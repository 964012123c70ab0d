"""The page of reproducibility between seeds as sentences, whose every number is computed from records. The README
quotes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from actlab.figures.style import NO_RECORD
from actlab.records.estimates import ALPHA
from actlab.records.families import family_size, tested, told
from actlab.records.labels import METRICS
from actlab.records.repro import ArmResults, Grid, seed_means
from actlab.records.wording import bullets, normal_tails, signed, small
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import few_differ, jackknifed, rank_correlation

LISTED = 6
"""How many differences a sentence names, the largest."""
FEWEST_PAIRS = 10
"""Below so many differences a rank correlation says nothing worth a sentence."""
FIRST_LOOK = datetime.fromisoformat("2026-11-21T04:53:28+00:00")
"""When the association of agreement with loss was first computed: the commit that brought ``association`` (a test asks
the history)."""
SENTENCES = ("extent", "seeds", "models", "activations", "losses", "tails", "progress", "floor", "baselines")


def sentences(grid: Grid) -> dict[str, str]:
    """Name -> sentence, in Markdown without headings. A study without records says so in every sentence."""
    if not grid.arms:
        return dict.fromkeys(SENTENCES, NO_RECORD.capitalize())
    found = extent(grid), seeds(grid), models(grid), compared(grid, "total_variation"), compared(grid, "val_loss")
    return dict(zip(SENTENCES, (*found, tails(grid), progress(grid), floor(grid), baselines(grid)), strict=True))


def answer(grid: Grid) -> Any:
    """The page's answer in one sentence, for a notebook."""
    counted = {name: tested(grid, metric) for name, metric in (("loss", "val_loss"), ("tv", "total_variation"))}
    if not counted["tv"]:
        return bullets(["No record compares an activation with relu yet"])
    loss, tv = (sum(p < ALPHA for _, _, p, _ in found) for found in counted.values())
    return bullets(
        [
            f"After the same number of steps the activation changes the validation loss significantly in {loss} of "
            f"{len(counted['tv'])} comparisons with relu, and how far two seeds differ in {tv} (Holm-adjusted, 5%)"
        ]
    )


def listed(grid: Grid, *names: str) -> Any:
    """Sentences as a bulleted list for a notebook; all of them unless some are named."""
    found = sentences(grid)
    return bullets(found[name] for name in names or found)


def mattering(grid: Grid, margin: float) -> Any:
    """Which activations matter beside relu, as a list for a notebook: the rule of params/extreme.yaml; nothing for a
    margin of 0.

    Args:
        grid: the arms.
        margin: difference of validation loss (nats) below which an activation does not matter, if all of its 95%
        interval lies there.
    """
    if not margin:
        return None
    found: dict[str, list[str]] = {"these matter": [], "these do not matter": [], "undecided": []}
    for arm, estimate, p, _ in tested(grid, "val_loss"):
        within = -margin < estimate.low and estimate.high < margin
        outcome = list(found)[0 if p < ALPHA else 1 if within else 2]
        found[outcome].append(f"{arm.model} {arm.activation} {signed(estimate)}")
    rule = (
        "the rule of the params file: an activation matters if its Holm-adjusted difference from relu in validation "
        f"loss excludes 0; it does not matter if all of its 95% interval lies within {margin:g} nats of relu"
    )
    told = [f"{outcome}: {'; '.join(arms)}" for outcome, arms in found.items() if arms]
    return bullets([rule, *(told or ["the rule waits for records"])])


def extent(grid: Grid) -> str:
    """How much of the grid has records. An arm without one is taken to have as many trials as the others."""
    missing, trials = len(grid.missing), [len(arm.labels) for arm in grid.arms.values()]
    planned = sum(trials) + missing * max(trials)
    ended = sum(len(arm.done) for arm in grid.arms.values())
    rest = f"; {missing} arm{'' if missing == 1 else 's'} still to be run" if missing else ""
    return (
        f"{len(trials)} of {len(trials) + missing} arms (model and activation) have records, {ended} of {planned} "
        f"trials done{rest}"
    )


def seeds(grid: Grid) -> str:
    """What changing only the seed does."""
    few = [arm for arm in grid.arms.values() if few_differ(arm.matrix("churn"))]
    rest = [arm for arm in grid.arms.values() if arm not in few]
    if not rest:
        return (
            "Two runs that differ only in the seed choose another most probable next character in too few trials "
            "to say how often"
        )
    low, high = (choose(rest, key=lambda arm: arm.estimate("churn").value) for choose in (min, max))
    aside = f" ({', '.join(_names(few))} aside, where too few trials differ)" if few else ""
    return (
        f"Two runs that differ only in the seed choose another most probable next character at {_percent(low)} "
        f"({low.model}, {low.activation}) to {_percent(high)} ({high.model}, {high.activation}) of the positions{aside}"
    )


def _percent(arm: ArmResults) -> str:
    """One decimal; below 1% two significant digits, so that what is rare does not read as never."""
    found = arm.shown("churn")
    value, low, high = (100 * number for number in (found.value, found.low, found.high))
    digits = 1 - math.floor(math.log10(value)) if 0 < value < 1 else 1
    interval = "" if math.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{value:.{digits}f}%{interval}"


def models(grid: Grid) -> str:
    """How far architectures differ, beside how far activations do; nothing for one architecture."""
    means = {
        m: [arm.estimate("total_variation").value for arm in grid.of_model(m)] for m in grid.models if grid.of_model(m)
    }
    averages = {m: float(np.mean(values)) for m, values in means.items()}
    if len(averages) < 2:
        return ""
    low, high = min(averages, key=lambda m: averages[m]), max(averages, key=lambda m: averages[m])
    widest = max(max(values) - min(values) for values in means.values())
    return (
        f"Mean total variation between seeds runs from {averages[low]:.3f} ({low}) to {averages[high]:.3f} ({high}) "
        f"over architectures; over the activations of one architecture it spans at most {widest:.3f}"
    )


def compared(grid: Grid, metric: str) -> str:
    """How many arms differ from relu in a metric after Holm's correction, and which; nothing where there is no pair of
    arms."""
    tests = tested(grid, metric)
    if not tests:
        return ""
    again = {f"{arm.model} {arm.activation}": (e, p) for arm, e, p, elsewhere in tests if elsewhere}
    own = [(arm, e, p) for arm, e, p, elsewhere in tests if not elsewhere]
    significant = [(arm, estimate) for arm, estimate, p in own if p < ALPHA]
    label = METRICS[metric].label.split(" (")[0]
    correction = f"Holm-adjusted over {family_size(grid)}, 5%"
    head = f"{len(significant)} of {len(own)} differences from relu in {label} are significant ({correction})"
    largest = sorted(significant, key=lambda pair: -abs(pair[1].value))[:LISTED]
    named = [f"{arm.model} {arm.activation} {signed(e)}" for arm, e in largest]
    said = (
        head + (": " if named else "") + "; ".join(named) + ("; and smaller ones" if len(significant) > LISTED else "")
    )
    return said + (f". The others {told(again, grid.primary)}" if again else "")


def tails(grid: Grid) -> str:
    """What the p-values of the comparisons with relu rest on; nothing where there are none."""
    return normal_tails(max((e.n for _, e, *_ in tested(grid, "val_loss")), default=0))


def association(
    arms: Sequence[tuple[ArmResults, ArmResults]], metrics: tuple[str, str] = ("total_variation", "val_loss")
) -> Estimate:
    """Rank correlation (Spearman) over pairs of arms of their differences in two metrics, with a jackknife that leaves
    one seed at a time out of all.

    The interval speaks of other seeds of these arms, not of other arms. ``n`` counts seeds; NaN below three of them or
    below three pairs of arms.
    """
    method = "Spearman, jackknife over seeds"
    found = [seed_means([arm for pair in arms for arm in pair], metric) for metric in metrics]
    size = found[0][1].shape[1] if arms else 0
    if len(arms) < 3 or size < 3:
        return jackknifed(math.nan, np.full(size, math.nan), method=method)
    value, left_out = (
        rank_correlation(np.stack([(table[::2] - table[1::2]).T for table in tables]))
        for tables in zip(*found, strict=True)
    )
    wide = jackknifed(value[0], left_out, method=method)
    return replace(wide, low=max(wide.low, -1.0), high=min(wide.high, 1.0))


def progress(grid: Grid) -> str:
    """Whether what agrees more has only learned less; nothing where there are too few differences from relu to tell it
    by."""
    level = grid.baseline["unigram"]["val_loss"] if grid.baseline else np.inf
    learned = [
        model
        for model in grid.models
        if (model, "relu") in grid.arms and grid.arms[model, "relu"].estimate("val_loss").value < level
    ]
    pairs = [
        (arm, grid.arms[arm.model, "relu"])
        for arm in grid.arms.values()
        if arm.activation != "relu" and arm.model in learned
    ]
    found = association(pairs)
    if len(pairs) < FEWEST_PAIRS or np.isnan(found.value):
        return ""
    stuck = ", ".join(model for model in grid.models if (model, "relu") in grid.arms and model not in learned)
    aside = f" ({stuck} at the unigram plateau aside)" if stuck else ""
    sign = "higher" if found.high < 0 else "lower" if found.low > 0 else ""
    meaning = f"lower disagreement between seeds goes with {sign} loss" if sign else "undecided"
    return (
        f"Over {len(pairs)} differences from relu{aside}, those in total variation and those in validation loss "
        f"have a rank correlation of {signed(found, 2)} over seeds: {meaning}{_when(pairs)}"
    )


def _when(pairs: list[tuple[ArmResults, ArmResults]]) -> str:
    """What of the association was there when it was first computed, and what came after; nothing where all came before
    or after."""
    early = [
        pair
        for pair in pairs
        if all(datetime.fromisoformat(arm.record["provenance"]["date"]) < FIRST_LOOK for arm in pair)
    ]
    late = [pair for pair in pairs if pair not in early]
    if not early or not late:
        return ""
    values = [
        f"{found.value:+.2f}" if not np.isnan((found := association(part)).value) else "too few"
        for part in (early, late)
    ]
    return (
        f". Exploratory: it was first computed over {len(early)} of them ({values[0]}); the {len(late)} recorded "
        f"later alone give {values[1]}"
    )


def floor(grid: Grid) -> str:
    """The noise floor in one sentence."""
    nudges = {key: arm.floor_of("total_variation", "nudge") for key, arm in grid.arms.items() if arm.floor}
    repeats = [arm.floor_of("total_variation", "repeat") for arm in grid.arms.values() if arm.floor]
    if not nudges:
        return f"The noise floor has {NO_RECORD}"
    worst = max(nudges, key=lambda key: nudges[key])
    again = "all identical bit for bit" if not any(repeats) else f"{sum(r != 0 for r in repeats)} of them NOT identical"
    return (
        f"In {len(nudges)} arm{'' if len(nudges) == 1 else 's'} the first seed ran twice more: unchanged ({again}), "
        "and with one weight moved by one unit in the last place, "
        f"which moved total variation by at most {small(nudges[worst])} ({worst[0]}, {worst[1]})"
    )


def baselines(grid: Grid) -> str:
    """Which arms have an interval that does not lie below the character tables."""
    if not grid.baseline:
        return f"The character tables have {NO_RECORD}"
    levels = {name: grid.baseline[name]["val_loss"] for name in ("unigram", "bigram")}
    return "; ".join(_failing(grid, name, level) for name, level in levels.items())


def _failing(grid: Grid, name: str, level: float) -> str:
    """Arms whose interval does not lie below the level, or that have none."""
    arms = [arm for arm in grid.arms.values() if not arm.estimate("val_loss").high < level]
    names = ", ".join(_names(arms))
    return (
        f"every recorded arm beats the {name} table ({level:.3f} nats)"
        if not arms
        else f"the 95% interval of the loss does not lie below the {name} table ({level:.3f} nats) for {names}"
    )


def _names(arms: list[ArmResults]) -> Iterator[str]:
    for model in dict.fromkeys(arm.model for arm in arms):
        yield f"{model} ({', '.join(arm.activation for arm in arms if arm.model == model)})"
