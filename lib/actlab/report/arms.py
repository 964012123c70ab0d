"""The factor that a report compares, and what its groups and arms are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from actlab.errors import check_name
from actlab.records import settings
from actlab.records.defect_names import IGNORED
from actlab.records.store import Record

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}
"""Factor -> what stands before its number in the name of a group."""


def named(records: Sequence[Record], factor: str = "") -> tuple[str, pd.DataFrame]:
    """(the factor that is compared; a row a ``record`` with ``ARM``). An arm whose activation a published defect
    ignored is named with the one that the network had."""
    names = settings.differing(records)
    cells, series = settings.factors(settings.kind_of(records[0]))
    levels = pd.DataFrame([{**settings.cell_of(record), **settings.values_of(record, names)} for record in records])
    if factor:
        check_name("factor", factor, levels.columns)
    factor = factor or _varying(levels, series)
    in_group = [name for name in (*cells, series, *names) if name != factor and (factor != series or name != series)]
    if factor != series:  # what goes with the factor (an optimizer's own learning rate) tells no groups apart
        in_group = [name for name in in_group if not _goes_with(levels, factor, name)]
    parts = [levels[name].map(_form(name, name in cells or name == series)) for name in in_group]
    groups = [", ".join(filter(None, level)) for level in zip(*parts, strict=True)] if parts else ["all"] * len(records)
    arms = levels[factor].map(settings.text)
    if factor == "activation":
        ignored = [IGNORED in settings.settings_of(record)["protocol"] for record in records]
        arms = arms.where(~pd.Series(ignored) | (arms == "relu"), arms + " (ignored: relu)")
    return factor, pd.DataFrame({"record": [record["arm"] for record in records], "group": groups, "arm": arms})


def _form(name: str, cell: bool) -> Callable[[object], str]:
    """How a level stands in the name of a group."""
    if cell:
        return (SHORT[name] + "{:g}" if name in SHORT else "{}").format
    return (name + "={}").format


def _varying(levels: pd.DataFrame, series: str) -> str:
    """The factor to compare: the activation (or network), else the setting that tells all others that vary."""
    varying = [name for name in levels if levels[name].nunique() > 1 and name != "model"]
    told = [name for name in varying if all(_goes_with(levels, name, other) for other in varying if other != name)]
    return series if series in varying or not told else told[0]


def _goes_with(levels: pd.DataFrame, factor: str, name: str) -> bool:
    """Whether a setting varies, and only together with a factor."""
    count = levels[factor].nunique()
    return levels[name].nunique() > 1 and len(levels[[factor, name]].drop_duplicates()) == count
