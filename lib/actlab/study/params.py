"""Params: a study's parameters file, checked on entry. The only door through which settings come in."""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from actlab.activations import find_activation
from actlab.data.text import load_text, own_sha256
from actlab.errors import BadInput, UnknownName
from actlab.models import SCALES, find_model
from actlab.models.layers import GATED_WIDTHS
from actlab.study import plugins
from actlab.study import protocol as protocols
from actlab.study.plan import Checked, Plan
from actlab.study.tuning import Tuning
from actlab.trainers.loop import DTYPES

LARGEST_FILE = 100_000
"""Bytes of a params file."""
PER_ARM = (
    "iterations",
    "evaluate_every",
    "snapshots",
    "learning_rate",
    "trials",
    "dtype",
    "average",
    "training_windows",
)
"""What ``per_arm`` may change."""
MODELS_AND_ACTIVATIONS = {"model": find_model, "activations": find_activation}


class StudyParams(BaseModel):
    """What every kind of study's parameters share: unknown keys and wrong types are refused, nothing changes after
    entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$", description="folder of the records below results/")
    plugins: tuple[str, ...] = Field(
        (), description="Python files with parts of your own, seen from the current folder"
    )

    @field_validator("plugins", mode="before")
    @classmethod
    def _one_or_many_plugins(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("plugins")
    @classmethod
    def _loaded(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        plugins.load(value)  # before any name is looked up
        return value

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Kind of part -> the names that the study uses, of which some may be a user's own."""
        return {}

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for field in type(self).model_fields:
            values = getattr(self, field)
            if isinstance(values, tuple) and len(set(values)) < len(values):
                raise BadInput(f"{field} names one thing twice: {', '.join(map(str, values))}")
        return self

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str = "the parameters") -> Self:
        """Checked parameters from plain values (a list may stand for a tuple).

        Raises:
            BadInput: with every field that is wrong, what it was given and what is allowed.
        """
        for key in values:
            if key not in cls.model_fields:
                raise UnknownName("parameter", key, cls.model_fields, where)
        try:
            return cls.model_validate({key: _tuple(v) for key, v in values.items()})
        except ValidationError as error:
            raise BadInput("; ".join(_explain(item, where) for item in error.errors())) from None

    @classmethod
    def load(cls, path: Path, own: Sequence[str] = ()) -> Self:
        """Checked parameters from a YAML file of this kind; ``own``: plug-in files beside those that it names."""
        values = {key: value for key, value in read_yaml(path).items() if key != "kind"}
        if own:
            named = values.get("plugins", [])
            values["plugins"] = list(dict.fromkeys([*([named] if isinstance(named, str) else named), *own]))
        return cls.parse(values, str(path))

    def replace(self, **changes: Any) -> Self:
        """A checked copy with some fields changed; ``None`` changes nothing."""
        return self.parse({**self.model_dump(), **{key: value for key, value in changes.items() if value is not None}})


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")
    of: str = ""


class Params(StudyParams):
    """One study of language models (the reproducibility grid). Every field is a literal; a list where several values
    make several arms."""

    study: str = Field(
        "repro-quick", pattern=r"^[a-z0-9][a-z0-9-]{0,60}$", description="folder of the records below results/"
    )
    model: tuple[str, ...] = Field(("charlm",), min_length=1, description="models: one name or a list")
    activations: tuple[str, ...] = Field(
        ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1"),
        min_length=1,
        description="activations: one name or a list",
    )
    trials: int = Field(3, ge=1, le=1000, description="independently seeded training runs of each arm")
    seed: int = Field(42, ge=0, lt=2**31, description="seed of the first trial; the others follow it")
    dataset: str = Field("pydoc", description="character text")
    train_fraction: float = Field(1.0, gt=0, le=1, description="share of the training text that is used, from its end")
    scale: str = Field("quick", description="size of the model")
    iterations: int = Field(60, ge=1, description="optimizer steps of a trial")
    evaluate_every: int = Field(30, ge=1, description="steps between evaluations on the whole validation split")
    batch_size: int = Field(16, ge=1, description="windows in a batch")
    learning_rate: float = Field(1e-3, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(0.01, ge=0, allow_inf_nan=False)
    prediction_windows: int = Field(
        256, ge=1, description="frozen validation windows on which predictions are compared"
    )
    noise_floor: bool = Field(
        True, description="also run the first seed twice more: unchanged, and with one weight moved by one ULP"
    )
    gated_width: str = Field(
        "matched", description="matched: the plain arm's parameter count; doubled: 1.5 times the feed-forward layer"
    )
    protocol: str | dict[str, str] = Field(
        "corrected", description="corrected, as_published, or single defects: {padding: both, pairing: unpaired}"
    )
    varies: tuple[Literal["all", "init", "order", "dropout"], ...] = Field(
        ("all",),
        min_length=1,
        description="which random streams the trials' seeds feed, one arm for each; the others keep the first seed",
    )
    perturbations: tuple[Literal["repeat", "nudge", "threads2", "threads2repeat", "bfloat16"], ...] = Field(
        (), description="also run every seed changed in these ways, and compare it with itself unchanged"
    )
    snapshots: tuple[int, ...] = Field(
        (), description="evaluations at which the weights are kept and the trials compared as well"
    )
    ensembles: tuple[int, ...] = Field((), description="also compare ensembles of so many trials")
    equal_compute: tuple[int, ...] = Field(
        (), description="also compare ensembles of so many trials, each of an equal share of the steps"
    )
    scales: tuple[str, ...] = Field((), description="sizes, one arm for each; `scale` alone where empty")
    validation: Literal["all", "first", "second"] = Field(
        "all", description="the part of the validation text that is measured on"
    )
    validation_windows: int = Field(0, ge=0, description="evenly spread windows of it for the loss; 0: all of it")
    training_windows: int = Field(
        0, ge=0, description="windows of the training text that are evaluated at the end, without dropout"
    )
    schedule: Literal["constant", "linear"] = Field(
        "constant", description="of the learning rate; linear: to 0 at the end"
    )
    average: float = Field(
        0.0, ge=0, lt=1, description="decay of a moving average of the weights, compared at the end as well; 0: none"
    )
    per_arm: dict[str, dict[str, Any]] = Field(
        {}, description="settings of single models or arms: {tinylstm: {...}, charlm/gelu: {...}}"
    )
    rates: Rates | None = Field(None, description="take the learning rates that another study has chosen")
    tuning: Tuning | None = Field(None, description="choose a learning rate for each arm")
    plan: Plan | None = Field(None, description="what was decided before the runs")
    order: Literal["model", "activation"] = Field("model", description="what is completed first")
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?)$")
    dtype: str = Field("float32")
    compiled: bool = Field(False, description="run through torch.compile")

    @field_validator("model", "activations", "varies", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value

    @field_validator("learning_rate", "weight_decay", "train_fraction", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _known(self) -> Params:
        for field, find in MODELS_AND_ACTIVATIONS.items():
            for name in getattr(self, field):
                find(name)
        check_text(self.dataset, (SCALES[s].block_size for s in self.scales or (self.scale,) if s in SCALES))
        protocols.check(self.protocol)
        self._check_extras()
        for key, settings in self.per_arm.items():
            model, _, activation = key.partition("/")
            find_model(model)
            if activation:
                find_activation(activation)
            for name in settings:
                if name not in PER_ARM:
                    raise UnknownName("setting of a single arm", name, PER_ARM)
        for field, value, known in (
            *(("scale", scale, tuple(SCALES)) for scale in (self.scale, *self.scales)),
            ("gated_width", self.gated_width, GATED_WIDTHS),
            ("dtype", self.dtype, DTYPES),
        ):
            if value not in known:
                raise UnknownName(field, value, known)
        return self

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Kind of part -> the names that the study uses."""
        return {"activation": self.activations, "model": self.model, "dataset": (self.dataset,)}

    def in_words(self) -> str:
        """The settings in one sentence."""
        sizes = [
            f"{scale} (width {SCALES[scale].n_embd}, context {SCALES[scale].block_size})"
            for scale in self.scales or (self.scale,)
        ]
        share = "" if self.train_fraction == 1 else f" ({100 * self.train_fraction:g}% of the training text)"
        text = load_text(self.dataset).in_words if own_sha256(self.dataset) else self.dataset
        last = self.seed + self.trials - 1
        streams = " or ".join("every stream" if name == "all" else f"{name} alone" for name in self.varies)
        seeds = (
            f"seed {self.seed}"
            if self.trials == 1
            else f"{self.trials} trials of each arm (seeds {self.seed} to {last})"
        )
        return (
            f"The settings of this page: {', '.join(self.model)} under {', '.join(self.activations)}, at scale {', '.join(sizes)}, "
            f"on the text {text}{share}; {seeds}, each of {self.iterations:,} iterations of {self.batch_size} windows; AdamW at a "
            f"constant rate of {self.learning_rate:g} with weight decay {self.weight_decay:g}; {self.device}, {self.dtype}; "
            f"protocol {self._protocol_in_words()}, gated width {self.gated_width}, the trials' seeds feed {streams}"
        )

    def _protocol_in_words(self) -> str:
        return (
            self.protocol
            if isinstance(self.protocol, str)
            else " + ".join(f"{name}: {value}" for name, value in self.protocol.items())
        )

    def _check_extras(self) -> None:
        for step in self.snapshots:
            if not 0 <= step < self.iterations:
                raise BadInput(f"snapshots: {step} does not lie before the last of {self.iterations} iterations")
        for size in self.equal_compute:
            if round(self.iterations / size) not in self.snapshots:
                raise BadInput(
                    f"equal_compute: {size} networks of {round(self.iterations / size)} steps each need a snapshot there"
                )
        for size in (*self.ensembles, *self.equal_compute):
            if not 2 <= size <= self.trials // 2:
                raise BadInput(
                    f"ensembles: {size} trials cannot be compared with {size} others: 2 to {self.trials // 2} of {self.trials} can"
                )


def _tuple(value: Any) -> Any:
    """A list as a tuple; also one in words, as papermill's ``-p plugins '["my_parts.py"]'`` gives it."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            value = yaml.safe_load(value)
        except yaml.YAMLError:
            return value
    return tuple(value) if isinstance(value, list) else value


def check_text(name: str, contexts: Iterable[int] = ()) -> None:
    """``BadInput`` unless ``name`` is a known text, or a user's own that holds one validation window of each
    context."""
    if own_sha256(name):
        corpus = load_text(name)
        longest = max(contexts, default=0)
        if len(corpus.validation) <= longest:
            raise BadInput(
                f"the text {corpus.in_words} is too short: a context of {longest} needs {longest + 1} validation characters or more"
            )


def _explain(item: Any, where: str) -> str:
    place = ".".join(str(part) for part in item["loc"])
    message = item["msg"].removeprefix("Value error, ")
    given = reprlib.repr(item["input"])  # in part: a few letters of YAML can name gigabytes
    return f"{where}: {place}={given}: {message}" if place else f"{where}: {message}"


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; ``BadInput`` names a file that holds none."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    if len(content) > LARGEST_FILE:
        raise BadInput(f"{path} is no params file: it has more than {LARGEST_FILE:,} bytes")
    try:
        values = yaml.safe_load(text)
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        RecursionError,
    ) as error:  # PyYAML raises bare ones for odd scalars
        raise BadInput(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise BadInput(f"{path} must hold one `name: value` mapping, found {type(values).__name__}")
    if isinstance(values.get("plan"), dict):
        values["plan"]["sha256"] = hashlib.sha256(content).hexdigest()
    return values
