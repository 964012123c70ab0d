"""A recorded trial trained again from nothing, for each kind of study: its specification read from the record, and how
far the new one is from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from actlab import metrics
from actlab.data.text import located
from actlab.errors import RecordError
from actlab.models import LanguageModel
from actlab.study import ablation_run, mnist_run, run
from actlab.study.ablation import AblationTrial
from actlab.study.arms import VARIANTS, TrialSpec
from actlab.study.mnist import Program
from actlab.study.pool import Report
from actlab.study.protocol import DEFECTS
from actlab.study.run import Results
from actlab.trainers import checkpoint
from actlab.trainers.evaluation import logits_of
from actlab.trainers.recipes import BaseRecipe, Recipe, TokenRecipe
from actlab.trainers.windows import Windows

Record = Mapping[str, Any]
AT_ONCE = 64
"""Windows whose predictions are held at once."""


@dataclass(frozen=True)
class Again:
    """What a trial left when it was trained again."""

    results: Results
    distance: Callable[[], float | None] = lambda: None
    """Mean total variation between the recorded trial's predictions and the new ones, on the inputs on which the study
    compares trials.  Records hold no predictions: ``None`` where the recorded trial itself is not in the cache any
    more."""


def dataset_of(record: Record) -> str:
    """The text of a record; a user's file where it lay, from the current folder."""
    return located(record["provenance"]["data"].get("path", record["config"]["dataset"]))


def language_trial(record: Record, label: str) -> TrialSpec:
    """The specification of a language model's trial."""
    config = record["config"]
    seed, _, variant = label.partition("-")
    if variant not in VARIANTS:
        raise RecordError(f"{record['arm']}: trial {label!r} is not one that replay knows")
    defects = tuple(name for name in config.get("protocol", ()) if DEFECTS[name].trains)
    own = {"recipe": Recipe(**config["recipe"]), "dataset": dataset_of(record), "defects": defects}
    return TrialSpec.read(config, seed=int(seed), variant=variant, **own)


def language(spec: TrialSpec, record: Record, report: Report | None = None) -> Again:
    """Train a language model's trial again; its predictions are those on the frozen windows."""
    corpus, _, frozen = run.windows_of(spec)
    same_data(record, {"sha256": corpus.sha256, "evaluation_sha256": frozen.sha256})
    results, tensors = run.train_afresh(spec, report)

    def distance() -> float | None:
        found = _in_cache(run.cached(spec, record["provenance"]), record, spec.label)
        return metrics.total_variation(found["probabilities"], tensors["probabilities"]) if found else None

    return Again(results, distance)


def ablation_trial(record: Record, label: str) -> AblationTrial:
    """The specification of an ablation's trial."""
    config = record["config"]
    recipe = TokenRecipe(**config["recipe"])
    return AblationTrial.read(config, seed=int(label), dataset=dataset_of(record), recipe=recipe)


def ablation(trial: AblationTrial, record: Record, report: Report | None = None) -> Again:
    """Train an ablation's trial again; its predictions are those on the validation windows."""
    if (processes := record["provenance"].get("processes", 1)) > 1:
        raise RecordError(f"{record['arm']} was trained by {processes} processes together: one process has other bits")
    windows = ablation_run.windows_of(trial)
    same_data(record, {"sha256": ablation_run.shards_of(trial).about["sha256"], "validation_sha256": windows.sha256})
    results, model = ablation_run.train_afresh(trial, report)

    def distance() -> float | None:
        found = _in_cache(ablation_run.cached(trial, record["provenance"]), record, trial.label)
        return _apart(model, ablation_run.with_weights(trial, found), windows, trial.recipe) if found else None

    return Again(results, distance)


def mnist_trial(record: Record, label: str) -> Program:
    """The program that trains one network of the image sweep, alone: its bits do not depend on which others share a
    program."""
    config = record["config"]
    names = ("batch_size", "dataset", "protocol", "init", "epochs")
    cells, rates = ((config["network"], config["hidden"]),), (config["learning_rate"],)
    own = tuple((record["activation"], found) for found in config.get("parts", {}).values())
    return Program(
        seed=int(label), parts=own, cells=cells, learning_rates=rates, **{name: config[name] for name in names}
    )


def mnist(program: Program, record: Record, report: Report | None = None) -> Again:
    """Train one network of the image sweep again."""
    found = mnist_run.about_data(program.dataset, program.protocol)
    same_data(record, {name: found[name] for name in ("train", "validation", "test")})
    (results,) = mnist_run.train_program(program).values()
    return Again(results)


def _apart(model: LanguageModel, other: LanguageModel, windows: Windows, recipe: BaseRecipe) -> float:
    """Mean total variation of two models over every position; a few windows at a time, for a large vocabulary's
    sake."""
    rows = []
    for inputs, targets in zip(
        torch.split(windows.inputs, AT_ONCE), torch.split(windows.targets, AT_ONCE), strict=True
    ):
        part = Windows(inputs, targets).to(recipe.device)
        p, q = (
            torch.cat([logits.softmax(1) for logits, _ in logits_of(net.to(recipe.device), part, recipe)])
            for net in (model, other)
        )
        rows.append(metrics.ROWS["total_variation"](p, q))
    return torch.cat(rows).double().mean().item()


def same_data(record: Record, found: Mapping[str, Any]) -> None:
    """``RecordError`` where the record was made on other data than these hashes tell of."""
    data = record["provenance"]["data"]
    for name, value in found.items():
        if data.get(name) != value:
            raise RecordError(
                f"{record['arm']} was made on other data: {data['name']} with {name} {data.get(name)}, found {value}"
            )


def _in_cache(path: Path, record: Record, label: str) -> dict[str, Tensor] | None:
    """The recorded trial's tensors, if its file is still there and holds the recorded weights."""
    if not path.exists():
        return None
    tensors, results = checkpoint.read_tensors(path)
    (recorded,) = (trial for trial in record["trials"] if trial["label"] == label)
    return tensors if results["weights_sha256"] == recorded["weights_sha256"] else None
