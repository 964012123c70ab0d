"""Params: a study's YAML file, checked on entry; the types of its fields, what every kind of study shares, and the
fields of a study of language models."""

from __future__ import annotations

import hashlib
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from actlab.activations import ACTIVATIONS
from actlab.data.text import load_text, own_sha256
from actlab.errors import BadInput, UnknownName
from actlab.models import MODELS, SCALES
from actlab.models.layers import GATED_WIDTHS
from actlab.study import defects
from actlab.study.plugins import load_plugins
from actlab.study.registered_plan import Checked, Plan
from actlab.study.tuning import Tuning
from actlab.trainers.recipes import DTYPES

LARGEST_FILE = 100_000  # bytes of a params file
NOT_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError)  # what PyYAML raises
T = TypeVar("T")


def one_of(kind: str, known: Iterable[str] | Callable[[], Iterable[str]]) -> AfterValidator:
    """Holds a name to those of a table; ``UnknownName`` lists them."""

    def check(name: str) -> str:
        if name not in (names := known() if callable(known) else known):
            raise UnknownName(kind, name, names)
        return name

    return AfterValidator(check)


def listed(value: object) -> tuple[Any, ...]:
    """One value or a list of them; a list also in words, as papermill's ``-p plugins '["my_parts.py"]'`` gives it."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        with suppress(yaml.YAMLError):
            value = yaml.safe_load(value)
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _each_once(values: tuple[T, ...]) -> tuple[T, ...]:
    if len(set(values)) < len(values):
        raise BadInput(f"names one thing twice: {', '.join(map(str, values))}")
    return values


def _loaded(files: tuple[str, ...]) -> tuple[str, ...]:
    load_plugins(files)  # before any name is looked up: the first field of every study
    return files


def _folder(name: str) -> str:
    if not re.fullmatch("[a-z0-9][a-z0-9-]{0,60}", name):
        raise BadInput("a study's name is that of a folder: a small letter or digit, then up to 60 of these and -")
    return name


def _numbers(value: Any) -> Any:
    """With 1e-3 as a number, which PyYAML takes for text where no point is in it."""
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+e[+-]?\d{1,3}", value) else value


def _readable(name: str) -> str:
    if own_sha256(name):
        load_text(name)
    return name


Listed = Annotated[tuple[T, ...], BeforeValidator(listed), AfterValidator(_each_once)]
Several = Annotated[Listed[T], Field(min_length=1)]
"""One value or a list of at least one: several make several arms."""
Count = Annotated[int, Field(ge=1)]
CountOrZero = Annotated[int, Field(ge=0)]
Trials = Annotated[int, Field(ge=1, le=1000)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
StudyName = Annotated[str, AfterValidator(_folder)]
ActivationName = Annotated[str, one_of("activation", ACTIVATIONS)]
ModelName = Annotated[str, one_of("model", MODELS)]
ScaleName = Annotated[str, one_of("scale", SCALES)]
TextName = Annotated[str, AfterValidator(_readable)]
"""A known text, or a user's own that can be read (``data.text``)."""


class StudyParams(Checked):
    """What every kind of study's parameters share: unknown keys and wrong types are refused, nothing changes after
    entry."""

    plugins: Annotated[Listed[str], AfterValidator(_loaded)] = ()
    """Python files with parts of your own, seen from the current folder."""
    study: StudyName
    """Folder of the records below results/."""
    trials: Trials
    """Independently seeded training runs of each arm."""
    seed: Seed = 42
    """Of the first trial; the others follow it."""

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
            return cls.model_validate(_numbers({**values}))
        except ValidationError as error:
            wrong = error.errors()
            first = [item for item in wrong if item["loc"][:1] == ("plugins",)]  # others may follow from it
            raise BadInput(f"{where}: {'; '.join(map(_explain, first or wrong))}") from None

    @classmethod
    def load(cls, path: Path, own: Sequence[str] = ()) -> Self:
        """Checked parameters from a YAML file of this kind; ``own``: plug-in files beside those that it names."""
        values = read_mapping(path)
        values.pop("kind", None)
        if own:
            values["plugins"] = list(dict.fromkeys([*listed(values.get("plugins", [])), *own]))
        return cls.parse(values, str(path))

    def replace(self, where: str = "the parameters", /, **changes: Any) -> Self:
        """A checked copy with some fields changed."""
        return self.parse({**self.model_dump(), **changes}, where)


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: StudyName
    of: str = ""


Perturbation = Annotated[str, Field(pattern=r"^(repeat|nudge(-[1-9]\d{0,6})?|bfloat16|dropout|order|init|all)$")]
Decay = Annotated[float, Field(ge=0, lt=1)]


class LanguageParams(StudyParams):
    """What the two kinds of study that train one language model at a time share."""

    iterations: Count = 60
    """Optimizer steps of a trial."""
    evaluate_every: Count = 30
    """Steps between evaluations."""
    validation: Literal["all", "first", "second"] = "all"
    """The part of the validation text that is measured on."""
    validation_windows: CountOrZero = 0
    """Evenly spread windows of it for the loss; 0: all of it."""
    rates: Rates | None = None
    """Take the learning rates (or factors) that another study has chosen."""
    tuning: Tuning | None = None
    """Choose a learning rate (or factor) for each arm."""
    plan: Plan | None = None
    """What was decided before the runs."""
    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:\d+)?)$")] = "cpu"
    dtype: Annotated[str, one_of("dtype", DTYPES)] = "float32"
    compiled: bool = False
    """Run through torch.compile."""


PER_ARM = (
    "iterations",
    "evaluate_every",
    "snapshots",
    "learning_rate",
    "trials",
    "dtype",
    "average",
    "training_windows",
    "device",
)
SettingName = Annotated[str, one_of("setting of a single arm", PER_ARM)]


def _model_or_arm(name: str) -> str:
    model, slash, activation = name.partition("/")
    MODELS.find(model)
    if slash:
        ACTIVATIONS.find(activation)
    return name


class Params(LanguageParams):
    """One study of language models (the reproducibility grid). Every field is a literal; a list where several values
    make several arms."""

    study: StudyName = "repro-quick"
    trials: Trials = 3
    model: Several[ModelName] = ("charlm",)
    activations: Several[ActivationName] = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")
    dataset: TextName = "pydoc"
    train_fraction: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the training text that is used, from its end."""
    scale: ScaleName = "quick"
    """Size of the model."""
    scales: Listed[ScaleName] = ()
    """Sizes, one arm for each; ``scale`` alone where empty."""
    batch_size: Count = 16
    """Windows in a batch."""
    learning_rate: Positive = 1e-3
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    schedule: Literal["constant", "linear", "cooldown", "cosine"] = "constant"
    """Of the learning rate; linear: to 0 at the end; cooldown: constant, then linear to 0 over the last half;
    cosine: 2% of warm-up, then to a tenth."""
    prediction_windows: Count = 256
    """Frozen validation windows on which predictions are compared."""
    noise_floor: bool = True
    """Also run the first seed twice more: unchanged, and with one weight moved by one unit in the last place."""
    gated_width: Annotated[str, one_of("gated_width", GATED_WIDTHS)] = "matched"
    """matched: the plain arm's parameter count; doubled: 1.5 times the feed-forward layer."""
    protocol: Annotated[defects.ProtocolParam, AfterValidator(defects.checked_protocol)] = "corrected"
    """corrected, as_published, or single defects: {padding: both, pairing: unpaired}."""
    varies: Several[Literal["all", "init", "order", "dropout"]] = ("all",)
    """Which random streams the trials' seeds feed, one arm for each; the others keep the first seed."""
    perturbations: Listed[Perturbation] = ()
    """Also run every seed changed in these ways, and compare it with itself unchanged: ``repeat`` (nothing), ``nudge``
    (one weight moved by one unit in the last place; ``nudge-100``: at step 100), ``bfloat16``, another seed for one
    stream (``dropout``, ``order``, ``init``) or for ``all``."""
    follow: bool = False
    """Compare the perturbed runs at the snapshots too."""
    snapshots: Listed[int] = ()
    """Evaluations at which the weights are kept and the trials compared as well."""
    ensembles: Listed[int] = ()
    """Also compare ensembles of so many trials."""
    equal_compute: Listed[int] = ()
    """Also compare ensembles of so many trials, each of an equal share of the steps."""
    training_windows: CountOrZero = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    average: Annotated[Decay | tuple[Decay, ...], BeforeValidator(_as_tuple)] = 0.0
    """Decay of a moving average of the weights, compared at the end as well, or several of them; 0: none."""
    per_arm: dict[Annotated[str, AfterValidator(_model_or_arm)], dict[SettingName, Any]] = Field({})
    """Settings of single models or arms: {tinylstm: {...}, charlm/gelu: {...}}."""
    order: Literal["model", "activation"] = "model"
    """What is completed first."""

    @property
    def sizes(self) -> tuple[str, ...]:
        """The scales of the arms."""
        return self.scales or (self.scale,)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        longest = max(SCALES[scale].block_size for scale in self.sizes)
        if own_sha256(self.dataset) and len((corpus := load_text(self.dataset)).validation) <= longest:
            raise BadInput(
                f"the text {corpus.name} is too short with its {len(corpus.validation)} validation characters: "
                f"a context of {longest} needs {longest + 1} or more"
            )
        for step in self.snapshots:
            if not 0 <= step < self.iterations:
                raise BadInput(f"snapshots: {step} does not lie before the last of {self.iterations} iterations")
        for name in self.perturbations:
            if name.startswith("nudge-") and int(name[6:]) >= self.iterations:
                raise BadInput(f"perturbations: {name} does not lie before the last of {self.iterations} iterations")
        for size in (*self.ensembles, *self.equal_compute):
            if not 2 <= size <= self.trials // 2:
                can = f"2 to {self.trials // 2} of {self.trials} can"
                raise BadInput(f"ensembles: {size} trials cannot be compared with {size} others: {can}")
        for size in self.equal_compute:
            if (steps := round(self.iterations / size)) not in self.snapshots:
                raise BadInput(f"equal_compute: {size} networks of {steps} steps each need a snapshot there")
        return self


def _explain(item: Any) -> str:
    place = ".".join(map(str, item["loc"]))
    message = item["msg"].removeprefix("Value error, ")
    given = reprlib.repr(item["input"])  # in part: a few letters of YAML can name gigabytes
    return f"{place}={given}: {message}" if place else message


def read_mapping(path: Path) -> dict[str, Any]:
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
        values, node = yaml.safe_load(text), yaml.compose(text)
    except NOT_YAML as error:
        raise BadInput(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise BadInput(f"{path} must hold one `name: value` mapping, found {type(values).__name__}")
    names = [key.value for key, _ in node.value] if node else []
    if len(names) > len(values):
        raise BadInput(f"{path} gives {max(names, key=names.count)} more than once")
    if isinstance(values.get("plan"), dict):
        values["plan"]["sha256"] = hashlib.sha256(content).hexdigest()
    return values
