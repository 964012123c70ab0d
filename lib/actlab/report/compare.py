"""`actlab compare`: one study minus another, arm by arm; what of it cannot be compared, and why."""

from __future__ import annotations

import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import clipped, of_trials
from actlab.records.settings import cell_of, differing, values_of
from actlab.report.arms import ARM
from actlab.report.study import read
from actlab.report.summary import settings_table
from actlab.statistics.contrasts import contrasts


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ and what is not compared, a line each; the second study minus the
    first, of every arm that both have: ``contrasts`` of each metric). Arms are matched by their factors and by the
    settings that vary within a study. Losses and accuracies on different data are left out.

    Raises:
        BadInput: the studies share no arm or metric, or are one study.
    """
    if first == second:
        raise BadInput(f"{first} minus itself is nothing: name two studies")
    one, two = read(first), read(second)
    varying = [name for study in (one, two) for name in differing(study.records) if name != "arm"]
    keys = {
        record["arm"]: repr([cell_of(record), values_of(record, varying)]) for record in (*one.records, *two.records)
    }
    arms, others = (study.runs[["record", *ARM]].assign(key=study.runs["record"].map(keys)) for study in (one, two))
    shared = {*arms["key"]} & {*others["key"]}
    if not shared:
        names = [", ".join(sorted({" ".join(arm) for arm in study[ARM].to_numpy()})) for study in (arms, others)]
        raise BadInput(f"the studies share no arm: one has {names[0]}; the other {names[1]}")
    before, after = (settings_table(study.records) for study in (one, two))
    lines = []
    for name in before.columns.union(after.columns, sort=False):
        levels = [" | ".join(table[name].unique()) if name in table else "" for table in (before, after)]
        if levels[0] != levels[1]:
            lines.append(f"{name}: {levels[0]} -> {levels[1]}")
    same_data = {*before["data"]} == {*after["data"]}
    if not same_data:
        lines.append("measured on different data: losses and accuracies are not compared")
    differences = []
    for metric in one.metrics:
        if metric in two.metrics and (same_data or not of_trials(metric)):
            rows = pd.concat([study.rows_of(metric).drop(columns=ARM) for study in (one, two)])
            rows = rows.assign(key=rows.pop("record").map(keys)).merge(arms[["key", *ARM]].drop_duplicates("key"))
            contrast = contrasts(rows.drop(columns="key"), metric, ARM, "study", first, unpaired=of_trials(metric))
            contrast = clipped(contrast[contrast["status"] != "missing"], metric, signed=True)
            differences.append(contrast.drop(columns="study").assign(metric=metric))
    if all(contrast["difference"].isna().all() for contrast in differences):
        raise BadInput(f"nothing has a value in both {first} and {second} that can be compared")
    alone = len({*arms["key"]} ^ {*others["key"]})
    return [*lines, f"{len(shared)} arms are in both studies, {alone} in one of them"], pd.concat(
        differences, ignore_index=True
    )
