"""The kinds of study: a module each, with its class of studies."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from actlab.errors import RecordError, Table, brief
from actlab.records import store
from actlab.study.fields import BEFORE
from actlab.study.study import Study
from actlab.study.trial import Trial

KINDS: Table[str] = Table(
    "kind", [("repro", "character_study"), ("mnist", "images"), ("ablation", "tokens"), ("twins", "twins")]
)
"""Kind in a params file -> its module."""
RECORDED = {"trials": "repro", "floor": "repro", "perturbed": "repro"} | {
    name: name for name in KINDS if name != "repro"
}
"""Kind of a record -> kind of the study that makes it."""


def study_of(kind: str, where: str = "") -> type[Study]:
    """The studies of a kind, loaded when they are asked for; ``where``: of the name, for the message."""
    found: type[Study] = import_module(f"actlab.study.{KINDS.find(kind, where)}").Study
    return found


def load(record: store.Record, label: str) -> Trial:
    """A trial of a record of any kind.

    Raises:
        RecordError: a record of a kind that holds none, or with settings that no trial has.
    """
    check_trains(record)
    try:
        trial = study_of(RECORDED[record["kind"]]).trial.of_record(record, label)
        type(trial).model_validate(trial.model_dump(), context=BEFORE)  # its own parts need not be here
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        said = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']:.300}, found {brief(fault['input'])}"
        raise RecordError(f"{record['arm']} has settings that no trial has: {said}") from None
    except KeyError as error:
        raise RecordError(f"{record['arm']} has settings that no trial has: {error} is absent") from None
    return trial


def check_trains(record: Mapping[str, Any]) -> None:
    """``RecordError`` where a record is of a kind that holds no trials, or lacks what all of them have."""
    if record.get("kind") not in [*RECORDED]:
        raise RecordError(f"a record of kind {record.get('kind')!r} holds no trials that can be trained again")
    if lacking := [name for name in ("study", "arm", "config", "trials", "provenance") if not record.get(name)]:
        raise RecordError(f"a record of kind {record['kind']!r} has {', '.join(lacking)}, which this one lacks")
