"""Schema of records: each is checked against the model of its kind (``kinds.py``) before use, so that one of another
shape is named with its place."""

from __future__ import annotations

import reprlib
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from actlab.errors import RecordError
from actlab.records.kinds import Kinds


@cache
def kinds() -> TypeAdapter[Any]:
    """Any record, told apart by its kind."""
    return TypeAdapter(Annotated[Kinds, Field(discriminator="kind")])


def name_of(record: dict[str, Any]) -> str:
    """What to call a record in a message: its arm, or its kind."""
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"


def kind_in(record: dict[str, Any]) -> str:
    """The kind that a record says it has, or ``RecordError``."""
    if not isinstance(kind := record.get("kind"), str):
        found = f".kind: expected str, found {kind!r}" if "kind" in record else " has no 'kind'"
        raise RecordError(name_of(record) + found)
    return kind


def check_record(record: dict[str, Any]) -> None:
    """``RecordError`` with the place, what was expected and what was found, where a record has not the shape of its
    kind."""
    where = name_of(record)
    try:
        kinds().validate_python(record)
    except ValidationError as error:
        raise RecordError(where + _told(error.errors(include_url=False)[0], record)) from None
    if "trials" not in record:
        return
    labels = [trial["label"] for trial in record["trials"]]
    if len(set(labels)) < len(labels):
        raise RecordError(f"{where}.trials names one trial twice: {reprlib.repr(labels)}")
    for place, pair in enumerate(record.get("reproducibility_metrics", [])):
        if record["kind"] == "trials" and not set(pair["between"]) <= set(labels):
            raise RecordError(
                f"{where}.reproducibility_metrics[{place}].between: expected two of its trials, found {pair['between']}"
            )


def _told(error: Any, record: Any) -> str:
    """A fault's place in the record and what is wrong there, without the tags by which pydantic tells kinds apart."""
    said, value, about = "", record, error.get("ctx", {})
    for part in error["loc"][1:]:
        if isinstance(value, dict) and part in value:
            said, value = f"{said}.{part}", value[part]
        elif isinstance(value, list) and isinstance(part, int):
            said, value = f"{said}[{part}]", value[part]
    if "discriminator" in about:
        key = about["discriminator"].strip("'")
        said, value = f"{said}.{key}", value.get(key) if isinstance(value, dict) else value
        return f"{said}: expected {about.get('expected_tags', 'a name')}, found {_short(value)}"
    if error["type"] == "missing":
        return f"{said} has no {error['loc'][-1]!r}"
    expected = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return f"{said}: {expected}, found {_short(value)}"


def _short(value: object) -> str:
    return reprlib.repr(value)[:80]
