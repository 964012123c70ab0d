"""The summary of a report: what its arms share, a table of text for each metric, and the spread over each group's
arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from actlab import paths
from actlab.records import settings
from actlab.records.labels import Metric, of_trials, small, words
from actlab.records.store import Record
from actlab.records.tables import load_baselines
from actlab.report.factor import ARM
from actlab.report.study import METRIC, Report
from actlab.statistics.significance import ALPHA

MISSING = "no value"
HEAD = (
    "95% intervals over trials, not adjusted (of disagreement between seeds on a logarithmic scale); sd: standard "
    "deviation over trials; n counts trials; *: significant at 5%, Holm-adjusted over all groups"
)
EQUAL_LOSS = "disagreement between seeds moves with the loss: actlab.equal_loss compares it at equal loss"


def tables_of(report: Report) -> dict[str, pd.DataFrame]:
    """Name a table of text for each metric."""
    return {name: table(report, metric) for name, metric in report.metrics.items()}


def text(report: Report, tables: dict[str, pd.DataFrame]) -> str:
    """Write the whole summary, with these tables."""
    parts = {"the arms of each group": spreads(report), "learning rates": report.rates}
    parts |= {report.metrics[name].label: table for name, table in tables.items()}
    notes = [EQUAL_LOSS] if len(report.pairs) else []
    lines = [f"study {report.study}: {HEAD}", *notes, *_settings(report)]
    for title, content in parts.items():
        if len(content):
            index = content.index.names != [None]
            lines += ["", title, content.to_string(index=index, float_format="{:.4g}".format, na_rep="")]
    return "\n".join([*lines, ""])


def table(report: Report, metric: Metric) -> pd.DataFrame:
    """Make a metric's table: a row an arm, with its 95% interval and n, the noise floor where one was run, and the
    difference from the reference where it was tested; a star marks one that is significant (Holm)."""
    estimates, form = report.of(metric.name, report.estimates), f".{metric.digits}f"
    cells = pd.DataFrame({metric.short: intervals(estimates, "estimate", form)})
    if of_trials(metric.name):
        cells["sd"] = estimates["sd"].map(f"{{:{form}}}".format).replace("nan", "")
    cells["n"] = estimates["n"].astype(str)
    pairs = report.pairs
    if not of_trials(metric.name) and "variant" in pairs:
        floors = pairs[(pairs["kind"] == "floor") & pairs["first"].str.isdecimal()]
        for variant, rows in floors.drop_duplicates([*ARM, "variant"]).groupby("variant", sort=False):
            cells[words(str(variant))] = rows.set_index(ARM)[metric.name].map(small)
    tests = report.of(metric.name, report.differences)
    if len(tests):
        stars = np.where(tests["p_holm"] < ALPHA, " *", "")
        cells[f"minus {report.reference}"] = intervals(tests, "difference", "+.4f") + stars
    return cells.reindex(report.cells).fillna({metric.short: MISSING}).fillna("")


def intervals(table: pd.DataFrame, value: str, form: str) -> pd.Series[str]:
    """Write ``0.1234 [0.1200, 0.1270]`` for every row: a column with its limits, alone where it has none."""
    cells = []
    for number, low, high in table[[value, "low", "high"]].to_numpy():
        limits = "" if np.isnan(low) else f" [{low:{form}}, {high:{form}}]"
        cells.append(MISSING if np.isnan(number) else f"{number:{form}}{limits}")
    return pd.Series(cells, table.index, dtype=str)


def spreads(report: Report) -> pd.DataFrame:
    """Return a row a metric and group with two arms or more: the ``mean`` over its arms, how much they vary (``CV%``),
    and the arms with the ``lowest`` and the ``highest`` mean, of so many ``arms`` that were run."""
    tables = []
    for name in (METRIC, "relative_pd", "val_loss", "val_accuracy"):
        if name in report.metrics:
            grid = report.grid(name)
            grid = grid[grid.count(axis=1) > 1]
            mean = grid.mean(axis=1)
            spread = {"metric": report.metrics[name].short, "mean": mean, "CV%": 100 * grid.std(axis=1, ddof=0) / mean}
            ends = {"lowest": grid.idxmin(axis=1), "highest": grid.idxmax(axis=1), "arms": grid.count(axis=1)}
            tables.append(pd.DataFrame(spread | ends).reset_index())
    return pd.concat(tables)


def levels_of(records: Sequence[Record]) -> dict[str, list[str]]:
    """Return setting -> its levels in the arms of trials that differ in the seed alone, as text; empty where an arm has
    it not. ``data``: the name and hash of what is measured on."""
    rows = []
    for record in records:
        if settings.kind_of(record) in settings.MAIN:
            data = record["provenance"]["data"]
            row = {"data": f"{data.get('name', '')} {data.get('sha256', '')[:8]}"}
            rows.append(row | settings.values_of(record, [*settings.settings_of(record)]))
    return {str(name): settings.in_order(column) for name, column in pd.DataFrame(rows).fillna("").items()}


def _settings(report: Report) -> Iterator[str]:
    """Say what all arms share, what differs, what learned too little, and what the training took."""
    levels = [f"{name} {' | '.join(values)}" for name, values in levels_of(report.records).items()]
    yield f"settings, with | where arms differ: {'; '.join(levels)}"
    yield f"compared: {report.factor}, with {report.reference} as the reference (--factor, --reference)"
    trials = report.trials.drop_duplicates([*ARM, "trial"])  # a changed repetition has the plain trial of its arm
    yield f"trials: {', '.join(f'{count} {status}' for status, count in trials['status'].value_counts().items())}"
    if failed := sorted((paths.results() / report.study / "failed").glob(paths.RECORDS)):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    if "seconds" in trials:
        yield f"training and evaluation: {trials['seconds'].sum():,.0f} s, {trials['seconds'].mean():.3g} s a trial"
    bigram = load_baselines(report.study)["val_loss"].get("bigram", np.inf)
    best = report.of("best_val_loss", report.estimates)["estimate"]
    if early := [f"{' '.join(cell)} ({loss:.3f})" for cell, loss in best.items() if loss >= bigram]:
        yield f"too early to compare, no loss below the bigram table's {bigram:.3f}: {', '.join(early)}"
