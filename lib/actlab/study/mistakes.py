"""What is wrong with a params file, in a user's words: where, what was given, what is allowed."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from actlab import paths
from actlab.errors import BadInput, UnknownName, brief
from actlab.records import store


def explained(study: type[BaseModel], item: Any, values: Mapping[str, Any]) -> str:
    """One of pydantic's errors. ``values``: as they were given."""
    loc = item["loc"]
    given = values.get(loc[0]) if loc else None
    if item["type"] == "extra_forbidden" and len(loc) == 2:
        return str(UnknownName(f"setting of {loc[0]}", loc[1], _inside(study.model_fields[loc[0]].annotation)))
    if loc[1:2] == (0,) and not isinstance(given, list | tuple) and not str(given).startswith("["):
        loc = (loc[0], *loc[2:])  # one value, which was read as a list of one
    place = ".".join(map(str, loc))
    message = item["msg"].removeprefix("Value error, ")
    return f"{place}={brief(item['input'])}: {message}" if place else message


def _inside(annotation: Any) -> list[str]:
    """The fields of a field that is a mapping, or nothing."""
    models = [each for each in get_args(annotation) or (annotation,) if isinstance(each, type)]
    return [name for model in models for name in getattr(model, "model_fields", ())]


def no_file(path: Path) -> BadInput:
    """What there is where a study has no params file of its name."""
    name = path.stem
    with suppress(paths.NoProject):
        if store.is_name(name) and any(paths.records_of(name).glob("*.json")):
            return BadInput(
                f"cannot read {path}: {store.where(name)} has records, and no params file of that name; name the file "
                f"that made them, with --set study={name}"
            )
    return UnknownName("params file", name, paths.params_names())
