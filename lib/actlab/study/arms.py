"""Arms and trials as data: Params -> arms, each with an id that says what it is and a hash of everything that it
depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from actlab import paths
from actlab.data.text import located, short_name
from actlab.errors import BadInput
from actlab.models import SCALES, ModelConfig
from actlab.records import store
from actlab.study.params import Params
from actlab.study.parts import Parts, own_metrics, parts_of
from actlab.study.protocol import DEFECTS, DOUBLED, defects_of
from actlab.study.records import recorded
from actlab.study.tuning import tuned
from actlab.trainers.loop import Recipe

PLAIN, REPEAT, NUDGE, THREADS, THREADS_REPEAT, BFLOAT16 = (
    "",
    "repeat",
    "nudge",
    "threads2",
    "threads2repeat",
    "bfloat16",
)
"""Variants of a trial: as it is; the same seed once more; with one weight moved by one unit in the last place; on two
threads, and so once more; with bfloat16 autocast."""
VARIANTS = (PLAIN, REPEAT, NUDGE, THREADS, THREADS_REPEAT, BFLOAT16)
ALL = "all"


@dataclass(frozen=True)
class TrialSpec:
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
    def threads(self) -> int:
        """On how many it runs."""
        return 2 if self.variant in (THREADS, THREADS_REPEAT) else 1

    @property
    def text_sha256(self) -> str:
        """Of a user's own text; empty for a built-in one."""
        return dict(self.parts).get("dataset", "")

    def seed_of(self, stream: str) -> int:
        """The seed that feeds the named stream."""
        return self.seed if self.varies in (ALL, stream) else self.fixed

    def model_config(self, vocab_size: int) -> ModelConfig:
        """The size that the scale's name stands for, over a text's own vocabulary."""
        return replace(SCALES[self.scale], vocab_size=vocab_size)


LATER = {
    "varies": ALL,
    "fixed": 0,
    "snapshots": (),
    "train_fraction": 1.0,
    "validation": "all",
    "validation_windows": 0,
    "training_windows": 0,
}
LATER |= {"parts": {}}
"""Fields that came after the first records, with their defaults: left out of an arm's hash where they have them, so
that its id stays."""
LATER_OF_RECIPE = {"schedule": "constant", "average": 0.0}
"""The same for those of the recipe."""


def known_by(spec: TrialSpec) -> dict[str, Any]:
    """What identifies a trial, as plain values: a file of text by its name and hash, not by its folder; no ``parts``
    where all are built in."""
    own = {"dataset": short_name(spec.dataset), "parts": dict(spec.parts)}
    return {key: own.get(key, value) for key, value in asdict(spec).items() if key != "parts" or value}


@dataclass(frozen=True)
class Arm:
    """One combination of factors and its trials.

    Kinds: ``trials``; ``floor``: the first seed plain, repeated and nudged; ``perturbed``: every seed plain, and
    changed in each way asked for.
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
        first = known_by(self.trials[0])
        shared = {
            key: value
            for key, value in first.items()
            if key not in ("seed", "variant", "defects") and LATER.get(key, self) != value
        }
        shared["recipe"] = {
            key: value for key, value in first["recipe"].items() if LATER_OF_RECIPE.get(key, self) != value
        }
        own: dict[str, Any] = {
            "protocol": list(self.protocol),
            "ensembles": list(self.ensembles),
            "equal_compute": list(self.equal_compute),
        }
        own["metrics"] = dict(self.metrics)
        about = {
            "kind": self.kind,
            "trials": [spec.label for spec in self.trials],
            "model_size": size_of(self.trials[0].scale),
        }
        return {**shared, **about, **{key: value for key, value in own.items() if value}}

    @property
    def id(self) -> str:
        """``charlm-gelu-<hash>``, ``charlm-gelu-floor-<hash>`` or ``charlm-gelu-init-<hash>``."""
        extra = [word for word, usual in ((self.trials[0].varies, ALL), (self.kind, "trials")) if word != usual]
        return f"{'-'.join([self.model, self.activation, *extra])}-{store.digest(self.config)[:10]}"


def size_of(scale: str) -> dict[str, Any]:
    """The numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {key: value for key, value in asdict(SCALES[scale]).items() if key != "vocab_size"}


def arms_of(params: Params) -> list[Arm]:
    """The arms of a study in the order in which they run; noise floors and perturbed trials come last.

    Those of a study that chooses learning rates, or takes the chosen ones, depend on what is recorded.
    """
    if params.order == "model":
        cells = [(m, a) for m in params.model for a in params.activations]
    else:
        cells = [(m, a) for a in params.activations for m in params.model]
    if params.tuning is not None:
        return [each for cell in cells for each in candidates(params, *cell)[0]]
    own = {cell: settings_of(params, *cell) for cell in cells}
    scales = params.scales or (params.scale,)
    arms = [
        arm(own[cell].replace(scale=scale), *cell, varies=varies)
        for scale in scales
        for cell in cells
        for varies in params.varies
    ]
    for kind, wanted in (("floor", params.noise_floor), ("perturbed", params.perturbations)):
        arms += [arm(own[cell].replace(scale=scale), *cell, kind) for scale in scales for cell in cells if wanted]
    return arms


def settings_of(params: Params, model: str, activation: str) -> Params:
    """The settings of one arm: the study's, those of ``per_arm`` for its model and then for itself, and its chosen
    learning rate."""
    own: dict[str, Any] = {**params.per_arm.get(model, {}), **params.per_arm.get(f"{model}/{activation}", {})}
    if params.rates is not None:
        own["learning_rate"] = chosen_rate(params.rates.study, model, params.rates.of or activation)
    return params.replace(**own) if own else params


def candidates(params: Params, model: str, activation: str) -> tuple[list[Arm], float | None]:
    """Of a study that chooses learning rates: one cell's arms that are recorded or wanted next; the chosen rate, once
    none is wanted."""
    if params.tuning is None:
        raise BadInput(f"{params.study} chooses no learning rates: its params file has no `tuning`")
    own = settings_of(params, model, activation)
    return tuned(
        params.tuning,
        lambda rate, seed: arm(own.replace(learning_rate=rate, seed=seed, trials=1), model, activation),
        recorded,
    )


def chosen_rate(study: str, model: str, activation: str) -> float:
    """The learning rate that the study ``params/<study>.yaml`` chose for an arm; ``BadInput`` as long as it has not."""
    path = paths.ROOT / "params" / f"{study}.yaml"
    arms, rate = candidates(Params.load(path), model, activation)
    if rate is None:
        raise BadInput(
            f"{study} has chosen no learning rate for {model} under {activation} yet ({len(arms)} trials are planned): run {path}"
        )
    return rate


def arm(params: Params, model: str, activation: str, kind: str = "trials", varies: str = ALL) -> Arm:
    """One arm of a study, at the size ``params.scale``."""
    seeds = [params.seed + i for i in range(params.trials)]
    labels = {
        "trials": [(seed, PLAIN) for seed in seeds],
        "floor": [(params.seed, variant) for variant in (PLAIN, REPEAT, NUDGE)],
        "perturbed": [(seed, variant) for seed in seeds for variant in (PLAIN, *params.perturbations)],
    }[kind]
    ordinary = kind == "trials"
    protocol = tuple(
        name for name in defects_of(params.protocol, model, activation) if ordinary or DEFECTS[name].trains
    )
    names = (
        "scale",
        "dataset",
        "train_fraction",
        "validation",
        "validation_windows",
        "training_windows",
        "gated_width",
        "prediction_windows",
    )
    shared = {name: getattr(params, name) for name in names}
    shared |= {"recipe": Recipe(**{name: getattr(params, name) for name in Recipe.__dataclass_fields__})}
    shared |= {
        "defects": tuple(name for name in protocol if DEFECTS[name].trains),
        "varies": varies,
        "fixed": 0 if varies == ALL else params.seed,
    }
    if DOUBLED in protocol:
        shared["gated_width"] = "doubled"
    shared["dataset"] = located(params.dataset)
    shared["parts"] = parts_of(activation=activation, model=model, dataset=params.dataset)
    trials = tuple(
        TrialSpec(model, activation, seed, variant, **shared, snapshots=params.snapshots if ordinary else ())
        for seed, variant in labels
    )
    plan = params.plan.mark if params.plan else None
    groups = (params.ensembles, params.equal_compute) if ordinary else ((), ())
    return Arm(params.study, model, activation, kind, trials, protocol, *groups, plan, own_metrics(params.plugins))
