"""What a report calls the arms of a study, and the groups in which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import pandas as pd

from actlab.records import settings
from actlab.records.defect_names import IGNORED
from actlab.records.store import Record

ARM = ["group", "arm"]
"""Columns that name an arm: its levels of all factors but the activation (or network), and of settings that differ; its
activation, or the study where several are compared."""
NAMED = ("model", "activation", "network", "optimizer", "symmetry")
"""Factors whose levels say what they are; others stand as ``learning_rate=0.001``."""


def named(records: Sequence[Record]) -> pd.DataFrame:
    """Return a row a ``record`` of a ``study``, with ``ARM``. An arm whose activation a published defect ignored is
    named with the one that the network had.

    Args:
        records: of one study; or of several, whose groups hold the same arm of each.
    """
    studies = settings.grouped(records, itemgetter("study"))
    differing = [name for study in studies for name in settings.differing(study)]
    rows = [settings.cell_of(record) | settings.values_of(record, differing) for record in records]
    levels = pd.DataFrame(rows).map(settings.text)
    table = pd.DataFrame([{"study": record["study"], "record": record["arm"]} for record in records])
    arms = table["study"]
    if len(studies) == 1:
        arms = levels.pop("network" if "network" in levels else "activation")
        ignored = pd.Series([IGNORED in settings.settings_of(record)["protocol"] for record in records])
        arms = arms.mask(ignored & (arms != "relu"), arms + " (ignored: relu)")
    groups = []
    for row in levels.to_dict("records"):
        parts = [level if name in NAMED else f"{name}={level}" for name, level in row.items()]
        groups.append(", ".join(parts))
    return table.assign(group=groups, arm=arms)
