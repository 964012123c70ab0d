"""The front page and the top of the README: the answer in sentences, and its figure, from the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from actlab.chapters import answer as chapter
from actlab.chapters import companions, processors
from actlab.records import repro, sources, store
from actlab.records.answer import METRIC, Answer
from actlab.records.remedies import AVERAGED, ENSEMBLE
from actlab.records.repro import Grid
from actlab.records.wording import extremes, small, span
from actlab.statistics.equal_loss import Curves
from actlab_audit import ledger

TWINS = ("answer", "answer-fresh")
"""Studies at tuned rates with runs on two kinds of processor."""
PERTURBED = "extreme"
"""The study whose every arm was also run with one weight moved by one unit in the last place (1 ULP)."""
SMALL, TUNED, LARGER = "repro-lite", "rounding-tuned", "repro-partial"
"""The studies that did so in six architectures; the second at tuned rates, the others at one low rate."""
SEEDS, LEAD = "sources", "charlm"
"""The study that did so with five seeds, and its first architecture."""
KINKED, SMOOTH = "relu", "gelu"
LINES = """\
{between}.

{gains}.

{perturbed}.

{figure}

{extent}.

| registered hypothesis | outcome |
| --- | --- |
{hypotheses}

- [Choose an activation]({pages}/answer.ipynb): {choosing}.
- [Repeat a run on another machine]({pages}/processors.ipynb): {repeating}.
- [Make two runs agree more]({pages}/answer.ipynb): {agreement}.
- [Check a published number]({pages}/claims.ipynb): {elsewhere}. The rules were not registered.

Limits: {limits}, mostly one text, short training.
"""
MUCH = {
    "supported": "changes agreement less than",
    "contradicted": "changes agreement more than",
    "undecided": "may change agreement more or less than",
}
"""Outcome of the plan's hypothesis on ensembles -> how much the activation changes between seeds."""
ALT = {
    "seeds": "Between seeds activations lie close together",
    "rounding": "After a rounding error relu and step lie far above the smooth activations",
}
"""What each panel of the figure shows."""


@dataclass(frozen=True)
class Front:
    """What the front page says and draws."""

    answer: Answer
    floors: dict[str, tuple[float, float]]
    """activation -> mean total variation after a perturbation of 1 ULP, and between seeds."""
    repeating: str
    """What another kind of processor changes at tuned rates."""
    elsewhere: str
    """What of the published claims about outcomes is decided, and how (settings and counts are told apart)."""
    growing: Sequence[str]
    """In which architectures such a perturbation grows: at a low rate, at tuned rates, and at partial scale."""
    rounding: Mapping[str, Sequence[float]]
    """Kinked and smooth activation -> total variation of each seed with itself after such a perturbation."""
    gains: str
    """Whether what is significantly more reproducible is so on fresh seeds, and at one learning rate."""

    @property
    def lead(self) -> tuple[str, dict[str, Curves], float]:
        """The architecture that the left panel shows, the first of the study, its curves, and their equal loss."""
        model, curves = next(iter(self.answer.arms().items()))
        return model, curves, self.answer.levels()[model].loss

    @property
    def caption(self) -> str:
        """What the figure shows, and how its architecture compares with the others."""
        levels = self.answer.levels().items()
        spans = {model: float(np.ptp([e.value for e in level.values.values()])) for model, level in levels}
        return (
            f"Left: two seeds of {self.lead[0]}, whose activations lie within {spans[self.lead[0]]:.3f} at equal loss "
            f"(all architectures: {span(spans.values(), '.3f')}). Right: one seed after the rounding error, low rate "
            "(dashes: two seeds)."
        )


def read() -> Front:
    """From all records."""
    study = sources.read(store.load_study(SEEDS))
    return Front(
        chapter.read(),
        floors(repro.read_study(PERTURBED)),
        f"{processors.reach(twins := processors.read(TWINS))} (exploratory, {len(twins)} runs)",
        ledger.decided(ledger.judge()),
        [
            processors.growing(grid)
            for grid in (repro.read_study(SMALL), sources.read(store.load_study(TUNED)), repro.read_study(LARGER))
        ],
        {name: [*study.perturbation(LEAD, name, "nudge")] for name in (KINKED, SMOOTH)},
        companions.in_short(companions.read(chapter.read())),
    )


def floors(grid: Grid) -> dict[str, tuple[float, float]]:
    """activation -> its 1-ULP floor and its total variation between seeds, the largest floor first."""
    floors = sorted(grid.floors().items(), key=lambda item: -item[1])
    return {cell[1]: (floor, grid.arms[cell].estimate(METRIC).value) for cell, floor in floors}


def sentences(front: Front) -> dict[str, str]:
    """The parts of ``LINES``."""
    answer, (high, low) = front.answer, (front.rounding[name] for name in (KINKED, SMOOTH))
    base = next(iter(answer.levels().values())).values[answer.reference]
    sizes = (arm.n_parameters / 1e6 for arm in answer.grid.arms.values())
    alone, tuned, larger = (growing.endswith("none") for growing in front.growing)
    others = " and ".join(["at tuned rates"] * (not tuned) + ["in larger networks"] * (not larger))
    return {
        "between": _between(answer),
        "gains": front.gains,
        "perturbed": (
            f"**In small networks at a low learning rate {KINKED} amplifies a rounding error"
            f"{', smooth activations do not' * alone}{f'; {others} both can' * bool(others)}.** With one weight moved "
            f"by one unit in the last place (ULP) two runs of a seed end {small(min(high))} to {small(max(high))} "
            f"apart under {KINKED}, {small(max(low))} at most under {SMOOTH} ({LEAD}, that rate, n = {len(high)})"
        ),
        "extent": "The comparison of seeds was planned before its runs (three architectures were read before the "
        f"others were trained): {len(answer.grid.activations)} activations, {chapter.extent(answer)} architectures, "
        f"n = {base.n} seeds, tuned rates, Holm-adjusted at 5%",
        "hypotheses": "\n".join(f"| {each.name} | {each.told} |" for each in answer.hypotheses()),
        "limits": f"{span(sizes, '.1f')} million parameters",
        "choosing": _choosing(answer),
        "repeating": f"at tuned rates another CPU changes the loss by {front.repeating}",
        "agreement": _agreement(answer),
        "elsewhere": front.elsewhere,
    }


def _between(answer: Answer) -> str:
    """How much the activation changes, by the plan's rule on averaging two networks; how far two networks of the
    reference differ; how many differences from it are significant, and at which learning rate."""
    base = {model: level.values[answer.reference].value for model, level in answer.levels().items()}
    outcomes = [d.outcome for d in answer.comparisons().values()]
    less, more, equivalent, undecided = (outcomes.count(word) for word in chapter.OUTCOMES)
    much = next(MUCH[h.outcome] for h in answer.hypotheses() if h.name.startswith("an ensemble of two"))
    return (
        f"**Between seeds the choice of activation {much} an ensemble of two networks does** (equal training compute, "
        "mean over architectures). "
        f"At equal validation loss two {answer.reference} networks differ by a total variation (0: equal predictions, "
        f"1: disjoint) of {extremes(base, '{:.2f}'.format)}. Of {len(outcomes)} differences from {answer.reference} "
        f"{undecided} are undecided (neither significant nor equivalent within {answer.margin:g})"
        f"{f', {equivalent} equivalent' * bool(equivalent)}. Two seeds agree significantly less in {more} "
        f"and more in {less}"
    )


def _choosing(answer: Answer) -> str:
    """How often the final loss differs significantly from the reference's, and which activation's is lower most
    often."""
    cells = answer.at_the_end("val_loss")
    found = chapter.significant(cells)
    lower = Counter(name for (_, name), (e, _) in found.items() if e.value < 0)
    higher = Counter(name for _, name in found) - lower
    best = "".join(
        f". Most often lower: {name}, in {n} architectures (higher in {higher[name]})"
        for name, n in lower.most_common(1)
    )
    return (
        f"at tuned rates {len(found)} of {len(cells)} final losses differ significantly from {answer.reference}'s, "
        f"{len(found) - lower.total()} of them upwards{best}"
    )


def _agreement(answer: Answer) -> str:
    """What averaged weights, and an ensemble of two, do at equal training compute under the reference activation."""
    arms = [answer.grid.arms[model, answer.reference] for model in answer.arms()]
    plain = float(np.mean([arm.estimate(METRIC).value for arm in arms]))
    remedies = answer.remedies()
    told = [f"two {answer.reference} networks end {small(plain)} of total variation apart (mean over architectures)"]
    for name, words in ((AVERAGED, "averaged weights (exploratory)"), (ENSEMBLE.format(2), "an ensemble of two")):
        if found := remedies.get(name):
            left = plain + float(np.mean([remedy.minus_plain(remedy.seeds) for remedy in found.values()]))
            costs = span((remedy.loss.value for remedy in found.values()), "+.3f")
            told.append(f"with {words} {small(left)}, the loss changing by {costs} nats")
    return "; ".join(told)
