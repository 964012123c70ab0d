"""Runs the ablation: trials in processes, finished ones in the cache, started ones from their checkpoint, one record an
arm."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from actlab import paths
from actlab.data.fetch import sha256
from actlab.data.text import is_file, load_text, short_name, shown
from actlab.data.tokenize import tokenize_dataset
from actlab.data.tokens import TokenStream, check_range, find_shards, load_tokens
from actlab.errors import ActlabError, BadInput
from actlab.files import mending
from actlab.models import count_parameters
from actlab.models.gpt2 import GPT2, GPT2_SCALES, build_gpt2
from actlab.optimizers import build_optimizer
from actlab.records import store
from actlab.study import before, provenance
from actlab.study.ablation import AblationArm, AblationParams, AblationTrial, arms_of
from actlab.study.ablation_analyses import analyse
from actlab.study.events import Watch
from actlab.study.parts import check_parts, sources
from actlab.study.pool import Report
from actlab.study.records import Outcome, in_stages, keep, load_arms, run_arms, trial_by_trial
from actlab.study.utilisation import utilisation
from actlab.trainers import checkpoint, process
from actlab.trainers.distributed import ALONE, Group
from actlab.trainers.distributed import group as joined_group
from actlab.trainers.loop import train_tokens
from actlab.trainers.streams import generator, init_streams
from actlab.trainers.windows import Windows, cover, spread

Results = dict[str, Any]
"""What a trial leaves for the record: plain values."""


def load_ablation(params: AblationParams) -> Outcome[AblationArm]:
    """What is recorded of an ablation; trains nothing."""
    return load_arms(arms_of(params))


def run_ablation(
    params: AblationParams, workers: int = 1, watch: Watch | None = None, scheduler: str = ""
) -> Outcome[AblationArm]:
    """Bring an ablation to its end: arms with a record are loaded, finished trials come from the cache, the rest is
    trained (``records.run_arms``).

    Where there are GPUs, each of the ``workers`` trains on one of them. Under ``torchrun`` the processes that it
    started train one trial after another together, and ``workers`` is not used.
    """
    if load_ablation(params).missing:
        before.check(params, workers, scheduler, together=True)
    group = joined_group()
    together = group.world > 1
    if together and scheduler:
        raise BadInput("torchrun's processes train one trial together: start them without --scheduler")
    provenance.code()  # before anything can change the files that this process has loaded

    def run_once(outcome: Outcome[AblationArm]) -> Outcome[AblationArm]:
        plan = trial_by_trial(
            outcome.missing,
            partial(_train_trial, group=group) if together else _train_trial,
            lambda arm, trials: group.agree(partial(finish, arm, trials, group)),
            gpu=params.device != "cpu",
        )
        if plan.tasks:
            group.agree(lambda: shards_of(plan.tasks[0]))  # tokenize once, before the processes start
        return run_arms(outcome, plan, 1 if together else workers, watch if group.leads else None, scheduler)

    return in_stages(lambda: group.agree(lambda: load_ablation(params)), run_once)


def _train_trial(trial: AblationTrial, report: Report, group: Group = ALONE) -> Results:
    return run_trial(trial, report, group)


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
    """
    if trial.shards:
        return _own_shards(trial.shards, GPT2_SCALES[trial.scale].vocab_size)
    return _text_shards(trial.dataset, trial.vocab_size, paths.cache(), own_text(trial))


@lru_cache(maxsize=2)
def _own_shards(folder: str, vocab_size: int) -> Shards:
    train, validation = (tuple(find_shards(paths.data() / folder, split)) for split in ("train", "val"))
    for path in (*train, *validation):
        check_range(path, vocab_size)
    hashes = {path.name: sha256(path) for path in (*train, *validation)}
    return Shards(
        train,
        validation,
        vocab_size,
        {"name": folder, "vocab_size": vocab_size, "sha256": store.digest(hashes), "files": hashes},
    )


def own_text(trial: AblationTrial) -> str:
    """The planned hash of a user's own text; empty for a built-in one. ``BadInput`` where the text is another by
    now."""
    planned = dict(trial.parts).get("dataset", "")
    if planned:
        load_text(trial.dataset, planned)
    return planned


@lru_cache(maxsize=2)
def _text_shards(dataset: str, vocab_size: int, cache: Path, sha256: str = "") -> Shards:
    name = f"{short_name(dataset)}-{vocab_size}" + (f"-{sha256[:10]}" if sha256 else "")
    folder = cache / "tokens" / name
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        manifest = tokenize_dataset(dataset, vocab_size, folder)
    train, validation = (
        tuple(folder / entry["file"] for entry in manifest["splits"][split]) for split in ("train", "val")
    )
    return Shards(train, validation, manifest["vocab_size"], {"sha256": store.digest(manifest), **manifest})


def validation_tokens(trial: AblationTrial) -> torch.Tensor:
    """The part of the validation split that the trial is measured on."""
    tokens = load_tokens(shards_of(trial).validation)
    half = len(tokens) // 2
    return {"all": tokens, "first": tokens[:half], "second": tokens[half:]}[trial.validation]


def windows_of(trial: AblationTrial) -> Windows:
    """The fixed validation windows: the trial's part of the split, or an even selection of it."""
    tokens, block = validation_tokens(trial), GPT2_SCALES[trial.scale].block_size
    return spread(tokens, block, trial.validation_windows) if trial.validation_windows else cover(tokens, block)


def fresh_model(trial: AblationTrial) -> GPT2:
    """The trial's model before training."""
    check_parts(tuple(part for part in trial.parts if part[0] == "activation"), activation=trial.activation)
    return build_gpt2(
        trial.model_config(shards_of(trial).vocab_size), trial.activation, generator_for=init_streams(trial.seed)
    )


def cached(trial: AblationTrial, origin: Mapping[str, Any] | None = None) -> Path:
    """The file of a finished trial: its results and weights. ``origin``: a record's provenance, for the trial as it was
    trained then."""
    origin = origin or provenance.here()
    about = {
        **trial.known_by,
        "data": shards_of(trial).about["sha256"],
        "code": origin["trial_code_sha256"],
        "machine": origin["machine"],
    }
    name = f"{trial.optimizer}-{trial.symmetry}-{trial.activation}-{trial.label}-{store.digest(about)[:16]}"
    return paths.cache() / "ablation" / f"{name}.safetensors"


def run_trial(
    trial: AblationTrial, on_progress: Callable[[int, float], None] | None = None, group: Group = ALONE
) -> Results:
    """Train one trial, or take it from the cache; a started one goes on from its checkpoint. Never raises for a
    training failure of one process."""
    process.prepare()
    path = cached(trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")) if group.leads else nullcontext():
        work = partial(_cached_or_trained, trial, path, on_progress, group)
        return mending(work) if group.world == 1 else work()


def _cached_or_trained(
    trial: AblationTrial, path: Path, on_progress: Callable[[int, float], None] | None, group: Group
) -> Results:
    if (ended := group.agree(lambda: checkpoint.read_tensors(path)[1] if path.exists() else None)) is not None:
        return ended
    saved_at = path.with_suffix(".checkpoint")
    model = fresh_model(trial).to(trial.recipe.device)
    results: Results = group.agree(partial(dict, _train(trial, model, saved_at, on_progress, group)))  # the leader's
    if results["status"] != "failed" and group.leads:
        checkpoint.write_tensors(
            path, {f"weights/{name}": value for name, value in model.state_dict().items()}, results
        )
        saved_at.unlink(missing_ok=True)
    return results


def train_afresh(trial: AblationTrial, on_progress: Callable[[int, float], None] | None = None) -> tuple[Results, GPT2]:
    """Train one trial without looking at the cache or leaving anything there: its results and its model."""
    process.prepare()
    model = fresh_model(trial).to(trial.recipe.device)
    return _train(trial, model, None, on_progress, ALONE), model


def _train(
    trial: AblationTrial,
    model: GPT2,
    saved_at: Path | None,
    on_progress: Callable[[int, float], None] | None,
    group: Group,
) -> Results:
    group.share(trial.batch_size)
    results: Results = {"label": trial.label, "seed": trial.seed, "n_parameters": count_parameters(model)}
    try:
        block_size = model.settings.block_size
        optimizer = build_optimizer(
            trial.optimizer, model.parameters(), generator(trial.seed, "optimizer"), **trial.optimizer_settings
        )
        part = (group.rank, group.world)
        stream = TokenStream(
            shards_of(trial).train,
            block_size,
            trial.batch_size,
            lambda epoch: generator(trial.seed, f"order/{epoch}"),
            part,
        )
        windows = windows_of(trial)
        done = train_tokens(
            model,
            optimizer,
            stream,
            windows,
            trial.recipe,
            trial.seed,
            saved_at=saved_at,
            on_progress=on_progress,
            group=group,
        )
        analyses = analyse(model, validation_tokens(trial), trial.recipe) if done.status == "done" else {}
    except ActlabError:
        raise
    except Exception:  # load_arms, so that the other trials of a study go on
        if group.world > 1:
            raise  # the other processes wait for this one: all have to end
        return {**results, "status": "failed", "traceback": traceback.format_exc()}
    return {
        **results,
        "status": done.status,
        "final": done.final,
        "history": done.progress.history,
        "started": done.progress.started,
        "seconds": done.progress.seconds,
        "tokens_per_second": done.tokens_per_second,
        "weights_sha256": done.weights_sha256,
        "analyses": analyses,
        **utilisation(model.settings, results["n_parameters"], done.tokens_per_second, trial.recipe, group.world),
    }


def trained_model(trial: AblationTrial) -> GPT2:
    """The model of a finished trial, in evaluation mode."""
    return with_weights(trial, checkpoint.read_tensors(cached(trial))[0])


def with_weights(trial: AblationTrial, tensors: Mapping[str, torch.Tensor]) -> GPT2:
    """The trial's model with the weights of a cached file, in evaluation mode."""
    model = fresh_model(trial)
    model.load_state_dict({name.removeprefix("weights/"): t for name, t in tensors.items()})
    return model.eval()


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def record_of(arm: AblationArm, trials: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended. Means are over the trials that are done; losses in nats a
    token, accuracies in %."""
    first = arm.trials[0]
    done = [trial for trial in trials if trial["status"] == "done"]
    where = {"path": shown(first.dataset)} if is_file(first.dataset) and not first.shards else {}
    return {
        "model_name": "gpt2",
        "activation": first.activation,
        "optimizer": first.optimizer,
        "symmetry": first.symmetry,
        "rate_factor": first.rate_factor,
        "n_parameters": trials[0]["n_parameters"],
        "avg_val_loss": _mean(trial["final"]["val_loss"] for trial in done),
        "avg_val_accuracy": _mean(trial["final"]["val_accuracy"] for trial in done),
        "trials": trials,
        "config": arm.config,
        "study": arm.study,
        "arm": arm.id,
        "kind": "ablation",
        "provenance": provenance.of_record(
            threads=1,
            path="compiled" if first.recipe.compiled else "loop",
            plan=arm.plan,
            data={**shards_of(first).about, "validation_sha256": windows_of(first).sha256, **where},
        )
        | sources(first.parts),
    }


def finish(arm: AblationArm, trials: list[Results], group: Group = ALONE) -> store.Record:
    """Write the arm's record and return it (``records.keep``)."""
    record = record_of(arm, trials)
    if group.world > 1:
        record["provenance"]["processes"] = group.world
    return keep(arm, record)
