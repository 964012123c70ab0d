"""A recorded study as a report takes it: tidy tables of its arms with names for people. Every number is of ``means``,
``contrasts``, ``equal_loss`` or ``share``, over the whole study: a part of it is cut out of these tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import EVERY, PAIR_METRICS, Metric, clipped, of_trials
from actlab.records.store import Record, where
from actlab.report.arms import ARM, named
from actlab.report.rates import Rates, rates_of
from actlab.statistics.contrasts import contrasts, means
from actlab.statistics.equal_loss import equal_loss
from actlab.statistics.estimate import few_differ, log_limits
from actlab.statistics.share import share

METRIC = "total_variation"
"""Of pairs, in which averaged weights, changed trials and equal loss are read."""
Cell = tuple[str, str]
"""A group and an arm."""


@dataclass(frozen=True)
class Report:
    """What is reported: some arms of one study. Every table has the columns ``ARM``."""

    study: str
    factor: str
    """The setting whose levels are compared."""
    reference: str
    """The level that the others of its group are compared with."""
    records: list[Record]
    trials: pd.DataFrame
    """Of every kind of record."""
    pairs: pd.DataFrame
    """Of every kind of record."""
    estimates: pd.DataFrame
    """A row a metric and arm: the mean with its 95% interval, inside the metric's range, and of trials the standard
    deviation. A metric of pairs has its interval on a logarithmic scale; there is none where too ``few`` differ."""
    differences: pd.DataFrame
    """A row a metric and arm: the arm minus the reference (``contrasts``); ``p_holm`` is of the whole study."""
    averaged: pd.DataFrame
    """A row an arm and decay: what two seeds differ by as ``single`` networks and with ``averaged`` weights (95%
    ``low``, ``high``), and the ``loss_change`` of averaging (nats)."""
    changed: pd.DataFrame
    """A row an arm and ``variant``: what a change of a trial does to it as a share of what another seed does
    (``statistics.share``)."""
    equal_loss: pd.DataFrame
    """The arm minus the reference in total variation, each read at the loss that all arms of the group reach
    (``statistics.equal_loss``); groups whose reference does not reach the bigram table are left out."""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Name -> each of the above."""
        return {name: table for name, table in vars(self).items() if isinstance(table, pd.DataFrame)}

    @cached_property
    def rates(self) -> Rates:
        """The learning rates that the study has chosen and tried."""
        return rates_of(self.study, self.records)

    @property
    def runs(self) -> pd.DataFrame:
        """The trials that differ in the seed alone."""
        return main(self.trials)

    @cached_property
    def levels(self) -> tuple[list[str], list[str]]:
        """Its groups and its arms, each once, in the studies' own order."""
        groups, arms = (settings.in_order(self.runs[name]) for name in ARM)
        return groups, arms

    @property
    def cells(self) -> pd.MultiIndex:
        """Every group with every arm, recorded or not."""
        return pd.MultiIndex.from_product(self.levels, names=ARM)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """What was measured, and how to read it."""
        there, kind = set(self.estimates.dropna(subset="estimate")["metric"]), str(self.runs["kind"].iloc[0])
        return {name: metric.of_kind(kind) for name, metric in metrics_of(self.records).items() if name in there}

    @property
    def floors(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of a noise floor: the first trial and the same seed, with nothing changed or
        with one weight moved by one ULP."""
        pairs = self.pairs[self.pairs["kind"] == "floor"]
        return pairs[pairs["first"].astype(str).str.isdecimal()].drop_duplicates([*ARM, "variant"])

    def of(self, metric: str, table: pd.DataFrame) -> pd.DataFrame:
        """A metric's rows of ``estimates`` or ``differences``, by arm."""
        return table[table["metric"] == metric].set_index(ARM)

    def grid(self, metric: str) -> pd.DataFrame:
        """The means of a metric, a row a group and a column an arm."""
        means = self.of(metric, self.estimates)["estimate"].unstack("arm")
        groups, arms = self.levels
        return means.reindex(index=groups, columns=arms)

    def part(self, cells: Collection[Cell]) -> Report:
        """Some arms of it; the tests stay those of the whole."""
        kept = {
            name: table[pd.MultiIndex.from_frame(table[ARM]).isin(cells)].reset_index(drop=True)
            for name, table in self.tables.items()
        }
        shown = {*kept["trials"]["record"]}
        return replace(self, records=[record for record in self.records if record["arm"] in shown], **kept)


def load(
    study: str,
    models: Sequence[str] = (),
    activations: Sequence[str] = (),
    reference: str = "",
    groups: Sequence[str] = (),
    factor: str = "",
    ends_alone: bool = False,
) -> Report:
    """A recorded study, whole or only some models, activations and groups of it.

    Args:
        study: its name.
        models, activations, groups: those to show; a group by a part of its name.
        reference: the level that others are compared with; ``learning_rate=0.001`` names the factor too.
        factor: the setting that is compared; unless given the activation, or the one setting that varies.
        ends_alone: leave out averaged weights and equal loss.

    Raises:
        UnknownName: a study, model, activation, factor or reference without a record.
        BadInput: no trials that differ in the seed alone, no such group.
    """
    records = [record for record in tables.load_records(study) if settings.kind_of(record)]
    trials, pairs = tables.load(study, "all")
    of_factor, _, level = reference.rpartition("=")
    factor, names = named(records, factor or of_factor)
    trials, pairs = trials.merge(names), pairs.merge(names)
    chosen = _chosen(trials, {"model": models, "activation": activations}, groups, where(study))
    levels = settings.in_order(main(trials)["arm"])
    with suppress(ValueError):
        level = settings.text(float(level))
    if level:
        check_name("reference", level, levels, where(study))
    reference = next(name for name in (level, "relu", "gelu", *levels) if name in levels)
    estimates, differences = dict[str, pd.DataFrame](), dict[str, pd.DataFrame]()
    for name in metrics_of(records):
        table = rows_of(name, trials, pairs)
        if name in table and table[name].notna().any():
            estimates[name] = estimated(table, name)
            found = contrasts(table, name, ["group"], "arm", reference, unpaired=of_trials(name))
            differences[name] = clipped(found[found["status"] != "missing"], name, signed=True)
    beside = [pd.DataFrame(columns=ARM)] * 3 if ends_alone else _beside(study, trials, pairs, reference)
    whole = Report(study, factor, reference, records, trials, pairs, joined(estimates), joined(differences), *beside)
    return whole.part(list(chosen[ARM].itertuples(index=False, name=None)))


def _chosen(
    trials: pd.DataFrame, wanted: Mapping[str, Sequence[str]], groups: Sequence[str], place: str
) -> pd.DataFrame:
    """The trials of the levels that are wanted of each column, of all where none is named."""
    for column, names in wanted.items():
        for name in names:
            check_name(column, name, trials[column].unique(), place)
        if names:
            trials = trials[trials[column].isin(names)]
    if groups:
        inside = trials["group"].map(lambda group: any(part in group for part in groups))
        if not inside.any():
            raise BadInput(f"no group of {place} has {' or '.join(groups)}: they are {'; '.join({*trials['group']})}")
        trials = trials[inside]
    if main(trials).empty:
        raise BadInput(f"{place} has perturbed trials alone")
    return trials


def joined(of_metrics: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The tables of all metrics, one below the other."""
    if not of_metrics:
        return pd.DataFrame(columns=["metric", *ARM, "estimate", "p_holm"])
    return pd.concat(of_metrics, names=["metric"]).reset_index("metric").reset_index(drop=True)


def _beside(study: str, trials: pd.DataFrame, pairs: pd.DataFrame, reference: str) -> list[pd.DataFrame]:
    """``Report.averaged, changed, equal_loss``, each empty where it was not measured."""
    runs, names = main(trials), trials[["record", *ARM]].drop_duplicates()
    averaged = changed = at_equal_loss = pd.DataFrame(columns=ARM)
    if len(repeated := pairs[pairs["kind"] == "perturbed"]):
        by = [*ARM, "variant"]
        seeds = main(pairs).drop(columns="variant").merge(repeated[by].drop_duplicates())
        changed = share(repeated, seeds, METRIC, by)
    if "corrected" not in set(runs["protocol"]):
        return [averaged, changed, at_equal_loss]
    of_averages = tables.load_pairs(study, "average").merge(names)
    losses = tables.load_losses(study, "average").merge(names)
    if len(of_averages) and len(losses):
        by = [*ARM, "decay"]
        averaged = means(of_averages, METRIC, by).rename(columns={"estimate": "averaged"}).set_index(by)
        losses["change"] = losses["val_loss"] - losses["single_loss"]
        averaged["loss_change"] = means(losses, "change", by).set_index(by)["estimate"]
        single = means(main(pairs), METRIC, ARM).set_index(ARM)["estimate"].rename("single")
        averaged = averaged.join(single, how="inner").reset_index()
        averaged = averaged[[*by, "single", "averaged", "low", "high", "loss_change"]]
    curves, along = tables.load_curves(study).merge(names), tables.load_pairs(study, "along").merge(names)
    along = along.merge(curves[["record", "iteration"]].drop_duplicates())  # where both were measured
    if along["iteration"].nunique() > 1 and reference in set(along["arm"]):
        curves = curves[curves["record"].isin(along["record"])]
        found = equal_loss(curves, along, METRIC, ["group"], "arm", reference, exclude_above=bigram_loss(study))
        at_equal_loss = found[found["status"] != "missing"]
    return [averaged, changed, at_equal_loss]


def bigram_loss(study: str) -> float | None:
    """What a table of pairs of characters reaches on the study's text, in nats; None of other kinds."""
    baselines: dict[str, float] = tables.load_baselines(study)["val_loss"].to_dict()
    return baselines.get("bigram")


def metrics_of(records: Sequence[Record]) -> dict[str, Metric]:
    """Those that a study can have: of pairs, a user's own ones after the built-in, then of trials."""
    own: dict[str, Metric] = {}
    for record in records:
        for name, about in record.get("metrics", {}).items():
            own[name] = Metric(name, about["label"], about["note"])
    return PAIR_METRICS | own | EVERY  # again: no record names a built-in one anew


def main(table: pd.DataFrame) -> pd.DataFrame:
    """Its rows of trials that differ in the seed alone."""
    return table[table["kind"].isin(settings.MAIN)]


def rows_of(metric: str, trials: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """What a metric is read from: runs, or pairs of runs."""
    table = main(trials if of_trials(metric) else pairs)
    names = (*ARM, "study", "record", "seed", "first", "second", metric)
    return table[[name for name in names if name in table]]


def estimated(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The mean of each arm, as ``Report.estimates`` has it."""
    found, rows = means(table, metric, ARM), table.groupby(ARM, sort=False)[metric]
    found["few"] = found["se"] == 0
    if of_trials(metric):
        found["sd"] = rows.std().to_numpy()
    else:
        found["few"] |= np.array([few_differ(values.dropna()) for _, values in rows], dtype=bool)
        limits = log_limits(found["estimate"], found["low"], found["high"])
        found["low"], found["high"] = (side.where(~found["few"]) for side in map(pd.Series, limits))
    return clipped(found, metric).drop(columns=["se", "df"])
