"""The optimizer x symmetry x activation ablation as data: its parameters, its arms and their trials. Trains nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from actlab import paths
from actlab.activations import find_activation
from actlab.data.text import located, short_name
from actlab.errors import BadInput, UnknownName
from actlab.models.gpt2 import GPT2_SCALES, POSITIONS, GPT2Config
from actlab.models.symmetry import MODES, POLICIES
from actlab.optimizers import OPTIMIZERS, find_optimizer
from actlab.records import store
from actlab.study.params import Rates, StudyParams, check_text
from actlab.study.parts import Parts, parts_of
from actlab.study.plan import Plan
from actlab.study.records import recorded
from actlab.study.tuning import Tuning, tuned
from actlab.trainers.loop import DTYPES
from actlab.trainers.tokens_loop import SCHEDULES, TokenRecipe

FACTORS = ("optimizers", "symmetry", "activations", "rate_factors")


class AblationParams(StudyParams):
    """One ablation: every optimizer x symmetry mode x activation x rate factor, ``trials`` seeds each. Lists make the
    factors."""

    study: str = Field(
        "ablation-quick", pattern=r"^[a-z0-9][a-z0-9-]{0,60}$", description="folder of the records below results/"
    )
    optimizers: tuple[str, ...] = Field(
        ("ecd", "adamw", "sgdm", "soap"), min_length=1, description="optimizers, with their published settings"
    )
    symmetry: tuple[str, ...] = Field(("symmetric", "bQbV"), min_length=1, description="what is added in attention")
    activations: tuple[str, ...] = Field(
        ("gelu", "random_prelu"), min_length=1, description="activations of the feed-forward layers"
    )
    rate_factors: tuple[float, ...] = Field(
        (1.0,), min_length=1, description="multiples of each optimizer's published learning rate"
    )
    trials: int = Field(1, ge=1, le=1000, description="independently seeded training runs of each arm")
    seed: int = Field(42, ge=0, lt=2**31, description="seed of the first trial; the others follow it")
    dataset: str = Field("pydoc", description="text to be tokenized")
    vocab_size: int = Field(512, ge=257, le=65536, description="largest vocabulary of its byte-pair encoding")
    shards: str = Field(
        "", description="folder of *train*.bin and *val*.bin below the data folder, in place of the text"
    )
    scale: str = Field("quick", description="size of the model")
    positions: str = Field("learned")
    qkv_bias: bool = Field(
        True, description="whether the qkv projection has a learned bias, which can cancel the mean of bQ"
    )
    evaluation: str = Field(
        "mean", description="the random vectors in evaluation: the last draw, their mean, or several draws averaged"
    )
    iterations: int = Field(60, ge=1, description="optimizer steps of a trial")
    evaluate_every: int = Field(30, ge=1, description="steps between evaluations")
    batch_size: int = Field(8, ge=1, description="sequences in a batch")
    micro_batches: int = Field(1, ge=1, description="batches whose gradients make one step")
    schedule: str = Field("constant")
    warmup: int = Field(0, ge=0)
    validation: Literal["all", "first", "second"] = Field(
        "all", description="the part of the validation text that is measured on"
    )
    validation_windows: int = Field(0, ge=0, description="evenly spread windows of the validation shard; 0: all of it")
    soap_max_dim: int = Field(10_000, ge=0, description="longest side that SOAP gives a basis")
    rates: Rates | None = Field(None, description="take each optimizer's rate factor that another study has chosen")
    tuning: Tuning | None = Field(None, description="choose a rate factor for each combination of the other factors")
    plan: Plan | None = Field(None, description="what was decided before the runs")
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?)$")
    dtype: str = Field("float32")
    compiled: bool = Field(False, description="run through torch.compile")

    @field_validator(*FACTORS, mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        values = tuple(value) if isinstance(value, list | tuple) else (value,)
        return tuple(float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in values)

    @model_validator(mode="after")
    def _known(self) -> AblationParams:
        for optimizer in self.optimizers:
            find_optimizer(optimizer)
        for activation in self.activations:
            find_activation(activation)
        check_text(self.dataset)
        for name, value, known in (
            *(("symmetry mode", mode, tuple(MODES)) for mode in self.symmetry),
            ("scale", self.scale, tuple(GPT2_SCALES)),
            ("positions", self.positions, POSITIONS),
            ("evaluation policy", self.evaluation, POLICIES),
            ("schedule", self.schedule, SCHEDULES),
            ("dtype", self.dtype, DTYPES),
        ):
            if value not in known:
                raise UnknownName(name, value, known)
        if not all(0 < factor < float("inf") for factor in self.rate_factors):
            raise BadInput(f"every rate factor must be positive and finite, got {self.rate_factors}")
        return self

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Kind of part -> the names that the study uses."""
        return {"activation": self.activations, "dataset": () if self.shards else (self.dataset,)}


@dataclass(frozen=True)
class AblationTrial:
    """Everything that a trial's result depends on, but for data, code and machine."""

    optimizer: str
    symmetry: str
    activation: str
    rate_factor: float
    seed: int
    dataset: str
    vocab_size: int
    shards: str
    scale: str
    positions: str
    qkv_bias: bool
    evaluation: str
    batch_size: int
    validation_windows: int
    soap_max_dim: int
    recipe: TokenRecipe
    validation: str = "all"
    """The part of the validation tokens that is measured on: ``all`` of them, their ``first`` or their ``second``
    half."""
    parts: Parts = ()
    """Hashes of activation and dataset, where they are a user's own."""

    @property
    def label(self) -> str:
        """Names the trial within its arm."""
        return str(self.seed)

    @property
    def known_by(self) -> dict[str, Any]:
        """What identifies the trial, as plain values (``arms.known_by``)."""
        own = {"dataset": short_name(self.dataset), "parts": dict(self.parts)}
        return {key: own.get(key, value) for key, value in asdict(self).items() if key != "parts" or value}

    def model_config(self, vocab_size: int) -> GPT2Config:
        """Size and variant of the model over the shards' own vocabulary."""
        variant: dict[str, Any] = {
            "positions": self.positions,
            "qkv_bias": self.qkv_bias,
            "evaluation": self.evaluation,
            "symmetry": self.symmetry,
        }
        return replace(GPT2_SCALES[self.scale], vocab_size=vocab_size, **variant)

    @property
    def optimizer_settings(self) -> dict[str, Any]:
        """What departs from the published settings."""
        rate = OPTIMIZERS[self.optimizer].defaults["lr"] * self.rate_factor
        return {"lr": rate, **({"max_precondition_dim": self.soap_max_dim} if self.optimizer == "soap" else {})}


@dataclass(frozen=True)
class AblationArm:
    """One combination of factors and its trials: what one record holds."""

    study: str
    trials: tuple[AblationTrial, ...]
    plan: tuple[int, str] | None = None
    """Version and hash of the plan that the arm is run under; it changes no id."""

    @property
    def config(self) -> dict[str, Any]:
        """What the arm's hash covers, as plain values."""
        first = self.trials[0]
        shared = {
            key: value
            for key, value in first.known_by.items()
            if key != "seed" and (key, value) != ("validation", "all")
        }
        size = {key: value for key, value in asdict(GPT2_SCALES[first.scale]).items() if key != "vocab_size"}
        published = {
            key: list(v) if isinstance(v, tuple) else v for key, v in OPTIMIZERS[first.optimizer].defaults.items()
        }
        return {
            **shared,
            "trials": [t.label for t in self.trials],
            "model_size": size,
            "optimizer_settings": {**published, **first.optimizer_settings},
        }

    @property
    def id(self) -> str:
        """``ecd-bQbV-gelu-<hash>``, with ``-x3`` where the rate is three times the published one."""
        first = self.trials[0]
        factor = "" if first.rate_factor == 1 else f"-x{first.rate_factor:g}"
        return f"{first.optimizer}-{first.symmetry}-{first.activation}{factor}-{store.digest(self.config)[:10]}"


def arms_of(params: AblationParams) -> list[AblationArm]:
    """The arms of an ablation: rate factor slowest, activation fastest. Where factors are tuned, they depend on what is
    recorded."""
    cells = list(product(params.optimizers, params.symmetry, params.activations))
    if params.tuning is not None:
        return [each for cell in cells for each in candidates(params, *cell)[0]]
    if params.rates is not None:
        chosen = {optimizer: chosen_factor(params.rates.study, optimizer) for optimizer in params.optimizers}
        return [arm(params, *cell, chosen[cell[0]]) for cell in cells]
    return [arm(params, *cell, factor) for factor in params.rate_factors for cell in cells]


def arm(params: AblationParams, optimizer: str, symmetry: str, activation: str, factor: float) -> AblationArm:
    """One arm of an ablation."""
    recipe = TokenRecipe(
        **{name: getattr(params, name) for name in TokenRecipe.__dataclass_fields__ if hasattr(params, name)}
    )
    own = {"optimizer", "symmetry", "activation", "rate_factor", "seed", "recipe", "parts"}
    common: dict[str, Any] = {
        name: getattr(params, name) for name in AblationTrial.__dataclass_fields__ if name not in own
    }
    parts = parts_of(activation=activation, **({} if params.shards else {"dataset": params.dataset}))
    common |= {"dataset": located(params.dataset), "parts": parts}
    seeds = range(params.seed, params.seed + params.trials)
    trials = tuple(
        AblationTrial(optimizer, symmetry, activation, factor, seed, recipe=recipe, **common) for seed in seeds
    )
    return AblationArm(params.study, trials, params.plan.mark if params.plan else None)


def candidates(
    params: AblationParams, optimizer: str, symmetry: str, activation: str
) -> tuple[list[AblationArm], float | None]:
    """Of a study that chooses rate factors: one cell's arms that are recorded or wanted next; the chosen factor, once
    none is wanted."""
    if params.tuning is None:
        raise BadInput(f"{params.study} chooses no rate factors: its params file has no `tuning`")
    return tuned(
        params.tuning,
        lambda factor, seed: arm(params.replace(seed=seed, trials=1), optimizer, symmetry, activation, factor),
        recorded,
    )


def chosen_factor(study: str, optimizer: str) -> float:
    """The multiple of an optimizer's published rate that the study ``params/<study>.yaml`` chose; ``BadInput`` as long
    as it has not."""
    path = paths.ROOT / "params" / f"{study}.yaml"
    params = AblationParams.load(path)
    arms, factor = candidates(params, optimizer, params.symmetry[0], params.activations[0])
    if factor is None:
        raise BadInput(f"{study} has chosen no rate for {optimizer} yet ({len(arms)} trials are planned): run {path}")
    return factor
