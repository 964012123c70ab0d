"""A recorded study as a report takes it: tidy tables of its arms with names for people, their means, and their
differences from a reference. Every number is of ``means`` or ``contrasts``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import IMAGE_METRICS, PAIR_METRICS, TRIAL_METRICS, Metric, of_trials
from actlab.records.store import Record
from actlab.statistics.arms import arms_in, interval_of
from actlab.statistics.contrasts import contrasts

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}
"""Factor -> what stands before its number in the name of a group."""
Cell = tuple[str, str]
"""A group and an arm."""


@dataclass(frozen=True)
class Report:
    """What is reported: some arms of one study."""

    study: str
    reference: str
    """The arm that the others of its group are compared with."""
    records: list[Record]
    trials: pd.DataFrame
    """Of every kind of record, with ``ARM``."""
    pairs: pd.DataFrame
    """Of every kind of record, with ``ARM``."""
    estimates: pd.DataFrame
    """A row a metric and arm: the mean with its 95% interval. A metric of pairs has it on a logarithmic scale
    (``log_limits``), or none where too ``few`` trials differ."""
    differences: pd.DataFrame
    """A row a metric and arm: the arm minus the reference (``contrasts``); ``p_holm`` is of the whole study."""

    @property
    def runs(self) -> pd.DataFrame:
        """The trials that differ in the seed alone."""
        return main(self.trials)

    @property
    def kind(self) -> str:
        """Of its records."""
        return str(self.runs["kind"].iloc[0])

    @cached_property
    def levels(self) -> tuple[list[str], list[str]]:
        """Its groups and its arms, each once, in the studies' own order."""
        groups, arms = (settings.in_order(self.runs[name]) for name in ARM)
        return groups, arms

    @cached_property
    def cells(self) -> pd.MultiIndex:
        """Every group with every arm, recorded or not."""
        return pd.MultiIndex.from_product(self.levels, names=ARM)

    @cached_property
    def arms(self) -> pd.DataFrame:
        """A row a recorded arm: ``parameters``, and in ``not_done`` its trials that did not end well."""
        failed = self.runs[self.runs["status"] != "done"]
        told = failed["trial"].str.cat(failed["status"], ": ").groupby([failed[name] for name in ARM]).agg(", ".join)
        arms = self.runs.groupby(ARM, sort=False)["parameters"].first().to_frame()
        return arms.assign(not_done=told).fillna({"not_done": ""})

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """What was measured, and how to read it."""
        known = {name: metric.of_kind(self.kind) for name, metric in metrics_of(self.records).items()}
        there = set(self.estimates.dropna(subset="estimate")["metric"])
        return {name: metric for name, metric in known.items() if name in there}

    @property
    def floors(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of a noise floor: the first trial and the same seed, with nothing changed or
        with one weight moved by one ULP."""
        pairs = self.pairs[self.pairs["kind"] == "floor"]
        return pairs[pairs["first"].astype(str).str.isdecimal()].drop_duplicates([*ARM, "variant"])

    def of(self, metric: str, table: pd.DataFrame) -> pd.DataFrame:
        """A metric's rows of ``estimates`` or ``differences``, by arm."""
        return table[table["metric"] == metric].set_index(ARM)

    def part(self, cells: Collection[Cell]) -> Report:
        """Some arms of it; the tests stay those of the whole."""

        def kept(table: pd.DataFrame) -> pd.DataFrame:
            return table[pd.MultiIndex.from_frame(table[ARM]).isin(cells)].reset_index(drop=True)

        trials = kept(self.trials)
        records = [record for record in self.records if record["arm"] in set(trials["record"])]
        of_cells = {name: kept(getattr(self, name)) for name in ("pairs", "estimates", "differences")}
        return replace(self, records=records, trials=trials, **of_cells)


def load(study: str, models: Sequence[str] = (), activations: Sequence[str] = (), reference: str = "") -> Report:
    """A recorded study, whole or only some models and activations of it.

    Raises:
        UnknownName: a study without trials; a model, an activation of the chosen models, or a reference, without a
            record.
        BadInput: no trials that differ in the seed alone.
    """
    records = [record for record in tables.load_records(study) if settings.kind_of(record)]
    trials, pairs = map(named, tables.load(study, "all"))
    chosen = trials
    for column, wanted in (("model", models), ("activation", activations)):
        for name in wanted:
            check_name(column, name, chosen[column].unique(), f"results/{study}")
        chosen = chosen[chosen[column].isin(wanted or chosen[column])]
    if main(chosen).empty:
        raise BadInput(f"results/{study} has perturbed trials alone")
    levels = settings.in_order(main(trials)["arm"])
    if reference:
        check_name("reference", reference, levels, f"results/{study}")
    reference = next(name for name in (reference, "relu", "gelu", *levels) if name in levels)
    estimates = _each(records, trials, pairs, estimated)
    differences = _each(records, trials, pairs, lambda table, name: minus(table, name, ["group"], "arm", reference))
    whole = Report(study, reference, records, trials, pairs, estimates, differences)
    return whole.part(list(chosen[ARM].itertuples(index=False, name=None)))


def metrics_of(records: Sequence[Record]) -> dict[str, Metric]:
    """Those that a study can have: of pairs, a user's own ones after the built-in, then of trials."""
    every = (item for record in records for item in record.get("metrics", {}).items())
    own = {name: Metric(name, about["label"], about["note"]) for name, about in every}
    return PAIR_METRICS | own | TRIAL_METRICS | IMAGE_METRICS


def named(table: pd.DataFrame) -> pd.DataFrame:
    """The table with ``ARM`` and the plain ``level``: an arm whose activation a published defect ignored is named with
    the one that the network had."""
    if table.empty:
        return table.reindex(columns=[*table, *ARM, "level"])
    others, series = settings.factors(table["kind"].iloc[0])
    parts = [table[name].map((SHORT[name] + "{:g}" if name in SHORT else "{}").format) for name in others]
    groups = [", ".join(filter(None, levels)) for levels in zip(*parts, table["setting"], strict=True)]
    level = table[series].astype(str)
    used = level + " (ignored: " + table["activation_used"].astype(str) + ")"
    arms = level.where(table["activation_used"] == table["activation"], used)
    return table.assign(group=groups, level=level, arm=arms)


def main(table: pd.DataFrame) -> pd.DataFrame:
    """Its rows of trials that differ in the seed alone."""
    return table[table["kind"].isin(settings.MAIN)]


def rows_of(metric: str, trials: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """What a metric is read from: runs, or pairs of runs."""
    return main(trials if of_trials(metric) else pairs)


def estimated(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The mean of each arm, as ``Report.estimates`` has it."""
    rows = [[*cell, *interval_of(arm, not of_trials(metric))] for cell, arm in arms_in(table, metric, ARM).items()]
    found = pd.DataFrame(rows, columns=[*ARM, "estimate", "low", "high", "n", "few"])
    if metric.endswith("_accuracy"):  # a share of places or images, in %
        found[["low", "high"]] = found[["low", "high"]].clip(0, 100)
    return found[[*ARM, "n", "estimate", "low", "high", "few"]]


def minus(table: pd.DataFrame, metric: str, by: list[str], factor: str, reference: str) -> pd.DataFrame:
    """Every level of a factor minus the reference, where both are recorded."""
    if reference not in set(table[factor]):
        return pd.DataFrame(columns=[*by, factor, "p_holm"])
    differences = contrasts(table, metric, by, factor, reference, unpaired=of_trials(metric))
    return differences[differences["status"] != "missing"]


def _each(
    records: Sequence[Record],
    trials: pd.DataFrame,
    pairs: pd.DataFrame,
    make: Callable[[pd.DataFrame, str], pd.DataFrame],
) -> pd.DataFrame:
    """A table of every metric that was measured, one below the other."""
    made = {}
    for name in metrics_of(records):
        table = rows_of(name, trials, pairs)
        if name in table and table[name].notna().any():
            made[name] = make(table, name)
    if not made:
        return pd.DataFrame(columns=["metric", *ARM, "estimate", "p_holm"])
    return pd.concat(made, names=["metric"]).reset_index("metric").reset_index(drop=True)
