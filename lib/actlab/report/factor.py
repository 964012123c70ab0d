"""The factor that a report compares, and the names of its groups and arms."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import pandas as pd

from actlab.errors import check_name
from actlab.records import settings
from actlab.records.defect_names import IGNORED
from actlab.records.store import Record

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
NAMED = ("model", "activation", "network", "optimizer", "symmetry")
"""Factors whose levels say what they are; others stand as ``learning_rate=0.001``."""


def named(records: Sequence[Record], factor: str = "") -> tuple[str, pd.DataFrame]:
    """Return (the factor that is compared; a row a ``record`` of a ``study``, with ``ARM``). An arm whose activation a
    published defect ignored is named with the one that the network had.

    Args:
        records: of one study, or of several whose ``study`` is the factor.
        factor: a setting of the records; unless given the activation, or the one setting that varies.
    """
    differing = [name for study in settings.grouped(records, itemgetter("study")) for name in settings.differing(study)]
    series = "network" if settings.kind_of(records[0]) == "mnist" else "activation"
    levels = pd.DataFrame([{**settings.cell_of(record), **settings.values_of(record, differing)} for record in records])
    table = pd.DataFrame([{"study": record["study"], "record": record["arm"]} for record in records])
    varying = [name for name in levels if levels[name].nunique() > 1]
    if factor:
        check_name("factor", factor, [*levels, "study"])
    elif series not in varying:
        others = [name for name in varying if name != "model"]
        factor = next((name for name in others if _decides(levels, name, others)), "")
    factor = factor or series
    in_group = [name for name in levels if name != factor]
    if factor not in (series, "study"):  # what goes with it (an optimizer's own learning rate) tells no groups apart
        in_group = [name for name in in_group if name not in varying or not _decides(levels, factor, [name])]
    levels = levels.map(settings.text)
    arms = levels.join(table["study"])[factor]
    if factor == "activation" and "parts" in in_group and levels["parts"].str.fullmatch(r"none|activation \w+").all():
        in_group.remove("parts")  # versions of one's own activation are arms of one group
        versions = arms + " " + levels["parts"].str.removeprefix("activation ")
        arms = versions.where(levels["parts"] != "none", arms)
    groups = []
    for row in levels.to_dict("records"):
        parts = [row[name] if name in NAMED else f"{name}={row[name]}" for name in in_group]
        groups.append(", ".join(parts) or "all")
    if factor == "activation":
        ignored = pd.Series([IGNORED in settings.settings_of(record)["protocol"] for record in records])
        arms = arms.mask(ignored & (arms != "relu"), arms + " (ignored: relu)")
    return factor, table.assign(group=groups, arm=arms)


def _decides(levels: pd.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Say whether arms that share the level of a setting share those of others."""
    return len(levels[[name, *others]].drop_duplicates()) == levels[name].nunique()
