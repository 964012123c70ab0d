"""`actlab compare`: one study minus another, arm by arm; what of it cannot be compared, and why."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import clipped, of_trials
from actlab.records.settings import cell_of, differing, values_of
from actlab.records.store import Record
from actlab.report.arms import ARM
from actlab.report.study import Report, load, rows_of
from actlab.report.summary import values
from actlab.statistics.contrasts import contrasts
from actlab.statistics.significance import ALPHA

FEWEST = 3
"""Seeds that two studies share, for an interval of pairs."""


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ and what is not compared, a line each; the second study minus the
    first, of every arm that both have: ``contrasts`` of each metric). Arms are matched by their factors and by the
    settings that vary within a study. Losses and accuracies on different data are left out.

    Raises:
        BadInput: the studies share no arm or metric, or are one study.
    """
    if first == second:
        raise BadInput(f"{first} minus itself is nothing: name two studies")
    one, two = (load(study, ends_alone=True) for study in (first, second))
    names = [*dict.fromkeys(name for study in (one, two) for name in differing(study.records) if name != "arm")]
    keys, others = ({record["arm"]: _key(record, names) for record in study.records} for study in (one, two))
    if not (shared := {*keys.values()} & {*others.values()}):
        arms = [", ".join(sorted({" ".join(cell) for cell in study.runs[ARM].to_numpy()})) for study in (one, two)]
        raise BadInput(f"the studies share no arm: one has {arms[0]}; the other {arms[1]}")
    called = one.trials.assign(key=one.trials["record"].map(keys))[["key", *ARM]].drop_duplicates("key")
    data = [_data(study) for study in (one, two)]
    differences = {}
    for name in one.metrics:
        if name in two.metrics and (data[0] == data[1] or not of_trials(name)):
            rows = []
            for study, key_of in ((one, keys), (two, others)):
                table = rows_of(name, study.trials, study.pairs).drop(columns=ARM)
                rows.append(table.assign(key=table["record"].map(key_of)).merge(called))
            both = pd.concat(rows).drop(columns=["record", "key"])
            found = contrasts(both, name, ARM, "study", first, unpaired=of_trials(name))
            differences[name] = clipped(found[found["status"] != "missing"], name, signed=True).assign(metric=name)
    if not differences:
        raise BadInput(
            f"nothing has a value in both {first} and {second} that can be compared: {'; '.join(_other(data))}"
        )
    table = pd.concat(differences, ignore_index=True).drop(columns="study")
    left_out = len({*keys.values()} ^ {*others.values()})
    lines = [*_settings(one, two), *_other(data), *_too_few(one, two), *_worse(table, second)]
    return [*lines, f"{len(shared)} arms are in both studies, {left_out} in one of them"], table


def _key(record: Record, names: list[str]) -> str:
    return repr([cell_of(record), values_of(record, names)])


def _settings(one: Report, two: Report) -> Iterator[str]:
    """The settings in which two studies differ, a line each."""
    names = list(values(one.records) | values(two.records))
    before, after = (values(study.records, names) for study in (one, two))
    for name in names:
        if before[name] != after[name]:
            yield f"{name}: {' | '.join(before[name])} -> {' | '.join(after[name])}"


def _data(study: Report) -> str:
    """The names and hashes of what a study is measured on."""
    every = [record["provenance"]["data"] for record in study.records]
    names = {f"{data.get('name', '')} {data.get('sha256', '')[:8]}".strip() for data in every}
    return ", ".join(sorted(names))


def _other(data: list[str]) -> Iterator[str]:
    if data[0] != data[1]:
        yield f"measured on different data ({data[0]} -> {data[1]}): losses and accuracies are not compared"


def _too_few(one: Report, two: Report) -> Iterator[str]:
    """Why no disagreement between seeds is compared; nothing where the studies share enough seeds."""
    seeds = [sorted(set(study.runs["seed"])) for study in (one, two)]
    shared = set(seeds[0]) & set(seeds[1])
    if len(shared) < FEWEST and len(one.pairs) and len(two.pairs):
        mine, theirs = (", ".join(map(str, every)) for every in seeds)
        losses = "losses over all (unpaired)" if len(shared) < 2 else "losses over those in common"
        yield (
            f"too few: {one.study} has the seeds {mine}, {two.study} {theirs}, and {len(shared)} of them in common: "
            f"the disagreement between seeds is compared over {FEWEST} or more that both have, {losses}"
        )


def _worse(table: pd.DataFrame, second: str) -> Iterator[str]:
    """That disagreement between seeds moves with the loss, where the losses differ."""
    losses = table[(table["metric"] == "val_loss") & (table["p_holm"] < ALPHA)]["difference"]
    if len(losses) and not table["metric"].map(of_trials).all():
        yield (
            f"the loss of {second} differs significantly in {len(losses)} arms ({losses.min():+.3f} to "
            f"{losses.max():+.3f} nats), and disagreement between seeds moves with the loss: actlab.equal_loss "
            "compares it at equal loss"
        )
