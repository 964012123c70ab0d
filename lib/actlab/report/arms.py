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
NAMED = ("model", "activation", "network", "optimizer", "symmetry")
"""Factors whose levels say what they are; others stand as ``learning_rate=0.001``."""


def named(records: Sequence[Record], factor: str = "") -> tuple[str, pd.DataFrame]:
    """Return (the factor that is compared; a row a ``record`` of a ``study``, with ``ARM``). An arm whose activation a
    published defect ignored is named with the one that the network had.

    Args:
        records: of one study, or of several whose ``study`` is the factor.
        factor: a setting of the records; unless given the activation, or the one setting that varies.
    """
    differing = [name for study in settings.grouped(records, study_of) for name in settings.differing(study)]
    _, series = settings.factors(settings.kind_of(records[0]))
    levels = pd.DataFrame([{**settings.cell_of(record), **settings.values_of(record, differing)} for record in records])
    places = pd.DataFrame({"study": map(study_of, records), "record": [record["arm"] for record in records]})
    if factor:
        check_name("factor", factor, [*levels, "study"])
    factor = factor or _varying(levels, series)
    in_group = [name for name in levels if name != factor]
    if factor not in (series, "study"):  # what goes with it (an optimizer's own learning rate) tells no groups apart
        in_group = [name for name in in_group if not _goes_with(levels, factor, name)]
    levels = levels.map(settings.text)
    forms = {name: "{}" if name in NAMED else name + "={}" for name in in_group}
    groups = [", ".join(forms[name].format(row[name]) for name in in_group) for row in levels.to_dict("records")]
    arms = levels.join(places["study"])[factor]
    if factor == "activation":
        ignored = [IGNORED in settings.settings_of(record)["protocol"] for record in records]
        arms = arms.where(~pd.Series(ignored) | (arms == "relu"), arms + " (ignored: relu)")
    return factor, places.assign(group=groups, arm=arms).replace({"group": {"": "all"}})


def study_of(record: Record) -> str:
    """Return the name of a record's study."""
    return str(record["study"])


def _varying(levels: pd.DataFrame, series: str) -> str:
    """Choose the factor to compare: the activation (or network), else the setting that decides all others that vary."""
    varying = [name for name in levels if levels[name].nunique() > 1 and name != "model"]
    deciding = [name for name in varying if levels[name].nunique() == len(levels[varying].drop_duplicates())]
    return series if series in varying or not deciding else deciding[0]


def _goes_with(levels: pd.DataFrame, factor: str, name: str) -> bool:
    """Say whether a setting varies, and only together with a factor."""
    pairs = levels[[factor, name]].drop_duplicates()
    return levels[name].nunique() > 1 and len(pairs) == levels[factor].nunique()
