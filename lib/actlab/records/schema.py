"""Schema of records: ``schema.yaml`` as pydantic models, against which each record is checked before use, so that one
of another shape is named with its place."""

from __future__ import annotations

import reprlib
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from actlab.errors import RecordError
from actlab.files import read_yaml

LARGEST = 2**63
"""An integer beyond it is no number that a study records."""


def _bounded(value: object) -> object:
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError("expected a number below 2**63")
    return value


Number = Annotated[float, BeforeValidator(_bounded)]
Integer = Annotated[int, BeforeValidator(_bounded)]
Values = dict[str, Any]


class Part(BaseModel):
    """A part of a record; further keys are allowed."""

    model_config = ConfigDict(strict=True, protected_namespaces=())


@cache
def kinds() -> TypeAdapter[Any]:
    """Any record, told apart by its kind."""
    made: dict[str, Any] = {}
    for name, part in read_yaml(Path(__file__).with_suffix(".yaml")).items():
        fields: dict[str, Any] = {
            key: (
                Literal[tuple(kind)] if isinstance(kind, list) else kind,
                Field(*default, description=meaning or None),
            )
            for key, (kind, meaning, *default) in part["keys"].items()
        }
        base = made.get(part.get("is"), Part)
        made[name] = create_model(name, __base__=base, __module__=__name__, __doc__=part["about"], **fields)
        made[name].model_rebuild(_types_namespace=made)
    records: Any = reduce(or_, (model for model in made.values() if "kind" in model.model_fields))
    return TypeAdapter(Annotated[records, Field(discriminator="kind")])


def check_record(record: dict[str, Any]) -> None:
    """``RecordError`` with the place, what was expected and what was found, where a record has not the shape of its
    kind."""
    where = f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"
    try:
        kinds().validate_python(record)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        at = ".".join(map(str, fault["loc"]))
        raise RecordError(f"{where}, {at}: {fault['msg']}, found {reprlib.repr(fault['input'])[:80]}") from None
    if "trials" not in record:
        return
    labels = [trial["label"] for trial in record["trials"]]
    if len(set(labels)) < len(labels):
        raise RecordError(f"{where}, trials: one is named twice: {reprlib.repr(labels)}")
    for i, pair in enumerate(record.get("reproducibility_metrics", [])):
        if record["kind"] == "trials" and not set(pair["between"]) <= set(labels):
            at = f"reproducibility_metrics.{i}.between"
            raise RecordError(f"{where}, {at}: expected two of its trials, found {pair['between']}")
