"""The summary of a report: what its arms share, a table of text for each metric, the spread over each group's arms, and
a table of every trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from actlab import paths
from actlab.figures.style import small
from actlab.records import settings
from actlab.records.labels import Metric, of_trials, words
from actlab.records.store import Record
from actlab.report.arms import ARM
from actlab.report.study import METRIC, Report, bigram_loss
from actlab.statistics.significance import ALPHA

MISSING = "no value"
HEAD = (
    "95% intervals over trials, not adjusted (of disagreement between seeds on a logarithmic scale); sd: standard "
    "deviation over trials; n counts trials; *: significant at 5%, Holm-adjusted over all groups"
)
FEW = " (too few trials differ for an interval)"
OF_TRIAL = ["trial", "status", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "test_accuracy", "seconds"]


def tables_of(report: Report) -> dict[str, pd.DataFrame]:
    """Name -> a table of text: of each metric, and of all ``trials``."""
    return {name: table(report, metric) for name, metric in report.metrics.items()} | {"trials": trials(report)}


def text(report: Report, tables: dict[str, pd.DataFrame]) -> str:
    """All of the summary, with these tables."""
    parts = {"the arms of each group": spreads(report)}
    parts |= {report.metrics[name].label if name in report.metrics else name: table for name, table in tables.items()}
    parts |= {
        "averaged weights: total variation of single networks and of averaged ones": report.averaged,
        f"at equal validation loss: total variation minus {report.reference}'s": report.equal_loss,
        "total variation between a trial and itself changed, as a share of another seed's": report.changed,
        "learning rates": report.rates["rates"],
    }
    lines = [f"study {report.study}: {HEAD}", *_settings(report), *too_early(report)]
    for title, content in parts.items():
        if len(content):
            named = content.index.names != [None]
            lines += ["", title, content.to_string(index=named, float_format="{:.4g}".format, na_rep="")]
    return "\n".join([*lines, ""])


def table(report: Report, metric: Metric) -> pd.DataFrame:
    """A metric: a row an arm, with its 95% interval and n, the noise floor where one was run, and the difference from
    the reference where it was tested; a star marks one that is significant (Holm)."""
    estimates, form = report.of(metric.name, report.estimates), f".{metric.digits}f"
    cells = pd.DataFrame(
        {metric.short: intervals(estimates, "estimate", form) + estimates["few"].map({True: FEW, False: ""})}
    )
    if of_trials(metric.name):
        cells["sd"] = estimates["sd"].map(f"{{:{form}}}".format).replace("nan", "")
    cells["n"] = estimates["n"].astype(str)
    if not of_trials(metric.name) and len(report.floors):
        for variant, rows in report.floors.groupby("variant", sort=False):
            cells[words(str(variant))] = rows.set_index(ARM)[metric.name].map(small)
    tests = report.of(metric.name, report.differences)
    if len(tests):
        stars = np.where(tests["p_holm"] < ALPHA, " *", "")
        cells[f"minus {report.reference}"] = intervals(tests, "difference", "+.4f") + stars
    return cells.reindex(report.cells).fillna({metric.short: MISSING}).fillna("")


def trials(report: Report) -> pd.DataFrame:
    """A row a trial: how it ended, its losses and accuracy, and what it took."""
    runs = report.runs.set_index(ARM).filter([*OF_TRIAL, "parameters"])
    return pd.DataFrame(index=report.cells).join(runs.round(4).astype(object).fillna(""), how="inner")


def intervals(table: pd.DataFrame, value: str, form: str) -> pd.Series[str]:
    """``0.1234 [0.1200, 0.1270]`` of every row: a column with its limits, alone where it has none."""
    cells = []
    for number, low, high in table[[value, "low", "high"]].to_numpy():
        limits = "" if np.isnan(low) else f" [{low:{form}}, {high:{form}}]"
        cells.append(MISSING if np.isnan(number) else f"{number:{form}}{limits}")
    return pd.Series(cells, table.index, dtype=str)


def spreads(report: Report) -> pd.DataFrame:
    """A row a metric and group with two arms or more: the ``mean`` over its arms, how much they vary (``CV%``), and the
    arms with the ``lowest`` and the ``highest`` mean, of so many ``arms`` that were run."""
    spreads_of_metrics = []
    for name in (METRIC, "relative_pd", "val_loss", "val_accuracy"):
        if name in report.metrics:
            grid = report.grid(name)
            grid = grid[grid.count(axis=1) > 1]
            mean, metric = grid.mean(axis=1), report.metrics[name].short
            columns = {"metric": metric, "mean": mean, "CV%": 100 * grid.std(axis=1, ddof=0) / mean}
            ends = {"lowest": grid.idxmin(axis=1), "highest": grid.idxmax(axis=1), "arms": grid.count(axis=1)}
            spreads_of_metrics.append(pd.DataFrame(columns | ends).reset_index())
    return pd.concat(spreads_of_metrics)


def settings_table(records: Sequence[Record]) -> pd.DataFrame:
    """A row an arm of trials that differ in the seed alone and a column a setting, as text; empty where an arm has it
    not. ``data``: the name and hash of what it is measured on."""
    rows = []
    for record in records:
        if settings.kind_of(record) in settings.MAIN:
            data = record["provenance"]["data"]
            about = {"data": f"{data.get('name', '')} {data.get('sha256', '')[:8]}"}
            rows.append(about | settings.values_of(record, [*settings.settings_of(record)]))
    return pd.DataFrame(rows).fillna("")


def too_early(report: Report) -> Iterator[str]:
    """The arms of which no evaluation was better than a table of pairs of characters."""
    bigram = bigram_loss(report.study)
    if bigram is not None:
        losses = report.of("val_loss", report.estimates)["estimate"]
        best = report.of("best_val_loss", report.estimates)["estimate"].reindex(losses.index).fillna(losses)
        early = [f"{' '.join(cell)} ({loss:.3f})" for cell, loss in best.items() if loss >= bigram]
        if early:
            yield f"too early to compare, no loss below the bigram table's {bigram:.3f}: {', '.join(early)}"


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    levels = {
        name: sorted(column.unique(), key=settings.natural) for name, column in settings_table(report.records).items()
    }
    shared = [f"{name} {values[0]}" for name, values in levels.items() if len(values) == 1]
    differ = [f"{name} {' | '.join(values)}" for name, values in levels.items() if len(values) > 1]
    yield f"settings of every arm: {', '.join(shared)}"
    if differ:
        yield f"settings that differ between arms: {'; '.join(differ)}"
    yield f"compared: {report.factor}, with {report.reference} as the reference (--factor, --reference)"
    once = report.trials.drop_duplicates([*ARM, "trial"])  # a changed repetition has the plain trial of its arm
    yield f"trials: {', '.join(f'{count} {status}' for status, count in once['status'].value_counts().items())}"
    if failed := sorted((paths.results() / report.study / "failed").glob(paths.RECORDS)):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    if "seconds" in once:
        spent = once["seconds"].dropna()
        yield f"training and evaluation: {spent.sum():,.0f} s, {spent.mean():.3g} s a trial"
