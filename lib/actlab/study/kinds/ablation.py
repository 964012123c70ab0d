"""The optimizer x symmetry x activation ablation of GPT-2: its parameters, its arms and trials, and how one trains."""

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field
from torch import Tensor

from actlab import paths
from actlab.data.text import is_file, load_text, located, part_of, shown
from actlab.data.tokens import TokenStream, load_tokens
from actlab.errors import LIMITS
from actlab.models.gpt2 import GPT2, GPT2_SCALES, GPT2Config
from actlab.models.symmetry import MODES, POLICIES
from actlab.optimizers import OPTIMIZERS, build_optimizer
from actlab.plugins import Parts, find_part, parts_of
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study.arms import Specified, taken, without_vocabulary
from actlab.study.kinds import shards
from actlab.study.kinds.characters import dataset_of, results_of, weights
from actlab.study.kinds.kind import Kind, Outcome, Report, Results
from actlab.study.kinds.measure import batch_losses, mean
from actlab.study.params.field_types import (
    ActivationName,
    Batch,
    Positive,
    Several,
    StudyName,
    TextName,
    Trials,
    one_of,
)
from actlab.study.params.language import LanguageParams
from actlab.study.tuning import chosen, tuned
from actlab.trainers.loop import train_tokens
from actlab.trainers.recipes import SCHEDULES, TokenRecipe
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.windows import Windows, cover, spread

NO_CHOICE = {"positions": "learned", "rope_share": 0.5, "value_mean": 0.0, "evaluation_draws": 8}
"""Settings that no study varied, which the hashes of the recorded arms hold."""


class AblationParams(LanguageParams):
    """One ablation: every optimizer x symmetry mode x activation x rate factor, ``trials`` seeds each. Lists make the
    factors."""

    factors = ("optimizer", "symmetry", "activation", "rate_factor")
    study: StudyName = "ablation-quick"
    trials: Trials = 1
    optimizer: Several[Annotated[str, one_of("optimizer", OPTIMIZERS)]] = ("ecd", "adamw", "sgdm", "soap")
    """With their published settings."""
    symmetry: Several[Annotated[str, one_of("symmetry mode", MODES)]] = ("symmetric", "bQbV")
    """What is added in attention."""
    activation: Several[ActivationName] = ("gelu", "random_prelu")
    """Of the feed-forward layers."""
    rate_factor: Several[Positive] = (1.0,)
    """Multiples of each optimizer's published learning rate."""
    dataset: TextName = "pydoc"
    """Text to be tokenized."""
    vocab_size: Annotated[int, Field(ge=257, le=65536)] = 512
    """Largest vocabulary of its byte-pair encoding."""
    shards: str = ""
    """Folder of *train*.bin and *val*.bin below the data folder, in place of the text."""
    scale: Annotated[str, one_of("scale", GPT2_SCALES)] = "quick"
    """Size of the model."""
    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ."""
    evaluation: Annotated[str, one_of("evaluation policy", POLICIES)] = "mean"
    """The random vectors in evaluation: the last draw, or their mean."""
    batch_size: Batch = 8
    """Sequences in a batch."""
    micro_batches: Batch = 1
    """Batches whose gradients make one step."""
    schedule: Annotated[str, one_of("schedule", SCHEDULES)] = "constant"
    warmup: Annotated[int, Field(ge=0, le=LIMITS["iterations"])] = 0
    soap_max_dim: Annotated[int, Field(ge=0, le=100_000)] = 10_000
    """Longest side that SOAP gives a basis."""


@dataclass(frozen=True)
class AblationTrial(Specified):
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

    def model_config(self, vocab_size: int) -> GPT2Config:
        """Size and variant of the model over the shards' own vocabulary."""
        variant: dict[str, Any] = {name: getattr(self, name) for name in ("qkv_bias", "evaluation", "symmetry")}
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
    kind = "ablation"
    metrics: ClassVar[Parts] = ()

    @property
    def config(self) -> dict[str, Any]:
        """What the arm's hash covers, as plain values."""
        first = self.trials[0]
        settings = {**OPTIMIZERS[first.optimizer].defaults, **first.optimizer_settings}
        return {
            **{key: value for key, value in first.named_by.items() if key != "seed"},
            "positions": "learned",
            "trials": [trial.label for trial in self.trials],
            "model_size": without_vocabulary(GPT2_SCALES[first.scale]) | NO_CHOICE,
            "optimizer_settings": {key: list(v) if isinstance(v, tuple) else v for key, v in settings.items()},
        }

    @property
    def id(self) -> str:
        """``ecd-bQbV-gelu-<hash>``, with ``-x3`` where the rate is three times the published one."""
        first = self.trials[0]
        factor = "" if first.rate_factor == 1 else f"-x{first.rate_factor:g}"
        found = store.digest(by_content(self.config))[:10]
        return f"{first.optimizer}-{first.symmetry}-{first.activation}{factor}-{found}"


def arm(params: AblationParams, optimizer: str, symmetry: str, activation: str) -> AblationArm:
    """One arm of an ablation, at the first of its rate factors."""
    common: dict[str, Any] = {
        "optimizer": optimizer,
        "symmetry": symmetry,
        "activation": activation,
        "rate_factor": params.rate_factor[0],
        "recipe": taken(TokenRecipe, params),
        "dataset": located(params.dataset),
        "parts": parts_of(activation=activation, **({} if params.shards else {"dataset": params.dataset})),
    }
    trials = tuple(taken(AblationTrial, params, seed=seed, **common) for seed in params.seeds)
    return AblationArm(params.study, trials, params.plan.mark if params.plan else None)


def chosen_factor(study: str, optimizer: str) -> float:
    """The multiple of an optimizer's published rate that the study ``params/<study>.yaml`` chose."""
    return chosen(
        study,
        AblationParams.load,
        lambda of: tuned(of, "rate_factor", arm, optimizer, of.symmetry[0], of.activation[0]),
    )


def shards_of(trial: AblationTrial) -> shards.Shards:
    """The trial's shards.

    Raises:
        BadInput: a user's own text is another by now than was planned.
    """
    if trial.shards:
        return shards.own_shards(trial.shards, GPT2_SCALES[trial.scale].vocab_size)
    if planned := dict(trial.parts).get("dataset", ""):
        load_text(trial.dataset, planned)
    return shards.text_shards(trial.dataset, trial.vocab_size, paths.cache(), planned)


def validation_tokens(trial: AblationTrial) -> Tensor:
    """The part of the validation split that the trial is measured on."""
    return part_of(load_tokens(shards_of(trial).validation), trial.validation)


class Ablation(Kind):
    """GPT-2 on token shards."""

    name, folder, params = "ablation", "ablation", AblationParams
    parts, records = (AblationArm, AblationTrial), ("ablation",)

    def plan(self, params: AblationParams) -> list[AblationArm]:
        """Rate factor slowest, activation fastest. Where factors are tuned, the arms depend on what is recorded."""
        cells = list(product(params.optimizer, params.symmetry, params.activation))
        if params.tuning is not None:
            return [each for cell in cells for each in tuned(params, "rate_factor", arm, *cell)[0]]
        if params.rates is None:
            settings = [params.replace(rate_factor=factor) for factor in params.rate_factor]
            return [arm(own, *cell) for own in settings for cell in cells]
        chose = {name: params.replace(rate_factor=chosen_factor(params.rates.study, name)) for name in params.optimizer}
        return [arm(chose[cell[0]], *cell) for cell in cells]

    def compared_on(self, task: AblationTrial) -> Windows:
        """The fixed validation windows: the trial's part of the split, or an even selection of it."""
        tokens, block = validation_tokens(task), GPT2_SCALES[task.scale].block_size
        return spread(tokens, block, task.validation_windows) if task.validation_windows else cover(tokens, block)

    def data(self, task: AblationTrial) -> dict[str, Any]:
        """Of its tokens and windows."""
        where = {"path": shown(task.dataset)} if is_file(task.dataset) and not task.shards else {}
        return {**shards_of(task).about, "validation_sha256": self.compared_on(task).sha256, **where}

    def known_by(self, task: AblationTrial) -> tuple[str, dict[str, Any]]:  # noqa: D102
        name = f"{task.optimizer}-{task.symmetry}-{task.activation}-{task.label}"
        return name, {**by_content(task.known_by), "data": shards_of(task).about["sha256"]}

    def model(self, task: AblationTrial) -> GPT2:  # noqa: D102
        activation = find_part("activation", task.activation, dict(task.parts).get("activation", ""))
        model = GPT2(task.model_config(shards_of(task).vocab_size), activation, "matched")
        model.initialise(init_streams(task.seed))
        return model

    def train(self, task: AblationTrial, saved_at: Path | None, report: Report | None) -> Outcome:
        """Weights alone beside the results: predictions over a vocabulary are large."""
        model = self.model(task).to(task.recipe.device)
        parameters, random = model.parameters(), generator(task.seed, "optimizer")
        optimizer = build_optimizer(task.optimizer, parameters, random, **task.optimizer_settings)
        stream = TokenStream(
            shards_of(task).train,
            model.config.block_size,
            task.batch_size,
            lambda epoch: generator(task.seed, f"order/{epoch}"),
        )
        done = train_tokens(
            model,
            optimizer,
            stream,
            self.compared_on(task),
            task.recipe,
            task.seed,
            saved_at=saved_at,
            on_progress=report,
        )
        return {
            **results_of(task, model, done),
            "analyses": batch_losses(model, validation_tokens(task), task.recipe) if done.status == "done" else {},
        }, weights(model)

    def measure(self, arm: AblationArm, results: list[Results]) -> store.Record:
        """Means are over the trials that are done; losses in nats a token, accuracies
        in %."""
        first = arm.trials[0]
        done = [trial for trial in results if trial["status"] == "done"]
        return {
            "model_name": "gpt2",
            **{name: getattr(first, name) for name in ("activation", "optimizer", "symmetry", "rate_factor")},
            "n_parameters": results[0].get("n_parameters"),
            **{f"avg_{name}": mean(trial["final"][name] for trial in done) for name in ("val_loss", "val_accuracy")},
            "trials": results,
        }

    def task_of(self, record: store.Record, label: str) -> AblationTrial:  # noqa: D102
        config = record["config"]
        recipe = TokenRecipe(**config["recipe"])
        return AblationTrial.from_config(config, seed=int(label), dataset=dataset_of(record), recipe=recipe)
