"""Shapes of records: the first entry that is not as asked is named with its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.support import ablations, grids

from actlab.errors import RecordError
from actlab.records.schema import check, check_record, name_of

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


def test_every_kind_of_record_is_checked_with_its_trials() -> None:
    """A trial that ended well has its losses; names stand once; a pair is of two trials."""
    record = grids.record()
    check_record(record)
    check_record(ablations.record("ecd", "bQbV", "gelu"))
    for place, put, message in (
        (("trials", 0, "final", "val_loss"), "low", r"trials\[0\].final.val_loss: expected float"),
        (("trials", 1, "label"), record["trials"][0]["label"], "names one trial twice"),
        (("reproducibility_metrics", 0, "between"), ["42"], "expected two of its trials"),
    ):
        changed = copy.deepcopy(record)
        inside: Any = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = put
        with pytest.raises(RecordError, match=message):
            check_record(changed)


def test_a_record_is_named_by_its_arm_or_kind() -> None:
    assert (name_of({"arm": "a"}), name_of({"kind": "k"}), name_of({})) == ("record 'a'", "record 'k'", "record ''")
