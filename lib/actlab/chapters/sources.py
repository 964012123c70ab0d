"""Where irreproducibility comes from: one random stream at a time, perturbed trials, ensembles; studies of several
sizes side by side, by the decision rule of params/sources.yaml."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actlab.chapters.template import MISSING, folded, frame
from actlab.figures.primitives import line, lines, points
from actlab.figures.style import NO_RECORD
from actlab.records import families, store
from actlab.records import sources as sources_records
from actlab.records.estimates import ALPHA
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
)
from actlab.records.wording import measured, signed, small
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
                yield f"{model}, {next(iter(arms.values())).n_parameters / 1000:.0f}k", activation, arm


def figure_streams(found: Studies) -> Figure:
    """What varying each stream does: a panel a model, a place a stream, a mark an activation."""
    every = {(m, words, a): arm for stream, words in STREAMS.items() for m, a, arm in _arms(found, stream)}
    return points({key: arm.shown(METRIC) for key, arm in every.items()}, LABEL, height=2.6)


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
    return frame(rows)


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
    return pd.DataFrame(rows or [{"model": NO_RECORD}]).set_index("model")


def floors(sources: Sources) -> pd.DataFrame:
    """A row a model and activation, a column a recorded perturbation: median (smallest to largest seed), and how many
    seeds."""
    rows = {
        f"{m}, {a}": {words: _spread(sources.perturbation(m, a, v)) for v, words in sources.perturbations.items()}
        for m, a in sources.perturbed
    }
    return frame(rows)


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
    return frame(rows)


# --- the decision rule of params/sources.yaml ------------------------------------------------------------------------


def answer(found: Studies) -> str:
    """The page's answer: how much of what a new seed changes each stream brings about alone, over arms of all sizes."""
    every = {(model, a, s): arm.estimate(METRIC).value for s in STREAMS for model, a, arm in _arms(found, s)}
    shares = {s: [v / every[m, a, "all"] for (m, a, other), v in every.items() if other == s and v] for s in STREAMS}
    if not all(shares.values()):
        return NO_RECORD
    init, order, dropout = (f"{100 * float(np.mean(shares[s])):.0f}%" for s in ("init", "order", "dropout"))
    return (
        f"new initial weights alone bring about {init} of the total variation that a new seed does, a new order of "
        f"batches {order}, new dropout masks {dropout}"
    )


def rule_table(found: Studies) -> pd.DataFrame:
    """A row a part of the rule, a column a study."""
    parts = {
        "streams": _streams,
        "smooth activations agree more": _smooth,
        "relu's kink": kink,
        "ensembles": _ensembles,
    }
    rows = {
        part: {name: say(one) if one.arms else NO_RECORD for name, one in found.items()} for part, say in parts.items()
    }
    return frame(rows)


def _streams(sources: Sources) -> str:
    tests = [c for model in sources.models for c in against_relu(sources, model) if not c.quoted]
    kept = sum(c.p < ALPHA for c in tests)
    return f"{kept} of {len(tests)} differences from relu are significant (Holm-adjusted in each model)"


def _smooth(sources: Sources) -> str:
    found = {(m, c.activation): c for m in sources.models for c in against_relu(sources, m) if c.stream == "all"}
    wanted = [(model, a) for model in sources.models for a in SMOOTH]
    if any(cell not in found for cell in wanted):
        return NO_RECORD
    tests = [found[cell] for cell in wanted]
    signs = {math.copysign(1, c.difference.value) if c.p < ALPHA else 0 for c in tests}
    return "supported" if signs == {-1} else "contradicted" if 1 in signs else "undecided"


def kink(sources: Sources) -> str:
    """Whether a 1-ULP perturbation grows further under relu than under each smooth activation, and by how much at
    least."""
    found = [amplification(sources, m, a) for m in sources.models for a in SMOOTH if (m, a) in sources.perturbed]
    if not found:
        return NO_RECORD
    least = min(found, key=lambda e: e.low)
    outcome = "further" if least.low > 0 else "not significantly further"
    return (
        f"a 1-ULP perturbation grows {outcome} under relu than under each smooth activation, at least by "
        f"{signed(least, 1)} powers of ten (n = {least.n})"
    )


def _ensembles(sources: Sources) -> str:
    every = [arm for (_, _, stream), arm in sources.arms.items() if stream == "all"]
    gains = [ensemble_gain(arm, size) for arm in every for size in ensembles(arm) if size > 1]
    return f"agree more in {sum(e.low > 0 for e in gains)} of {len(gains)} comparisons" if gains else NO_RECORD


def ensemble(found: Studies) -> str:
    """What averaging two runs takes off the total variation, over arms of all sizes."""
    gains = [(ensemble_gain(arm, 2), ensembles(arm)[1].value) for *_, arm in _arms(found) if 2 in ensembles(arm)]
    if not gains:
        return NO_RECORD
    share = 100 * float(np.mean([gain.value / one for gain, one in gains]))
    kept = sum(gain.low > 0 for gain, _ in gains)
    return (
        f"averaging the probabilities of two runs lowers total variation by {share:.0f}% on average; the 95% interval "
        f"excludes 0 in {kept} of {len(gains)} configurations"
    )
