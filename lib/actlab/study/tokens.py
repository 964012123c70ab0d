"""The optimizer x symmetry x activation ablation of GPT-2: a trial and a study of it, how they are planned, trained,
measured and read back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from filelock import FileLock
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from actlab import paths
from actlab.data import fetch
from actlab.data.text import is_file, part_of, short_name, shown
from actlab.data.tokenize import TOKENIZER, TokenVocabulary, tokenize_dataset
from actlab.data.tokens import TokenStream, find_shards, load_tokens, read_shard
from actlab.errors import DataError
from actlab.models.gpt2 import GPT2, GPT2_SCALES, GPT2Config
from actlab.models.layers import LanguageModel
from actlab.models.symmetry import MODES, POLICIES
from actlab.models.vocabulary import Vocabulary
from actlab.optimizers import OPTIMIZERS
from actlab.records import store
from actlab.records.settings import CELLS
from actlab.study.arm import Arm, means
from actlab.study.cache import checkpoint_of
from actlab.study.fields import ActivationName, Count, CountOrNone, OptimizerName, Positive, StudyName, name_in
from actlab.study.study import LanguageStudy, with_axes
from actlab.study.trial import LanguageTrial, Outcome, Report, Results, Settings, Task, weights, without_vocabulary
from actlab.trainers import loop
from actlab.trainers.evaluation import exact, logits_of, measure
from actlab.trainers.recipes import LEAST
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.windows import Windows, spread

NO_CHOICE = {"positions": "learned", "rope_share": 0.5, "value_mean": 0.0, "evaluation_draws": 8}
"""Settings that no study varied, which the hashes of the recorded arms hold."""


BATCH_TOKENS = 4096
"""Tokens of one published validation batch: 8 x 512, side by side in the text."""
SPANS = 128
"""Batches that are measured; the published runs saw 122, one an evaluation."""


@dataclass(frozen=True)
class Shards:
    """The tokens of a trial: files, and what a record says of them, with the vocabulary that the model needs."""

    train: tuple[Path, ...]
    validation: tuple[Path, ...]
    description: Settings
    vocabulary: TokenVocabulary | None
    """None where a user's own shards come without their tokenizer."""


@lru_cache(maxsize=2)
def own_shards(folder: str, vocab_size: int) -> Shards:
    """Find the user's own shards, which keep the published vocabulary of the model's scale.

    Raises:
        DataError: a shard holds a token that the vocabulary lacks, since it was made with another tokenizer.
    """
    train, validation = (tuple(find_shards(paths.data() / folder, split)) for split in ("train", "val"))
    hashes = {}
    for path in (*train, *validation):
        if (largest := int(np.max(read_shard(path), initial=0))) >= vocab_size:
            raise DataError(f"{path} holds token {largest}, but the vocabulary has {vocab_size}")
        hashes[path.name] = fetch.sha256(path)
    description = {"name": folder, "vocab_size": vocab_size, "sha256": store.digest(hashes), "files": hashes}
    tokenizer = paths.data() / folder / TOKENIZER
    return Shards(train, validation, description, TokenVocabulary(tokenizer) if tokenizer.exists() else None)


@lru_cache(maxsize=2)
def text_shards(dataset: str, vocab_size: int, cache: Path, sha256: str = "") -> Shards:
    """Tokenize a text into the cache at its first use; ``sha256``: of a user's own, by which it is known."""
    folder = cache / "tokens" / (f"own-{vocab_size}-{sha256[:10]}" if sha256 else f"{dataset}-{vocab_size}")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        manifest = tokenize_dataset(dataset, vocab_size, folder)
    files = {split: tuple(folder / file["file"] for file in files) for split, files in manifest["splits"].items()}
    identity = {key: value for key, value in manifest.items() if not sha256 or key != "name"}
    description = {"sha256": store.digest(identity), **manifest, "name": short_name(dataset)}
    vocabulary = TokenVocabulary(folder / TOKENIZER)
    return Shards(files["train"], files["val"], description, vocabulary)


class TokenTrial(LanguageTrial):
    """Everything that a trial's result depends on, but for data, code and machine."""

    kind = "ablation"
    cell = tuple(CELLS["ablation"])
    identity = (
        *("optimizer", "symmetry", "activation", "rate_factor", "scale", "dataset", "shards", "vocab_size"),
        *("qkv_bias", "evaluation", "soap_max_dim", "batch_size", "validation?", "validation_windows", "betas?"),
        *("recipe.iterations", "recipe.evaluate_every", "recipe.device", "recipe.dtype", "recipe.compiled"),
        *("recipe.schedule", "recipe.micro_batches", "recipe.warmup", "recipe.clip?"),
    )
    may_be_own = ("activation", "optimizer", "dataset")
    vocab_size: Annotated[int, Field(ge=257, le=65536)] = 512
    """Largest vocabulary of the text's byte-pair encoding."""
    shards: str = ""
    """Folder of *train*.bin and *val*.bin below the data folder, in place of the text."""
    scale: Annotated[str, name_in("scale", GPT2_SCALES)] = "quick"
    """Size of the model."""
    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ."""
    evaluation: Annotated[str, name_in("evaluation policy", POLICIES)] = "mean"
    """The random vectors in evaluation: the last draw, or their mean."""
    batch_size: Count = 8
    """Sequences in a batch."""
    micro_batches: Count = 1
    """Batches whose gradients make one step."""
    schedule: Literal["constant", "cosine"] = "constant"
    """Of the learning rate; cosine: to a tenth at the end."""
    soap_max_dim: CountOrNone = 10_000
    """Longest side that SOAP gives a basis."""
    rate_factor: Positive = 1.0
    """Multiple of the optimizer's published learning rate."""
    optimizer: OptimizerName = "ecd"
    """With its published settings, or one that a plug-in registers."""
    symmetry: Annotated[str, name_in("symmetry mode", MODES)] = "symmetric"
    """What is added in attention."""
    activation: ActivationName = "gelu"
    """Of the feed-forward layers."""

    @property
    def settings(self) -> Settings:  # noqa: D102
        settings = super().settings
        return {
            **settings,
            "recipe": settings["recipe"] | {"final_share": LEAST},
            "positions": "learned",
            "model_size": without_vocabulary(self.size) | NO_CHOICE,
            "optimizer_settings": {**OPTIMIZERS[self.optimizer].defaults, **self.optimizer_settings},
        }

    @property
    def optimizer_settings(self) -> Settings:
        """Return what departs from the published settings."""
        rate = OPTIMIZERS[self.optimizer].defaults["lr"] * self.rate_factor
        soap = {"max_precondition_dim": self.soap_max_dim} if self.optimizer == "soap" else {}
        return {"lr": rate, **soap, **({"betas": self.betas} if self.betas else {})}

    @property
    def tokens(self) -> Shards:
        """Return its shards."""
        if self.shards:
            return own_shards(self.shards, self.size.vocab_size)
        return text_shards(self.dataset, self.vocab_size, paths.cache(), dict(self.parts).get("dataset", ""))

    @property
    def content(self) -> str:  # noqa: D102
        return self.tokens.description["sha256"]

    @property
    def size(self) -> GPT2Config:  # noqa: D102
        return GPT2_SCALES[self.scale]

    @property
    def validation_text(self) -> Tensor:  # noqa: D102
        return part_of(load_tokens(self.tokens.validation), self.validation)

    def data(self, prediction_windows: int = 0) -> Settings:  # noqa: D102
        where = {"path": shown(self.dataset)} if is_file(self.dataset) and not self.shards else {}
        return {**self.tokens.description, "validation_sha256": self.validation_set().sha256, **where}

    @property
    def vocabulary(self) -> Vocabulary | None:  # noqa: D102
        return self.tokens.vocabulary

    def fresh(self, vocab_size: int = 0) -> GPT2:  # noqa: D102
        config = replace(
            self.size,
            vocab_size=vocab_size or self.tokens.description["vocab_size"],
            qkv_bias=self.qkv_bias,
            symmetry=self.symmetry,
            evaluation=self.evaluation,
        )
        model = GPT2(config, self.part("activation", self.activation), "matched")
        model.initialise(init_streams(self.seed))
        return model

    def train(self, task: Task, place: Path | None, report: Report | None) -> list[Outcome]:  # noqa: D102
        model, validation = self.fresh().to(self.device), self.validation_set()
        config, recipe = model.config, self.recipe
        stream = TokenStream(
            self.tokens.train, config.block_size, self.batch_size, lambda epoch: generator(self.seed, f"order/{epoch}")
        )

        def measured(net: LanguageModel, iteration: int) -> dict[str, float]:
            tokens = iteration * self.micro_batches * self.batch_size * config.block_size
            return {"tokens": tokens, **measure(net, validation, recipe.evaluated_in(iteration))}

        training = loop.Training(
            model,
            self.optimizer_for(model, self.optimizer, self.optimizer_settings),
            stream.batch,
            measured,
            recipe,
            self.seed,
            saved_at=checkpoint_of(place) if place else None,
            on_progress=report,
        )
        trained = loop.train(training)
        analyses = batch_losses(model, self.validation_text) if trained.status == "done" else {}
        return [({**self.results_of(model, trained), "analyses": analyses}, weights(model))]


def batch_losses(model: LanguageModel, tokens: Tensor) -> Results:
    """Measure what single validation batches, as published, would say of a trained model of the ablation.

    ``batch_losses``: nats a token, of up to ``SPANS`` spans of about ``BATCH_TOKENS`` tokens (``batch_tokens``; all
    that there are, if fewer) spread evenly over the validation split ``tokens`` (n,).
    """
    block_size = model.config.block_size
    batch_tokens = min(BATCH_TOKENS, len(tokens) - 1) // block_size * block_size
    whole = spread(tokens, max(batch_tokens, block_size), SPANS)  # a split shorter than a window is an error there
    windows = Windows(*(part.reshape(-1, block_size) for part in (whole.inputs, whole.targets)))
    pairs = logits_of(model, windows)
    losses = torch.cat([F.cross_entropy(logits, targets, reduction="none") for logits, targets in pairs])
    means = exact(losses.view(-1, batch_tokens)).mean(dim=1)
    return {"batch_tokens": batch_tokens, "batch_losses": [round(value, 6) for value in means.tolist()]}


class TokenArm(Arm):
    """An arm of the ablation."""

    def measured(self, results: list[Results]) -> store.Record:
        """Average the trials that are done; losses are in nats a token, accuracies in %."""
        return {
            "model_name": "gpt2",
            **{name: self.config[name] for name in ("activation", "optimizer", "symmetry", "rate_factor")},
            "n_parameters": results[0].get("n_parameters"),
            **means(("val_loss", "val_accuracy"), results),
            "trials": results,
        }


@with_axes(
    optimizer=("ecd", "adamw", "sgdm", "soap"), symmetry=("symmetric", "bQbV"), activation=("gelu", "random_prelu")
)
class TokenStudy(LanguageStudy):
    """One ablation: every optimizer x symmetry mode x activation x rate factor, ``trials`` seeds each."""

    trial = TokenTrial
    single = ("betas",)
    recorded = ("ablation",)
    tunes = "rate_factor"
    tuned_by = ("optimizer",)
    study: StudyName = "ablation-quick"
    """Folder of the records below results/."""
    trials: Count = 1
    """Independently seeded training runs of each arm; more than recorded: the study grows."""

    def arms_of(self, kind: str) -> Iterator[Arm]:
        """Plan one arm at each point of the study."""
        for point in self.points():
            first = TokenTrial.planned(point, self.seed)
            trials = tuple(first.with_change(seed) for seed in self.seeds)
            factor = [] if first.rate_factor == 1 else [f"x{first.rate_factor:g}"]
            name = "-".join([first.optimizer, first.symmetry, first.activation, *factor])
            config = first.settings | {"trials": [trial.label for trial in trials]}
            yield TokenArm(self.study, kind, name, trials, config, decided=self.decided)


Study = TokenStudy
