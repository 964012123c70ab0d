"""A recorded study as a report takes it: its arms with names for people, their estimates and their differences from a
reference, as tidy tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import IMAGE_METRICS, PAIR_METRICS, TRIAL_METRICS, Metric, of_trials
from actlab.records.store import Record
from actlab.statistics.contrasts import contrasts, means
from actlab.statistics.estimate import few_differ, log_limits

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
ESTIMATED = [*ARM, "metric", "n", "estimate", "low", "high", "few"]
SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}
"""Factor -> what stands before its number in the name of a group."""


@dataclass(frozen=True)
class Report:
    """What is reported: some records of one study, and their tables with ``ARM``."""

    study: str
    records: list[Record]
    trials: pd.DataFrame
    """Of every kind of record."""
    pairs: pd.DataFrame
    reference: str
    whole: Report | None = None
    """The whole study, where this is a part of it: one family of tests, whatever is shown of it."""

    @property
    def runs(self) -> pd.DataFrame:
        """The trials that differ in the seed alone."""
        return _main(self.trials)

    @property
    def kind(self) -> str:
        """Of its records."""
        return str(self.runs["kind"].iloc[0])

    @cached_property
    def cells(self) -> list[tuple[str, str]]:
        """Every group with every level, recorded or not, in the studies' own order."""
        groups, arms = (settings.in_order(self.runs[name]) for name in ARM)
        return [(group, arm) for group in groups for arm in arms]

    @cached_property
    def arms(self) -> pd.DataFrame:
        """A row an arm: ``parameters``, and in ``not_done`` its trials that did not end well."""
        parameters = self.runs.groupby(ARM)["parameters"].first()
        failed = self.runs[self.runs["status"] != "done"]
        not_done = (
            failed["trial"].str.cat(failed["status"], ": ").groupby([failed[name] for name in ARM]).agg(", ".join)
        )
        table = parameters.to_frame().assign(not_done=not_done).fillna({"not_done": ""})
        return table.loc[[cell for cell in self.cells if cell in table.index]]

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """What the study measured, and how to read it: of pairs, a user's own ones after the built-in, then of
        trials."""
        every = (item for record in self.records for item in record.get("metrics", {}).items())
        own = {name: Metric(name, about["label"], about["note"]) for name, about in every}
        known = PAIR_METRICS | own | TRIAL_METRICS | IMAGE_METRICS
        return {n: m.of_kind(self.kind) for n, m in known.items() if n in (t := self.table(n)) and t[n].notna().any()}

    def table(self, metric: str) -> pd.DataFrame:
        """The rows that a metric is read from: runs, or pairs of runs."""
        return self.runs if of_trials(metric) else _main(self.pairs)

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """A row a metric and arm: the mean with its 95% interval. A metric of pairs has it on a logarithmic scale
        (``log_limits``), or none where too ``few`` trials differ."""
        every = [_estimates(self.table(name), name) for name in self.metrics]
        return pd.concat(every, ignore_index=True) if every else pd.DataFrame(columns=ESTIMATED)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """A row a metric and arm: the arm minus the reference of its group (``contrasts``)."""
        if self.whole is not None:
            every_cell = pd.MultiIndex.from_frame(self.whole.differences[ARM])
            shown = every_cell.isin(list(self.runs[ARM].itertuples(index=False, name=None)))
            return self.whole.differences[shown].reset_index(drop=True)
        every = [minus(self.table(name), name, ["group"], "arm", self.reference) for name in self.metrics]
        return pd.concat(every, ignore_index=True) if every else pd.DataFrame(columns=[*ARM, "metric", "p_holm"])

    @cached_property
    def floors(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of a noise floor: the first trial and the same seed, with nothing changed or
        with one weight moved by one ULP."""
        pairs = self.pairs[self.pairs["kind"] == "floor"]
        return pairs[pairs["first"].astype(str).str.isdecimal()].drop_duplicates([*ARM, "variant"])

    def of(self, metric: str, table: pd.DataFrame) -> pd.DataFrame:
        """A metric's rows of ``estimates`` or ``differences``, by arm."""
        return table[table["metric"] == metric].set_index(ARM)


def load(study: str, models: Sequence[str] = (), activations: Sequence[str] = (), reference: str = "") -> Report:
    """A recorded study, whole or only some models and activations of it.

    Raises:
        UnknownName: a study without trials; a model, an activation of the chosen models, or a reference, without a
            record.
    """
    every = records = tables.load_records(study)
    for kind, wanted, key in (("model", models, "model_name"), ("activation", activations, "activation")):
        known = {str(record[key]) for record in records if settings.kind_of(record)}
        for name in wanted:
            check_name(kind, name, known, f"results/{study}")
        records = [r for r in records if not (wanted and settings.kind_of(r)) or r[key] in wanted]
    all_trials, all_pairs = map(_named, tables.of_records(every))
    arms = {record["arm"] for record in records if settings.kind_of(record)}
    trials, pairs = (table[table["record"].isin(arms)] for table in (all_trials, all_pairs))
    levels = settings.in_order(_main(trials)["arm"])
    if not levels:
        raise BadInput(f"results/{study} has perturbed trials alone")
    if reference:
        check_name("reference", reference, levels, f"results/{study}")
    reference = next(name for name in (reference, "relu", "gelu", *levels) if name in levels)
    whole = None if len(records) == len(every) else Report(study, every, all_trials, all_pairs, reference)
    return Report(study, records, trials, pairs, reference, whole)


def _main(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"].isin(settings.MAIN)]


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """The table with ``ARM`` and the plain ``level``: an arm whose activation a published defect ignored is named with
    the one that the network had."""
    if table.empty:
        return table.reindex(columns=[*table, "kind", *ARM, "level", "variant"])
    others, series = settings.factors(table["kind"].iloc[0])
    parts = [table[name].map((SHORT[name] + "{:g}" if name in SHORT else "{}").format) for name in others]
    groups = [", ".join(filter(None, levels)) for levels in zip(*parts, table["setting"], strict=True)]
    level = table[series].astype(str)
    used = level + " (ignored: " + table["activation_used"].astype(str) + ")"
    return table.assign(
        group=groups, level=level, arm=level.where(table["activation_used"] == table["activation"], used)
    )


def _estimates(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    estimates = means(table, metric, ARM).assign(metric=metric, few=False)
    if not of_trials(metric):
        estimates["few"] = [few_differ(pairs.dropna()) for _, pairs in table.groupby(ARM, sort=False)[metric]]
        limits = log_limits(estimates["estimate"], estimates["low"], estimates["high"])
        estimates["low"], estimates["high"] = (np.where(estimates["few"], np.nan, limit) for limit in limits)
    return estimates[ESTIMATED]


def minus(table: pd.DataFrame, metric: str, by: list[str], factor: str, reference: str) -> pd.DataFrame:
    """Every level of a factor minus the reference, where both are recorded."""
    if reference not in set(table[factor]):
        return pd.DataFrame(columns=[*by, factor, "metric", "p_holm"])
    differences = contrasts(table, metric, by, factor, reference, unpaired=of_trials(metric)).assign(metric=metric)
    return differences[differences["status"] != "missing"]


def levels(records: Sequence[Record], names: Sequence[str] = ()) -> dict[str, list[str]]:
    """Setting -> its different values over a study's arms, as text; ``names`` are asked for first."""
    main = [record for record in records if settings.kind_of(record) in settings.MAIN]
    every = [*dict.fromkeys([*names, *(name for record in main for name in settings.settings_of(record))])]
    values = [settings.values_of(record, every) for record in main]
    return {name: list(dict.fromkeys(own[name] for own in values)) for name in every}
