"""What a reader asks of a record: keys and types, checked before use, so that a record of another shape is named with
its field."""

from __future__ import annotations

import reprlib
from typing import Any

from actlab.errors import RecordError

Shape = type | dict[str, Any] | list[Any]
"""A type; key -> shape (further keys are allowed); or a list of one shape, for a list of any length. ``float`` takes
any number."""
LARGEST = 2**63
"""An integer beyond it is no number that a study records."""


def check(value: object, shape: Shape, where: str) -> None:
    """``RecordError`` with the place, what was expected and what was found, where ``value`` has not the shape."""
    if isinstance(shape, dict):
        _expect(isinstance(value, dict), "a mapping", value, where)
        assert isinstance(value, dict)
        for key, inner in shape.items():
            if key not in value:
                raise RecordError(f"{where} has no {key!r}")
            check(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        _expect(isinstance(value, list), "a list", value, where)
        assert isinstance(value, list)
        for place, item in enumerate(value):
            check(item, shape[0], f"{where}[{place}]")
    elif shape in (float, int):
        number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
        _expect(number or (shape is float and isinstance(value, float)), shape.__name__, value, where)
    else:
        _expect(isinstance(value, shape), shape.__name__, value, where)


def _expect(right: bool, expected: str, value: object, where: str) -> None:
    if not right:
        raise RecordError(f"{where}: expected {expected}, found {reprlib.repr(value)}")


def distinct(values: list[str], where: str) -> None:
    """``RecordError`` where a name stands twice."""
    if len(set(values)) < len(values):
        raise RecordError(f"{where} names one thing twice: {reprlib.repr(values)}")


def name_of(record: dict[str, Any]) -> str:
    """What to call a record in a message: its arm, or its kind."""
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"
