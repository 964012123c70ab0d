"""The front page and the top of the README: the answer in sentences, and its figure, from the records."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from actlab.chapters import answer as chapter
from actlab.chapters import processors
from actlab.claims import ledger
from actlab.records import repro, store
from actlab.records.answer import METRIC, Answer, ensemble_sizes
from actlab.records.repro import Grid
from actlab.records.wording import ends, listing, signed, small, span
from actlab.statistics.equal_loss import Curves
from actlab.statistics.estimate import Array

TWINS = ("repro-lite", "scale", "extreme", "sources")
"""Studies with runs on two kinds of processor."""
PERTURBED = "extreme"
"""The study whose every arm was also run with one weight moved by one unit in the last place (1 ULP)."""
KINKED, SMOOTH = "relu", "gelu"
LINES = """\
{between}.

{perturbed}.

{figure}

{extent}.

- [Choosing an activation]({pages}/answer.ipynb): {choosing}.
- [Repeating a run on another machine]({pages}/processors.ipynb): {repeating}.
- [Needing agreement]({pages}/sources.ipynb): {agreement}.
- [Having read it elsewhere]({pages}/claims.ipynb): {elsewhere}.

Limits: {limits}, one text, short training.
"""
ALT = (
    "Activations lie close together between seeds; after the smallest perturbation kinked and smooth ones lie far apart"
)
CAPTION = "Left: between two seeds while they learn. Right: after that rounding error (dashes: another seed)."


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

    @property
    def lead(self) -> tuple[str, dict[str, Curves], float]:
        """The architecture that the left panel shows, the first of the study, its curves, and their equal loss."""
        model, curves = next(iter(self.answer.arms().items()), ("", {}))
        return model, curves, self.answer.levels()[model].loss if model else math.nan


def read() -> Front:
    """From all records."""
    return Front(
        chapter.read(),
        floors(repro.read(store.load_study(PERTURBED))),
        processors.summary(processors.read(TWINS)),
        ledger.decided(ledger.judge()),
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
        told = {
            "between": _between(answer),
            "extent": f"Registered before the runs, rates tuned: {len(answer.grid.activations)} activations in "
            f"{listing(answer.arms())}, {chapter.extent(answer)} planned "
            f"architectures; {base.n} seeds each; tests Holm-adjusted, 5%",
            "limits": _sizes(answer),
            "choosing": _choosing(answer),
            "agreement": _agreement(answer),
        }
    if {KINKED, SMOOTH} <= set(front.floors):
        high, low = (front.floors[name][0] for name in (KINKED, SMOOTH))
        told["perturbed"] = (
            f"**After a rounding error, {'much' if high > 1e3 * low else 'little'}.** From one seed, with one "
            f"weight moved by one unit in the last place (1 ULP), {KINKED} networks end {small(high)} apart, "
            f"{SMOOTH} networks {small(low)} (charlm, one pair each)"
        )
    told["elsewhere"] = front.elsewhere
    told["repeating"] = front.repeating.partition(". ")[0]
    return {"perturbed": "No perturbed run has a record yet", **told}


def _between(answer: Answer) -> str:
    """How far two networks of the reference differ, which activations differ significantly more or less, and the
    largest difference; *little* where that is below what averaging two networks takes away."""
    base = {model: level.values[answer.reference].value for model, level in answer.levels().items()}
    kept = {cell: e for cell, (e, p) in chapter.primary(answer).items() if p < answer.alpha}
    sides = []
    for sign in (1, -1):
        found = {cell: sign * e.value for cell, e in kept.items() if sign * e.value > 0}
        most = f", up to {signed(kept[max(found, key=found.__getitem__)])}" if found else ""
        sides.append(chapter.cells_in_words(found) + most)
    one, two, _ = _ensembles(answer)
    told = " to ".join(f"{small(base[model])} ({model})" for model in ends(base))
    much = any(abs(e.value) > one - two for e in kept.values())
    return (
        f"**Between seeds, {'much' if much else 'little'}.** At equal loss two {answer.reference} networks "
        f"from different seeds differ by {told} in total "
        f"variation, the share of probability placed differently. Significantly more differ: {sides[0]}; "
        f"less: {sides[1]}; undecided: {[d.outcome for d in answer.comparisons().values()].count('undecided')}"
    )


def _sizes(answer: Answer) -> str:
    """How large the networks are."""
    sizes = (arm.n_parameters / 1e6 for arm in answer.grid.arms.values())
    return f"networks of {span(sizes, '.1f')} million parameters"


def _choosing(answer: Answer) -> str:
    """Which activations end with a significantly lower loss than the reference, in how many comparisons."""
    found = answer.at_the_end("val_loss")
    lower = {cell: e for cell, (e, p) in found.items() if p < answer.alpha and e.value < 0}
    if not lower:
        return f"none ends with a significantly lower loss than {answer.reference}"
    return (
        f"{chapter.cells_in_words(lower)} {'ends' if len(lower) == 1 else 'end'} with a significantly lower loss "
        f"than {answer.reference}, up to {signed(min(lower.values(), key=lambda e: e.value))} nats"
    )


def _agreement(answer: Answer) -> str:
    """What an ensemble of two does at equal training compute, under the reference activation."""
    equal = all(arm.record.get("equal_compute") for arm in answer.grid.arms.values())
    one, two, cost = _ensembles(answer)
    return (
        f"averaging two{' half-trained' * equal} networks takes {answer.reference}'s total variation from {small(one)} "
        f"to {small(two)}" + f", at {cost:+.3f} nats of loss" * equal
    )


def _ensembles(answer: Answer) -> Array:
    """The reference's total variation between single networks and between averages of two, and what averaging adds to
    the loss (NaN where that was not measured): means over architectures."""
    return np.asarray(np.mean([ensemble_sizes(answer, model) for model in answer.arms()], axis=0))
