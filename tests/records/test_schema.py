"""Shapes of records: the first entry that is not as asked is named with its place."""

from __future__ import annotations

from typing import Any

import pytest

from actlab.errors import RecordError
from actlab.records.schema import check, distinct, name_of

SHAPE = {"name": str, "trials": [{"seed": int, "final": {"loss": float}}]}


def made(**more: Any) -> dict[str, Any]:
    return {"name": "x", "trials": [{"seed": 1, "final": {"loss": 1.5}, "extra": None}], "more": []} | more


def test_what_fits() -> None:
    """Further keys, empty lists, NaN and whole numbers for numbers."""
    for record in (
        made(),
        made(trials=[]),
        made(trials=[{"seed": 0, "final": {"loss": float("nan")}}, {"seed": 0, "final": {"loss": 2}}]),
    ):
        check(record, SHAPE, "record")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], r"record: expected a mapping, found \[\]"),
        ({"name": "x"}, "record has no 'trials'"),
        (made(name=3), "record.name: expected str, found 3"),
        (made(trials={}), r"record.trials: expected a list, found \{\}"),
        (
            made(trials=[{"seed": 1, "final": {"loss": "1"}}]),
            r"record.trials\[0\].final.loss: expected float, found '1'",
        ),
        (made(trials=[{"seed": True, "final": {"loss": 1}}]), r"record.trials\[0\].seed: expected int, found True"),
        (made(trials=[{"seed": 10**30, "final": {"loss": 1}}]), r"record.trials\[0\].seed: expected int"),
        (made(trials=[{"seed": 1, "final": {"loss": 10**400}}]), "expected float"),
    ],
)
def test_what_does_not(record: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        check(record, SHAPE, "record")


def test_names() -> None:
    distinct(["a", "b"], "x")
    with pytest.raises(RecordError, match="x names one thing twice"):
        distinct(["a", "a"], "x")
    assert (name_of({"arm": "a"}), name_of({"kind": "k"}), name_of({})) == ("record 'a'", "record 'k'", "record ''")
