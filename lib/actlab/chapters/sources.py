"""Where irreproducibility comes from: one random stream at a time, perturbed trials, equal loss, ensembles; studies at
several sizes side by side, by the decision rule of params/sources.yaml."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actlab.chapters.template import MISSING, folded
from actlab.figures.primitives import Line, line, lines, points
from actlab.figures.style import NO_RECORD
from actlab.records import families, store
from actlab.records import sources as sources_records
from actlab.records.estimates import ALPHA, MARGIN, REFERENCE
from actlab.records.repro import ArmResults
from actlab.records.sources import (
    METRIC,
    SMOOTH,
    STREAMS,
    Sources,
    against_relu,
    amplification,
    ensemble_gain,
    ensembles,
    levels,
    outcomes,
)
from actlab.records.wording import measured, normal_tails, signed, small
from actlab.statistics.estimate import Estimate

LABEL = "mean total variation (0 to 1)"
Studies = Mapping[str, Sources]


def read(studies: Iterable[str]) -> dict[str, Sources]:
    """Study -> its arms, with the grid whose family it quotes."""
    return {name: sources_records.read(store.load_study(name), families.primary(name)) for name in studies}


def _arms(found: Studies, stream: str = "all") -> Iterator[tuple[str, str, ArmResults]]:
    """(model with its size, activation, arm) of every recorded arm in which that stream varies; relu's arm has the
    size."""
    for sources in found.values():
        for model in sources.models:
            arms = sources.recorded(model, stream)
            for activation, arm in arms.items():
                yield f"{model}, {next(iter(arms.values())).n_parameters / 1000:.0f}k parameters", activation, arm


def figure_streams(found: Studies) -> Figure:
    """What varying each stream does: a panel a model, a place a stream, a mark an activation."""
    every = {(m, words, a): arm for stream, words in STREAMS.items() for m, a, arm in _arms(found, stream)}
    return points({key: arm.shown(METRIC) for key, arm in every.items()}, LABEL, height=2.6)


def figure_against_loss(found: Studies) -> Figure:
    """Total variation between seeds against the validation loss, which falls to the right; a dotted line marks the loss
    of the comparison."""
    every: dict[tuple[str, str], Line] = {}
    marks: dict[str, float] = {}
    for sources in found.values():
        at = levels(sources)
        for model, activation, arm in _arms({"": sources}):
            made = line(dict(enumerate(sources_records.trajectory(arm))))
            losses = arm.curves(METRIC)[1].losses.mean(axis=1)
            every[model, activation] = Line(list(losses), made.y, made.low, made.high)
            if arm.model in at:
                marks[model] = at[arm.model].loss
    x = "validation loss (nats per character), training goes to the right"
    return lines(every, x, LABEL, bars=True, at=marks, backwards=True, share=False)


def figure_floors(found: Studies) -> Figure:
    """Each seed against itself perturbed, on a logarithmic axis, a small mark a seed; above, two seeds. An exact 0 has
    no place there."""
    every: dict[tuple[str, str, str], Estimate] = {}
    singles = {}
    for name, sources in found.items():
        for model, activation, arm in _arms({name: sources} if sources.perturbed else {}):
            every[model, "another seed", activation] = arm.shown(METRIC)
            for variant, words in sources.perturbations.items():
                values = sources.perturbation(arm.model, activation, variant)
                if len(values[values > 0]):
                    singles[model, words, activation] = values[values > 0]
    return points(every, LABEL, singles=singles, log=True, height=2.6)


def figure_ensembles(found: Studies) -> Figure:
    """Total variation between two ensembles against their size; every stream varies."""
    every = {(model, activation): line(ensembles(arm)) for model, activation, arm in _arms(found)}
    return lines(every, "runs in an ensemble", LABEL, bars=True, log="x", height=2.0)


def tables(found: Studies) -> Any:
    """Every table of the page, folded."""
    made = {
        "one stream at a time": by_stream,
        "differences from relu (*: significant, Holm over a model's comparisons)": differences,
        "perturbations, median over seeds (smallest to largest)": floors,
        "at equal validation loss": equal_loss_table,
        "ensembles": by_ensemble,
    }
    return folded({f"{study}: {title}": table(s) for title, table in made.items() for study, s in found.items()})


def by_stream(sources: Sources) -> pd.DataFrame:
    """A row a model and activation, a column a stream: mean over pairs, 95% interval, number of trials."""
    rows = {
        f"{m}, {a}": {
            words: _joined(measured(sources.arms[m, a, s].shown(METRIC), 4)) if (m, a, s) in sources.arms else MISSING
            for s, words in STREAMS.items()
        }
        for m in sources.models
        for a in sources.activations
    }
    return pd.DataFrame.from_dict(rows or {"all": dict.fromkeys(STREAMS.values(), MISSING)}, orient="index")


def differences(sources: Sources) -> pd.DataFrame:
    """The comparisons of ``against_relu``: difference, interval, adjusted p (a star where significant), and whose
    family it is of."""
    rows = [
        {
            "model": model,
            "activation": c.activation,
            "stream": STREAMS[c.stream],
            "minus relu": signed(c.difference, 4),
            "p (Holm)": f"{c.p:.3f}{' *' if c.p < ALPHA else ''}",
            "family": sources.primary.study if sources.primary and c.quoted else "this page",
        }
        for model in sources.models
        for c in against_relu(sources, model)
    ]
    return pd.DataFrame(rows or [{"model": MISSING}]).set_index("model")


def floors(sources: Sources) -> pd.DataFrame:
    """A row a model and activation, a column a recorded perturbation: median (smallest to largest seed), and how many
    seeds."""
    rows = {
        f"{m}, {a}": {words: _spread(sources.perturbation(m, a, v)) for v, words in sources.perturbations.items()}
        for m, a in sources.perturbed
    }
    return pd.DataFrame.from_dict(rows or {"all": {"perturbed trials": MISSING}}, orient="index")


def _spread(values: NDArray[np.float64]) -> str:
    if not len(values):
        return MISSING
    middle, low, high = (small(float(f(values))) for f in (np.median, np.min, np.max))
    return _joined(f"{middle} ({low} to {high}), n = {len(values)}" if values.any() else f"0, n = {len(values)}")


def _joined(text: str) -> str:
    """With its number of trials on one line."""
    return text.replace("n = ", "n\u00a0=\u00a0")


def by_ensemble(sources: Sources) -> pd.DataFrame:
    """A row a model and activation (all streams vary), a column an ensemble's size."""
    rows = {
        f"{m}, {a}": {
            f"{size} trial{'s' if size > 1 else ''}": _joined(measured(e, 4)) for size, e in ensembles(arm).items()
        }
        for (m, a, s), arm in sources.arms.items()
        if s == "all"
    }
    return pd.DataFrame.from_dict(rows or {"all": {"1 trial": MISSING}}, orient="index")


def equal_loss_table(sources: Sources) -> pd.DataFrame:
    """A row a model and activation: its difference from relu at the last step and at equal loss, with the outcome
    there."""
    losses = {model: at.loss for model, at in levels(sources).items()}
    rows = {
        f"{model}, {a} minus {REFERENCE}": {
            "at the last step": signed(
                sources.arms[model, a, "all"].minus(sources.arms[model, REFERENCE, "all"], METRIC), 4
            ),
            "at equal loss": signed(found.difference, 4),
            "the loss (nats)": f"{losses[model]:.3f}",
            "p (Holm)": f"{found.adjusted:.3f}",
            f"p of {MARGIN} or more (Holm)": f"{found.equivalence_adjusted:.3f}",
            "outcome at equal loss": found.outcome,
        }
        for (model, a), found in outcomes(sources).items()
    }
    return pd.DataFrame.from_dict(rows or {"no snapshots yet": {"at equal loss": ""}}, orient="index")


def equal_loss(sources: Sources) -> str:
    """What was not planned before: said as exploration; nothing without snapshots."""
    found = outcomes(sources)
    if not found:
        return ""
    named = "; ".join(f"{model} {a} {signed(d.difference)}, {d.outcome}" for (model, a), d in found.items())
    losses = ", ".join(f"{model} {at.loss:.3f}" for model, at in levels(sources).items())
    return (
        f"exploratory, not part of the rule: at equal validation loss ({losses} nats) total variation between seeds "
        f"differs from {REFERENCE}'s by: {named} (95%, Holm over {len(found)}, equivalence within {MARGIN})"
    )


# --- the decision rule of params/sources.yaml ------------------------------------------------------------------------


def sentences(sources: Sources) -> dict[str, str]:
    """The outcome of each part of the rule of params/sources.yaml."""
    if not sources.arms:
        return {"extent": NO_RECORD.capitalize()}
    return {
        "extent": f"{len(sources.arms)} arms of {', '.join(sources.models)}; perturbed trials in "
        f"{len(sources.perturbed)} arms",
        "streams": _streams(sources),
        "tails": normal_tails(max(len(arm.done) for arm in sources.arms.values())),
        "smooth": _smooth(sources),
        "kink": _kink(sources),
        "ensembles": _ensembles(sources),
        "equal_loss": equal_loss(sources),
    }


def _streams(sources: Sources) -> str:
    tests = [(model, c) for model in sources.models for c in against_relu(sources, model)]
    again = {f"{m} {c.activation}": (c.difference, c.p) for m, c in tests if c.quoted}
    own = [(m, c) for m, c in tests if not c.quoted]
    named = [
        f"{m} {c.activation} {'amplifies' if c.difference.value > 0 else 'damps'} {STREAMS[c.stream]} "
        f"({c.difference.value:+.4f})"
        for m, c in own
        if c.p < ALPHA
    ]
    head = (
        f"{len(named)} of {len(own)} differences from relu are significant (Holm-adjusted in each model, 5%), "
        "each around one setting"
    )
    said = f"{head} of the other streams, that of the first seed" + (": " if named else "") + "; ".join(named)
    return said + (f". With every stream varying the arms {families.told(again, sources.primary)}" if again else "")


def _smooth(sources: Sources) -> str:
    found = {(m, c.activation): c for m in sources.models for c in against_relu(sources, m) if c.stream == "all"}
    wanted = [(model, a) for model in sources.models for a in SMOOTH]
    if any(cell not in found for cell in wanted):
        return "whether smooth activations help waits for records"
    tests = {cell: found[cell] for cell in wanted}
    signs = {math.copysign(1, c.difference.value) if c.p < ALPHA else 0 for c in tests.values()}
    outcome = "supported" if signs == {-1} else "contradicted" if 1 in signs else "left undecided"
    values = "; ".join(f"{m} {a} minus relu {_counted(c.difference, 4)}, p = {c.p:.3f}" for (m, a), c in tests.items())
    return f"that smooth activations are more reproducible is {outcome} here: {values}"


def _counted(estimate: Estimate, digits: int) -> str:
    return f"{signed(estimate, digits)}, n = {estimate.n}"


def _kink(sources: Sources) -> str:
    cells = [(m, a) for m in sources.models for a in SMOOTH if (m, a) in sources.perturbed]
    found = {cell: amplification(sources, *cell) for cell in cells}
    if not found:
        return "the noise floors wait for records"
    outcome = "passed" if all(e.low > 0 for e in found.values()) else "not passed"
    values = "; ".join(f"{m} relu minus {a} {_counted(e, 2)}" for (m, a), e in found.items())
    return (
        "the rule's test of relu's kink (a nudge of one weight by one ULP grows further under relu than under each "
        f"smooth activation) is {outcome}: differences in log10 total variation are {values}"
    )


def _ensembles(sources: Sources) -> str:
    gains = [
        (m, a, ensemble_gain(arm, size))
        for (m, a, s), arm in sources.arms.items()
        if s == "all"
        for size in ensembles(arm)
        if size > 1
    ]
    if not gains:
        return "ensembles wait for records"
    above = sum(e.low > 0 for *_, e in gains)
    values = "; ".join(f"{m} {a} {_counted(e, 4)}" for m, a, e in gains)
    return (
        f"an ensemble is more reproducible than a single trial, with an interval that excludes 0, in {above} of "
        f"{len(gains)} comparisons (total variation of single trials less that of ensembles: {values})"
    )
