"""Schema of records: ``schema.yaml`` as pydantic models, against which each record is checked before use, so that one
of another shape, or one that cannot be, is named with its place."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from functools import cache, reduce
from itertools import combinations
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from actlab.errors import LIMITS, RecordError, brief
from actlab.files import read_yaml


def _bounded(value: object) -> object:
    if isinstance(value, int) and abs(value) > LIMITS["number"]:
        raise ValueError("expected a number below 2**63")
    return value


def _dated(text: str) -> str:
    datetime.fromisoformat(text)
    return text


ROUNDING = 1e-6
"""By which a mean of shares, in single precision, may pass its bound."""
Number = Annotated[float, BeforeValidator(_bounded)]
Integer = Annotated[int, BeforeValidator(_bounded)]
Share = Annotated[Number, Field(ge=0, le=1 + ROUNDING)]
Double = Annotated[Number, Field(ge=0, le=2 + ROUNDING)]
Positive = Annotated[Number, Field(gt=0, allow_inf_nan=False)]
Percent = Annotated[Number, Field(ge=0, le=100 + ROUNDING)]
Values = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,80}$")]
"""Of what a study names: it stands in pages, file names and addresses, and is never markup."""
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,160}$")]
"""Of an arm; it has a + in a rate of 1e+03."""
Label = Annotated[str, Field(pattern=r"^[0-9]{1,10}(-[A-Za-z0-9_.-]{1,40})?$")]
"""Of a trial: its seed, and what was changed in a repetition."""
Moment = Annotated[str, AfterValidator(_dated)]
MARKUP = re.compile(r"<[A-Za-z/!?]")
"""What HTML takes for more than text."""
FREE = {"plugins", "metrics", "prompt", "texts", "traceback"}
"""Keys of records below which any text may stand: sources of a user's own parts, words about own metrics, what networks
wrote, what Python said."""
NAMED_BY = {"mnist": ("network",), "ablation": ("optimizer", "symmetry", "activation")}
"""Kind of record -> the settings that its arm's name begins with; ``model`` and ``activation`` where it is not
listed."""


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
    where = _named(record)
    try:
        kinds().validate_python(record)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        at = ".".join(map(str, fault["loc"]))
        raise RecordError(f"{where}, {at}: {fault['msg']:.300}, found {brief(fault['input'])}") from None
    if "trials" in record:
        _check_trials(record, where)


def _named(record: dict[str, Any]) -> str:
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"


def check_plain(record: dict[str, Any]) -> None:
    """``RecordError`` where a text of a record that pages take for a name, a machine or a setting could be markup; what
    is free (``FREE``) is escaped wherever it is shown."""
    places: list[tuple[str, Any]] = [("", record)]
    for at, value in places:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in inner:
            places += [(f"{at}.{key}", item)] if key not in FREE else []
            for text in (key, item):
                if isinstance(text, str) and MARKUP.search(text) and key not in FREE:
                    raise RecordError(f"{_named(record)}, {at[1:100]}: {brief(text)} could be markup, not a name")


def _check_trials(record: dict[str, Any], where: str) -> None:
    """What no single entry shows: each trial and pair once, and settings that are the record's own."""
    labels = [trial["label"] for trial in record["trials"]]
    if len(set(labels)) < len(labels):
        raise RecordError(f"{where}, trials: one is named twice: {brief(labels)}")
    config = record["config"]
    for name, key in (("activation", "activation"), ("model", "model_name"), ("network", "network")):
        if config.get(name, record.get(key)) != record.get(key):
            differ = f"{brief(record[key])}, but its settings have {brief(config[name])}"
            raise RecordError(f"{where}, {key}: it says {differ}")
    factors = NAMED_BY.get(record["kind"], ("model", "activation"))
    named = "-".join(str(config.get(name, "")) for name in factors)
    if {*factors} <= {*config} and not record["arm"].startswith(f"{named}-"):
        raise RecordError(f"{where}, arm: its settings are those of {brief(named)}")
    if "reproducibility_metrics" not in record:
        return
    done = [trial["label"] for trial in record["trials"] if trial["status"] == "done"]
    every = record["kind"] == "trials"  # else each trial as it is with its own changed repetitions
    wanted = Counter((a, b) for a, b in combinations(done, 2) if every or b.partition("-")[0] == a)
    wanted.subtract(tuple(pair["between"]) for pair in record["reproducibility_metrics"])
    wrong = [f"{a} and {b} {'is missing' if n > 0 else 'should not be there'}" for (a, b), n in wanted.items() if n]
    if wrong:
        at = f"{where}, reproducibility_metrics: expected every pair of its finished trials once"
        raise RecordError(f"{at}, but that of {wrong[0]}{f' (and {len(wrong) - 1} more)' if wrong[1:] else ''}")
