"""The types of the fields of a params file: what is allowed in each, up to which limit. Knows no kind of study."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
)
from pydantic_core.core_schema import CoreSchema, with_info_after_validator_function

from actlab.activations import ACTIVATIONS, SYNONYMS
from actlab.data.fetch import DATASETS, no_download
from actlab.data.text import TEXTS, is_file, load_text, own_sha256
from actlab.errors import CONTROL, LIMITS, BadInput, DataError, UnknownName, brief
from actlab.files import parse_yaml
from actlab.models import MODELS, SCALES
from actlab.optimizers import OPTIMIZERS
from actlab.plugins import load_plugins
from actlab.study.plan import Number
from actlab.trainers.recipes import DTYPES

BEFORE = "before plug-ins"
"""Context of a first look at parameters: no plug-in has run, and a name that one may bring is let through."""
OPEN = ("activation", "model", "dataset", "network", "optimizer")
"""Kinds of names that plug-ins bring."""
FIXED = {
    DATASETS["shakespeare"].files[0].sha256: "shakespeare",
    "6451cf11e7beb58ebb735cc29e79f463fc4bf220f370f852a9948a7cb440ae25": "novels",
}
"""sha256 -> the built-in text; that of ``pydoc`` changes with Python."""
FEW = 8
"""Names that are shown one by one; of kinds that have more, ``actlab list`` shows them."""
T = TypeVar("T")
S = TypeVar("S", bound=Sequence[Any])


@dataclass(frozen=True)
class OneOf:
    """A field's type is a name of a table: holds it to those, and says in the field's JSON schema which there are."""

    kind: str
    known: Iterable[str] | Callable[[], Iterable[str]]

    @property
    def names(self) -> Iterable[str]:
        """Now: plug-ins may bring more."""
        return self.known() if callable(self.known) else self.known

    def check(self, name: str, info: ValidationInfo) -> str:
        """The name; ``BadInput`` where there is none, unless a plug-in that has not run may bring it."""
        if name in self.names:
            return name
        unknown = UnknownName(self.kind, name, self.names)
        if self.kind not in OPEN:
            raise unknown
        if info.context != BEFORE:
            raise BadInput(f"{unknown}; for one of your own name its file: --plugin FILE, or plugins: [FILE]")
        return name

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        names = [*self.names]
        if len(names) > FEW:
            names = [f"a name that `actlab list {self.kind}s` shows"]
        return handler(schema) | {"examples": names}


one_of = OneOf


SPELLINGS = SYNONYMS | {"smelu_0.5": "smelu_05", "gelu_1": "gelu", "swish_1": "swish"}
"""Another name of an activation -> ours: PyTorch's, or as a member of its family."""


def ours(name: T) -> T | str:
    """Our name of an activation, so that one function is one arm."""
    return SPELLINGS.get(name, name) if isinstance(name, str) else name


def as_list(value: Any) -> tuple[Any, ...]:
    """One value or a list of them; a list also in words, as papermill's ``-p plugins '["my_parts.py"]'`` gives it."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        with suppress(BadInput):
            value = parse_yaml(value, "a list in words")
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def as_tuple(value: object) -> object:
    """A list of JSON or YAML as a setting has it."""
    return tuple(value) if isinstance(value, list) else value


def _pair(value: Any) -> Any:
    """A list of two numbers, also in words; nothing stays nothing."""
    if value is None:
        return None
    pair = as_list(value)
    if len(pair) != 2:
        raise BadInput("expected two numbers, as in betas=[0.9, 0.99]")
    return pair


def each_once(values: S) -> S:
    """A list, if it names nothing twice."""
    if len(set(values)) < len(values):
        raise BadInput(f"names one thing twice: {brief(', '.join(map(str, values[:20])))[1:-1]}")
    return values


def _loaded(files: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if info.context != BEFORE:
        load_plugins(files)  # before any name is looked up: the first field of every study
    return files


def folder(name: str) -> str:
    """The name of a study, if it can be a folder's."""
    if not re.fullmatch("[a-z0-9][a-z0-9-]{0,60}", name):
        raise BadInput("a study's name is that of a folder: a small letter or digit, then up to 60 of these and -")
    return name


def _readable(name: str, info: ValidationInfo) -> str:
    if re.search(r"[<>\t\n]", name) or CONTROL.search(name):
        raise BadInput("a text's name has no <, no > and no control character")
    may_come = info.context == BEFORE and name not in TEXTS and not is_file(name)  # with a plug-in
    own = "" if may_come else own_sha256(name)
    if not own:
        return name
    load_text(name)
    with no_download(), suppress(DataError):  # a copy of a built-in text is that text
        built_in = FIXED.get(own, "pydoc")
        if load_text(built_in).sha256 == own:
            return built_in
    return name


Listed = Annotated[tuple[T, ...], BeforeValidator(as_list), AfterValidator(each_once)]
Axis = Annotated[Listed[T], Field(min_length=1)]
"""The levels of one field of a trial: one value or a list of at least one, each of which makes arms."""
Plugins = Annotated[Listed[str], AfterValidator(_loaded)]
Steps = Annotated[int, Field(ge=1, le=LIMITS["iterations"])]
Batch = Annotated[int, Field(ge=1, le=LIMITS["batch"])]
Windows = Annotated[int, Field(ge=1, le=LIMITS["windows"])]
WindowsOrAll = Annotated[int, Field(ge=0, le=LIMITS["windows"])]
Trials = Annotated[int, Field(ge=1, le=LIMITS["trials"])]
Seed = Annotated[int, Field(ge=0, le=LIMITS["seed"])]
Device = Annotated[
    str,
    Field(pattern=r"^(cpu|cuda(:[0-9]+)?|mps)$", examples=["cpu", "cuda", "cuda:1 (the second GPU)", "mps (Apple's)"]),
]
Share = Annotated[Number, Field(gt=0, le=1)]
NotNegative = Annotated[Number, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[Number, Field(gt=0, allow_inf_nan=False)]
StudyName = Annotated[str, AfterValidator(folder)]
ActivationName = Annotated[str, one_of("activation", ACTIVATIONS), AfterValidator(ours)]
OptimizerName = Annotated[str, one_of("optimizer", OPTIMIZERS)]
Decay = Annotated[Number, Field(ge=0, lt=1)]
Several = Annotated[tuple[Annotated[Decay, Field(gt=0)], ...], Field(min_length=1), AfterValidator(each_once)]
Decays = Annotated[Decay | Several, BeforeValidator(as_tuple)]
"""Of moving averages: of one, where 0 is none, or of several."""
Betas = Annotated[tuple[Decay, Decay] | None, BeforeValidator(_pair)]
"""Of an optimizer that averages gradients and their squares; none: its usual ones."""
ModelName = Annotated[str, one_of("model", MODELS)]
Dtype = Annotated[str, one_of("dtype", DTYPES)]
ScaleName = Annotated[str, one_of("scale", SCALES)]
TextName = Annotated[
    str, AfterValidator(_readable), Field(examples=["a name that `actlab list texts` shows", "the path of a file"])
]
"""A known text, or a user's own that can be read (``data.text``)."""
