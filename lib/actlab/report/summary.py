"""The summary of a report: what its arms share, a table of text for each metric, the spread over each group's arms, and
a table of every trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from actlab import paths
from actlab.figures.style import small
from actlab.records import settings
from actlab.records.labels import Metric, of_trials, words
from actlab.records.store import Record
from actlab.report.arms import ARM
from actlab.report.study import METRIC, Report, bigram_loss, main
from actlab.statistics.contrasts import jackknife, without_each
from actlab.statistics.estimate import log_limits
from actlab.statistics.significance import ALPHA

MISSING = "not run"
HEAD = (
    "95% intervals over trials, not adjusted (of disagreement between seeds on a logarithmic scale); sd: standard "
    "deviation over trials; n counts trials; *: significant at 5%, Holm-adjusted over all groups"
)
FEW = " (too few trials differ for an interval)"
OF_TRIAL = ["trial", "status", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "test_accuracy", "seconds"]


def text(report: Report) -> str:
    """All of it."""
    lines = [f"study {report.study}: {HEAD}", *_settings(report), *report.rates.lines, *too_early(report)]
    lines += ["", *spreads(report)]
    for metric in report.metrics.values():
        lines += ["", metric.label, table(report, metric).to_string()]
    for title, found in (
        ("averaged weights: total variation of single networks and of averaged ones", report.averaged),
        (f"at equal validation loss: total variation minus {report.reference}'s", report.equal_loss),
        ("total variation between a trial and itself changed, as a share of another seed's", report.changed),
    ):
        if len(found):
            lines += ["", title, found.set_index(ARM).map(_rounded).to_string()]
    return "\n".join([*lines, "", "every trial", trials(report).to_string(), ""])


def _rounded(value: object) -> object:
    return small(value) if isinstance(value, float) and abs(value) < 1 else value


def table(report: Report, metric: Metric) -> pd.DataFrame:
    """A metric: a row an arm, with its 95% interval, n and the trials that did not end well, the noise floor where one
    was run, and the difference from the reference where it was tested; a star marks one that is significant (Holm)."""
    arms, found = _arms(report), report.of(metric.name, report.estimates)
    form = f".{metric.digits}f"
    estimates = intervals(found, "estimate", form) + found["few"].map({True: FEW, False: ""})
    cells = pd.DataFrame({metric.short: estimates.reindex(arms.index, fill_value="no value")})
    if of_trials(metric.name):
        cells["sd"] = found["sd"].map(lambda sd: "" if np.isnan(sd) else f"{sd:{form}}")
    cells["n"] = found["n"].reindex(arms.index, fill_value=0).astype(str) + arms["not_done"]
    cells["parameters"] = arms["parameters"].map("{:,.0f}".format)
    if not of_trials(metric.name) and len(report.floors):
        for variant, rows in report.floors.groupby("variant", sort=False):
            cells[words(str(variant))] = rows.set_index(ARM)[metric.name].map(small)
    tests = report.of(metric.name, report.differences)
    if len(tests):
        stars = np.where(tests["p_holm"] < ALPHA, " *", "")
        cells[f"minus {report.reference}"] = intervals(tests, "difference", "+.4f") + stars
    return cells.reindex(report.cells).fillna({metric.short: MISSING}).fillna("")


def _arms(report: Report) -> pd.DataFrame:
    """A row a recorded arm: ``parameters``, and in ``not_done`` its trials that did not end well."""
    runs = report.runs.set_index(ARM)
    failed = runs[runs["status"] != "done"]
    not_done = (", " + failed["trial"] + ": " + failed["status"]).groupby(level=ARM).sum()
    arms = runs.groupby(level=ARM, sort=False)[["parameters"]].first()
    return arms.assign(not_done=not_done).fillna({"not_done": ""})


def trials(report: Report) -> pd.DataFrame:
    """A row a trial: how it ended, its losses and accuracy, and what it took."""
    runs = report.runs.set_index(ARM)
    runs = runs[[name for name in OF_TRIAL if name in runs]].round(4).astype(object).fillna("")
    return pd.DataFrame(index=report.cells).join(runs, how="inner")


def intervals(table: pd.DataFrame, value: str, form: str) -> pd.Series[str]:
    """The ``interval`` of a column, of every row."""
    return pd.Series([interval(row, form) for row in table[[value, "low", "high"]].to_numpy()], table.index, dtype=str)


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
    of_arms = [settings.values_of(record, list(every)) for record in arms]
    return {name: list(dict.fromkeys(of_arm[name] for of_arm in of_arms)) for name in every}


def spreads(report: Report) -> Iterator[str]:
    """Of each group with two arms or more: mean over its arms and CV% with its interval where there are pairs, and of
    every metric the arms with the lowest and the highest mean. One arm has no spread."""
    for name in (METRIC, "relative_pd", "val_loss", "val_accuracy"):
        if name not in report.metrics:
            continue
        pairs = None if of_trials(name) else without_each(main(report.pairs), name, ARM)
        for group, means in report.grid(name).iterrows():
            arms = means.dropna()
            if arms.nunique() > 1:
                cv = "" if pairs is None else f", CV% {_variation(pairs[pairs['group'] == group])}"
                line = f"{group}: {report.metrics[name].short}: mean {arms.mean():.4f}{cv}"
                yield f"{line}, lowest {arms.idxmin()}, highest {arms.idxmax()} (of {len(arms)} that were run)"


def _variation(each: pd.DataFrame) -> str:
    """The CV% over a group's arms with its interval, where one can be given."""
    arms = each.pivot(index="left_out", columns="arm", values="value").dropna()
    cv = jackknife(100 * arms.std(axis=1, ddof=0) / arms.mean(axis=1))
    low, high = log_limits(cv["estimate"], cv["low"], cv["high"])
    if not high <= 100 * cv["estimate"]:  # two or three seeds: an interval over powers of ten says nothing
        return f"{cv['estimate']:.2f} (too few seeds for an interval)"
    return interval((cv["estimate"], low, high), ".2f")


def too_early(report: Report) -> Iterator[str]:
    """The arms that predict no better than a table of pairs of characters: at no time, or only at the end."""
    bigram = bigram_loss(report.study)
    if bigram is None:
        return
    losses = report.of("val_loss", report.estimates)["estimate"]
    best = report.of("best_val_loss", report.estimates)["estimate"].reindex(losses.index)
    for rows, said in (
        (losses[(losses >= bigram) & ~(best < bigram)], "too early to compare"),
        (losses[(losses >= bigram) & (best < bigram)], "its best evaluation was below it, so that it overfitted"),
    ):
        for cell, loss in rows.items():
            yield f"{' '.join(cell)}: loss {loss:.3f}, not below the bigram table's {bigram:.3f}: {said}"


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    shared, differ = [], []
    for name, levels in values(report.records).items():
        if len(levels) == 1:
            shared.append(f"{name} {levels[0]}")
        elif levels:
            differ.append(f"{name} {' | '.join(sorted(levels, key=settings.natural))}")
    yield f"settings of every arm: {', '.join(shared)}"
    if differ:
        yield f"settings that differ between arms: {'; '.join(differ)}"
    yield f"compared: {report.factor}, with {report.reference} as the reference (--factor, --reference)"
    once = report.trials.drop_duplicates([*ARM, "trial"])  # a changed repetition has the plain trial of its arm
    yield f"trials: {', '.join(f'{count} {status}' for status, count in once['status'].value_counts().items())}"
    if failed := sorted((paths.results() / report.study / "failed").glob(paths.RECORDS)):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    spent = once.get("seconds", pd.Series(dtype=float)).dropna()
    if len(spent):
        yield f"training and evaluation: {spent.sum():,.0f} s, {spent.mean():.3g} s a trial"
