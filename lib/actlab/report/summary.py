"""The summary of a report: what its arms share, a table of text for each metric with the spread over each group's arms,
and a table of every trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from actlab import paths
from actlab.figures.style import small
from actlab.records import settings
from actlab.records.labels import Metric, of_trials, words
from actlab.records.store import Record
from actlab.report import verdict
from actlab.report.study import ARM, METRIC, Report, main
from actlab.statistics.contrasts import jackknife, without_each
from actlab.statistics.estimate import log_limits
from actlab.statistics.share import share
from actlab.statistics.significance import ALPHA

MISSING = "not run"
SCALE = (
    "intervals of disagreement between seeds are symmetric on a logarithmic scale, all others on the value's own; "
    "actlab.means has both on the value's own"
)
FEW = " (too few trials differ for an interval)"
OF_TRIAL = [
    *("trial", "status", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "test_accuracy", "seconds"),
]


def text(report: Report) -> str:
    """All of it."""
    lines = [
        f"study {report.study}: 95% intervals over trials, not adjusted; n counts trials; *: significant at 5%, "
        "Holm-adjusted over all groups",
        SCALE,
        *_settings(report),
        *report.rates.lines,
        "",
        "verdict on this run",
        *verdict.sentences(report),
    ]
    for name, metric in report.metrics.items():
        lines += ["", metric.label, table(report, metric).to_string()]
        if not of_trials(name):
            lines += _spreads(report, name)
    for title, found in (
        ("averaged weights: total variation of single networks and of averaged ones", report.averaged),
        (f"at equal validation loss: total variation minus {report.reference}'s", report.equal_loss),
    ):
        if len(found):
            lines += ["", title, found.set_index(ARM).round(4).to_string()]
    if len(report.changed):
        title = "mean total variation between a trial and itself changed, and its share of another seed's"
        lines += ["", title, changes(report).to_string()]
    return "\n".join([*lines, "", "every trial", trials(report).to_string(), ""])


def table(report: Report, metric: Metric) -> pd.DataFrame:
    """A metric: a row an arm, with its 95% interval, n and the trials that did not end well, the noise floor where one
    was run, and the difference from the reference where it was tested; a star marks one that is significant (Holm)."""
    arms, found = _arms(report), report.of(metric.name, report.estimates)
    shown = intervals(found, "estimate", f".{metric.digits}f") + found["few"].map({True: FEW, False: ""})
    cells = pd.DataFrame({metric.short: shown.reindex(arms.index, fill_value="no value")})
    cells["n"] = found["n"].reindex(arms.index, fill_value=0).astype(str) + arms["not_done"]
    cells["parameters"] = arms["parameters"].map("{:,.0f}".format)
    if not of_trials(metric.name) and len(report.floors):
        for variant, own in report.floors.groupby("variant", sort=False):
            cells[words(str(variant))] = own.set_index(ARM)[metric.name].map(small)
    tests = report.of(metric.name, report.differences)
    if len(tests):
        stars = np.where(tests["p_holm"] < ALPHA, " *", "")
        cells[f"minus {report.reference}"] = intervals(tests, "difference", "+.4f") + stars
    return cells.reindex(report.cells).fillna({metric.short: MISSING}).fillna("")


def changes(report: Report) -> pd.DataFrame:
    """A row an arm and change: what it changes, over n seeds, beside what another seed does (``statistics.share``);
    with one seed there is no other."""
    by = [*ARM, "variant"]
    found = report.changed
    changed = report.pairs[report.pairs["kind"] == "perturbed"]
    seeds = main(report.pairs).drop(columns="variant").merge(found[by])  # each pair beside every change of its arm
    shares = share(changed, seeds, METRIC, by).set_index(by).reindex(pd.MultiIndex.from_frame(found[by]))
    percent = 100 * shares[["estimate", "low", "high"]]
    percent.loc[found["few"].to_numpy(), ["low", "high"]] = np.nan  # a share is no surer than what it is of
    shown = pd.DataFrame({"change": found["variant"].map(words), "total variation": found["estimate"].map(small)})
    shown["95% interval"] = _limits(found, small)
    shown["n"] = found["n"]
    shown["share"] = ["" if np.isnan(value) else f"{small(value)}%" for value in percent["estimate"]]
    shown["its 95% interval"] = _limits(percent, lambda value: f"{small(value)}%")
    return shown.set_index(pd.MultiIndex.from_frame(found[ARM]))


def _limits(table: pd.DataFrame, form: Callable[[float], str]) -> list[str]:
    """``[low, high]`` of each row; empty where there is no interval."""
    limits = zip(table["low"], table["high"], strict=True)
    return ["" if np.isnan(low) else f"[{form(low)}, {form(high)}]" for low, high in limits]


def _arms(report: Report) -> pd.DataFrame:
    """A row a recorded arm: ``parameters``, and in ``not_done`` its trials that did not end well."""
    runs = report.runs.set_index(ARM)
    failed = runs[runs["status"] != "done"]
    told = (", " + failed["trial"] + ": " + failed["status"]).groupby(level=ARM).sum()
    arms = runs.groupby(level=ARM, sort=False)[["parameters"]].first()
    return arms.assign(not_done=told).fillna({"not_done": ""})


def trials(report: Report) -> pd.DataFrame:
    """A row a trial: how it ended, its losses and accuracy, and what it took."""
    runs = report.runs.set_index(ARM)
    runs = runs[[name for name in OF_TRIAL if name in runs]].round(4).astype(object).fillna("")
    return pd.DataFrame(index=report.cells).join(runs, how="inner")


def intervals(table: pd.DataFrame, value: str, form: str) -> pd.Series[str]:
    """The ``interval`` of a column, of every row."""
    return pd.Series([interval(row, form) for row in table[[value, "low", "high"]].to_numpy()], table.index)


def interval(numbers: Iterable[float], form: str) -> str:
    """``0.1234 [0.1200, 0.1270]`` of a value and its limits; the value alone where there is no interval."""
    value, low, high = numbers
    if np.isnan(value):
        return "no value"
    return f"{value:{form}}" if np.isnan(low) else f"{value:{form}} [{low:{form}}, {high:{form}}]"


def values(records: Sequence[Record], names: Sequence[str] = ()) -> dict[str, list[str]]:
    """Setting -> its different values over a study's arms, as text; ``names`` are asked for first."""
    arms = [record for record in records if settings.kind_of(record) in settings.MAIN]
    every = dict.fromkeys([*names, *(name for record in arms for name in settings.settings_of(record))])
    own = [settings.values_of(record, list(every)) for record in arms]
    return {name: list(dict.fromkeys(of_arm[name] for of_arm in own)) for name in every}


def _spreads(report: Report, metric: str) -> Iterator[str]:
    """Of each group: mean over its arms, CV% with its interval, lowest and highest; none where all have one value."""
    each = without_each(main(report.pairs), metric, ARM)
    for group, means in report.grid(metric).iterrows():
        own = means.dropna()
        if own.nunique() < 2:
            continue
        arms = each[each["group"] == group].pivot(index="left_out", columns="arm", values="value").dropna()
        cv = jackknife(100 * arms.std(axis=1, ddof=0) / arms.mean(axis=1))
        low, high = log_limits(cv["estimate"], cv["low"], cv["high"])
        if high > 100 * cv["estimate"]:  # two or three seeds: an interval over powers of ten says nothing
            shown = f"{cv['estimate']:.2f} (too few seeds for an interval)"
        else:
            shown = interval((cv["estimate"], low, high), ".2f")
        yield f"{group}: mean {own.mean():.4f}, CV% {shown}, lowest {own.idxmin()}, highest {own.idxmax()}"


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    shared, differ = [], []
    for name, own in values(report.records).items():
        if len(own) == 1:
            shared.append(f"{name} {own[0]}")
        elif own:
            differ.append(f"{name} {' | '.join(sorted(own, key=settings.natural))}")
    yield f"settings of every arm: {', '.join(shared)}"
    if differ:
        yield f"settings that differ between arms: {'; '.join(differ)}"
    once = report.trials.drop_duplicates([*ARM, "trial"])  # a changed repetition has the plain trial of its arm
    ended = [f"{count} {status}" for status, count in once["status"].value_counts().items()]
    yield f"trials: {', '.join(ended)}"
    if failed := sorted((paths.results() / report.study / "failed").glob(paths.RECORDS)):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    spent = once.get("seconds", pd.Series(dtype=float)).dropna()
    if len(spent):
        yield f"training and evaluation: {spent.sum():,.0f} s, {spent.mean():.3g} s a trial"
