"""Every field of every params file in words: its meaning, default and choices, from the JSON schema of its type."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from actlab.study.params import KINDS, study_of
from actlab.study.study import Study

NAMES = {"repro": "characters", "mnist": "images", "ablation": "tokens", "twins": "twins"}
"""Kind in a params file -> what it is called in prose."""
TYPES = {
    **{"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true, false", "null": "none"},
    "object": "a mapping",
}
BOUNDS = {
    **{"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"},
    **{"ge": "at least", "gt": "above", "le": "at most", "lt": "below"},
}
"""Key of a bound -> its word; pydantic has the short ones where a validator of ours comes before the bound."""
Node = dict[str, Any]
"""Of a JSON schema."""


@dataclass(frozen=True)
class Described:
    """One field, as the kinds have it that say the same of it."""

    name: str
    """``rates.of``: a key of a field that is a mapping."""
    kinds: tuple[str, ...]
    meaning: str
    default: str
    allowed: str
    several: bool
    """Whether a list of values is an axis of the study."""


def fields() -> list[Described]:
    """All of them, by name, then by kind."""
    found: dict[Described, list[str]] = {}
    for kind in KINDS:
        for one in of_kind(study_of(kind)):
            found.setdefault(one, []).append(NAMES[kind])
    rows = [replace(one, kinds=tuple(kinds)) for one, kinds in found.items()]
    return sorted(rows, key=lambda one: (one.name, one.kinds))


def of_kind(study: type[Study]) -> Iterator[Described]:
    """The fields of one kind of study, each with the keys that it has itself."""
    schema, of_trial = study.model_json_schema(), study.trial.model_json_schema()["properties"]
    models = schema.get("$defs", {})
    for name, node in schema["properties"].items():
        axis = name in study.axes
        if axis or name in study.single:  # told as a trial has it, with the study's default
            node = of_trial[name] | {"default": node["default"]}
        yield _described(name, node, models, axis)
        for variant in node.get("anyOf", ()):
            for key, value in _keys(variant, models).items():
                yield _described(f"{name}.{key}", value, models)


def _described(name: str, node: Node, models: Node, axis: bool = False) -> Described:
    meaning = " ".join(node.get("description", "").replace("``", "`").split())
    default = _value(node["default"]) if "default" in node else "required"
    return Described(name, (), meaning, default, _allowed(node, models), axis)


def _keys(node: Node, models: Node) -> Node:
    """Of a value that is a mapping with keys of its own: what each may be."""
    model = models.get(node.get("$ref", "").rpartition("/")[2], {})
    found: Node = model.get("properties", {})
    return found


def _value(value: object) -> str:
    """A default, as a params file has it."""
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(node: Node, models: Node) -> str:
    """What a value may be, in words."""
    for key in ("examples", "enum", "const"):
        if key in node:
            return _value(node[key])
    if "anyOf" in node:
        variants = [each for each in node["anyOf"] if each != {"type": "null"}]
        return " or ".join(dict.fromkeys(_allowed(each, models) for each in variants))
    if keys := _keys(node, models):
        return f"a mapping of {', '.join(keys)}"
    if "prefixItems" in node:
        return f"a list of {len(node['prefixItems'])}: {_allowed(node['prefixItems'][0], models)}"
    if "items" in node:
        return f"a list: {_allowed(node['items'], models)}"
    words, bounds = TYPES[node["type"]], {word: f"{node[key]:,}" for key, word in BOUNDS.items() if key in node}
    if {"at least", "at most"} <= {*bounds}:
        return f"{words} from {bounds['at least']} to {bounds['at most']}"
    return " ".join([words, " and ".join(f"{word} {number}" for word, number in bounds.items())]).strip()
