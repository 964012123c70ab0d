"""Figures and folded tables of the sources of seed variance, of studies at several sizes side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from matplotlib.figure import Figure

from actlab.chapters.template import folded
from actlab.figures.primitives import Line, line, lines, points
from actlab.records import equal_loss, families, store
from actlab.records import sources as sources_records
from actlab.records.repro import ArmResults
from actlab.records.sources import METRIC, STREAMS, Sources, all_streams, ensembles, trajectory
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
    levels: dict[str, float] = {}
    for sources in found.values():
        at = equal_loss.levels(all_streams(sources))
        for model, activation, arm in _arms({"": sources}):
            made = line(dict(enumerate(e for _, e in trajectory(arm))))
            losses = arm.curves(METRIC)[1].losses.mean(axis=1)
            every[model, activation] = Line(list(losses), made.y, made.low, made.high)
            if arm.model in at:
                levels[model] = at[arm.model].loss
    x = "validation loss (nats per character), training goes to the right"
    return lines(every, x, LABEL, bars=True, at=levels, backwards=True, share=False)


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
        "one stream at a time": sources_records.by_stream,
        "differences from relu (*: significant, Holm over a model's comparisons)": sources_records.differences,
        "perturbations, median over seeds (smallest to largest)": sources_records.floors,
        "at equal validation loss": lambda s: equal_loss.table(all_streams(s)),
        "ensembles": sources_records.by_ensemble,
    }
    return folded({f"{study}: {title}": table(s) for title, table in made.items() for study, s in found.items()})
