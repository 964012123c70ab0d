"""A trial of the ablation: its token shards, its GPT-2, its training (by one process or several), its arm's record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock
from torch import Tensor

from actlab import paths
from actlab.data.fetch import sha256
from actlab.data.text import is_file, load_text, part_of, short_name, shown
from actlab.data.tokenize import tokenize_dataset
from actlab.data.tokens import TokenStream, check_range, find_shards, load_tokens
from actlab.models.gpt2 import GPT2, GPT2_SCALES, build_gpt2
from actlab.optimizers import build_optimizer
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study.kinds import ablation
from actlab.study.kinds.ablation import AblationArm, AblationParams, AblationTrial
from actlab.study.kinds.characters import dataset_of, results_of, weights
from actlab.study.measure import Results, batch_losses, mean
from actlab.study.parts import check_parts
from actlab.study.pool import Report
from actlab.trainers.loop import train_tokens
from actlab.trainers.recipes import TokenRecipe
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.windows import Windows, cover, spread

NAME, FOLDER, OWN = "ablation", "ablation", (AblationParams, AblationArm, AblationTrial, "ablation")
arms_of = ablation.arms_of


def tasks_of(params: AblationParams, arm: AblationArm) -> Sequence[AblationTrial]:
    """What has to be trained for an arm, one task a trial."""
    return arm.trials


@dataclass(frozen=True)
class Shards:
    """The tokens of a trial: files, the vocabulary that the model needs, and what a record says of them."""

    train: tuple[Path, ...]
    validation: tuple[Path, ...]
    vocab_size: int
    about: dict[str, Any]


def shards_of(trial: AblationTrial) -> Shards:
    """The trial's shards; a text is tokenized into the cache at its first use.

    The user's own shards keep the published vocabulary of the model's scale; all of their files are checked against it.

    Raises:
        BadInput: a user's own text is another by now than was planned.
    """
    if trial.shards:
        return _own_shards(trial.shards, GPT2_SCALES[trial.scale].vocab_size)
    if planned := dict(trial.parts).get("dataset", ""):
        load_text(trial.dataset, planned)
    return _text_shards(trial.dataset, trial.vocab_size, paths.cache(), planned)


@lru_cache(maxsize=2)
def _own_shards(folder: str, vocab_size: int) -> Shards:
    train, validation = (tuple(find_shards(paths.data() / folder, split)) for split in ("train", "val"))
    for path in (*train, *validation):
        check_range(path, vocab_size)
    hashes = {path.name: sha256(path) for path in (*train, *validation)}
    about = {"name": folder, "vocab_size": vocab_size, "sha256": store.digest(hashes), "files": hashes}
    return Shards(train, validation, vocab_size, about)


@lru_cache(maxsize=2)
def _text_shards(dataset: str, vocab_size: int, cache: Path, sha256: str = "") -> Shards:
    own = bool(sha256)  # known by its content, whatever its file is called
    folder = cache / "tokens" / (f"own-{vocab_size}-{sha256[:10]}" if own else f"{dataset}-{vocab_size}")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        manifest = tokenize_dataset(dataset, vocab_size, folder)
    train, validation = (
        tuple(folder / entry["file"] for entry in manifest["splits"][split]) for split in ("train", "val")
    )
    found = store.digest({key: value for key, value in manifest.items() if not own or key != "name"})
    about = {"sha256": found, **manifest, "name": short_name(dataset)}
    return Shards(train, validation, manifest["vocab_size"], about)


def validation_tokens(trial: AblationTrial) -> Tensor:
    """The part of the validation split that the trial is measured on."""
    return part_of(load_tokens(shards_of(trial).validation), trial.validation)


def compared_on(trial: AblationTrial) -> Windows:
    """The fixed validation windows: the trial's part of the split, or an even selection of it."""
    tokens, block = validation_tokens(trial), GPT2_SCALES[trial.scale].block_size
    return spread(tokens, block, trial.validation_windows) if trial.validation_windows else cover(tokens, block)


def data_of(trial: AblationTrial) -> dict[str, Any]:
    """What a record says of its tokens and windows."""
    where = {"path": shown(trial.dataset)} if is_file(trial.dataset) and not trial.shards else {}
    return {**shards_of(trial).about, "validation_sha256": compared_on(trial).sha256, **where}


def known_by(trial: AblationTrial) -> tuple[str, dict[str, Any]]:
    """(the start of its name in the cache, what identifies it there beside code and machine)."""
    name = f"{trial.optimizer}-{trial.symmetry}-{trial.activation}-{trial.label}"
    return name, {**by_content(trial.known_by), "data": shards_of(trial).about["sha256"]}


def fresh_model(trial: AblationTrial) -> GPT2:
    """The trial's model before training."""
    check_parts(tuple(part for part in trial.parts if part[0] == "activation"), activation=trial.activation)
    config = trial.model_config(shards_of(trial).vocab_size)
    return build_gpt2(config, trial.activation, generator_for=init_streams(trial.seed))


def train_trial(
    trial: AblationTrial, saved_at: Path | None, report: Report | None
) -> tuple[Results, dict[str, Tensor]]:
    """Results; weights."""
    model = fresh_model(trial).to(trial.recipe.device)
    parameters, random = model.parameters(), generator(trial.seed, "optimizer")
    optimizer = build_optimizer(trial.optimizer, parameters, random, **trial.optimizer_settings)
    stream = TokenStream(
        shards_of(trial).train,
        model.config.block_size,
        trial.batch_size,
        lambda epoch: generator(trial.seed, f"order/{epoch}"),
    )
    done = train_tokens(
        model,
        optimizer,
        stream,
        compared_on(trial),
        trial.recipe,
        trial.seed,
        saved_at=saved_at,
        on_progress=report,
    )
    return {
        **results_of(trial, model, done),
        "analyses": batch_losses(model, validation_tokens(trial), trial.recipe) if done.status == "done" else {},
    }, weights(model)


def measured_of(arm: AblationArm, results: list[Results], *_: Callable[..., Any]) -> store.Record:
    """The arm's own part of its record. Means are over the trials that are done; losses in nats a token, accuracies
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


def trial_of(record: store.Record, label: str) -> AblationTrial:
    """The specification of a recorded trial."""
    config = record["config"]
    recipe = TokenRecipe(**config["recipe"])
    return AblationTrial.read(config, seed=int(label), dataset=dataset_of(record), recipe=recipe)
