"""`actlab compare`: one study minus another, arm by arm; what of it cannot be compared, and why."""

from __future__ import annotations

from functools import partial

import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import of_trials
from actlab.report.study import differences_of, read
from actlab.report.summary import settings_table


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """Compare two studies as a report compares the levels of a factor: a group holds the arms that share their factors
    and the settings that vary within a study. Losses and accuracies on different data are left out.

    Returns:
        The settings in which the studies differ and what is not compared, a line each; ``contrasts`` of each metric,
        the second study minus the first.

    Raises:
        BadInput: the studies share no arm or metric, or are one study.
    """
    if first == second:
        raise BadInput(f"{first} minus itself is nothing: name two studies")
    both = read(first, second, factor="study")
    groups = [both.runs.loc[both.runs["study"] == study, "group"].unique() for study in (first, second)]
    shared = {*groups[0]} & {*groups[1]}
    if not shared:
        raise BadInput(f"the studies share no arm: one has {'; '.join(groups[0])}; the other {'; '.join(groups[1])}")
    before, after = (
        settings_table([record for record in both.records if record["study"] == study]) for study in (first, second)
    )
    lines = []
    for name in before.columns.union(after.columns, sort=False):
        levels = [" | ".join(table[name].unique()) if name in table else "" for table in (before, after)]
        if levels[0] != levels[1]:
            lines.append(f"{name}: {levels[0]} -> {levels[1]}")
    differences = both.of_each_metric(partial(differences_of, both, first)).dropna(subset="difference")
    if {*before["data"]} != {*after["data"]}:
        lines.append("measured on different data: losses and accuracies are not compared")
        differences = differences[~differences["metric"].map(of_trials)]
    if differences.empty:
        raise BadInput(f"nothing has a value in both {first} and {second} that can be compared")
    alone = {*groups[0]} ^ {*groups[1]}
    return [*lines, f"{len(shared)} arms are in both studies, {len(alone)} in one of them"], differences
