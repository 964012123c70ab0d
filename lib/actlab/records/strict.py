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
    """Return a record that was read, with NaN where its file has ``null`` for a number."""
    if record.get("kind") in KINDS:
        return {key: _filled(value, key) for key, value in record.items()}
    if "val_loss" in record:  # of a replay
        record["val_loss"] = _filled(record["val_loss"])
    return record


def _filled(value: Any, key: str = "") -> Any:
    """Return the value that stands below a key, with NaN for every ``None`` that is a missing number."""
    if key in NO_NUMBERS:
        return value
    if isinstance(value, dict):
        return {inner: _filled(one, inner) for inner, one in value.items()}
    if isinstance(value, list):
        return [_filled(one) for one in value]
    return math.nan if value is None else value
