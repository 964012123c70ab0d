"""The front page and the top of the README: the answer in sentences, and its figure, from the records."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from actlab.chapters import answer as chapter
from actlab.chapters import processors
from actlab.claims import ledger
from actlab.records import repro
from actlab.records.answer import METRIC, Answer
from actlab.records.remedies import AVERAGED, ENSEMBLE
from actlab.records.repro import Grid
from actlab.records.wording import capital, extremes, signed, small, span
from actlab.statistics.equal_loss import Curves

TWINS = ("repro-lite", "scale", "extreme", "sources")
"""Studies with runs on two kinds of processor."""
PERTURBED = "extreme"
"""The study whose every arm was also run with one weight moved by one unit in the last place (1 ULP)."""
SMALL, LARGER = "repro-lite", "repro-partial"
"""The studies that did so in six architectures."""
KINKED, SMOOTH = "relu", "gelu"
LINES = """\
{between}.

{perturbed}.

{figure}

{extent}.

- [Choosing an activation]({pages}/answer.ipynb): {choosing}.
- [Repeating a run on another machine]({pages}/processors.ipynb): {repeating}.
- [Needing agreement]({pages}/answer.ipynb): {agreement}.
- [Having read it elsewhere]({pages}/claims.ipynb): {elsewhere}.

Limits: {limits}, mostly one text, short training.
"""
MUCH = {
    "supported": "less than averaging two networks takes away",
    "contradicted": "more than averaging two networks takes away",
    "undecided": "undecided, against what averaging two networks takes away",
}
"""Outcome of the plan's hypothesis on ensembles -> how much the activation changes between seeds."""
ALT = (
    "Between seeds activations lie close together; after the smallest perturbation kinked and smooth ones lie far apart"
)


@dataclass(frozen=True)
class Front:
    """What the front page says and draws."""

    answer: Answer
    floors: dict[str, tuple[float, float]]
    """activation -> mean total variation after a perturbation of 1 ULP, and between seeds."""
    repeating: str
    """What another kind of processor changes."""
    elsewhere: str
    """What of the published claims about outcomes is decided, and how (settings and counts are told apart)."""
    growing: str = ""
    """In which architectures such a perturbation grows."""

    @property
    def lead(self) -> tuple[str, dict[str, Curves], float]:
        """The architecture that the left panel shows, the first of the study, its curves, and their equal loss."""
        model, curves = next(iter(self.answer.arms().items()), ("", {}))
        return model, curves, self.answer.levels()[model].loss if model else math.nan

    @property
    def caption(self) -> str:
        """What the figure shows, and how its architecture compares with the others."""
        levels = self.answer.levels().items()
        spans = {model: float(np.ptp([e.value for e in level.values.values()])) for model, level in levels}
        told = ""
        if spans:
            own, every = f"{spans[self.lead[0]]:.3f}", span(spans.values(), ".3f")
            told = f" of {self.lead[0]}; its activations span {own} at equal loss, those of all architectures {every}"
        return f"Left: between two seeds{told}. Right: after that rounding error (dashes: another seed)."


def read() -> Front:
    """From all records."""
    return Front(
        chapter.read(),
        floors(repro.read_study(PERTURBED)),
        processors.summary(processors.read(TWINS)),
        ledger.decided(ledger.judge()),
        processors.growing(*map(repro.read_study, (SMALL, LARGER))),
    )


def floors(grid: Grid) -> dict[str, tuple[float, float]]:
    """activation -> its 1-ULP floor and its total variation between seeds, the largest floor first."""
    floors = sorted(grid.floors().items(), key=lambda item: -item[1])
    return {cell[1]: (floor, grid.arms[cell].estimate(METRIC).value) for cell, floor in floors}


def sentences(front: Front) -> dict[str, str]:
    """The parts of ``LINES``."""
    answer, found = front.answer, front.answer.comparisons()
    if not found:
        told = dict.fromkeys(("between", "extent", "choosing", "agreement", "limits"), chapter.NOT_YET)
    else:
        base = next(iter(answer.levels().values())).values[answer.reference]
        judged = "; ".join(f"{each.name}: {each.outcome}" for each in answer.hypotheses())
        told = {
            "between": _between(answer),
            "extent": "The comparison between seeds was registered before its runs, rates tuned: "
            f"{len(answer.grid.activations)} activations in {chapter.extent(answer)} planned architectures; {base.n} "
            f"seeds each; tests Holm-adjusted, 5%. Its hypotheses: {judged}",
            "limits": _sizes(answer),
            "choosing": _choosing(answer),
            "agreement": _agreement(answer),
        }
    if {KINKED, SMOOTH} <= set(front.floors):
        high, low = (front.floors[name][0] for name in (KINKED, SMOOTH))
        told["perturbed"] = (
            f"**After a rounding error, {'orders of magnitude' if high > 1e3 * low else 'little'}.** From one seed, "
            f"with one weight moved by one unit in the last place (1 ULP), {KINKED} networks end {small(high)} apart "
            f"in total variation, {SMOOTH} networks {small(low)} (charlm, one pair each, one untuned rate). "
            f"{front.growing}"
        )
    told["elsewhere"] = front.elsewhere
    told["repeating"] = front.repeating.partition(". ")[0]
    return {"perturbed": "No perturbed run has a record yet", **told}


def _between(answer: Answer) -> str:
    """How far two networks of the reference differ, and which activations differ significantly more or less; how much
    that is, by the plan's rule on averaging two networks."""
    base = {model: level.values[answer.reference].value for model, level in answer.levels().items()}
    outcomes = [d.outcome for d in answer.comparisons().values()]
    single = chapter.significant(chapter.primary(answer)).values()
    above = sum(e.value > 0 for e, _ in single)
    much = next(MUCH[h.outcome] for h in answer.hypotheses() if h.name.startswith("an ensemble of two"))
    return (
        f"**Between seeds, {much}.** At equal loss two {answer.reference} networks "
        f"from different seeds differ by {extremes(base)} in total "
        f"variation, the share of probability placed differently. {_means(answer)}. Of the single differences {above} "
        f"are significantly positive, {len(single) - above} negative, "
        f"{outcomes.count('undecided')} undecided; {outcomes.count('equivalent') or 'none'} equivalent"
    )


def _means(answer: Answer) -> str:
    """Which activations are significantly more or less reproducible than the reference, on average over
    architectures."""
    told = []
    for name, (mean, same, of) in chapter.means(answer).items():
        word = "more" if mean.value > 0 else "less"
        told.append(f"{name} networks differ {word}, {signed(mean)} ({word} in {same} of {of})")
    return f"On average over architectures {'; '.join(told) or 'no activation differs significantly'}"


def _sizes(answer: Answer) -> str:
    """How large the networks are."""
    sizes = (arm.n_parameters / 1e6 for arm in answer.grid.arms.values())
    return f"networks of {span(sizes, '.1f')} million parameters"


def _choosing(answer: Answer) -> str:
    """How often the final loss differs significantly from the reference's, and which activation's is lower most
    often."""
    cells = answer.at_the_end("val_loss")
    found = chapter.significant(cells)
    lower = Counter(name for (_, name), (e, _) in found.items() if e.value < 0)
    best = "".join(f". Most often lower: {name}, in {n} architectures" for name, n in lower.most_common(1))
    return (
        f"{len(found)} of {len(cells)} final losses differ significantly from {answer.reference}'s, "
        f"{len(found) - lower.total()} of them higher{best}"
    )


def _agreement(answer: Answer) -> str:
    """What averaged weights, and an ensemble of two, do at equal training compute under the reference activation."""
    arms = [answer.grid.arms[model, answer.reference] for model in answer.arms()]
    plain = float(np.mean([arm.estimate(METRIC).value for arm in arms]))
    remedies = answer.remedies()
    told = [f"two {answer.reference} networks differ by {small(plain)} on average over architectures"]
    for name, words in (
        (AVERAGED, "a moving average of the weights"),
        (ENSEMBLE.format(2), "two half-trained networks averaged"),
    ):
        if found := remedies.get(name):
            left = plain + float(np.mean([remedy.minus_plain(remedy.seeds) for remedy in found.values()]))
            costs = extremes({model: remedy.loss.value for model, remedy in found.items()}, "{:+.3f}".format)
            told.append(f"{capital(words)}: {small(left)}, at {costs} nats of loss")
    return ". ".join(told)
