"""Every field of every params file in words: its meaning, default and choices, made from its type and docstring."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from actlab.study.fields import OneOf
from actlab.study.kinds import KINDS, study_of
from actlab.study.study import Study

NAMES = {"repro": "characters", "mnist": "images", "ablation": "tokens", "twins": "twins"}
"""Kind in a params file -> what it is called in prose."""
LISTED = ("activation", "model", "network", "optimizer", "scale")
"""Kinds of names that ``actlab list`` shows, each by its plural."""
MOST = 8
"""Names that are shown one by one."""
BOUNDS = {Ge: ("ge", "at least"), Gt: ("gt", "above"), Le: ("le", "at most"), Lt: ("lt", "below")}
"""pydantic's bound -> its attribute, its word."""


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
    for name, info in study.model_fields.items():
        axis = name in study.axes
        own = study.trial.model_fields[name] if axis or name in study.single else info
        yield _described(name, own, info.get_default(call_default_factory=True), axis)
        for model in _models(info.annotation):
            for key, inner in model.model_fields.items():
                yield _described(f"{name}.{key}", inner, inner.get_default(call_default_factory=True), False)


def _described(name: str, info: FieldInfo, default: object, axis: bool) -> Described:
    meaning = " ".join((info.description or "").replace("``", "`").split())
    allowed = _allowed(info.annotation, [*info.metadata, info])
    told = "required" if info.is_required() and not axis else _value(default)
    return Described(name, (), meaning, told, allowed, axis)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The mappings with keys of their own that a field may hold."""
    types = [each for each in get_args(annotation) or (annotation,) if isinstance(each, type)]
    return [each for each in types if issubclass(each, BaseModel)]


def _value(value: object) -> str:
    """A default, as a params file has it."""
    if value is None or value == () or value == {}:
        return "none"
    if value == "":
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ", ".join(map(_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(kind: Any, about: Iterable[Any] = ()) -> str:
    """What a type allows, in words. ``about``: what pydantic holds its values to."""
    about = _flat(about)
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return _allowed(inner, [*more, *about])
    for one in about:
        if isinstance(one, OneOf):
            return _names(one)
    if examples := next((one.examples for one in about if isinstance(one, FieldInfo) and one.examples), None):
        return ", ".join(map(str, examples))
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(map(_value, inside))
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_allowed(each) for each in inside if each is not NoneType))
    if origin is tuple and inside[-1] is not ...:
        return f"a list of {len(inside)}: {_allowed(inside[0])}"
    if origin in (tuple, list):
        return f"a list: {_allowed(inside[0])}"
    if origin in (dict, Mapping):
        return "a mapping"
    return _plain(kind, about)


def _plain(kind: Any, about: list[Any]) -> str:
    if kind is NoneType:
        return "none"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"a mapping of {', '.join(kind.model_fields)}"
    if kind is bool:
        return "true, false"
    words = {int: "a whole number", float: "a number", str: "text"}.get(kind, "any value")
    limits = dict(_limits(about))
    if {"at least", "at most"} <= {*limits}:
        return f"{words} from {limits['at least']} to {limits['at most']}"
    return " ".join([words, " and ".join(f"{word} {number}" for word, number in limits.items())]).strip()


def _limits(about: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """(word, number) of each bound."""
    for one in about:
        for bound, (key, word) in BOUNDS.items():
            if isinstance(one, bound):
                number = getattr(one, key)
                yield word, f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _flat(about: Iterable[Any]) -> list[Any]:
    """Also what stands in a validator, and in a field's own metadata."""
    found: list[Any] = []
    for one in about:
        found.append(one.func if isinstance(one, AfterValidator) else one)
        if isinstance(one, FieldInfo):
            found += [each.func if isinstance(each, AfterValidator) else each for each in one.metadata]
    return list({id(one): one for one in found}.values())


def _names(one: OneOf) -> str:
    names = list(one.names)
    if len(names) <= MOST:
        return ", ".join(names)
    return f"a name that `actlab list {one.kind}s` shows" if one.kind in LISTED else ", ".join(names)
