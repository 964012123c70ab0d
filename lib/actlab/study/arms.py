"""Arms and trials as data: Params -> arms, each with an id that says what it is and a hash of everything that it depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from actlab import store
from actlab.models import SCALES, ModelConfig
from actlab.study.params import Params
from actlab.training.loop import Recipe

PLAIN, REPEAT, NUDGE = "", "repeat", "nudge"
"""Variants of a trial: as it is; the same seed once more; the same seed with one weight moved by one unit in the last place."""


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

    @property
    def label(self) -> str:
        """Names the trial within its arm: ``42`` or ``42-nudge``."""
        return f"{self.seed}-{self.variant}" if self.variant else str(self.seed)

    def model_config(self, vocab_size: int) -> ModelConfig:
        """The size that the scale's name stands for, over a text's own vocabulary."""
        return replace(SCALES[self.scale], vocab_size=vocab_size)


@dataclass(frozen=True)
class Arm:
    """One combination of factors and its trials. A ``floor`` arm holds the first seed three times: plain, repeated, nudged."""

    study: str
    model: str
    activation: str
    kind: str
    trials: tuple[TrialSpec, ...]

    @property
    def config(self) -> dict[str, Any]:
        """What the arm's hash covers, as plain values."""
        first = asdict(self.trials[0])
        shared = {key: value for key, value in first.items() if key not in ("seed", "variant")}
        return {**shared, "kind": self.kind, "trials": [spec.label for spec in self.trials], "model_size": size_of(self.trials[0].scale)}

    @property
    def id(self) -> str:
        """``charlm-gelu-<hash>`` or ``charlm-gelu-floor-<hash>``."""
        name = "-".join([self.model, self.activation] + ([self.kind] if self.kind != "trials" else []))
        return f"{name}-{store.digest(self.config)[:10]}"


def size_of(scale: str) -> dict[str, Any]:
    """The numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {key: value for key, value in asdict(SCALES[scale]).items() if key != "vocab_size"}


def arms_of(params: Params) -> list[Arm]:
    """The arms of a study in the order in which they run; the noise floors come last."""
    if params.order == "model":
        cells = [(m, a) for m in params.model for a in params.activations]
    else:
        cells = [(m, a) for a in params.activations for m in params.model]
    kinds = ["trials"] + (["floor"] if params.noise_floor else [])
    return [arm(params, model, activation, kind) for kind in kinds for model, activation in cells]


def arm(params: Params, model: str, activation: str, kind: str = "trials") -> Arm:
    """One arm of a study."""
    if kind == "trials":
        labels = [(params.seed + i, PLAIN) for i in range(params.trials)]
    else:
        labels = [(params.seed, variant) for variant in (PLAIN, REPEAT, NUDGE)]
    recipe = Recipe(**{name: getattr(params, name) for name in Recipe.__dataclass_fields__})
    trials = tuple(
        TrialSpec(model, activation, seed, variant, params.scale, params.dataset, params.gated_width, params.prediction_windows, recipe)
        for seed, variant in labels
    )
    return Arm(params.study, model, activation, kind, trials)
