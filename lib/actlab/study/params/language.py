"""The fields of a study of language models."""

from itertools import product
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from actlab.activations import ACTIVATIONS
from actlab.data.text import TEXTS, TRAIN_SHARE, is_file, load_text, own_sha256
from actlab.errors import LIMITS, BadInput
from actlab.models import MODELS, SCALES
from actlab.models.layers import GATED_WIDTHS
from actlab.study import defects
from actlab.study.params.field_types import (
    BEFORE,
    ActivationName,
    Batch,
    Grid,
    Listed,
    ModelName,
    Positive,
    ScaleName,
    Several,
    Steps,
    StudyName,
    TextName,
    Trials,
    Windows,
    WindowsOrAll,
    as_list,
    one_of,
)
from actlab.study.params.plan import Checked, Number, Plan, Tuning
from actlab.study.params.yaml_file import StudyParams
from actlab.trainers.recipes import DTYPES


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: StudyName
    of: str = ""


STREAMS = "dropout|order|init|all"
PERTURBATION = rf"^(repeat|nudge(-[1-9]\d{{0,6}})?|shift-1e-[1-8]|threads|bfloat16|{STREAMS})$"
Perturbation = Annotated[str, Field(pattern=PERTURBATION)]
Decay = Annotated[Number, Field(ge=0, lt=1)]


class LanguageParams(StudyParams):
    """What the two kinds of study that train one language model at a time share."""

    iterations: Steps = 60
    """Optimizer steps of a trial."""
    evaluate_every: Steps = 30
    """Steps between evaluations."""
    validation: Literal["all", "first", "second"] = "all"
    """The part of the validation text that is measured on."""
    validation_windows: WindowsOrAll = 0
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
    "schedule",
    "training_windows",
    "device",
)
SettingName = Annotated[str, one_of("setting of a single arm", PER_ARM)]


def _model_or_arm(name: str, info: ValidationInfo) -> str:
    model, slash, activation = name.partition("/")
    if info.context != BEFORE:
        MODELS.find(model)
        if slash:
            ACTIVATIONS.find(activation)
    return name


class Params(LanguageParams):
    """One study of language models (the reproducibility grid). Every field is a literal; a list where several values
    make several arms."""

    grid: ClassVar[tuple[str, ...]] = (
        "learning_rate",
        "weight_decay",
        "batch_size",
        "schedule",
        "warmup",
        "gated_width",
    )
    """Settings that may be lists as well."""
    factors = ("model", "activation", "varies", "scale", *grid)
    study: StudyName = "repro-quick"
    trials: Trials = 3
    model: Several[ModelName] = ("charlm",)
    activation: Several[ActivationName] = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")
    dataset: TextName = "pydoc"
    train_share: Annotated[Number, Field(gt=0, lt=1)] = TRAIN_SHARE
    """Share of the text before the validation text."""
    train_fraction: Annotated[Number, Field(gt=0, le=1)] = 1.0
    """Share of the training text that is used, from its end."""
    scale: Several[ScaleName] = ("quick",)
    """Size of the model."""
    batch_size: Grid[Batch] = 16
    """Windows in a batch."""
    learning_rate: Grid[Positive] = 1e-3
    weight_decay: Grid[Annotated[Number, Field(ge=0, allow_inf_nan=False)]] = 0.01
    schedule: Grid[Literal["constant", "linear", "cooldown", "cosine"]] = "constant"
    """Of the learning rate; linear: to 0 at the end; cooldown: constant, then linear to 0 over the last half;
    cosine: 2% of warm-up, then to a tenth."""
    warmup: Grid[Annotated[int, Field(ge=0, le=LIMITS["iterations"])]] = 0
    """Steps over which the rate rises linearly to its full value."""
    clip: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Largest L2 norm of the gradient of all weights; 0: not limited."""
    prediction_windows: Windows = 256
    """Frozen validation windows on which predictions are compared."""
    noise_floor: bool = True
    """Also run the first seed twice more: unchanged, and with one weight moved by one unit in the last place."""
    gated_width: Grid[Annotated[str, one_of("gated_width", GATED_WIDTHS)]] = "matched"
    """matched: the plain arm's parameter count; doubled: 1.5 times the feed-forward layer."""
    protocol: Annotated[defects.ProtocolParam, AfterValidator(defects.checked_protocol)] = "corrected"
    """corrected, as_published, or single defects: {padding: both, pairing: unpaired}."""
    varies: Several[Literal["all", "init", "order", "dropout"]] = ("all",)
    """Which random streams the trials' seeds feed, one arm for each; the others keep the first seed."""
    perturbations: Listed[Perturbation] = ()
    """Also run every seed changed in these ways, and compare it with itself unchanged: ``repeat`` (nothing), ``nudge``
    (one weight moved by one unit in the last place; ``nudge-100``: at step 100), ``shift-1e-3`` (one weight moved by
    this share of its matrix's norm), ``threads`` (on two threads), ``bfloat16``, another seed for one stream
    (``dropout``, ``order``, ``init``) or for ``all``."""
    follow: bool = False
    """Compare the perturbed runs at the snapshots too."""
    snapshots: Listed[int] = ()
    """Evaluations at which the weights are kept and the trials compared as well."""
    ensembles: Listed[int] = ()
    """Also compare ensembles of so many trials."""
    equal_compute: Listed[int] = ()
    """Also compare ensembles of so many trials, each of an equal share of the steps."""
    training_windows: WindowsOrAll = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    average: Annotated[Decay | tuple[Decay, ...], BeforeValidator(_as_tuple)] = 0.0
    """Decay of a moving average of the weights, compared at the end as well, or several of them; 0: none."""
    per_arm: dict[Annotated[str, AfterValidator(_model_or_arm)], dict[SettingName, Any]] = Field({})
    """Settings of single models or arms: {tinylstm: {...}, charlm/gelu: {...}}."""
    order: Literal["model", "activation"] = "model"
    """What is completed first."""

    @property
    def points(self) -> list[Self]:
        """The study at each combination of the settings in ``grid`` that are lists."""
        values = {name: value for name in self.grid if isinstance(value := getattr(self, name), tuple)}
        if not values:
            return [self]
        return [self.replace(**dict(zip(values, each, strict=True))) for each in product(*values.values())]

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if (drawn := self.iterations * max(as_list(self.batch_size))) > LIMITS["drawn"]:
            raise BadInput(f"iterations x batch_size draw {drawn:,} windows: {LIMITS['drawn']:,} at most")
        longest = max(SCALES[scale].block_size for scale in self.scale)
        own = (self.dataset in TEXTS or is_file(self.dataset)) and own_sha256(self.dataset)
        if own and len((corpus := load_text(self.dataset).split_at(self.train_share)).validation) <= longest:
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
