"""Where irreproducibility comes from: one random stream at a time, perturbed trials, ensembles; studies of several
sizes side by side, by the decision rule of params/sources.yaml."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import arms
from actlab.chapters.template import folded
from actlab.figures.primitives import line, lines, points
from actlab.figures.style import NO_RECORD
from actlab.records import families, store
from actlab.records import sources as sources_records
from actlab.records.labels import METRICS, words
from actlab.records.repro import ArmResults, Grid
from actlab.records.sources import (
    METRIC,
    SMOOTH,
    STREAMS,
    Sources,
    ensemble_gain,
    ensembles,
)
from actlab.records.wording import signed
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import ALPHA

LABEL = "mean total variation (0 to 1)"
Studies = Mapping[str, Sources]


def read(studies: Iterable[str]) -> dict[str, Sources]:
    """Study -> its arms, with the grid whose family it quotes."""
    return {name: sources_records.read(store.load_study(name), families.primary(name)) for name in studies}


def _arms(found: Studies, stream: str = "all") -> Iterator[tuple[str, ArmResults]]:
    """(model with its size, arm) of every recorded arm in which that stream varies; the model's first arm has the
    size."""
    for sources in found.values():
        for model, grid in sources.grids.items():
            for arm in grid.arms.values():
                if arm.varies == stream:
                    yield _sized(model, grid), arm


def _sized(model: str, grid: Grid) -> str:
    """``charlm, 430k``: with its first arm's number of parameters."""
    return f"{model}, {next(iter(grid.arms.values())).n_parameters / 1000:.0f}k"


def figure_streams(found: Studies) -> Figure:
    """What varying each stream does: a panel a model, a place a stream, a mark an activation."""
    every = {
        (model, said, arm.activation): arm.shown(METRIC)
        for stream, said in STREAMS.items()
        for model, arm in _arms(found, stream)
    }
    return points(every, LABEL, height=2.6)


def figure_floors(found: Studies) -> Figure:
    """Each seed against itself perturbed, on a logarithmic axis, a small mark a seed; above, two seeds. An exact 0 has
    no place there."""
    every: dict[tuple[str, str, str], Estimate] = {}
    singles = {}
    for name, sources in found.items():
        for model, arm in _arms({name: sources} if sources.perturbed else {}):
            every[model, "another seed", arm.activation] = arm.shown(METRIC)
            for variant in (*arms.FLOORS, "bfloat16"):
                values = sources.perturbation(arm.record["model_name"], arm.activation, variant)
                if len(values[values > 0]):
                    singles[model, words(variant), arm.activation] = values[values > 0]
    return points(every, LABEL, singles=singles, log=True, columns=1, height=1.6)


def figure_ensembles(found: Studies) -> Figure:
    """Total variation between two ensembles against their size; every stream varies."""
    every = {(model, arm.activation): line(ensembles(arm)) for model, arm in _arms(found)}
    return lines(every, "runs in an ensemble", LABEL, kind="bars", log=True, height=2.0)


def tables(found: Studies) -> Any:
    """The arms of every study and model with their differences from relu, folded."""
    grids = {_sized(model, grid): grid for one in found.values() for model, grid in one.grids.items()}
    title = "{} (*: significant, Holm over the model's comparisons, or over the family of the study that made the runs)"
    metric = METRICS[METRIC]
    return folded({title.format(n): arms.table(grid, metric, arms.cells(grid, METRIC)) for n, grid in grids.items()})


# --- the decision rule of params/sources.yaml ------------------------------------------------------------------------


def answer(found: Studies) -> str:
    """The page's answer: how much of what a new seed changes each stream brings about alone, over arms of all sizes."""
    means = pd.Series(
        {(m, arm.activation, s): arm.estimate(METRIC).value for s in STREAMS for m, arm in _arms(found, s)}
    ).unstack()
    shares = 100 * means.div(means["all"], axis="index")
    init, order, dropout = (f"{mean:.0f}%" for mean in shares.mean().reindex(["init", "order", "dropout"]))
    return (
        f"a new initialization alone gives {init} of the total variation that a new seed gives, a new order of the "
        f"batches alone {order}, new dropout masks alone {dropout}; these parts do not add up. They are means over "
        f"{len(shares)} configurations, in each of which initialization and order give at least "
        f"{shares[['init', 'order']].min(axis=None):.0f}% each"
    )


def rule_table(found: Studies) -> pd.DataFrame:
    """A row a part of the rule, a column a study, named by its networks."""
    names = ["; ".join(_sized(model, grid) for model, grid in one.grids.items()) for one in found.values()]
    return pd.DataFrame(dict(zip(names, map(_rule, found.values()), strict=True)))


def _rule(sources: Sources) -> dict[str, str]:
    tests = sources.tests()
    own = [test.significant * math.copysign(1, test.difference.value) for test in tests if not test.quoted]
    planned = [p < ALPHA for grid in sources.grids.values() for _, p in families.comparisons(grid, METRIC).values()]
    smooth = [t for t in tests if t.arm.varies == "all" and t.arm.activation in SMOOTH]
    signs = {math.copysign(test.significant, test.difference.value) for test in smooth}
    outcome = "supported" if signs == {-1} else "contradicted" if 1 in signs else "undecided"
    gains = [ensemble_gain(arm, size).low > 0 for arm in sources.arms() for size in ensembles(arm) if size > 1]
    return {
        "differences from relu by stream": f"{own.count(1)} of {len(own)} are significantly higher, {own.count(-1)} "
        "lower (Holm-adjusted in each architecture)"
        + f"; in the plan's families, which include those of the other study's family: {sum(planned)} significant of "
        f"{len(planned)}" * (len(planned) > len(own)),
        "smooth activations agree more": outcome,
        "1-ULP perturbations": kink(sources),
        "ensembles": f"agree more than single runs in {sum(gains)} of {len(gains)} comparisons",
    }


def kink(*studies: Sources) -> str:
    """Whether a 1-ULP perturbation grows further under relu than under each smooth activation, and by how much at
    least."""
    if not (found := [each for sources in studies for each in sources.amplifications()]):
        return NO_RECORD
    least = min(found, key=lambda e: e.low if e.low == e.low else -math.inf)  # no interval: nothing is shown
    outcome = "further" if least.low > 0 else "not significantly further"
    return (
        f"a 1-ULP perturbation grows {outcome} under relu than under each smooth activation, by at least "
        f"{signed(least, 1)} powers of ten (n = {least.n})"
    )


def ensemble(found: Studies) -> str:
    """What averaging two runs takes off the total variation, over arms of all sizes."""
    gains = [(ensemble_gain(arm, 2), ensembles(arm)[1].value) for _, arm in _arms(found) if 2 in ensembles(arm)]
    share = 100 * float(np.mean([gain.value / one for gain, one in gains]))
    kept = sum(gain.low > 0 for gain, _ in gains)
    return (
        f"averaging the probabilities of two runs lowers total variation by {share:.0f}% on average; the unadjusted "
        f"95% interval excludes 0 in {kept} of {len(gains)} configurations"
    )
