"""Tables for notebooks, the book and summary.txt: estimates in, data frames of text out. Computes no statistic of its
own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from actlab.records import store
from actlab.records.estimates import ALPHA, REFERENCE
from actlab.records.families import tested
from actlab.records.repro import METRICS, PAIR_METRICS, TRIAL_METRICS, ArmResults, Grid
from actlab.records.settings import differing, kind_of, named
from actlab.statistics.estimate import Estimate
from actlab.wording import bullets, small, with_interval

MISSING = "not run"


def every_metric(grid: Grid) -> pd.DataFrame:
    """One row an arm: parameters, trials, every metric with its 95% interval. Missing arms say so."""
    rows = {
        (model, activation): _row(grid, grid.arms.get((model, activation)))
        for model in grid.models
        for activation in grid.activations
    }
    return _frame(rows, ("model", "activation")).rename(
        columns={name: metric.label for name, metric in grid.metrics.items()}
    )


def _row(grid: Grid, arm: ArmResults | None) -> dict[str, str]:
    if arm is None:
        return dict.fromkeys(["parameters", "trials", *grid.metrics], MISSING)
    done = len(arm.labels) - len(arm.not_done)
    trials = f"{done}" if not arm.not_done else f"{done} of {len(arm.labels)} ({', '.join(arm.not_done)})"
    estimates = {name: with_interval(arm.shown(name), metric.digits) for name, metric in grid.metrics.items()}
    return {"parameters": f"{arm.n_parameters:,}", "trials": trials} | estimates


def _frame(rows: Mapping[tuple[str, str], dict[str, str]], names: tuple[str, str]) -> pd.DataFrame:
    """Rows keyed by two names; the first is left out where it is always the same."""
    frame = pd.DataFrame(
        list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=names) if rows else None
    )
    return frame.droplevel(0) if len({first for first, _ in rows}) == 1 else frame


def losses(grid: Grid) -> pd.DataFrame:
    """The part of ``every_metric`` that says how well the models learned."""
    return every_metric(grid)[["parameters", "trials", *(metric.label for metric in TRIAL_METRICS.values())]]


def differences(grid: Grid) -> pd.DataFrame:
    """The part of ``every_metric`` that says how far trials differ, with the number of trials."""
    return every_metric(grid)[
        ["trials", *(metric.label for name, metric in grid.metrics.items() if name not in TRIAL_METRICS)]
    ]


def baselines(grid: Grid) -> pd.DataFrame:
    """What tables of character counts reach on the same validation text."""
    known = {f"{name} table": grid.baseline[name] for name in ("unigram", "bigram") if name in grid.baseline}
    rows = {
        name: {METRICS[key].label: f"{value:.{METRICS[key].digits}f}" for key, value in values.items()}
        for name, values in known.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def floors(grid: Grid) -> pd.DataFrame:
    """The noise floor: the same seed run twice, and with one weight moved by one unit in the last place. Arms without a
    floor share one row."""
    variants = {"repeat": "same seed again", "nudge": "one weight moved by one ULP"}
    floors = {key: arm for key, arm in grid.arms.items() if arm.floor}
    if not floors:
        return pd.DataFrame([dict.fromkeys(variants.values(), MISSING)], index=["every arm"])
    rows = {}
    for key, arm in floors.items():
        for variant, words in variants.items():
            name = f"{key[0]}, {key[1]}" if len(grid.models) > 1 else key[1]
            rows[name, words] = {m.label: _small(arm.floor_of(metric, variant)) for metric, m in PAIR_METRICS.items()}
    if others := len(grid.models) * len(grid.activations) - len(floors):
        rows[f"{others} other arm{'' if others == 1 else 's'}", "either"] = dict.fromkeys(
            (m.label for m in PAIR_METRICS.values()), MISSING
        )
    return _frame(rows, ("arm", "change"))


def across(grid: Grid, metric: str, digits: int = 3) -> pd.DataFrame:
    """One metric over the whole grid: models down, activations across, each with its 95% interval and n."""
    estimates = grid.estimates(metric)
    rows = {
        model: {
            a: f"{with_interval(estimates[model, a], digits)}, n = {estimates[model, a].n}"
            if (model, a) in estimates
            else MISSING
            for a in grid.activations
        }
        for model in grid.models
    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = grid.metrics[metric].label
    return frame


def against(grid: Grid, metric: str) -> pd.DataFrame:
    """Paired difference of each activation from relu, with a 95% interval; a star marks one that is significant in its
    primary family."""
    found = {(arm.model, arm.activation): (e, p) for arm, e, p, _ in tested(grid, metric)}
    rows = {}
    for model in grid.models:
        others = [activation for activation in grid.activations if activation != REFERENCE]
        rows[model] = {a: _difference(*found[model, a]) if (model, a) in found else MISSING for a in others}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = f"{grid.metrics[metric].label}, minus {REFERENCE}"
    return frame


def _difference(estimate: Estimate, p: float) -> str:
    star = " *" if p < ALPHA else ""
    return f"{estimate.value:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}]{star}"


def _small(value: float) -> str:
    return MISSING if np.isnan(value) else small(value)


def missing(grid: Grid, noise_floor: bool = False) -> Any:
    """Arms without a record, trials that did not end well, and, where noise floors are planned, how many arms lack one;
    a sentence if nothing is."""
    rows = [(model, activation, "no record") for model, activation in grid.missing]
    rows += [(*key, f"trial {trial}") for key, arm in grid.arms.items() for trial in arm.not_done]
    rows += list(_without_floor(grid)) if noise_floor else []
    return (
        pd.DataFrame(rows, columns=["model", "activation", "what"]).set_index("model")
        if rows
        else bullets(["nothing is missing"])
    )


def elsewhere(grid: Grid) -> list[str]:
    """What else the study's folder holds, in a sentence: arms of other settings, and arms that have grown beyond those
    shown."""
    records = [record for record in store.load_study(grid.study) if kind_of(record) == "trials"] if grid.study else []
    shown = {arm.record["arm"] for arm in grid.arms.values()}
    names = differing([*records, *(arm.record for arm in grid.arms.values())])
    names = [name for name in names if name != "arm"]  # the smaller record of an arm that has grown
    own = {named(arm.record, names) for arm in grid.arms.values()}
    found = [
        ", ".join(word for word in (what, "more trials" if what in own else "") if word)
        for record in records
        if record["arm"] not in shown
        for what in [named(record, names)]
    ]
    if not found:
        return []
    others = "; ".join(f"{count} with {what}" for what, count in sorted(Counter(found).items()))
    return [
        f"results/{grid.study} also holds {others}: the explorer and `actlab report {grid.study}` show them side by side"
    ]


def _without_floor(grid: Grid) -> Iterator[tuple[str, str, str]]:
    """One row for each model."""
    for model in grid.models:
        lacking = sum(arm.model == model for arm in grid.without_floor)
        if lacking:
            yield model, f"{lacking} of {len(grid.of_model(model))} activations", "noise floor not run"


def provenance(grid: Grid) -> pd.DataFrame:
    """Where the records come from: commit, machine, versions, data and days; one row for each that differs."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for arm in grid.arms.values():
        origin = arm.record["provenance"]
        machine, data, day = origin["machine"], origin["data"], origin["date"][:10]
        about = {
            "commit": (origin["git_commit"] or "none")[:10] + (" (changed)" if origin["git_dirty"] else ""),
            "processor": machine["gpu"]
            if str(arm.record["config"]["recipe"]["device"]).startswith("cuda")
            else machine["processor"],
            "torch": machine["torch"],
            "data": f"{data['name']} {data['sha256'][:10]}",
            "positions compared": f"{data['prediction_positions']:,}",
        }
        row = rows.setdefault(tuple(about.values()), about | {"records": 0, "days": []})
        row |= {"records": row["records"] + 1, "days": [*row["days"], day]}
    frame = pd.DataFrame([row | {"days": _span(row["days"])} for row in rows.values()])
    return frame if frame.empty else frame.set_index("commit")


def _span(days: list[str]) -> str:
    first, last = min(days), max(days)
    return first if first == last else f"{first} to {last}"
