"""Sources of irreproducibility as read from records: one random stream at a time, perturbed trials, training time,
ensembles. Draws nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.records import equal_loss
from actlab.records.estimates import against
from actlab.records.families import quoted, told
from actlab.records.repro import ArmResults, Grid
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate, t_interval
from actlab.statistics.means import jackknifed, pair_mean, paired_difference
from actlab.wording import bullets, measured, normal_tails, signed, small

STREAMS = {"all": "every stream", "init": "initial weights", "order": "order of batches", "dropout": "dropout masks"}
PERTURBATIONS = {
    "repeat": "the same again",
    "nudge": "one weight moved by one ULP",
    "threads2": "two threads instead of one",
    "threads2repeat": "two threads, the same again",
    "bfloat16": "bfloat16 instead of float32",
}
REFERENCE, SMOOTH = "relu", ("gelu", "smelu_1")
METRIC = "total_variation"
MISSING = "not run"
ALPHA = 0.05


@dataclass(frozen=True)
class Sources:
    """Arms by (model, activation, stream that varies); perturbed trials' records by (model, activation)."""

    arms: dict[tuple[str, str, str], ArmResults] = field(default_factory=dict)
    perturbed: dict[tuple[str, str], Record] = field(default_factory=dict)
    primary: Grid | None = None
    """The grid whose family decides where an arm has its trials (``records.families``)."""

    @property
    def models(self) -> list[str]:
        """Names, in the order of the records' names."""
        return list(dict.fromkeys(model for model, _, _ in self.arms))

    @property
    def activations(self) -> list[str]:
        """Names, relu first."""
        return sorted({a for _, a, _ in self.arms}, key=lambda name: (name != REFERENCE, name))

    def recorded(self, model: str, stream: str) -> dict[str, ArmResults]:
        """activation -> arm."""
        return {a: self.arms[model, a, stream] for a in self.activations if (model, a, stream) in self.arms}

    @property
    def perturbations(self) -> dict[str, str]:
        """name -> words, of those that some arm has a record of."""
        return {
            v: words
            for v, words in PERTURBATIONS.items()
            if any(len(self.perturbation(m, a, v)) for m, a in self.perturbed)
        }

    def perturbation(self, model: str, activation: str, variant: str, metric: str = METRIC) -> NDArray[np.float64]:
        """(seeds,) the metric between each seed's trial and the same seed changed; between its two runs on two threads
        for ``threads2repeat``."""
        record = self.perturbed.get((model, activation))
        pairs = record["reproducibility_metrics"] if record else []
        first = "-threads2" if variant == "threads2repeat" else ""
        found = {}
        for pair in pairs:
            seed = pair["between"][1].partition("-")[0]
            if pair["between"] == [f"{seed}{first}", f"{seed}-{variant}"]:
                found[int(seed)] = float(pair[metric])
        return np.array([found[seed] for seed in sorted(found)])


def read(records: Iterable[Record], primary: Grid | None = None) -> Sources:
    """A study of sources, at the settings that most of its arms share, with the grid that it quotes; an empty one from
    no record."""
    found = usual(records, apart=("varies",))
    arms = {
        (r["model_name"], r["activation"], r["config"].get("varies", "all")): ArmResults(r)
        for r in found
        if r["kind"] == "trials"
    }
    return Sources(arms, {(r["model_name"], r["activation"]): r for r in found if r["kind"] == "perturbed"}, primary)


Comparison = tuple[str, str, Estimate, float]
"""Activation, stream, paired difference from relu, p-value after Holm."""


def against_relu(sources: Sources, model: str, metric: str = METRIC) -> list[Comparison]:
    """Every activation minus relu under every stream, paired by seed, adjusted by Holm over all of them; a stream that
    changes nothing is left out.

    With all streams an arm may repeat trials of the primary study: then that study's difference and p-value stand
    there.
    """
    cells = [
        (activation, stream, (arm, arms[REFERENCE]))
        for stream in STREAMS
        for arms in [sources.recorded(model, stream)]
        for activation, arm in arms.items()
        if activation != REFERENCE and REFERENCE in arms and arm.matrix(metric)[0, 1] > 0
    ]
    found = against([pair for *_, pair in cells], metric)
    return [
        (a, stream, *(quoted(arm, sources.primary, metric) or own))
        for (a, stream, (arm, _)), own in zip(cells, found, strict=True)
    ]


def trajectory(arm: ArmResults, metric: str = METRIC) -> list[tuple[int, Estimate]]:
    """(iteration, mean over pairs with its interval) at each snapshot and at the end."""
    steps, curves = arm.curves(metric)
    return [(step, pair_mean(matrix)) for step, matrix in zip(steps, curves.pairs, strict=True)]


def all_streams(sources: Sources) -> dict[str, dict[str, ArmResults]]:
    """model -> activation -> the arm in which every stream varies."""
    return {model: sources.recorded(model, "all") for model in sources.models}


def ensembles(arm: ArmResults, metric: str = METRIC) -> dict[int, Estimate]:
    """Size -> mean over pairs of disjoint ensembles, with a jackknife over trials; size 1 are the ordinary pairs."""
    return {size: _jackknife(arm.labels, {"": values}) for size, values in _splits(arm, metric).items()}


def ensemble_gain(arm: ArmResults, size: int, metric: str = METRIC) -> Estimate:
    """Single trials less ensembles of ``size``; the jackknife leaves one trial at a time out of both. Positive: the
    ensemble agrees more."""
    splits = _splits(arm, metric)
    return _jackknife(arm.labels, {"": splits[1], "less": splits[size]})


Split = tuple[frozenset[str], float]
"""Labels of the trials in both ensembles; the metric between them."""


def _splits(arm: ArmResults, metric: str) -> dict[int, list[Split]]:
    record = arm.record
    found = {1: [(frozenset(pair["between"]), float(pair[metric])) for pair in record["reproducibility_metrics"]]}
    for size, entries in record.get("ensembles", {}).items():
        found[int(size)] = [
            (frozenset(label for ensemble in entry["between"] for label in ensemble), float(entry[metric]))
            for entry in entries
        ]
    return found


def _jackknife(labels: list[str], terms: dict[str, list[Split]]) -> Estimate:
    """Mean of the first term less those of the others, each with a trial left out at a time (variance as in
    ``pair_mean``)."""
    signs = {name: -1.0 if name else 1.0 for name in terms}

    def total(without: str) -> float:
        means = {name: [value for trials, value in splits if without not in trials] for name, splits in terms.items()}
        if not all(means.values()):
            return math.nan
        return sum(signs[name] * float(np.mean(values)) for name, values in means.items())

    return jackknifed(total(""), np.array([total(label) for label in labels]))


def amplification(sources: Sources, model: str, activation: str, variant: str = "nudge") -> Estimate:
    """relu less another activation in log10 total variation after a perturbation, paired by seed; NaN where a value is
    0 (it has no logarithm)."""
    mine, other = (sources.perturbation(model, a, variant) for a in (REFERENCE, activation))
    if not len(mine) or mine.shape != other.shape:
        return t_interval(math.nan, math.nan, 0, 0, 0.95, "no pair")
    with np.errstate(divide="ignore"):
        first, second = (np.where(values > 0, np.log10(values), np.nan) for values in (mine, other))
    return paired_difference(first, second)


# --- tables ----------------------------------------------------------------------------------------------------------


def by_stream(sources: Sources, metric: str = METRIC) -> pd.DataFrame:
    """A row a model and activation, a column a stream: mean over pairs, 95% interval, number of trials."""
    rows = {
        f"{model}, {a}": {
            words: _joined(measured(sources.arms[model, a, s].shown(metric), 4))
            if (model, a, s) in sources.arms
            else MISSING
            for s, words in STREAMS.items()
        }
        for model in sources.models
        for a in sources.activations
    }
    return pd.DataFrame.from_dict(rows or {"all": dict.fromkeys(STREAMS.values(), MISSING)}, orient="index")


def differences(sources: Sources) -> pd.DataFrame:
    """The comparisons of ``against_relu``: difference, interval, adjusted p (a star where significant), and whose
    family it is of."""
    rows = [
        {
            "model": model,
            "activation": a,
            "stream": STREAMS[stream],
            "minus relu": signed(e, 4),
            "p (Holm)": f"{p:.3f}{' *' if p < ALPHA else ''}",
            "family": sources.primary.study
            if sources.primary and quoted(sources.arms[model, a, stream], sources.primary, METRIC)
            else "this page",
        }
        for model in sources.models
        for a, stream, e, p in against_relu(sources, model)
    ]
    return pd.DataFrame(rows or [{"model": MISSING}]).set_index("model")


def floors(sources: Sources) -> pd.DataFrame:
    """A row a model and activation, a column a recorded perturbation: median (smallest to largest seed), and how many
    seeds."""
    rows = {}
    for model, activation in sources.perturbed:
        cells = {words: sources.perturbation(model, activation, v) for v, words in sources.perturbations.items()}
        rows[f"{model}, {activation}"] = {words: _spread(values) for words, values in cells.items()}
    return pd.DataFrame.from_dict(rows or {"all": {"perturbed trials": MISSING}}, orient="index")


def _spread(values: NDArray[np.float64]) -> str:
    if not len(values):
        return MISSING
    shown = (
        f"{small(float(np.median(values)))} ({small(float(values.min()))} to {small(float(values.max()))})"
        if values.any()
        else "0"
    )
    return _joined(f"{shown}, n = {len(values)}")


def _joined(text: str) -> str:
    """With its number of trials on one line."""
    return text.replace("n = ", "n\u00a0=\u00a0")


def by_ensemble(sources: Sources) -> pd.DataFrame:
    """A row a model and activation (all streams vary), a column an ensemble's size."""
    arms = {f"{m}, {a}": arm for (m, a, s), arm in sources.arms.items() if s == "all"}
    cells = {name: {size: _joined(measured(e, 4)) for size, e in ensembles(arm).items()} for name, arm in arms.items()}
    rows = {
        name: {f"{size} trial{'s' if size > 1 else ''}": cell for size, cell in row.items()}
        for name, row in cells.items()
    }
    return pd.DataFrame.from_dict(rows or {"all": {"1 trial": MISSING}}, orient="index")


# --- the decision rule of params/sources.yaml
# --------------------------------------------------------------------------


def sentences(sources: Sources) -> dict[str, str]:
    """The outcome of each part of the rule of params/sources.yaml."""
    if not sources.arms:
        return {"extent": "No record yet"}
    return {
        "extent": f"{len(sources.arms)} arms of {', '.join(sources.models)}; perturbed trials in {len(sources.perturbed)} arms",
        "streams": _streams(sources),
        "tails": normal_tails(max(len(arm.done) for arm in sources.arms.values())),
        "smooth": _smooth(sources),
        "kink": _kink(sources),
        "ensembles": _ensembles(sources),
        "equal_loss": equal_loss.sentence(all_streams(sources)),
    }


def listed(sources: Sources) -> object:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(sources).values())


def _streams(sources: Sources) -> str:
    tests = [(model, *comparison) for model in sources.models for comparison in against_relu(sources, model)]
    again = {f"{m} {a}": (e, p) for m, a, s, e, p in tests if quoted(sources.arms[m, a, s], sources.primary, METRIC)}
    own = [test for test in tests if not (test[2] == "all" and f"{test[0]} {test[1]}" in again)]
    significant = [(m, a, s, e) for m, a, s, e, p in own if p < ALPHA]
    named = "; ".join(
        f"{m} {a} {'amplifies' if e.value > 0 else 'damps'} {STREAMS[s]} ({e.value:+.4f})" for m, a, s, e in significant
    )
    head = f"{len(significant)} of {len(own)} differences from relu are significant (Holm-adjusted in each model, 5%), each around one setting"
    said = f"{head} of the other streams, that of the first seed" + (": " if significant else "") + named
    return said + (f". With every stream varying the arms {told(again, sources.primary)}" if again else "")


def _smooth(sources: Sources) -> str:
    tests = {
        (m, a): (e, p) for m in sources.models for a, s, e, p in against_relu(sources, m) if s == "all" and a in SMOOTH
    }
    wanted = [(model, a) for model in sources.models for a in SMOOTH]
    if any(cell not in tests for cell in wanted):
        return "whether smooth activations help waits for records"
    signs = [math.copysign(1, e.value) if p < ALPHA else 0 for e, p in (tests[cell] for cell in wanted)]
    outcome = "supported" if set(signs) == {-1} else "contradicted" if 1 in signs else "left undecided"
    values = "; ".join(f"{m} {a} minus relu {_counted(tests[m, a][0], 4)}, p = {tests[m, a][1]:.3f}" for m, a in wanted)
    return f"that smooth activations are more reproducible is {outcome} here: {values}"


def _counted(estimate: Estimate, digits: int) -> str:
    return f"{signed(estimate, digits)}, n = {estimate.n}"


def _kink(sources: Sources) -> str:
    found = {
        (m, a): amplification(sources, m, a) for m in sources.models for a in SMOOTH if (m, a) in sources.perturbed
    }
    if not found:
        return "the noise floors wait for records"
    outcome = "passed" if all(e.low > 0 for e in found.values()) else "not passed"
    values = "; ".join(f"{m} relu minus {a} {_counted(e, 2)}" for (m, a), e in found.items())
    return (
        "the rule's test of relu's kink (a nudge of one weight by one ULP grows further under relu than under each smooth activation) "
        f"is {outcome}: differences in log10 total variation are {values}"
    )


def _ensembles(sources: Sources) -> str:
    gains = {
        (m, a, size): ensemble_gain(arm, size)
        for (m, a, s), arm in sources.arms.items()
        if s == "all"
        for size in ensembles(arm)
        if size > 1
    }
    if not gains:
        return "ensembles wait for records"
    sure = sum(e.low > 0 for e in gains.values())
    values = "; ".join(f"{m} {a} {_counted(e, 4)}" for (m, a, _), e in gains.items())
    return (
        f"an ensemble is more reproducible than a single trial, with an interval that excludes 0, in {sure} of {len(gains)} comparisons "
        f"(total variation of single trials less that of ensembles: {values})"
    )
