"""What JSON has no word for: in a file a number that is not finite is ``null``, in a record that was read it is NaN.

A loss that overflowed is such a number too: that a trial diverged is said by its ``status``.
"""

from __future__ import annotations

import json
import math
from typing import Any

from actlab.records.settings import CELLS

NO_NUMBERS = ("config", "provenance", "seed", "label", "started", "weights_sha256", "training", "average", "variant")
"""Keys below which ``null`` says that there is nothing, and not that a number is missing."""
KINDS = (*CELLS, "baseline")
"""Kinds of records whose other ``null`` are numbers."""


def in_json(content: object, **how: Any) -> str:
    """Write a value as JSON that every reader takes (``how``: as of ``json.dumps``)."""
    try:
        return json.dumps(content, allow_nan=False, **how)
    except ValueError:  # there is NaN or an infinity, which is rare
        return json.dumps(_finite(content), allow_nan=False, **how)


def _finite(value: object) -> object:
    """Return the value with ``None`` for every number that is not finite."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def with_numbers(record: dict[str, Any]) -> dict[str, Any]:
    """Put NaN into a record that was read where its file has ``null`` for a number, and return it."""
    if record.get("kind") in KINDS:
        _fill(record)
    elif "val_loss" in record:  # of a replay
        _fill(record["val_loss"])
    return record


def _fill(inside: Any) -> None:
    """Put NaN in place of every ``None`` in a dictionary or list that is a missing number."""
    for key, value in inside.items() if isinstance(inside, dict) else enumerate(inside):
        if value is None and key not in NO_NUMBERS:
            inside[key] = math.nan
        elif isinstance(value, dict | list) and key not in NO_NUMBERS:
            _fill(value)
