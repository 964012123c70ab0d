"""A recorded study as a report takes it: tidy tables of its arms with names for people. Every number is of ``means`` or
``contrasts`` over the whole study: a part of it is cut out of these tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import EVERY, PAIR_METRICS, Metric, clipped, of_trials
from actlab.records.store import Record, where
from actlab.report.factor import ARM, named
from actlab.report.rates import rates_of
from actlab.statistics.contrasts import contrasts, means
from actlab.statistics.estimate import log_limits

METRIC = "total_variation"
"""The metric of pairs that figures and summaries begin with."""


@dataclass(frozen=True)
class Report:
    """What is reported: some arms of a study. Every table has the columns ``ARM``."""

    study: str
    factor: str
    """The setting whose levels are compared."""
    arms: list[tables.Arm]
    trials: pd.DataFrame
    """A row a trial of every kind of record."""
    pairs: pd.DataFrame
    """A row a pair of trials of every kind of record."""
    reference: str = ""
    """The level that the others of its group are compared with."""
    estimates: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A row a metric and arm: the mean with its 95% interval, inside the metric's range, and of trials the standard
    deviation. A metric of pairs has its interval on a logarithmic scale."""
    differences: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A row a metric and arm: the arm minus the reference (``contrasts``); ``p_holm`` is of the whole study."""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Name each of the tables."""
        return {name: getattr(self, name) for name in ("trials", "pairs", "estimates", "differences")}

    @property
    def records(self) -> list[Record]:
        """List the records of its arms."""
        return [record for record, _ in self.arms]

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Return the learning rates that the study has chosen."""
        return rates_of(self.study, self.records)

    @property
    def runs(self) -> pd.DataFrame:
        """Return the trials that differ in the seed alone."""
        return main(self.trials)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """Describe what was measured, a user's own metrics after the built-in ones of pairs."""
        own = dict[str, Metric]()
        for record in self.records:
            own |= {name: Metric(name, texts["label"]) for name, texts in record.get("metrics", {}).items()}
        known = PAIR_METRICS | own | EVERY  # again: no record names a built-in one anew
        measured = {"val_loss"}  # also where every trial diverged
        for table in (self.trials, self.pairs):
            measured |= {*main(table).dropna(axis=1, how="all")}
        kind = self.runs["kind"].iloc[0]
        return {name: metric.of_kind(kind) for name, metric in known.items() if name in measured}

    @property
    def cells(self) -> pd.MultiIndex:
        """List every group with every arm, recorded or not, in the studies' own order."""
        return pd.MultiIndex.from_product([settings.in_order(self.runs[name]) for name in ARM], names=ARM)

    def rows_of(self, metric: str) -> pd.DataFrame:
        """Return what a metric is read from: trials, or pairs of trials, that differ in the seed alone."""
        table = main(self.trials if of_trials(metric) else self.pairs)
        return table.filter([*ARM, "study", "record", "seed", "first", "second", metric])

    def of(self, metric: str, table: pd.DataFrame) -> pd.DataFrame:
        """Return a metric's rows of ``estimates`` or ``differences``, by arm."""
        return table[table["metric"] == metric].set_index(ARM)

    def grid(self, metric: str) -> pd.DataFrame:
        """Return the means of a metric, a row a group and a column an arm."""
        means = self.rows_of(metric).groupby(ARM)[metric].mean()
        return means.reindex(self.cells).unstack("arm", sort=False)

    def part(self, arms: pd.DataFrame) -> Report:
        """Return some arms of it, a row of ``ARM`` each; the tests stay those of the whole."""
        parts = {name: table.merge(arms) for name, table in self.tables.items()}
        names = {*parts["trials"]["record"]}
        return replace(self, arms=[arm for arm in self.arms if arm[0]["arm"] in names], **parts)


def read(*studies: str, factor: str = "") -> Report:
    """Read recorded studies without estimates; the factor unless given is the activation, or the one setting that
    varies."""
    arms = [arm for study in studies for arm in tables.arms_of(study, "all")]
    factor, names = named([record for record, _ in arms], factor)
    return Report(studies[0], factor, arms, tables.trials_of(arms).merge(names), tables.pairs_of(arms).merge(names))


def load(
    study: str,
    models: Sequence[str] = (),
    activations: Sequence[str] = (),
    reference: str = "",
    groups: Sequence[str] = (),
    factor: str = "",
) -> Report:
    """Load a recorded study, whole or only some models, activations and groups of it.

    Args:
        study: its name.
        models, activations, groups: those to show; a group by a part of its name.
        reference: the level that others are compared with; ``learning_rate=0.001`` names the factor too.
        factor: the setting that is compared; unless given the activation, or the one setting that varies.

    Raises:
        UnknownName: a study, model, activation, factor or reference without a record.
        BadInput: no trials that differ in the seed alone, no such group.
    """
    of_factor, _, level = reference.rpartition("=")
    whole = read(study, factor=factor or of_factor)
    chosen = whole.trials
    for column, names in (("model", models), ("activation", activations)):
        for name in names:
            check_name(column, name, chosen[column].unique(), where(study))
        chosen = chosen[chosen[column].isin(names or chosen[column])]
    chosen = chosen[[any(part in group for part in groups or [""]) for group in chosen["group"]]]
    if main(chosen).empty:
        known = "; ".join(whole.runs["group"].unique()) or "none"
        raise BadInput(f"no group of {where(study)} has {' or '.join(groups) or 'plain trials'}: they are {known}")
    levels = settings.in_order(whole.runs["arm"])
    with suppress(ValueError):
        level = settings.text(float(level))
    if level:
        check_name("reference", level, levels, where(study))
    reference = next(name for name in (level, "relu", "gelu", *levels) if name in levels)
    report = replace(
        whole, reference=reference, estimates=estimates_of(whole), differences=differences_of(whole, reference)
    )
    return report.part(chosen[ARM].drop_duplicates())


def estimates_of(report: Report) -> pd.DataFrame:
    """Estimate the mean of each arm, as ``Report.estimates`` has it."""
    found = {}
    for metric in report.metrics:
        rows = report.rows_of(metric)
        table = means(rows, metric, ARM).drop(columns=["se", "df"])
        if of_trials(metric):
            table["sd"] = rows.groupby(ARM, sort=False)[metric].std().to_numpy()
        else:
            table["low"], table["high"] = log_limits(table["estimate"], table["low"], table["high"])
        found[metric] = clipped(table, metric)
    return _joined(found)


def differences_of(report: Report, reference: str) -> pd.DataFrame:
    """Subtract the reference from each arm, as ``Report.differences`` has it."""
    found = {}
    for metric in report.metrics:
        rows = report.rows_of(metric)
        table = contrasts(rows, metric, ["group"], "arm", reference, unpaired=of_trials(metric))
        found[metric] = clipped(table[table["status"] != "missing"], metric, signed=True)
    return _joined(found)


def _joined(tables_of: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put the tables of metrics below each other, with a first column ``metric``."""
    return pd.concat(tables_of, names=["metric"]).reset_index("metric").reset_index(drop=True)


def main(table: pd.DataFrame) -> pd.DataFrame:
    """Return its rows of trials that differ in the seed alone."""
    return table[table["kind"].isin(settings.MAIN)]
