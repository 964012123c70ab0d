"""A recorded study as a report takes it: tidy tables of its arms with names for people. Every number is of ``means``,
``contrasts``, ``equal_loss`` or ``share``, over the whole study: a part of it is cut out of these tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import EVERY, PAIR_METRICS, Metric, clipped, of_trials
from actlab.records.store import Record, where
from actlab.report.arms import ARM, named
from actlab.report.rates import rates_of
from actlab.statistics.contrasts import contrasts, means
from actlab.statistics.equal_loss import equal_loss
from actlab.statistics.estimate import few_differ, log_limits
from actlab.statistics.share import share

METRIC = "total_variation"
"""Of pairs, in which averaged weights, changed trials and equal loss are read."""
NOTHING = pd.DataFrame(columns=["metric", *ARM])


@dataclass(frozen=True)
class Report:
    """What is reported: some arms of one study. Every table has the columns ``ARM``."""

    study: str
    factor: str
    """The setting whose levels are compared."""
    arms: list[tables.Arm]
    trials: pd.DataFrame
    """Of every kind of record."""
    pairs: pd.DataFrame
    """Of every kind of record."""
    reference: str = ""
    """The level that the others of its group are compared with."""
    estimates: pd.DataFrame = field(default_factory=NOTHING.copy)
    """A row a metric and arm: the mean with its 95% interval, inside the metric's range, and of trials the standard
    deviation. A metric of pairs has its interval on a logarithmic scale; there is none where too ``few`` differ."""
    differences: pd.DataFrame = field(default_factory=NOTHING.copy)
    """A row a metric and arm: the arm minus the reference (``contrasts``); ``p_holm`` is of the whole study."""
    averaged: pd.DataFrame = field(default_factory=NOTHING.copy)
    """A row an arm and decay: what two seeds differ by as ``single`` networks and with ``averaged`` weights (95%
    ``low``, ``high``), and the ``loss_change`` of averaging (nats)."""
    changed: pd.DataFrame = field(default_factory=NOTHING.copy)
    """A row an arm and ``variant``: what a change of a trial does to it as a share of what another seed does
    (``statistics.share``)."""
    equal_loss: pd.DataFrame = field(default_factory=NOTHING.copy)
    """The arm minus the reference in total variation, each read at the loss that all arms of the group reach
    (``statistics.equal_loss``); groups whose reference does not reach the bigram table are left out."""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Name -> each of the above."""
        return {name: table for name, table in vars(self).items() if isinstance(table, pd.DataFrame)}

    @property
    def records(self) -> list[Record]:
        """The records of its arms."""
        return [record for record, _ in self.arms]

    @cached_property
    def rates(self) -> dict[str, pd.DataFrame]:
        """Name -> table: the learning rates that the study has chosen, and those that it tried."""
        return rates_of(self.study, self.records)

    @property
    def runs(self) -> pd.DataFrame:
        """The trials that differ in the seed alone."""
        return main(self.trials)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """What was measured, a user's own metrics after the built-in ones of pairs, and how to read it."""
        own = dict[str, Metric]()
        for record in self.records:
            for name, about in record.get("metrics", {}).items():
                own[name] = Metric(name, about["label"], about["note"])
        known = PAIR_METRICS | own | EVERY  # again: no record names a built-in one anew
        measured = {"val_loss"}  # also where every trial diverged
        for table in (self.trials, self.pairs):
            measured |= {*main(table).dropna(axis=1, how="all")}
        kind = self.runs["kind"].iloc[0]
        return {name: metric.of_kind(kind) for name, metric in known.items() if name in measured}

    @cached_property
    def levels(self) -> tuple[list[str], list[str]]:
        """Its groups and its arms, each once, in the studies' own order."""
        groups, arms = (settings.in_order(self.runs[name]) for name in ARM)
        return groups, arms

    @property
    def cells(self) -> pd.MultiIndex:
        """Every group with every arm, recorded or not."""
        return pd.MultiIndex.from_product(self.levels, names=ARM)

    @property
    def floors(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of a noise floor: the first trial and the same seed, with nothing changed or
        with one weight moved by one ULP."""
        pairs = self.pairs[self.pairs["kind"] == "floor"]
        return pairs[pairs["first"].astype(str).str.isdecimal()].drop_duplicates([*ARM, "variant"])

    def rows_of(self, metric: str) -> pd.DataFrame:
        """What a metric is read from: trials, or pairs of trials, that differ in the seed alone."""
        table = main(self.trials if of_trials(metric) else self.pairs)
        return table.filter([*ARM, "study", "record", "seed", "first", "second", metric])

    def of(self, metric: str, table: pd.DataFrame) -> pd.DataFrame:
        """A metric's rows of ``estimates`` or ``differences``, by arm."""
        return table[table["metric"] == metric].set_index(ARM)

    def grid(self, metric: str) -> pd.DataFrame:
        """The means of a metric, a row a group and a column an arm."""
        return self.of(metric, self.estimates)["estimate"].reindex(self.cells).unstack("arm", sort=False)

    def part(self, cells: Collection[tuple[str, str]]) -> Report:
        """Some arms of it, each a group and an arm; the tests stay those of the whole."""
        parts = {}
        for name, table in self.tables.items():
            inside = pd.MultiIndex.from_frame(table[ARM]).isin(cells)
            parts[name] = table[inside].reset_index(drop=True)
        names = {*parts["trials"]["record"]}
        return replace(self, arms=[arm for arm in self.arms if arm[0]["arm"] in names], **parts)


def read(study: str, factor: str = "") -> Report:
    """A recorded study without estimates; its factor unless given is the activation, or the one setting that varies."""
    arms = tables.arms_of(study, "all")
    factor, names = named([record for record, _ in arms], factor)
    return Report(study, factor, arms, tables.trials_of(arms).merge(names), tables.pairs_of(arms).merge(names))


def load(
    study: str,
    models: Sequence[str] = (),
    activations: Sequence[str] = (),
    reference: str = "",
    groups: Sequence[str] = (),
    factor: str = "",
) -> Report:
    """A recorded study, whole or only some models, activations and groups of it.

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
    whole = read(study, factor or of_factor)
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
        whole,
        reference=reference,
        estimates=pd.concat([_estimates(whole, name) for name in whole.metrics], ignore_index=True),
        differences=pd.concat([_differences(whole, name, reference) for name in whole.metrics], ignore_index=True),
        changed=_changed(whole),
        averaged=_averaged(whole),
        equal_loss=_at_equal_loss(whole, reference),
    )
    return report.part(list(chosen[ARM].itertuples(index=False, name=None)))


def _estimates(study: Report, metric: str) -> pd.DataFrame:
    """The mean of each arm, as ``Report.estimates`` has it."""
    table = study.rows_of(metric)
    estimates, rows = means(table, metric, ARM), table.groupby(ARM, sort=False)[metric]
    estimates["few"] = estimates["se"] == 0
    if of_trials(metric):
        estimates["sd"] = rows.std().to_numpy()
    else:
        estimates["few"] |= np.array([few_differ(values.dropna()) for _, values in rows], dtype=bool)
        limits = log_limits(estimates["estimate"], estimates["low"], estimates["high"])
        estimates["low"], estimates["high"] = (side.where(~estimates["few"]) for side in map(pd.Series, limits))
    estimates.insert(0, "metric", metric)
    return clipped(estimates, metric).drop(columns=["se", "df"])


def _differences(study: Report, metric: str, reference: str) -> pd.DataFrame:
    """Each arm minus the reference, as ``Report.differences`` has it."""
    differences = contrasts(study.rows_of(metric), metric, ["group"], "arm", reference, unpaired=of_trials(metric))
    differences.insert(0, "metric", metric)
    return clipped(differences[differences["status"] != "missing"], metric, signed=True)


def _changed(study: Report) -> pd.DataFrame:
    """As ``Report.changed`` has it."""
    by, changed = [*ARM, "variant"], study.pairs[study.pairs["kind"] == "perturbed"]
    if changed.empty:
        return NOTHING
    seeds = main(study.pairs).drop(columns="variant").merge(changed[by].drop_duplicates())
    return share(changed, seeds, METRIC, by)


def _plain(study: Report, rows_of: Callable[..., pd.DataFrame], *of: str) -> pd.DataFrame:
    """A table of the arms that differ in the seed alone and have no published defect."""
    arms = [arm for arm in study.arms if arm[1]["kind"] in settings.MAIN and arm[1]["protocol"] == "corrected"]
    return rows_of(arms, *of).merge(study.trials[["record", *ARM]].drop_duplicates())


def _averaged(study: Report) -> pd.DataFrame:
    """As ``Report.averaged`` has it."""
    by = [*ARM, "decay"]
    pairs, losses = (_plain(study, rows_of, "average") for rows_of in (tables.pairs_of, tables.losses_of))
    if pairs.empty:
        return NOTHING
    losses["change"] = losses["val_loss"] - losses["single_loss"]
    averaged = means(pairs, METRIC, by).rename(columns={"estimate": "averaged"})
    for name, table in (
        ("single", means(main(study.pairs), METRIC, ARM)[[*ARM, "estimate"]]),
        ("loss_change", means(losses, "change", by)[[*by, "estimate"]]),
    ):
        averaged = averaged.merge(table.rename(columns={"estimate": name}))
    return averaged[[*by, "single", "averaged", "low", "high", "loss_change"]]


def _at_equal_loss(study: Report, reference: str) -> pd.DataFrame:
    """As ``Report.equal_loss`` has it."""
    curves, along = _plain(study, tables.curves_of), _plain(study, tables.pairs_of, "along")
    along = along.merge(curves[["record", "iteration"]].drop_duplicates())  # where both were measured
    if along["iteration"].nunique() < 2 or reference not in set(along["arm"]):
        return NOTHING
    curves, bigram = curves[curves["record"].isin(along["record"])], bigram_loss(study.study)
    differences = equal_loss(curves, along, METRIC, ["group"], "arm", reference, exclude_above=bigram)
    return differences[differences["status"] != "missing"]


def bigram_loss(study: str) -> float | None:
    """What a table of pairs of characters reaches on the study's text, in nats; None of other kinds."""
    baselines: dict[str, float] = tables.load_baselines(study)["val_loss"].to_dict()
    return baselines.get("bigram")


def main(table: pd.DataFrame) -> pd.DataFrame:
    """Its rows of trials that differ in the seed alone."""
    return table[table["kind"].isin(settings.MAIN)]
