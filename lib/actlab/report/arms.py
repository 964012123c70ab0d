"""The factor that a report compares, and the names of its groups and arms."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from actlab.errors import check_name
from actlab.records import settings
from actlab.records.defect_names import IGNORED
from actlab.records.store import Record

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the one that is compared, and of settings that differ; its
level of that one."""
SHORT = {"hidden": "h{:g}", "learning_rate": "lr{:g}", "batch_size": "b{:g}", "rate_factor": "x{:g}"}
"""Factor -> how the name of a group has its number."""


def named(records: Sequence[Record], factor: str = "") -> tuple[str, pd.DataFrame]:
    """(the factor that is compared; a row a ``record`` with ``ARM``). An arm whose activation a published defect
    ignored is named with the one that the network had."""
    differing = settings.differing(records)
    cells, series = settings.factors(settings.kind_of(records[0]))
    levels = pd.DataFrame([{**settings.cell_of(record), **settings.values_of(record, differing)} for record in records])
    if factor:
        check_name("factor", factor, levels.columns)
    factor = factor or _varying(levels, series)
    in_group = [name for name in levels if name != factor]
    if factor != series:  # what goes with the factor (an optimizer's own learning rate) tells no groups apart
        in_group = [name for name in in_group if not _goes_with(levels, factor, name)]
    forms = {name: name + "={}" for name in differing} | {name: SHORT.get(name, "{}") for name in (*cells, series)}
    groups = [", ".join(forms[name].format(row[name]) for name in in_group) for row in levels.to_dict("records")]
    arms = levels[factor].map(settings.text)
    if factor == "activation":
        ignored = [IGNORED in settings.settings_of(record)["protocol"] for record in records]
        arms = arms.where(~pd.Series(ignored) | (arms == "relu"), arms + " (ignored: relu)")
    table = pd.DataFrame({"record": [record["arm"] for record in records], "group": groups, "arm": arms})
    return factor, table.replace({"group": {"": "all"}})


def _varying(levels: pd.DataFrame, series: str) -> str:
    """The factor to compare: the activation (or network), else the setting that decides all others that vary."""
    varying = [name for name in levels if levels[name].nunique() > 1 and name != "model"]
    deciding = [name for name in varying if levels[name].nunique() == len(levels[varying].drop_duplicates())]
    return series if series in varying or not deciding else deciding[0]


def _goes_with(levels: pd.DataFrame, factor: str, name: str) -> bool:
    """Whether a setting varies, and only together with a factor."""
    pairs = levels[[factor, name]].drop_duplicates()
    return levels[name].nunique() > 1 and len(pairs) == levels[factor].nunique()
