"""A trial of a language model on characters as data: its settings, what a record says of them, and the way back."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field

from actlab.data.text import TRAIN_SHARE, located, short_name
from actlab.models import SCALES, ModelConfig
from actlab.models.layers import GATED_WIDTHS
from actlab.records import store
from actlab.study.defects import OF_TRAINING
from actlab.study.fields import (
    ActivationName,
    Decay,
    ModelName,
    NotNegative,
    OptimizerName,
    Positive,
    ScaleName,
    Share,
    one_of,
)
from actlab.study.plan import Number
from actlab.study.trial import LanguageTrial, Measures
from actlab.trainers.recipes import Recipe

ALL = "all"
PLAIN, REPEAT, NUDGE, BFLOAT16, THREADS, SHIFT = "", "repeat", "nudge", "bfloat16", "threads", "shift-"
"""Changes of a trial: nothing; the same once more; one weight moved by one unit in the last place (``nudge-100``: at a
step); bfloat16 autocast; two threads; one weight moved by a share of its matrix's norm (``shift-1e-3``). Others name
the stream that has another seed, or ``all``."""
CHANGED = 1_000_000
"""Added to the seed of a stream that a change names: no study has so many trials."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class CharacterTrial(LanguageTrial):
    """Everything that a trial's result depends on, but for data, code and machine."""

    kind: ClassVar[str] = "repro"
    named_by: ClassVar[tuple[str, ...]] = ("model", "activation")
    no_axis: ClassVar[tuple[str, ...]] = (*LanguageTrial.no_axis, "fixed", "defects", "also")
    later: ClassVar[tuple[str, ...]] = ("optimizer", "betas")
    train_share: Annotated[Number, Field(gt=0, lt=1)] = TRAIN_SHARE
    """Share of the text before the validation text."""
    train_fraction: Share = 1.0
    """Share of the training text that is used, from its end."""
    learning_rate: Positive = 1e-3
    """Of the optimizer; `actlab list optimizers` shows the usual one of each."""
    weight_decay: NotNegative = 0.01
    """Of the optimizer."""
    optimizer: OptimizerName = "adamw"
    """What steps: one of the table, or one that a plug-in registers."""
    schedule: Literal["constant", "linear", "cooldown", "cosine"] = "constant"
    """Of the learning rate; linear: to 0 at the end; cooldown: constant, then linear to 0 over the last half;
    cosine: 2% of warm-up, then to a tenth."""
    average: Annotated[Decay | tuple[Decay, ...], BeforeValidator(_as_tuple)] = 0.0
    """Decay of a moving average of the weights, compared at the end as well, or several of them; 0: none."""
    gated_width: Annotated[str, one_of("gated_width", GATED_WIDTHS)] = "matched"
    """matched: the plain arm's parameter count; doubled: 1.5 times the feed-forward layer."""
    scale: ScaleName = "quick"
    """Size of the model."""
    model: ModelName = "charlm"
    """The architecture."""
    activation: ActivationName = "gelu"
    """Of the feed-forward layers or where else the model has it (``actlab list models``)."""
    varies: Literal["all", "init", "order", "dropout"] = "all"
    """The one random stream that the seed feeds; the others have the seed ``fixed``. ``all``: it feeds every stream."""
    fixed: int = 0
    defects: tuple[str, ...] = ()
    """Published mistakes of training that are on (``protocol`` of a study)."""
    also: tuple[int, ...] = ()
    """Steps at which it is evaluated beside every ``evaluate_every``: a snapshot there changes its history."""

    def seed_of(self, stream: str) -> int:
        """The seed that feeds the named stream."""
        if self.change in (ALL, stream):
            return self.seed + CHANGED
        return self.seed if self.varies in (ALL, stream) else self.fixed

    @property
    def nudged_at(self) -> int | None:
        """The step before which one weight moves by one unit in the last place."""
        name, _, step = self.change.partition("-")
        return int(step or 0) if name == NUDGE else None

    def with_change(self, seed: int, change: str = PLAIN) -> Self:
        """The same for another seed and change. One stream at the seed of all others is no variation."""
        alone = {"varies": ALL, "fixed": 0} if seed == self.fixed else {}
        return self.model_copy(update={"seed": seed, "change": change, **alone})

    def model_config_of(self, vocab_size: int) -> ModelConfig:
        """The size that the scale's name stands for, over a text's own vocabulary."""
        return replace(SCALES[self.scale], vocab_size=vocab_size)


ALWAYS = ("model", "activation", "scale", "dataset", "gated_width")
LATER = ("varies", "fixed", "train_share", "train_fraction", "validation", "validation_windows")
RECIPE = ("iterations", "evaluate_every", "device", "dtype", "compiled", "batch_size", "learning_rate", "weight_decay")
RECIPE_LATER = ("schedule", "optimizer", "betas", "warmup", "clip", "average")
"""Settings of the first records, and those that came later and are told where they are not at their defaults."""


def config_of(trial: CharacterTrial, kind: str, labels: list[str], asked: Measures) -> dict[str, Any]:
    """What a record says of an arm's settings: its hash is in the arm's id, so that what is there never changes."""
    blocks: dict[str, Any] = {name: list(getattr(asked, name)) for name in ("protocol", "ensembles", "equal_compute")}
    blocks |= {"snapshots": list(asked.snapshots), "training_windows": asked.training_windows}
    blocks |= {"metrics": dict(asked.metrics), "parts": dict(trial.parts)}
    return {
        **trial.told(ALWAYS, LATER),
        "dataset": short_name(trial.dataset),
        "prediction_windows": asked.prediction_windows,
        "recipe": trial.told(RECIPE, RECIPE_LATER),
        "kind": kind,
        "trials": labels,
        "model_size": without_vocabulary(SCALES[trial.scale]),
        **{name: value for name, value in blocks.items() if value},
    }


def without_vocabulary(size: Any) -> dict[str, Any]:
    """The numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {each.name: getattr(size, each.name) for each in fields(size) if each.name != "vocab_size"}


def recipe_of(trial: CharacterTrial) -> Recipe:
    """How it is trained."""
    values = trial.model_dump()
    recipe = Recipe(**{each.name: values[each.name] for each in fields(Recipe) if each.name in values})
    return replace(recipe, dtype=BFLOAT16) if trial.change == BFLOAT16 else recipe


C = TypeVar("C", bound=CharacterTrial)


def load(record: store.Record, label: str) -> CharacterTrial:
    """A recorded trial; its parts need not be here."""
    return trial_of(CharacterTrial, record, label)


def trial_of(kind: type[C], record: store.Record, label: str) -> C:
    """The trial of a record that has this label."""
    config = record["config"]
    values = config["recipe"] | config
    values = {name: _as_tuple(value) for name, value in values.items() if name in kind.model_fields}
    seed, _, change = label.partition("-")
    values |= {
        "dataset": dataset_of(record),
        "parts": tuple(sorted(config.get("parts", {}).items())),
        "defects": tuple(name for name in config.get("protocol", ()) if name in OF_TRAINING),
        "also": tuple(step for step in config.get("snapshots", ()) if step % values.get("evaluate_every", 30)),
    }
    return kind.model_construct(**values).with_change(int(seed), change)


def dataset_of(record: Mapping[str, Any]) -> str:
    """The text of a record; a user's file where it lay, from the current folder."""
    return located(record["provenance"]["data"].get("path", record["config"]["dataset"]))
