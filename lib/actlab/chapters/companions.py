"""The companion studies on the page of the answer: fresh seeds, a lower rate for relu, a second text, a common learning
rate, remedies, longer training; their sentences and tables, from the comparisons that their plans register."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product
from typing import Any

import pandas as pd

from actlab.chapters import answer as chapter
from actlab.chapters.answer import cells_in_words
from actlab.chapters.template import folded
from actlab.figures.style import NO_RECORD
from actlab.records.answer import Answer
from actlab.records.companions import FURTHER, Cell, Companion, Remedied, beyond_activations, remedied, with_one_rate
from actlab.records.preregistration import params_of
from actlab.records.remedies import AVERAGED, ENSEMBLE, FALLING, by_name
from actlab.records.wording import extremes, listing, signed, span
from actlab.report import frame
from actlab.statistics.equal_loss import Decision
from actlab.statistics.significance import REFERENCE, Cells, Test

FRESH, HALF, DOUBLE, SAME = "answer-fresh", "answer-half", "answer-double", "answer-same-rate"
NOVELS, COMMON, DECAY, LONG = "answer-novels", "answer-rate", "answer-decay", "answer-long"
EVERY = (FRESH, HALF, DOUBLE, SAME, NOVELS, COMMON, DECAY, LONG)
SERIES = {NOVELS: "novels", COMMON: "common rate"}
"""Companions that the figure shows beside the main study, and what it calls them."""
MEAN = "smelu_1"
"""What is more reproducible on average over architectures, at its own rates."""
TUNED = "tuned rates"
"""What it calls the main study."""
AGAIN, EQUAL_RATE = "fresh seeds", "fresh seeds, relu at the same rate"
MORE, HIGHER = "further seeds, relu at the same rate", "the same, at the higher loss"
"""What the figure of the gains calls them."""
TOLD = (ENSEMBLE.format(2), AVERAGED, FALLING)
"""Remedies that the page shows at once; figure and full table have all."""


def read(main: Answer) -> dict[str, Companion]:
    """Every companion by its study, recorded or not, beside the main study; relu's lower rate beside the fresh seeds,
    its higher one beside all arms of one rate."""
    studies = {study: chapter.read(study) for study in EVERY}
    planned = (main, studies[FRESH], studies[HALF], studies[DOUBLE])
    arms = [arm for study in planned for arm in study.kept.arms.values()]
    one_rate = with_one_rate(studies[DOUBLE], arms, [arm for arm in arms if arm.activation == MEAN])
    beside = {HALF: studies[FRESH], DOUBLE: one_rate}
    return {study: Companion(own, beside.get(study, main)) for study, own in studies.items()}


def gains(found: Mapping[str, Companion]) -> dict[tuple[str, str, str], Test]:
    """(model, activation, where) -> the difference from relu at equal loss of what is more reproducible in the main
    study: there, on fresh seeds, and on these and on further ones with relu at the activation's rate."""
    again, more = found[FRESH].again(), found[SAME].own
    shown = {key: test for key, test in comparisons(found, {FRESH: AGAIN}).items() if key[:2] in again}
    for name, decided in (
        (EQUAL_RATE, found[HALF].at_one_rate()),
        (MORE, more.comparisons()),
        (HIGHER, more.comparisons(earlier=FURTHER)),
    ):
        shown |= {(*cell, name): test for cell, test in chapter.tests(decided).items()}
    return shown


def in_short(found: Mapping[str, Companion]) -> str:
    """How many gains of the main study repeat, and what is left of them at one learning rate."""
    again, equal = found[FRESH].again(), found[HALF].at_one_rate()
    more = (found[SAME].own.comparisons(earlier=earlier) for earlier in (0.0, FURTHER))
    end, higher = (listing(f"{d.outcome} in {model}" for (model, _), d in each.items()) for each in more)
    return (
        f"Of the {len(again)} gains in agreement {len(_significant(again))} are significant again on fresh seeds, and "
        f"{len(_significant(equal)) or 'none'} against {REFERENCE} at the same, lower learning rate. With more seeds "
        f"at that rate {MEAN} is {end}; at a higher loss it is {higher}"
    )


def of_the_gains(found: Mapping[str, Companion]) -> list[str]:
    """What the rate alone does to relu, and what is left of a mean over architectures at one rate."""
    if not found[HALF].at_one_rate():
        return [NO_RECORD]
    last = listing(f"{signed(d.difference)} in {model}" for (model, _), d in found[HALF].of_the_rate().items())
    there = listing(f"{signed(e)} in {model}" for model, e in found[HALF].of_the_rate_there().items())
    one_rate, main = found[DOUBLE].main, found[FRESH].main
    return [
        f"the rate alone, relu at the lower rate minus relu at its own, where both end: {last}; at the loss of the "
        f"comparison at tuned rates (exploratory): {there}",
        f"mean over {len(one_rate.arms())} architectures of {MEAN} minus relu, both at one learning rate in each: "
        f"{signed(one_rate.pooled(MEAN))}; at tuned rates {signed(main.only(REFERENCE, MEAN).pooled(MEAN))} where "
        f"these two alone set the loss (exploratory), {signed(main.pooled(MEAN))} where all activations do",
    ]


def comparisons(found: Mapping[str, Companion], series: Mapping[str, str] = SERIES) -> dict[tuple[str, str, str], Test]:
    """(model, activation, study in words) -> the difference from relu at equal loss and its adjusted p-value, in the
    companions and, of the same arms, in the main study."""
    shown: dict[tuple[str, str, str], Test] = {}
    for study, name in series.items():
        for cell, pair in found[study].both().items():
            shown |= {(*cell, s): (d.difference, d.adjusted) for s, d in zip((name, TUNED), pair, strict=True)}
    return shown


def caption(cells: Mapping[tuple[str, str, str], Test]) -> str:
    """Of the figure of these."""
    seeds = span(e.n for e, _ in cells.values()) if cells else NO_RECORD
    return (
        "Differences from relu at equal loss, on Shakespeare at tuned rates and at relu's, and on the novels (filled: "
        f"significant in the study's own family; n = {seeds} seeds; grey: the margin of equivalence)"
    )


def carried(companion: Companion, where: str, without: Collection[Cell] = ()) -> list[str]:
    """What a companion finds at equal loss ``where`` it was trained, beside the main study: how many signs they share,
    and what is significant in each; some comparisons ``without`` being counted."""
    both = {cell: pair for cell, pair in companion.both().items() if cell not in without}
    if not both:
        return [f"{where}: {NO_RECORD}"]
    same = sum(here.difference.value * there.difference.value > 0 for here, there in both.values())
    here, there = (_words({cell: pair[i] for cell, pair in both.items()}) for i in (0, 1))
    own, main = (study.planned for study in (companion.own, companion.main))
    return [
        f"{where}, {same} of {len(both)} differences from relu at equal loss have the sign of the main study",
        f"significant {where} (Holm over {own}): {here}; of these comparisons in the main study (Holm over {main}): "
        f"{there}",
    ]


def _words(found: Mapping[Cell, Decision]) -> str:
    return cells_in_words(_significant(found))


def _significant(found: Mapping[Cell, Decision]) -> Cells:
    return chapter.significant(chapter.tests(found))


def common_rate(companion: Companion) -> list[str]:
    """The findings at the common rate: what the rate itself does; then the comparisons whose rate is another one."""
    moved = companion.of_the_rate()
    if not moved:
        return [NO_RECORD]
    times = {
        here.recipe["learning_rate"] / there.recipe["learning_rate"]
        for cell, here, there in companion.shared()
        if cell in moved
    }
    values = {cells_in_words([cell]): d.difference.value for cell, d in moved.items()}
    repeated = [cell for cell in companion.both() if cell not in moved]
    return [
        f"the learning rate's own effect (exploratory): at {span(times, 'g')} times its tuned rate an activation's "
        f"total variation at equal loss changes by {extremes(values, '{:+.3f}'.format)}; significant (Holm over "
        f"these): {_words(moved)}",
        *carried(companion, "where relu's rate is not the activation's tuned one", repeated),
        f"the other {len(repeated)} comparisons are the main study's own runs, since tuning chose relu's rate",
    ]


def remedies(found: Mapping[str, Companion]) -> Remedied:
    """(model, activation) -> its remedies, of the arms in which the plan of the falling rate compares them."""
    params, companion = params_of(DECAY), found[DECAY]
    return remedied(companion.main, companion.own, product(params["model"], params["activations"]))


def remedy_sentences(found: Remedied, main: Answer) -> list[str]:
    """Which remedy lowers the reference's total variation most without a higher loss, and how many do more than any
    activation."""
    ours = by_name({model: every for (model, activation), every in found.items() if activation == main.reference})
    if not ours:
        return [NO_RECORD]
    free = {
        name: sum(r.variation.value for r in models.values()) / len(models)
        for name, models in ours.items()
        if len(models) == len(next(iter(ours.values()))) and all(r.loss.value <= 0 for r in models.values())
    }
    beyond, ours_of = beyond_activations(main, found), dict.fromkeys(model for model, _ in found)
    more = sum(e.value > 0 for e, _ in chapter.significant(beyond).values())
    return [
        f"in {listing(ours_of)} the largest reduction under {main.reference} at equal training compute without a "
        f"higher loss is that of {min(free, key=free.__getitem__, default='none')}",
        f"in {more} of {len(beyond)} cases (each method in each of these architectures) the reduction is significantly "
        f"larger than any activation's difference from {main.reference} at equal loss (Holm over these; ensembles of "
        "five have no interval)",
    ]


def remedy_table(found: Remedied) -> pd.DataFrame:
    """A row a remedy of an arm: what it changes against one plain network (95% intervals, not adjusted)."""
    rows = {
        ", ".join((*cell, name)): {
            "total variation minus one network's": signed(remedy.variation, 4),
            "loss minus one network's": f"{signed(remedy.loss, 4)}, n = {remedy.loss.n}",
        }
        for cell, every in found.items()
        for name, remedy in every.items()
    }
    return frame(rows)


def of_reference(found: Remedied, main: Answer) -> Remedied:
    """The remedies of the reference that the page shows at once."""
    return {
        cell: {name: every[name] for name in TOLD if name in every}
        for cell, every in found.items()
        if cell[1] == main.reference
    }


def hypothesis_table(main: Answer, found: Mapping[str, Companion]) -> pd.DataFrame:
    """A row a hypothesis of the main plan and of each companion's with records, as in ``chapters.answer``."""
    rows = chapter.hypothesis_rows(main, main.hypotheses() if main.arms() else [])
    for study, companion in found.items():
        rows |= chapter.hypothesis_rows(companion.own, companion.hypotheses(), study)
    return frame(rows)


def tables(found: Mapping[str, Companion], shown: Remedied) -> Any:
    """Every table of the companions, folded; the remedies also of the reference in every other architecture."""
    main = found[DECAY].main
    parts = {
        f"every comparison of {study} (as above; each outcome a family of its own)": chapter.comparison_table(c.own)
        for study, c in found.items()
        if c.own.arms()
    }
    every = shown | remedied(main, found[DECAY].own, ((model, main.reference) for model in main.arms()))
    return folded({**parts, "every remedy, against one network (95% intervals, not adjusted)": remedy_table(every)})
