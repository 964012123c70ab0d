"""`actlab compare`: one study minus another, arm by arm; what of it cannot be compared, and why."""

from __future__ import annotations

import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import of_trials
from actlab.report.study import differences_of, read
from actlab.report.summary import levels_of


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
    one, other = ({*both.runs.loc[both.runs["study"] == study, "group"]} for study in (first, second))
    if not one & other:
        names = ["; ".join(sorted(groups)) or "none of its own (a copy?)" for groups in (one, other)]
        raise BadInput(f"the studies share no arm: one has {names[0]}; the other {names[1]}")
    before, after = (
        levels_of([record for record in both.records if record["study"] == study]) for study in (first, second)
    )
    lines = []
    for name in before | after:
        old, new = (" | ".join(levels.get(name, ())) for levels in (before, after))
        if old != new:
            lines.append(f"{name}: {old} -> {new}")
    if "seconds" in both.runs:
        seconds = both.runs.groupby("study")["seconds"].median()
        lines.append(f"median seconds of a run: {seconds[first]:.0f} -> {seconds[second]:.0f}")
    differences = differences_of(both, first).dropna(subset="difference")
    if before["data"] != after["data"]:
        lines.append("measured on different data: losses and accuracies are not compared")
        differences = differences[~differences["metric"].map(of_trials)]
    return [*lines, f"{len(one & other)} arms are in both studies, {len(one ^ other)} in one of them"], differences
