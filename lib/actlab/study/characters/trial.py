"""A trial of a language model on characters: its settings, how it is trained, and what a record says of its data."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

import torch
from pydantic import Field
from torch import Tensor, nn

from actlab.data.text import TRAIN_SHARE, Corpus, is_file, load_text, shown
from actlab.models import MODELS, SCALES, LanguageModel, ModelConfig
from actlab.models.convlm import ConvBlock
from actlab.models.layers import GATED_WIDTHS
from actlab.records.defect_names import BOTH, IGNORED, OF_TRAINING
from actlab.records.settings import CELLS
from actlab.records.store import Record
from actlab.study.cache import checkpoint_of, snapshot_of
from actlab.study.fields import ActivationName, Decays, NotNegative, Number, OptimizerName, Positive, Share, name_in
from actlab.study.trial import LanguageTrial, Outcome, Report, Settings, Task, weights
from actlab.trainers import checkpoint, loop
from actlab.trainers.determinism import nudge_one_weight, shift_one_weight
from actlab.trainers.evaluation import evaluate
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import RandomWindows, Windows, spread

ALL = "all"
PLAIN, REPEAT, NUDGE, BFLOAT16, THREADS, SHIFT = "", "repeat", "nudge", "bfloat16", "threads", "shift-"
"""Changes of a trial: nothing; the same once more; one weight moved by one unit in the last place (``nudge-100``: at a
step); bfloat16 autocast; two threads; one weight moved by a share of its matrix's norm (``shift-1e-3``). Others name
the stream that has another seed, or ``all``."""
CHANGED = 1_000_000
"""Added to the seed of a stream that a change names: no study has so many trials."""
OF_CHARACTERS = {"ecd": {"F0": 0.0}}
"""Settings that depend on the losses that can be reached: the published F0 = 2 nats lies above those of characters."""


class CharacterTrial(LanguageTrial):
    """Everything that a trial's result depends on, but for data, code and machine."""

    kind = "repro"
    cell = tuple(CELLS["trials"])
    identity = (
        *("model", "activation", "scale", "gated_width", "dataset", "varies?", "train_share?", "train_fraction?"),
        *("validation?", "validation_windows?", "recipe.iterations", "recipe.evaluate_every", "recipe.batch_size"),
        *("recipe.device", "recipe.dtype", "recipe.compiled", "recipe.learning_rate", "recipe.weight_decay"),
        *("recipe.schedule?", "recipe.optimizer?", "recipe.betas?", "recipe.warmup?", "recipe.clip?"),
        "recipe.average?",
    )
    may_be_own = ("model", "activation", "dataset", "optimizer")
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
    average: Decays = 0.0
    """Decay of a moving average of the weights, compared at the end as well, or several of them; 0: none."""
    gated_width: Annotated[str, name_in("gated_width", GATED_WIDTHS)] = "matched"
    """matched: the plain arm's parameter count; doubled: 1.5 times the feed-forward layer."""
    scale: Annotated[str, name_in("scale", SCALES)] = "quick"
    """Size of the model."""
    model: Annotated[str, name_in("model", MODELS)] = "charlm"
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

    @classmethod
    def of_record(cls, record: Record, label: str) -> Self:
        """Read a recorded trial back, with its defects of training, and its evaluations at snapshots."""
        trial, config = super().of_record(record, label), record["config"]
        defects = tuple(name for name in config.get("protocol", ()) if name in OF_TRAINING)
        also = tuple(step for step in config.get("snapshots", ()) if step % trial.evaluate_every)
        return trial.model_copy(update={"defects": defects, "also": also})

    def seed_of(self, stream: str) -> int:
        """Return the seed that feeds the named stream."""
        if self.change in (ALL, stream):
            return self.seed + CHANGED
        return self.seed if self.varies in (ALL, stream) else self.fixed

    @property
    def nudged_at(self) -> int | None:
        """Return the step before which one weight moves by one unit in the last place."""
        name, _, step = self.change.partition("-")
        return int(step or 0) if name == NUDGE else None

    def with_change(self, seed: int, change: str = PLAIN) -> Self:
        """Return the same for another seed and change. One stream at the seed of all others is no variation."""
        varies = {"varies": ALL, "fixed": 0} if seed == self.fixed else {}
        return self.model_copy(update={"seed": seed, "change": change, **varies})

    @property
    def recipe(self) -> Recipe:
        """Return how it is trained; a cosine rises over the first 2%."""
        recipe = super().recipe
        if self.schedule == "cosine":
            recipe = replace(recipe, warmup=math.ceil(self.iterations / 50))
        return replace(recipe, dtype=BFLOAT16) if self.change == BFLOAT16 else recipe

    @property
    def vocabulary(self) -> Corpus:
        """Return the whole text, which is its own vocabulary."""
        return load_text(self.dataset)

    @property
    def text(self) -> Corpus:
        """Return its characters, with the part of the validation split that it is measured on."""
        return self.vocabulary.part(self.train_share, self.train_fraction, self.validation)

    @property
    def content(self) -> str:  # noqa: D102
        return self.vocabulary.sha256

    @property
    def size(self) -> ModelConfig:  # noqa: D102
        return SCALES[self.scale]

    @property
    def validation_text(self) -> Tensor:  # noqa: D102
        return self.text.validation

    def compared_on(self, prediction_windows: int) -> Windows:
        """Return the windows on which predictions of two trials are compared."""
        return spread(self.validation_text, self.size.block_size, prediction_windows)

    def data(self, prediction_windows: int = 0) -> Settings:  # noqa: D102
        corpus = self.text
        data: Settings = {name: getattr(corpus, name) for name in ("name", "sha256", "vocab_size")}
        data["validation_positions"] = self.validation_set().positions
        if prediction_windows:
            frozen = self.compared_on(prediction_windows)
            data |= {"prediction_positions": frozen.positions, "evaluation_sha256": frozen.sha256}
        return data | ({"path": shown(self.dataset)} if is_file(self.dataset) else {})

    def fresh(self, vocab_size: int = 0) -> LanguageModel:  # noqa: D102
        config = replace(self.size, vocab_size=vocab_size or self.vocabulary.vocab_size)
        activation = self.part("activation", "relu" if IGNORED in self.defects else self.activation)
        model: LanguageModel = self.part("model", self.model).factory(config, activation, self.gated_width)
        for block in model.modules() if BOTH in self.defects else ():
            if isinstance(block, ConvBlock):
                reach = sum(block.padding)
                block.padding = (reach // 2, reach // 2)
        model.initialise(init_streams(self.seed_of("init")))
        if self.nudged_at == 0:
            nudge_one_weight(model)
        if self.change.startswith(SHIFT):
            shift_one_weight(model, float(self.change.removeprefix(SHIFT)), self.seed)
        return model

    def train(self, task: Task, place: Path | None, report: Report | None) -> list[Outcome]:
        """Train it: results, weights, and those of its moving averages. Snapshots are written beside ``place``."""
        model, validation = self.fresh().to(self.device), self.validation_set()
        recipe, nudged = self.recipe, self.nudged_at
        settings = {"lr": self.learning_rate, "weight_decay": self.weight_decay, "betas": self.betas}
        settings |= OF_CHARACTERS.get(self.optimizer, {})
        if self.change == THREADS:
            torch.set_num_threads(2)  # the next trial sets it back

        def evaluated(iteration: int, net: nn.Module) -> None:
            if place is not None and iteration in task.snapshots:
                checkpoint.write_tensors(snapshot_of(place, iteration), weights(net), {"iteration": iteration})
            if iteration and iteration == nudged:
                nudge_one_weight(net)

        training = loop.Training(
            model,
            self.optimizer_for(model, self.optimizer, settings),
            RandomWindows(self.text.train, model.config.block_size, recipe, self.seed_of("order")).batch,
            lambda net, iteration: evaluate(net, validation, recipe.evaluated_in(iteration)),
            recipe,
            self.seed_of("dropout"),
            also=(*self.also, *([nudged] if nudged else ())),
            saved_at=checkpoint_of(place) if place else None,
            on_progress=report,
            on_evaluation=evaluated,
        )
        trained = loop.train(training)
        results = {**self.results_of(model, trained), "variant": self.change, "best": trained.best}
        tensors = weights(model)
        averages = dict(zip(map(str, recipe.decays), trained.averages, strict=True))
        if averages:
            results["average"] = recipe.single({d: evaluate(net, validation) for d, net in averages.items()})
        for decay, net in averages.items():
            tensors |= weights(net, f"average/{decay}/weights/")
        return [(results, tensors)]
