"""The summary of a report: what its arms share, and a table of text for each metric, with the spread over each group's
arms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from actlab import paths
from actlab.figures.style import small
from actlab.records import settings
from actlab.records.labels import Metric, of_trials, words
from actlab.report.study import ARM, Report, levels
from actlab.statistics.contrasts import jackknife, without_each
from actlab.statistics.estimate import log_limits
from actlab.statistics.significance import ALPHA

MISSING = "not run"
FEW = " (too few trials differ for an interval)"


def text(report: Report) -> str:
    """All of it."""
    lines = [
        f"study {report.study}: 95% intervals over trials, not adjusted; n counts trials; *: significant at 5%, "
        "Holm-adjusted over all groups",
        *_settings(report),
    ]
    for name, metric in report.metrics.items():
        lines += ["", metric.label, table(report, metric).to_string()]
        lines += [] if of_trials(name) else _spreads(report, name)
    return "\n".join([*lines, ""])


def table(report: Report, metric: Metric) -> pd.DataFrame:
    """A metric: a row an arm, with its 95% interval, n and the trials that did not end well, the noise floor where one
    was run, and the difference from the reference where it was tested; a star marks one that is significant (Holm)."""
    arms, limits, form = report.arms, ["low", "high"], f".{metric.digits}f"
    estimates = report.of(metric.name, report.estimates).reindex(arms.index).fillna({"n": 0, "few": False})
    shown = pd.DataFrame(index=arms.index)
    shown[metric.short] = [interval(numbers, form) for numbers in estimates[["estimate", *limits]].to_numpy()]
    shown[metric.short] += np.where(estimates["few"], FEW, "")
    shown["n"] = estimates["n"].map("{:.0f}".format) + arms["not_done"].map(lambda trials: trials and f", {trials}")
    shown["parameters"] = arms["parameters"].map("{:,.0f}".format)
    if not of_trials(metric.name) and len(report.floors):
        for variant, own in report.floors.groupby("variant", sort=False):
            shown[words(str(variant))] = own.set_index(ARM)[metric.name].map(small)
    tests = report.of(metric.name, report.differences)
    if len(tests):
        stars = np.where(tests["p_holm"] < ALPHA, " *", "")
        differences = [interval(numbers, "+.4f") for numbers in tests[["difference", *limits]].to_numpy()]
        shown[f"minus {report.reference}"] = pd.Series(differences, tests.index) + stars
    every = pd.MultiIndex.from_tuples(report.cells, names=ARM)
    return shown.reindex(every).fillna({metric.short: MISSING}).fillna("")


def interval(numbers: Iterable[float], form: str) -> str:
    """``0.1234 [0.1200, 0.1270]`` of a value and its limits; the value alone where there is no interval."""
    value, low, high = numbers
    if np.isnan(value):
        return "no value"
    return f"{value:{form}}" + (f" [{low:{form}}, {high:{form}}]" if not np.isnan(low) else "")


def _spreads(report: Report, metric: str) -> Iterator[str]:
    """Of each group: mean over its arms, CV% with its interval, lowest and highest; none where all have one value."""
    values = report.of(metric, report.estimates)["estimate"].reindex(report.arms.index).dropna()
    for group, own in values.groupby("group", sort=False):
        if own.nunique() < 2:
            continue
        pairs = report.table(metric).query("group == @group").dropna(subset=[metric])
        runs = set.intersection(*({*arm["first"], *arm["second"]} for _, arm in pairs.groupby("arm")))
        shared = pairs[pairs[["first", "second"]].isin(runs).all(axis=1)]
        wide = without_each(shared, metric, ["arm"]).pivot(index="left_out", columns="arm", values="value")
        cv = jackknife(100 * wide.std(axis=1, ddof=0, skipna=False) / wide.mean(axis=1, skipna=False))
        shown = interval((cv["estimate"], *log_limits(cv["estimate"], cv["low"], cv["high"])), ".2f")
        lowest, highest = (own.droplevel("group").agg(end) for end in ("idxmin", "idxmax"))
        yield f"{group}: mean {own.mean():.4f}, CV% {shown}, lowest {lowest}, highest {highest}"


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    every = levels(report.records).items()
    yield f"settings of every arm: {', '.join(f'{name} {values[0]}' for name, values in every if len(values) == 1)}"
    differ = [f"{name} {' | '.join(sorted(v, key=settings.natural))}" for name, v in every if len(v) > 1]
    if differ:
        yield f"settings that differ between arms: {'; '.join(differ)}"
    trials = _each_once(report.trials)
    ended, spent = trials["status"].value_counts(), trials.get("seconds", pd.Series(dtype=float)).dropna()
    yield f"trials: {', '.join(f'{count} {status}' for status, count in ended.items())}"
    if failed := sorted((paths.results() / report.study / "failed").glob("*.json")):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    if len(spent):
        yield f"training and evaluation: {spent.sum():,.0f} s, {spent.mean():.3g} s a trial"


def _each_once(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials without those that a noise floor, or a perturbed arm, shares with the arm of its settings."""
    first = trials.sort_values("kind", key=lambda kind: ~kind.isin(settings.MAIN), kind="stable")
    return first.drop_duplicates([*ARM, "trial"])
