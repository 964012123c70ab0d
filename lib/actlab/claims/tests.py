"""Tests of claims on language models that read the recorded grids. Each is made by a function that also writes its
rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from actlab.claims import Finding, Kind
from actlab.claims.evidence import STUDIES, Evidence, since
from actlab.claims.verdicts import (
    Answer,
    Between,
    absent,
    agrees,
    all_of,
    decided,
    elsewhere,
    explained,
    in_words,
    ran,
    signs,
    unexplained,
    within,
)
from actlab.records.repro import METRICS, ArmResults, Grid, combined
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import pair_mean_difference, rank_correlation
from actlab.wording import above_zero, measured

Scales = tuple[str, ...]
Arms = Sequence[tuple[str, str]]
Means = NDArray[np.float64]
ANY: Scales = tuple(STUDIES)
FIVE = ("charlm", "minigpt", "nanotransformer", "convlm", "hybridlm")
"""The models of the published averages: all but tinylstm."""
SIX = (*FIVE, "tinylstm")
PLAIN = ("relu", "gelu", "swish")
ALL_MODELS_PAGE = "studies/repro-models"
GAIN = 0.1
"""The share of the reference's difference that a benefit has at least, where one is to be excluded."""
NARROW = "; compatible if it is too wide to test it"
"""End of a rule that asks for a published number in an interval."""
IDENTICAL = 5e-5
"""Losses that agree to the four decimals that were printed."""


@dataclass(frozen=True)
class Recorded:
    """A test of the records: ``judge`` is given the scale's name and its grid, which holds all arms of ``needs``."""

    rule: str
    page: str
    needs: frozenset[tuple[str, str]]
    scales: Scales
    """At which the arms are looked for, the first that has them all."""
    judge: Callable[[Grid], tuple[Answer, str]]
    defect: str = ""
    """A flaw of the published work that is also looked for among the records."""
    kind: Kind = "outcome"
    stated: Scales = ()
    """The claim's own scales, where those are not ``scales``: only records of theirs can bear it out or contradict
    it.
    """
    untried: str = ""
    """A flaw that could have given a published number and of which there are no records."""

    def __call__(self, evidence: Evidence) -> Finding:
        """At the first scale that has the arms; with the flaw switched on where that is recorded, too."""
        found = evidence.having(set(self.needs), self.scales)
        if found is None:
            return absent(f"waits for records of {self._missing(evidence)} at {' or '.join(self.scales)} scale")
        scale, grid = found
        return replace(self._judged(evidence, scale, grid), since=since(grid.arms[arm].record for arm in self.needs))

    def _judged(self, evidence: Evidence, scale: str, grid: Grid) -> Finding:
        basis = f"records at {scale} scale"
        if self.kind == "setting":
            as_stated, said = self.judge(grid)
            return ran(bool(as_stated), said, basis)
        correct, flawed = decided(*self.judge(grid), basis), evidence.with_flaw(self.defect, self.needs)
        if flawed is not None:
            with_it = decided(*self.judge(flawed), "records with a flaw")
            correct = explained(correct, with_it, self.defect)
            if correct.verdict == "contradicted":
                correct = replace(correct, ours=f"{correct.ours} (with {in_words(self.defect)}, lite: {with_it.ours})")
        if scale not in (self.stated or self.scales):
            return elsewhere(correct, " or ".join(self.stated))
        return unexplained(correct, self.untried or (self.defect if flawed is None else ""))

    def _missing(self, evidence: Evidence) -> str:
        recorded = set().union(*(evidence.grids[s].arms for s in self.scales if s in evidence.grids))
        missing = sorted(self.needs - recorded) or sorted(self.needs)
        return ", ".join(" ".join(arm) for arm in missing[:3]) + (
            f" and {len(missing) - 3} more arms" if len(missing) > 3 else ""
        )


def _cells(models: Sequence[str], activations: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset((m, a) for m in models for a in activations)


def _page(model: str) -> str:
    return f"studies/repro-{model}"


def _label(metric: str) -> str:
    return METRICS[metric].label.split(" (")[0]


def claimed(stated: Scales, check: Recorded) -> Recorded:
    """A test that may look at several scales, of a claim that is of these."""
    return replace(check, stated=stated, rule=f"{check.rule}; only records of {' or '.join(stated)} scale decide")


def unmade(made_so: str, check: Recorded) -> Recorded:
    """A test of a claim for which no study here makes records: ``made_so`` says which would decide it."""
    return replace(
        check,
        stated=(made_so,),
        rule=f"{check.rule}; only {made_so} records decide, which no study here makes: "
        "until one does, this row cannot change",
    )


def excused(flaw: str, check: Recorded) -> Recorded:
    """A test of a published number that a flaw could have given which no record has tried."""
    waits = f"not contradicted while a flaw that could give it has no record ({in_words(flaw)})"
    return replace(check, untried=flaw, rule=f"{check.rule}; {waits}")


ACCURACY_POSITIONS = 1000
"""On which the published accuracies were read, for each trial: their own binomial error."""


def values(
    model: str, activations: Sequence[str], published: dict[str, float], scales: Scales, trials: int = 3
) -> Recorded:
    """The published means of an arm (or of several arms that are said to agree) could be means of ours.

    Args:
        model: of the arms.
        activations: for which the same values were published.
        published: metric -> value, in the metric's unit.
        scales: at which the claim may be judged.
        trials: of the published means.
    """

    def judge(grid: Grid) -> tuple[Answer, str]:
        answers: list[Answer] = []
        said = []
        for activation in activations:
            for metric, value in published.items():
                ours = grid.arms[model, activation].estimate(metric)
                share = value / 100
                extra = (
                    100 * (share * (1 - share) / ACCURACY_POSITIONS / trials) ** 0.5
                    if metric == "val_accuracy"
                    else 0.0
                )
                answers.append(agrees(value, ours, trials, extra))
                said.append(f"{activation} {_label(metric)} {measured(grid.arms[model, activation].shown(metric))}")
        return all_of(answers), f"{model} {'; '.join(said)}"

    rule = (
        f"replicated if a mean of {trials} of our trials would lie at the published value (95%; accuracy read at "
        f"1,000 positions a trial){NARROW}"
    )
    return Recorded(rule, _page(model), _cells([model], activations), scales, judge)


def identical(
    models: Sequence[str], activations: Sequence[str] = ("relu", "gelu"), scales: Scales = ANY, metric: str = "val_loss"
) -> Recorded:
    """Trials of one seed end with the same loss whatever the activation."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        gaps = {model: float(np.nanmax(_gaps([grid.arms[model, a] for a in activations], metric))) for model in models}
        said = ", ".join(f"{model} {gap:.2g}" for model, gap in gaps.items())
        return all(
            gap < IDENTICAL for gap in gaps.values()
        ), f"largest difference of the {_label(metric)} of one seed between activations: {said}"

    rule = (
        "replicated if, seed by seed, activations agree to the four decimals printed; artefact if they do only "
        "where the activation is ignored; not yet tested while that has no record"
    )
    page = _page(models[0]) if len(models) == 1 else ALL_MODELS_PAGE
    return Recorded(rule, page, _cells(models, activations), scales, judge, "activation: ignored")


def _gaps(arms: Sequence[ArmResults], metric: str) -> Means:
    """(seeds,) the largest difference between activations of each seed."""
    by_seed = [dict(zip(arm.labels, arm.values(metric), strict=True)) for arm in arms]
    seeds = [seed for seed in by_seed[0] if all(seed in found for found in by_seed)]
    table = np.array([[found[seed] for seed in seeds] for found in by_seed])
    return table.max(axis=0) - table.min(axis=0)


def sensitivity(model: str, published: float, activations: Sequence[str], scales: Scales) -> Recorded:
    """The published coefficient of variation over activations."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        ours = combined([grid.arms[model, a] for a in activations], "relative_pd", _cv)
        return agrees(
            published, ours
        ), f"CV of {model}'s relative PD over {', '.join(activations)}: {measured(above_zero(ours), 2)}"

    rule = "replicated if our CV% over the same activations, three trials each, would lie at the published value (95%)"
    rule += NARROW
    return Recorded(rule, _page(model), _cells([model], activations), scales, judge)


def _cv(means: Means) -> Means:
    return np.asarray(100 * means.std(axis=0) / means.mean(axis=0))


def quantity(
    statement: str,
    published: tuple[float, float],
    arms: Arms,
    metric: str,
    combine: Callable[[Means], Means],
    scales: Scales,
    page: str = ALL_MODELS_PAGE,
    defect: str = "",
) -> Recorded:
    """A published number that is a function of several arms' means.

    Args:
        statement: what the number is, for the text.
        published: (low, high) of what was published.
        arms: whose means go into it, in this order.
        metric: of the means.
        combine: (A, K) means -> (K,) values.
        scales: at which the claim may be judged.
        page: of the evidence.
        defect: the flaw with which the claim may come out.
    """

    def judge(grid: Grid) -> tuple[Answer, str]:
        ours = combined([grid.arms[arm] for arm in arms], metric, combine)
        return within(Between(ours.low, ours.high), Between(*published)), f"{statement}: {measured(ours)}"

    return Recorded(
        f"replicated if our 95% interval meets the published value{NARROW}",
        page,
        frozenset(arms),
        scales,
        judge,
        defect,
    )


def lowest(claimed: Mapping[str, Sequence[str]], rivals: Sequence[str], metric: str, scales: Scales) -> Recorded:
    """In every model one of the claimed activations has the lowest metric."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        cells = [
            (m, mine, other) for m, names in claimed.items() for mine in names for other in rivals if other not in names
        ]
        sure = dict(
            zip(
                cells,
                signs([grid.arms[m, mine].minus(grid.arms[m, other], metric) for m, mine, other in cells]),
                strict=True,
            )
        )
        beaten = [
            m
            for m, names in claimed.items()
            if all(any(sure.get((m, mine, other)) == 1 for other in rivals) for mine in names)
        ]
        won = [
            m
            for m, names in claimed.items()
            if any(all(sure.get((m, mine, o), -1) == -1 for o in rivals) for mine in names)
        ]
        means = {m: ", ".join(f"{a} {grid.arms[m, a].estimate(metric).value:.3f}" for a in rivals) for m in claimed}
        said = f"{_label(metric)}, " + "; ".join(f"{m}: {text}" for m, text in means.items())
        return False if beaten else True if len(won) == len(claimed) else None, said

    rule = (
        "contradicted if in a model another activation is significantly lower than every one named (paired by "
        "seed, Holm "
        "5%); replicated if none can be"
    )
    needs = frozenset((m, a) for m, names in claimed.items() for a in {*names, *rivals})
    return Recorded(rule, ALL_MODELS_PAGE if len(claimed) > 1 else _page(next(iter(claimed))), needs, scales, judge)


def average_lowest(claimed: str, rivals: Sequence[str], models: Sequence[str], metric: str, scales: Scales) -> Recorded:
    """Averaged over models, one activation has the lowest metric."""
    others = [a for a in rivals if a != claimed]

    def judge(grid: Grid) -> tuple[Answer, str]:
        half = len(models)
        found = [
            combined(
                [grid.arms[m, a] for a in (claimed, other) for m in models],
                metric,
                lambda means: means[:half].mean(0) - means[half:].mean(0),
            )
            for other in others
        ]
        sure = signs(found)
        said = "; ".join(f"{claimed} less {other} {measured(e)}" for other, e in zip(others, found, strict=True))
        return False if 1 in sure else True if set(sure) == {
            -1
        } else None, f"mean {_label(metric)} over {len(models)} models: {said}"

    rule = (
        "contradicted if another activation is significantly lower on average (paired by seed, Holm 5%); replicated if "
        "all are significantly higher"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells(models, rivals), scales, judge)


def never_lower(activation: str, reference: str, models: Sequence[str], metric: str, scales: Scales) -> Recorded:
    """An activation has no benefit: in no model is its metric significantly below the reference's, nor by as much as
    ``GAIN`` within the interval.
    """

    def judge(grid: Grid) -> tuple[Answer, str]:
        found = [grid.arms[m, activation].minus(grid.arms[m, reference], metric) for m in models]
        lower = [m for m, sign in zip(models, signs(found), strict=True) if sign == -1]
        small = all(
            e.low >= -GAIN * grid.arms[m, reference].estimate(metric).value for m, e in zip(models, found, strict=True)
        )
        said = "; ".join(f"{m} {measured(e)}" for m, e in zip(models, found, strict=True))
        which = f"significantly below in {len(lower)} of {len(models)} models ({', '.join(lower) or 'none'})"
        answer = False if lower else True if small else None
        return answer, f"{_label(metric)} of {activation} minus {reference}, {which}: {said}"

    rule = (
        f"the claim is of every model, so one model can contradict it: contradicted if {activation} is "
        f"significantly below {reference} in a "
        "model (paired by seed, Holm 5%), which says nothing of the other models, nor of equal loss; replicated if "
        "every 95% interval excludes "
        f"a gain of {100 * GAIN:.0f}%"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells(models, (activation, reference)), scales, judge)


def ordered(models: Sequence[str], metric: str, activation: str, scales: Scales, direction: str = "rising") -> Recorded:
    """Models in a published order of a metric, under one activation."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        arms = [grid.arms[m, activation] for m in models]
        sure = signs([second.minus(first, metric) for first, second in pairwise(arms)])
        wanted = 1 if direction == "rising" else -1
        said = ", ".join(f"{m} {measured(arm.estimate(metric))}" for m, arm in zip(models, arms, strict=True))
        return False if -wanted in sure else True if set(sure) == {
            wanted
        } else None, f"{_label(metric)} under {activation}: {said}"

    rule = (
        "contradicted if two neighbours in the published order are significantly reversed (paired by seed, Holm 5%); "
        "replicated if all differ so"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells(models, (activation,)), scales, judge)


def highest(model: str, others: Sequence[str], metric: str, activation: str, scales: Scales) -> Recorded:
    """One model has the highest metric of all."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        mine = grid.arms[model, activation]
        found = {other: mine.minus(grid.arms[other, activation], metric) for other in others}
        sure = signs(list(found.values()))
        said = "; ".join(f"less {other} {measured(e)}" for other, e in found.items())
        return False if -1 in sure else True if set(sure) == {
            1
        } else None, f"{_label(metric)} of {model} under {activation}: {said}"

    rule = (
        "contradicted if another model is significantly higher (paired by seed, Holm 5%); replicated if all are "
        "significantly lower"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells((model, *others), (activation,)), scales, judge)


def correlated(first: str, second: str, models: Sequence[str], activation: str, scales: Scales) -> Recorded:
    """Over models, two metrics rise together; the exact permutation test of their rank correlation, one point a
    model.
    """

    def judge(grid: Grid) -> tuple[Answer, str]:
        points = np.array(
            [[[grid.arms[m, activation].estimate(metric).value for m in models]] for metric in (first, second)]
        )
        observed = float(rank_correlation(points)[0])
        orders = np.array(list(permutations(range(len(models)))))
        every = rank_correlation(np.stack([np.broadcast_to(points[0], orders.shape), points[1][0][orders]]))
        p_value = float((np.abs(every) >= abs(observed) - 1e-9).mean())
        said = (
            f"rank correlation of {_label(first)} and {_label(second)} over {len(models)} models: {observed:.2f}, "
            f"exact p = {p_value:.3f}"
        )
        return None if np.isnan(observed) or p_value >= 0.05 else observed > 0, said

    rule = (
        "replicated if the rank correlation over models is significantly positive (exact permutation test, 5%), "
        "contradicted if significantly negative"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells(models, (activation,)), scales, judge)


def same_metric(first: str, second: str, models: Sequence[str], activation: str, scales: Scales) -> Recorded:
    """Two metrics say the same number."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        arms = [grid.arms[m, activation] for m in models]
        differ = signs([_between(arm, first, second) for arm in arms])
        pairs = ((m, arm.estimate(first), arm.estimate(second)) for m, arm in zip(models, arms, strict=True))
        said = "; ".join(f"{m} {_label(first)} {p.value:.3f}, {_label(second)} {q.value:.3f}" for m, p, q in pairs)
        return not any(differ), f"{said}; n = {arms[0].estimate(first).n}"

    rule = (
        "contradicted if in a model the two significantly differ (jackknife over trials, Holm 5%); replicated otherwise"
    )
    return Recorded(rule, ALL_MODELS_PAGE, _cells(models, (activation,)), scales, judge)


def _between(arm: ArmResults, first: str, second: str) -> Estimate:
    return pair_mean_difference(arm.matrix(first), arm.matrix(second))


AS_STATED = "replicated if our records were made as stated; not yet tested where they were made otherwise"
AMONG_OTHERS = "replicated if our records hold all that is stated, whatever else they hold"


def setting(
    what: str,
    arms: Arms,
    holds: Callable[[ArmResults], bool],
    read: Callable[[ArmResults], object],
    scales: Scales,
    rule: str = AS_STATED,
) -> Recorded:
    """A statement of a setting: our records were made with it."""

    def judge(grid: Grid) -> tuple[Answer, str]:
        chosen = [grid.arms[arm] for arm in arms]
        found = sorted({str(read(arm)) for arm in chosen})
        return all(holds(arm) for arm in chosen), f"recorded {what}: {'; '.join(found)}"

    return Recorded(rule, ALL_MODELS_PAGE, frozenset(arms), scales, judge, kind="setting")


@dataclass(frozen=True)
class AcrossScales:
    """A published number that compares the same arms at two scales: ``combine`` is given the means of all of the
    first, then of the second.
    """

    statement: str
    published: tuple[float, float]
    arms: Arms
    metric: str
    combine: Callable[[Means], Means]
    scales: tuple[str, str] = ("partial", "full")
    rule: str = f"replicated if our 95% interval meets the published value{NARROW}"
    page: str = ALL_MODELS_PAGE
    kind: Kind = "outcome"
    untried: str = ""

    def __call__(self, evidence: Evidence) -> Finding:
        """From both grids, paired by seed."""
        grids = [evidence.grids.get(scale) for scale in self.scales]
        arms = [grid.arms[arm] for grid in grids if grid for arm in self.arms if arm in grid.arms]
        where = " and ".join(self.scales)
        if len(arms) < 2 * len(self.arms):
            return absent(f"waits for records at {where} scale")
        ours = combined(arms, self.metric, self.combine)
        meets = within(Between(ours.low, ours.high), Between(*self.published))
        found = unexplained(
            decided(meets, f"{self.statement}: {measured(ours)}", f"records at {where} scale"), self.untried
        )
        return replace(found, since=since(arm.record for arm in arms))
