"""A recorded study as a report takes it: tidy tables of its arms with names for people. Every number is of ``means``,
``contrasts`` or ``equal_loss``, over the whole study: a part of it is cut out of these tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import settings, tables
from actlab.records.labels import EVERY, PAIR_METRICS, Metric, of_trials
from actlab.records.store import Record
from actlab.report.rates import Rates, rates_of
from actlab.statistics.arms import Interval, arms_in, interval_of
from actlab.statistics.contrasts import contrasts, means
from actlab.statistics.equal_loss import equal_loss

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}
"""Factor -> what stands before its number in the name of a group."""
METRIC = "total_variation"
"""Of pairs, in which averaged weights and equal loss are read."""
Cell = tuple[str, str]
"""A group and an arm."""


@dataclass(frozen=True)
class Report:
    """What is reported: some arms of one study. Every table has the columns ``ARM``."""

    study: str
    reference: str
    """The arm that the others of its group are compared with."""
    records: list[Record]
    trials: pd.DataFrame
    """Of every kind of record."""
    pairs: pd.DataFrame
    """Of every kind of record."""
    estimates: pd.DataFrame
    """A row a metric and arm: the mean with its 95% interval. A metric of pairs has it on a logarithmic scale
    (``log_limits``), or none where too ``few`` trials differ."""
    differences: pd.DataFrame
    """A row a metric and arm: the arm minus the reference (``contrasts``); ``p_holm`` is of the whole study."""
    averaged: pd.DataFrame
    """A row an arm and decay: what two seeds differ by as ``single`` networks and with ``averaged`` weights (95%
    ``low``, ``high``), and the ``loss_change`` of averaging (nats)."""
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

    @property
    def kind(self) -> str:
        """Of its records."""
        return str(self.runs["kind"].iloc[0])

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
        there = set(self.estimates.dropna(subset="estimate")["metric"])
        known = metrics_of(self.records).items()
        return {name: metric.of_kind(self.kind) for name, metric in known if name in there}

    @property
    def floors(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of a noise floor: the first trial and the same seed, with nothing changed or
        with one weight moved by one ULP."""
        pairs = self.pairs[self.pairs["kind"] == "floor"]
        return pairs[pairs["first"].astype(str).str.isdecimal()].drop_duplicates([*ARM, "variant"])

    @property
    def changed(self) -> pd.DataFrame:
        """A row an arm and ``variant`` of changed trials (``perturbations``): the mean total variation between a trial
        and itself changed, with its 95% interval over seeds."""
        by = [*ARM, "variant"]
        pairs = self.pairs[self.pairs["kind"] == "perturbed"]
        cells = arms_in(pairs, METRIC, by).items() if len(pairs) else ()
        rows = [[*cell, *interval_of(arm, logarithmic=True)] for cell, arm in cells]
        return pd.DataFrame(rows, columns=[*by, *Interval._fields])

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
        records = [record for record in self.records if record["arm"] in shown]
        return replace(self, records=records, **kept)


def load(
    study: str,
    models: Sequence[str] = (),
    activations: Sequence[str] = (),
    reference: str = "",
    ends_alone: bool = False,
    groups: Sequence[str] = (),
) -> Report:
    """A recorded study, whole or only some models, activations and groups of it; of ``ends_alone`` it has no averaged
    weights and nothing at equal loss. ``groups``: parts of their names, ``soap`` of ``soap, symmetric, x1``.

    Raises:
        UnknownName: a study without trials; a group, a model, an activation of the chosen models, or a reference,
            without a record.
        BadInput: no trials that differ in the seed alone.
    """
    records = [record for record in tables.load_records(study) if settings.kind_of(record)]
    trials, pairs = tables.load(study, "all")
    names = named(trials)
    trials, pairs = trials.merge(names), pairs.merge(names)
    of_groups = _of_groups(trials, groups, f"results/{study}")
    chosen = _chosen(of_groups, {"model": models, "activation": activations}, f"results/{study}")
    levels = settings.in_order(main(trials)["arm"])
    if reference:
        check_name("reference", reference, levels, f"results/{study}")
    reference = next(name for name in (reference, "relu", "gelu", *levels) if name in levels)
    estimates, differences = dict[str, pd.DataFrame](), dict[str, pd.DataFrame]()
    for name in metrics_of(records):
        table = rows_of(name, trials, pairs)
        table = table[[column for column in (*ARM, "seed", "first", "second", name) if column in table]]  # few are fast
        if name in table and table[name].notna().any():
            estimates[name] = estimated(table, name)
            differences[name] = minus(table, name, ["group"], "arm", reference)
    ends = joined(estimates), joined(differences)
    runs = trials[:0] if ends_alone else main(trials)
    whole = Report(study, reference, records, trials, pairs, *ends, *beside(study, runs, reference))
    return whole.part(list(chosen[ARM].itertuples(index=False, name=None)))


def _chosen(trials: pd.DataFrame, wanted: Mapping[str, Sequence[str]], where: str) -> pd.DataFrame:
    """The trials of the levels that are wanted of each column, of all where none is named."""
    for column, names in wanted.items():
        for name in names:
            check_name(column, name, trials[column].unique(), where)
        if names:
            trials = trials[trials[column].isin(names)]
    if main(trials).empty:
        raise BadInput(f"{where} has perturbed trials alone")
    return trials


def _of_groups(trials: pd.DataFrame, wanted: Sequence[str], where: str) -> pd.DataFrame:
    """The trials of groups with one of these parts in their names, of all where none is named."""
    parts = trials["group"].str.split(", ")
    for name in wanted:
        check_name("group", name, dict.fromkeys(parts.explode()), where)
    return trials[[not {*wanted}.isdisjoint(own) for own in parts]] if wanted else trials


def joined(of_metrics: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The tables of all metrics, one below the other."""
    if not of_metrics:
        return pd.DataFrame(columns=["metric", *ARM, "estimate", "p_holm"])
    return pd.concat(of_metrics, names=["metric"]).reset_index("metric").reset_index(drop=True)


def beside(study: str, runs: pd.DataFrame, reference: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(``Report.averaged``, ``Report.equal_loss``) of some runs, empty where no weights were averaged, or there are no
    snapshots; of runs with published defects, and of other kinds of study, there is neither."""
    averaged = pd.DataFrame(columns=[*ARM, "decay", "single", "averaged", "low", "high", "loss_change"])
    at_equal_loss = pd.DataFrame(columns=[*ARM, "n", "difference", "low", "high", "p_holm", "status"])
    if "corrected" not in set(runs["protocol"]):
        return averaged, at_equal_loss
    names = runs[["record", *ARM]].drop_duplicates()
    single = tables.load_pairs(study).merge(names)
    pairs = tables.load_pairs(study, "average").merge(names)
    losses = tables.load_losses(study, "average").merge(names)
    if len(pairs) and len(losses):
        averaged = of_averages(single, pairs, losses)
    along, curves = tables.load_pairs(study, "along").merge(names), tables.load_curves(study).merge(names)
    along = along.merge(curves[["record", "iteration"]].drop_duplicates())  # where both were measured
    if along["iteration"].nunique() > 1 and reference in set(along["arm"]):
        curves = curves[curves["record"].isin(along["record"])]
        found = equal_loss(curves, along, METRIC, ["group"], "arm", reference, exclude_above=bigram_loss(study))
        at_equal_loss = found[found["status"] != "missing"]
    return averaged, at_equal_loss


def of_averages(single: pd.DataFrame, pairs: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """``Report.averaged``, of pairs of single networks, pairs of averaged ones and the losses of these."""
    by = [*ARM, "decay"]
    found = means(pairs, METRIC, by).set_index(by).rename(columns={"estimate": "averaged"})
    change = means(losses.assign(change=losses["val_loss"] - losses["single_loss"]), "change", by).set_index(by)
    of_single = means(single, METRIC, ARM).set_index(ARM)["estimate"].rename("single")
    found = found.assign(loss_change=change["estimate"]).join(of_single, how="inner").reset_index()
    return found[[*by, "single", "averaged", "low", "high", "loss_change"]]


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


def named(trials: pd.DataFrame) -> pd.DataFrame:
    """A row a ``record``: ``ARM``, and the plain ``level``; an arm whose activation a published defect ignored is named
    with the one that the network had."""
    others, series = settings.factors(trials["kind"].iloc[0])
    table = trials.drop_duplicates("record")
    forms = {name: SHORT[name] + "{:g}" if name in SHORT else "{}" for name in others}
    parts = [table[name].map(form.format) for name, form in forms.items()]
    groups = [", ".join(filter(None, levels)) for levels in zip(*parts, table["setting"], strict=True)]
    level = table[series].astype(str)
    used = level + " (ignored: " + table["activation_used"].astype(str) + ")"
    arms = level.where(table["activation_used"] == table["activation"], used)
    return pd.DataFrame({"record": table["record"], "group": groups, "arm": arms, "level": level})


def main(table: pd.DataFrame) -> pd.DataFrame:
    """Its rows of trials that differ in the seed alone."""
    return table[table["kind"].isin(settings.MAIN)]


def rows_of(metric: str, trials: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """What a metric is read from: runs, or pairs of runs."""
    return main(trials if of_trials(metric) else pairs)


def estimated(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The mean of each arm, as ``Report.estimates`` has it."""
    rows = [[*cell, *interval_of(arm, not of_trials(metric))] for cell, arm in arms_in(table, metric, ARM).items()]
    found = pd.DataFrame(rows, columns=[*ARM, *Interval._fields])
    if metric.endswith("_accuracy"):  # a share of places or images, in %
        found[["low", "high"]] = found[["low", "high"]].clip(0, 100)
    return found[[*ARM, "n", "estimate", "low", "high", "few"]]


def minus(table: pd.DataFrame, metric: str, by: list[str], factor: str, reference: str) -> pd.DataFrame:
    """Every level of a factor minus the reference, where both are recorded."""
    if reference not in set(table[factor]):
        return pd.DataFrame(columns=[*by, factor, "p_holm"])
    differences = contrasts(table, metric, by, factor, reference, unpaired=of_trials(metric))
    return differences[differences["status"] != "missing"]
