"""Arms and trials of language models as data: Params -> arms, each with an id that says what it is and a hash of
everything that it depends on."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, product
from typing import Any, Self, TypeVar

from actlab.data.text import TRAIN_SHARE, located, short_name
from actlab.errors import BadInput
from actlab.models import SCALES, ModelConfig
from actlab.plugins import Parts, own_metrics, parts_of
from actlab.records import store
from actlab.records.defect_names import DOUBLED
from actlab.records.settings import by_content
from actlab.study.defects import CORRECTED, OF_TRAINING, defects_of
from actlab.study.params.language import Params
from actlab.study.params.yaml_file import StudyParams
from actlab.study.tuning import Choice, chosen, tuned
from actlab.trainers.recipes import Recipe

PLAIN, REPEAT, NUDGE, BFLOAT16 = "", "repeat", "nudge", "bfloat16"
"""Variants of a trial: as it is; the same seed once more; with one weight moved by one unit in the last place (at a
step: ``nudge-100``); with bfloat16 autocast. Others name the stream that has another seed, or ``all``."""
ALL = "all"
CHANGED = 1_000_000
"""Added to the seed of a stream that a perturbation changes: no study has so many trials."""
D = TypeVar("D")


class Specified:
    """A dataclass of settings that a result depends on."""

    @property
    def known_by(self) -> dict[str, Any]:
        """What identifies the result, as plain values: a file of text by its name and hash, not by its folder; no
        ``parts`` where all are built in."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        values |= {"dataset": short_name(values["dataset"]), "parts": dict(values["parts"])}
        return {key: value for key, value in values.items() if key != "parts" or value}

    @property
    def named_by(self) -> dict[str, Any]:
        """The same without fields at their defaults: those came after the first records, whose ids stay."""
        usual = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        return {key: value for key, value in self.known_by.items() if usual[key] != value}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], **own: Any) -> Self:
        """The settings that a recorded arm's ``config`` names, beside ``own`` ones."""
        names = {field.name for field in fields(cls)} & set(config)  # type: ignore[arg-type]
        values = {name: tuple(config[name]) if isinstance(config[name], list) else config[name] for name in names}
        return cls(**values | {"parts": tuple(sorted(config.get("parts", {}).items()))} | own)


@dataclass(frozen=True)
class TrialSpec(Specified):
    """Everything that a trial's result depends on, but for data, code and machine."""

    model: str
    activation: str
    seed: int
    variant: str
    scale: str
    dataset: str
    gated_width: str
    prediction_windows: int
    recipe: Recipe
    defects: tuple[str, ...] = ()
    """Of training; see ``protocol``."""
    varies: str = ALL
    """The one stream that ``seed`` feeds (``init``, ``order`` or ``dropout``); the others have the seed ``fixed``.
    ``all``: it feeds every stream."""
    fixed: int = 0
    snapshots: tuple[int, ...] = ()
    """Iterations at which the weights are kept."""
    train_share: float = TRAIN_SHARE
    """Of the text: the rest is for validation."""
    train_fraction: float = 1.0
    """Of the training text."""
    validation: str = "all"
    """The part of the validation text that is measured on: ``all`` of it, its ``first`` or its ``second`` half."""
    validation_windows: int = 0
    """Evenly spread windows of that part on which the loss is measured; 0: all of it."""
    training_windows: int = 0
    """Evenly spread windows of the training text that are evaluated at the end, without dropout."""
    parts: Parts = ()
    """Hashes of activation, model and dataset, where they are a user's own."""

    @property
    def label(self) -> str:
        """Names the trial within its arm: ``42`` or ``42-nudge``."""
        return f"{self.seed}-{self.variant}" if self.variant else str(self.seed)

    @property
    def text_sha256(self) -> str:
        """Of a user's own text; empty for a built-in one."""
        return dict(self.parts).get("dataset", "")

    def seed_of(self, stream: str) -> int:
        """The seed that feeds the named stream."""
        if self.variant in (ALL, stream):
            return self.seed + CHANGED
        return self.seed if self.varies in (ALL, stream) else self.fixed

    @property
    def nudged_at(self) -> int | None:
        """The step before which one weight moves by one unit in the last place."""
        name, _, step = self.variant.partition("-")
        return int(step or 0) if name == NUDGE else None

    def model_config(self, vocab_size: int) -> ModelConfig:
        """The size that the scale's name stands for, over a text's own vocabulary."""
        return replace(SCALES[self.scale], vocab_size=vocab_size)


LATER_OF_RECIPE = {"schedule": "constant", "optimizer": "adamw", "warmup": 0, "clip": 0.0, "average": 0.0}
"""Fields of the recipe that came after the first records: left out of an arm's hash where they have these values."""


@dataclass(frozen=True)
class Arm:
    """One combination of factors and its trials.

    Kinds: ``trials``; ``floor``: the first seed plain, repeated and with a 1-ULP perturbation; ``perturbed``: every
    seed plain, and changed in each way asked for.
    """

    study: str
    model: str
    activation: str
    kind: str
    trials: tuple[TrialSpec, ...]
    protocol: tuple[str, ...] = ()
    """Names of the defects that are on."""
    ensembles: tuple[int, ...] = ()
    """Sizes of the ensembles that are compared, beside single trials."""
    equal_compute: tuple[int, ...] = ()
    """Sizes of the ensembles that are compared as they were after an equal share of the steps: two networks of half of
    them."""
    plan: tuple[int, str] | None = None
    """Version and hash of the plan that the arm is run under (``plan.Plan.mark``); it changes no id."""
    metrics: Parts = ()
    """A user's own metrics: (name, hash)."""

    @property
    def config(self) -> dict[str, Any]:
        """What the arm's hash covers, as plain values."""
        named = self.trials[0].named_by
        recipe = {key: value for key, value in named["recipe"].items() if LATER_OF_RECIPE.get(key, self) != value}
        asked: dict[str, Any] = {name: list(getattr(self, name)) for name in ("protocol", "ensembles", "equal_compute")}
        asked["metrics"] = dict(self.metrics)
        return {
            **{key: value for key, value in named.items() if key not in ("seed", "variant", "defects")},
            "recipe": recipe,
            "kind": self.kind,
            "trials": [spec.label for spec in self.trials],
            "model_size": without_vocabulary(SCALES[self.trials[0].scale]),
            **{key: value for key, value in asked.items() if value},
        }

    @property
    def id(self) -> str:
        """``charlm-gelu-<hash>``, ``charlm-gelu-floor-<hash>`` or ``charlm-gelu-init-<hash>``."""
        extra = [word for word, usual in ((self.trials[0].varies, ALL), (self.kind, "trials")) if word != usual]
        return f"{'-'.join([self.model, self.activation, *extra])}-{store.digest(by_content(self.config))[:10]}"


def without_vocabulary(size: Any) -> dict[str, Any]:
    """The numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {key: value for key, value in asdict(size).items() if key != "vocab_size"}


def taken(kind: type[D], params: StudyParams, **own: Any) -> D:
    """A dataclass of the parameters that bear its fields' names, and of ``own`` values."""
    names: Iterable[str] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: getattr(params, name) for name in names if hasattr(params, name)} | own)


def arms_of(params: Params) -> list[Arm]:
    """The arms of a study in the order in which they run; noise floors and perturbed trials come last.

    Those of a study that chooses learning rates, or takes the chosen ones, depend on what is recorded.
    """
    return list(dict.fromkeys(chain(*map(_arms_at, params.points))))


def _arms_at(params: Params) -> list[Arm]:
    """At one point of the study's grid."""
    cells = list(product(params.model, params.activation))
    if params.order == "activation":
        cells.sort(key=lambda cell: params.activation.index(cell[1]))
    if params.tuning is not None:
        return [each for cell in cells for each in candidates(params, *cell)[0]]
    own = [(settings, *cell) for cell in cells for settings in settings_of(params, *cell)]
    sized = list(product(params.scale, own))
    kinds = {
        "trials": params.varies,
        "floor": (ALL,) * params.noise_floor,
        "perturbed": (ALL,) * bool(params.perturbations),
    }
    return [arm(*each, kind, size, one) for kind, varies in kinds.items() for size, each in sized for one in varies]


def settings_of(params: Params, model: str, activation: str) -> list[Params]:
    """The settings of one cell's arms: the study's, those of ``per_arm`` for its model and then for itself (a list of
    several makes several arms), and its chosen learning rate."""
    own: dict[str, Any] = {**params.per_arm.get(model, {}), **params.per_arm.get(f"{model}/{activation}", {})}
    if params.rates is not None:
        cell = model, params.rates.of or activation
        own["learning_rate"] = chosen(params.rates.study, Params.load, lambda tuning: candidates(tuning, *cell))
    return params.replace(**own).points if own else [params]


def candidates(params: Params, model: str, activation: str) -> Choice:
    """Of a study that chooses learning rates: one cell's arms that are recorded or wanted next; the chosen rate, once
    none is wanted."""
    settings, *further = settings_of(params, model, activation)
    if further:
        raise BadInput(f"per_arm gives {model} {len(further) + 1} settings: a study that chooses rates takes one")
    return tuned(settings, "learning_rate", arm, model, activation)


def arm(params: Params, model: str, activation: str, kind: str = "trials", scale: str = "", varies: str = ALL) -> Arm:
    """One arm of a study, at the first of ``params.scale`` unless another is given."""
    seeds = params.seeds[:1] if kind == "floor" else params.seeds
    changed = {"trials": (), "floor": (REPEAT, NUDGE), "perturbed": params.perturbations}[kind]
    ordinary = kind == "trials"
    asked = () if params.protocol == CORRECTED else defects_of(params.protocol, model, activation)
    protocol = tuple(name for name in asked if ordinary or name in OF_TRAINING)
    common = {
        "model": model,
        "activation": activation,
        "scale": scale or params.scale[0],
        "recipe": taken(Recipe, params),
        "defects": tuple(name for name in protocol if name in OF_TRAINING),
        "varies": varies,
        "fixed": 0 if varies == ALL else params.seed,
        "snapshots": params.snapshots if ordinary or params.follow else (),
        "gated_width": "doubled" if DOUBLED in protocol else params.gated_width,
        "dataset": located(params.dataset),
        "parts": parts_of(activation=activation, model=model, dataset=params.dataset),
    }
    return Arm(
        params.study,
        model,
        activation,
        kind,
        tuple(taken(TrialSpec, params, seed=s, variant=v, **common) for s, v in product(seeds, (PLAIN, *changed))),
        protocol,
        params.ensembles if ordinary else (),
        params.equal_compute if ordinary else (),
        params.plan.mark if params.plan else None,
        own_metrics(params.plugins),
    )
