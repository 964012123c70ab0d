"""The types of the fields of a params file: what is allowed in each. Knows no kind of study."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from actlab.activations import ACTIVATIONS, SYNONYMS
from actlab.data.text import own_sha256
from actlab.errors import BadInput, UnknownName, check_name
from actlab.optimizers import OPTIMIZERS
from actlab.plugins import TABLES, load_plugins

T = TypeVar("T")


class Checked(BaseModel):
    """A model that refuses unknown keys and wrong types, and that nothing changes after entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _names_are_known(cls, values: Any) -> Any:
        for name in values if isinstance(values, dict) else ():
            check_name("setting", name, cls.model_fields)
        return values


def name_in(kind: str, known: Iterable[str] | Callable[[], Iterable[str]]) -> AfterValidator:
    """Hold a field to the names of a table, as they are when it is checked: plug-ins bring more."""

    def check(name: str) -> str:
        names = known() if callable(known) else known
        if name in names:
            return name
        unknown = UnknownName(kind, name, names)
        raise BadInput(f"{unknown}; one of your own needs its file: --plugin FILE") if kind in TABLES else unknown

    return AfterValidator(check)


def as_tuple(value: Any) -> Any:
    """Make a tuple of a list, also of one in words, as papermill's ``-p plugins '["my_parts.py"]'`` gives it; any other
    value stays as it is."""
    if isinstance(value, str) and value.startswith("["):
        with suppress(yaml.YAMLError):
            value = yaml.safe_load(value)
    return tuple(value) if isinstance(value, list) else value


def as_list(value: Any) -> tuple[Any, ...]:
    """Return the levels of an axis: those of a list, or one value alone."""
    levels = as_tuple(value)
    return levels if isinstance(levels, tuple) else (levels,)


def each_once(values: tuple[T, ...]) -> tuple[T, ...]:
    """Return the same values, of which none may stand twice."""
    if len(set(values)) < len(values):
        raise BadInput(f"names one thing twice: {', '.join(map(str, values))}")
    return values


def _number(value: object) -> object:
    """Read 1e-3 as a number too, though PyYAML takes it for text, as it has no point."""
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+e[+-]?\d+", value) else value


def our_name(name: T) -> T | str:
    """Return our name of an activation, so that one function is one arm: PyTorch has another, a family yet another."""
    return SPELLINGS.get(name, name) if isinstance(name, str) else name


SPELLINGS = SYNONYMS | {"smelu_0.5": "smelu_05", "gelu_1": "gelu", "swish_1": "swish"}


def _readable(name: str) -> str:
    own_sha256(name)
    return name


def _loaded(files: tuple[str, ...]) -> tuple[str, ...]:
    load_plugins(files)
    return files


Listed = Annotated[tuple[T, ...], BeforeValidator(as_list), AfterValidator(each_once)]
Axis = Annotated[Listed[T], Field(min_length=1)]
"""The levels of one field of a trial: one value or a list, each of which makes arms."""
Count = Annotated[int, Field(ge=1)]
CountOrNone = Annotated[int, Field(ge=0)]
Number = Annotated[float, BeforeValidator(_number)]
NotNegative = Annotated[Number, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[Number, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[Number, Field(gt=0, le=1)]
Decay = Annotated[Number, Field(ge=0, lt=1)]
Decays = Annotated[
    Decay | Annotated[tuple[Annotated[Decay, Field(gt=0)], ...], Field(min_length=1), AfterValidator(each_once)],
    BeforeValidator(as_tuple),
]
"""The decay of one moving average, where 0 is none, or those of several."""
Betas = Annotated[tuple[Decay, Decay] | None, BeforeValidator(as_tuple)]
Device = Annotated[str, Field(pattern=r"^(cpu|cuda(:[0-9]+)?|mps)$")]
TextName = Annotated[str, AfterValidator(_readable)]
"""A known text, or the path of a user's own."""
ActivationName = Annotated[str, name_in("activation", ACTIVATIONS), AfterValidator(our_name)]
OptimizerName = Annotated[str, name_in("optimizer", OPTIMIZERS)]
StudyName = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,60}$")]
"""A study's name is that of its folder."""
Plugins = Annotated[Listed[str], AfterValidator(_loaded)]
