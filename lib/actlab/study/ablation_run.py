"""Runs the ablation: trials in processes, finished ones in the cache, started ones from their checkpoint, one record an arm."""

from __future__ import annotations

import json
import math
import os
import traceback
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from actlab import paths, store
from actlab.data.fetch import sha256
from actlab.data.tokenize import tokenize_dataset
from actlab.data.tokens import TokenStream, check_range, find_shards, load_tokens
from actlab.errors import ActlabError, BadInput
from actlab.models import count_parameters
from actlab.models.gpt2 import GPT2, GPT2_SCALES, build_gpt2
from actlab.optimizers import build_optimizer
from actlab.study import provenance
from actlab.study.ablation import AblationArm, AblationParams, AblationTrial, arms_of
from actlab.study.ablation_analyses import analyse
from actlab.study.events import Event, Watch
from actlab.study.pool import Report, run_tasks
from actlab.study.utilisation import utilisation
from actlab.training import checkpoint
from actlab.training.distributed import ALONE, Group
from actlab.training.distributed import group as joined_group
from actlab.training.streams import generator, init_streams
from actlab.training.tokens_loop import train_tokens
from actlab.training.windows import Windows, cover, spread

Results = dict[str, Any]
"""What a trial leaves for the record: plain values."""


@dataclass(frozen=True)
class AblationOutcome:
    """The records of an ablation in the order of its arms; ``None`` where an arm has none."""

    arms: list[AblationArm]
    records: list[store.Record | None]

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in self.records if record is not None]

    @property
    def missing(self) -> list[AblationArm]:
        """The arms without a record."""
        return [arm for arm, record in zip(self.arms, self.records, strict=True) if record is None]

    @property
    def failed(self) -> list[tuple[AblationArm, Results]]:
        """Trials that raised."""
        pairs = zip(self.arms, self.records, strict=True)
        return [(arm, t) for arm, record in pairs if record for t in record["trials"] if t["status"] == "failed"]


def load_ablation(params: AblationParams) -> AblationOutcome:
    """What is recorded of an ablation; trains nothing."""
    arms = arms_of(params)
    found = [store.path_of(arm.study, arm.id) for arm in arms]
    return AblationOutcome(arms, [store.load(path) if path.exists() else None for path in found])


def bring(params: AblationParams, train_missing: bool, workers: int = 0) -> AblationOutcome:
    """An ablation for a notebook: trained where records are missing, or only loaded. ``workers`` = 0 takes one process a core."""
    return run_ablation(params, workers or os.cpu_count() or 1) if train_missing else load_ablation(params)


def run_ablation(params: AblationParams, workers: int = 1, watch: Watch | None = None, scheduler: str = "") -> AblationOutcome:
    """Bring an ablation to its end: arms with a record are loaded, finished trials come from the cache, the rest is trained.

    Args:
        params: the ablation.
        workers: processes, each on one thread and, where there are GPUs, on one of them; 1 runs in this process. The results are the same bits.
            Under ``torchrun`` the processes that it started train one trial after another together, and this is not used.
        watch: called with every ``Event``, in this process.
        scheduler: address of a Dask scheduler whose workers train, in place of processes here (``pool.run_tasks``).
    """
    group = joined_group()
    tell = watch if watch and group.leads else (lambda event: None)
    provenance.code()  # before anything can change the files that this process has loaded
    outcome = group.agree(lambda: load_ablation(params))
    for arm, record in zip(outcome.arms, outcome.records, strict=True):
        if record is not None:
            tell(Event("arm", arm, record=record))
    todo = [(arm, trial) for arm in outcome.missing for trial in arm.trials]
    if todo:
        tell(Event("start", todo[0][0], total=len(todo)))
        group.agree(lambda: shards_of(todo[0][1]))  # tokenize once, before the processes start
    ended: dict[str, dict[int, Results]] = {arm.id: {} for arm in outcome.missing}
    fresh: dict[str, store.Record] = {}
    together = group.world > 1
    if together and scheduler:
        raise BadInput("torchrun's processes train one trial together: start them without --scheduler")
    running = run_tasks(
        partial(_train_trial, group=group) if together else _train_trial,
        [trial for _, trial in todo],
        1 if together else workers,
        lambda place, iteration, loss: tell(Event("progress", *todo[place], iteration, loss)),
        scheduler=scheduler,
        gpu=params.device != "cpu",
        say=lambda note: tell(Event("note", todo[0][0], note=note)),
    )
    for place, results in running:
        arm, trial = todo[place]
        tell(Event("trial", arm, trial))
        ended[arm.id][trial.seed] = results
        if len(ended[arm.id]) == len(arm.trials):
            results_of_arm = [ended[arm.id][t.seed] for t in arm.trials]
            fresh[arm.id] = group.agree(partial(finish, arm, results_of_arm, group))
            tell(Event("arm", arm, record=fresh[arm.id]))
    return AblationOutcome(outcome.arms, [record or fresh[arm.id] for arm, record in zip(outcome.arms, outcome.records, strict=True)])


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
    return _own_shards(trial.shards, GPT2_SCALES[trial.scale].vocab_size) if trial.shards else _text_shards(trial.dataset, trial.vocab_size)


@lru_cache(maxsize=2)
def _own_shards(folder: str, vocab_size: int) -> Shards:
    train, validation = (tuple(find_shards(paths.data() / folder, split)) for split in ("train", "val"))
    for path in (*train, *validation):
        check_range(path, vocab_size)
    hashes = {path.name: sha256(path) for path in (*train, *validation)}
    return Shards(train, validation, vocab_size, {"name": folder, "vocab_size": vocab_size, "sha256": store.digest(hashes), "files": hashes})


@lru_cache(maxsize=2)
def _text_shards(dataset: str, vocab_size: int) -> Shards:
    folder = paths.cache() / "tokens" / f"{dataset}-{vocab_size}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        manifest = tokenize_dataset(dataset, vocab_size, folder)
    train, validation = (tuple(folder / entry["file"] for entry in manifest["splits"][split]) for split in ("train", "val"))
    return Shards(train, validation, manifest["vocab_size"], {"sha256": store.digest(manifest), **manifest})


def windows_of(trial: AblationTrial) -> Windows:
    """The fixed validation windows: the whole split, or an even selection of it."""
    tokens, block = load_tokens(shards_of(trial).validation), GPT2_SCALES[trial.scale].block_size
    return spread(tokens, block, trial.validation_windows) if trial.validation_windows else cover(tokens, block)


def fresh_model(trial: AblationTrial) -> GPT2:
    """The trial's model before training."""
    return build_gpt2(trial.model_config(shards_of(trial).vocab_size), trial.activation, generator_for=init_streams(trial.seed))


def cached(trial: AblationTrial) -> Path:
    """The file of a finished trial: its results and weights."""
    about = {
        **asdict(trial),
        "data": shards_of(trial).about["sha256"],
        "code": provenance.code()["trial_code_sha256"],
        "machine": provenance.machine(),
    }
    name = f"{trial.optimizer}-{trial.symmetry}-{trial.activation}-{trial.label}-{store.digest(about)[:16]}"
    return paths.cache() / "ablation" / f"{name}.safetensors"


def run_trial(trial: AblationTrial, on_progress: Callable[[int, float], None] | None = None, group: Group = ALONE) -> Results:
    """Train one trial, or take it from the cache; a started one goes on from its checkpoint. Never raises for a training failure of one process."""
    torch.set_num_threads(1)
    path = cached(trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")) if group.leads else nullcontext():
        if (ended := group.agree(lambda: checkpoint.read_tensors(path)[1] if path.exists() else None)) is not None:
            return ended
        saved_at = path.with_suffix(".checkpoint")
        model = fresh_model(trial).to(trial.recipe.device)
        results: Results = group.agree(partial(dict, _train(trial, model, saved_at, on_progress, group)))  # the leader's
        if results["status"] != "failed" and group.leads:
            checkpoint.write_tensors(path, {f"weights/{name}": value for name, value in model.state_dict().items()}, results)
            saved_at.unlink(missing_ok=True)
    return results


def _train(trial: AblationTrial, model: GPT2, saved_at: Path, on_progress: Callable[[int, float], None] | None, group: Group) -> Results:
    group.share(trial.batch_size)
    results: Results = {"label": trial.label, "seed": trial.seed, "n_parameters": count_parameters(model)}
    try:
        block_size = model.settings.block_size
        optimizer = build_optimizer(trial.optimizer, model.parameters(), generator(trial.seed, "optimizer"), **trial.optimizer_settings)
        part = (group.rank, group.world)
        stream = TokenStream(shards_of(trial).train, block_size, trial.batch_size, lambda epoch: generator(trial.seed, f"order/{epoch}"), part)
        windows = windows_of(trial)
        done = train_tokens(model, optimizer, stream, windows, trial.recipe, trial.seed, saved_at=saved_at, on_progress=on_progress, group=group)
        analyses = analyse(model, load_tokens(shards_of(trial).validation), trial.recipe) if done.status == "done" else {}
    except ActlabError:
        raise
    except Exception:  # recorded, so that the other trials of a study go on
        if group.world > 1:
            raise  # the other processes wait for this one: all have to end
        return {**results, "status": "failed", "traceback": traceback.format_exc()}
    return {
        **results,
        "status": done.status,
        "final": done.final,
        "history": done.progress.history,
        "seconds": done.progress.seconds,
        "tokens_per_second": done.tokens_per_second,
        "weights_sha256": done.weights_sha256,
        "analyses": analyses,
        **utilisation(model.settings, results["n_parameters"], done.tokens_per_second, trial.recipe, group.world),
    }


def trained_model(trial: AblationTrial) -> GPT2:
    """The model of a finished trial, in evaluation mode."""
    model = fresh_model(trial)
    tensors, _ = checkpoint.read_tensors(cached(trial))
    model.load_state_dict({name.removeprefix("weights/"): t for name, t in tensors.items()})
    return model.eval()


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def record_of(arm: AblationArm, trials: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended. Means are over the trials that are done; losses in nats a token, accuracies in %."""
    first = arm.trials[0]
    done = [trial for trial in trials if trial["status"] == "done"]
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
        "provenance": {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            **provenance.code(),
            "machine": provenance.machine(),
            "threads": 1,
            "path": "compiled" if first.recipe.compiled else "loop",
            "data": {**shards_of(first).about, "validation_sha256": windows_of(first).sha256},
        },
    }


def finish(arm: AblationArm, trials: list[Results], group: Group = ALONE) -> store.Record:
    """Write the arm's record and return it. An arm with a failed trial is returned but not written, so that it can be run again."""
    record = record_of(arm, trials)
    if group.world > 1:
        record["provenance"]["processes"] = group.world
    if not any(trial["status"] == "failed" for trial in trials):
        store.save(store.path_of(arm.study, arm.id), record)
    return json.loads(json.dumps(record))
