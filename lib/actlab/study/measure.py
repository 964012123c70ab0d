"""Blocks of a record that only some arms have: what a protocol's defects measure, the trials along the way, ensembles
of them. Trains nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

from torch import Tensor

from actlab import metrics
from actlab.data.text import Corpus
from actlab.models import LanguageModel
from actlab.study import ensembles, protocol
from actlab.study.arms import Arm, TrialSpec
from actlab.trainers.evaluation import predict
from actlab.trainers.windows import Windows

Load = Callable[[TrialSpec, int | None], LanguageModel]
"""The model of a finished trial, at the end or at one of its snapshots."""


def done_of(arm: Arm, results: Iterable[Mapping[str, Any]]) -> list[TrialSpec]:
    """The arm's trials that ended well."""
    return [spec for spec, r in zip(arm.trials, results, strict=True) if r["status"] == "done"]


def blocks(
    arm: Arm,
    results: list[dict[str, Any]],
    load: Load,
    probabilities: Callable[..., Tensor],
    corpus: Corpus,
    frozen: Windows,
) -> dict[str, Any]:
    """``as_published``, ``trajectory``, ``average``, ``ensembles`` and ``equal_compute``, each only where the arm asks
    for it.

    Args:
        arm: whose trials have all ended.
        results: of its trials, in their order.
        load: gives a trial's model.
        probabilities: gives a trial's predictions on ``frozen``, or those that a second argument names.
        corpus: the arm's text.
        frozen: the windows that predictions are compared on.
    """
    found: dict[str, Any] = {}
    done = done_of(arm, results)
    recipe, own = arm.trials[0].recipe, dict(arm.metrics)
    if any(not protocol.DEFECTS[name].trains for name in arm.protocol):
        models = {spec.label: load(spec, None).to(recipe.device) for spec in done}
        finals = {r["label"]: r["final"] for r in results}
        found["as_published"] = protocol.measured(arm.protocol, models, finals, corpus.validation, recipe)
    if arm.trials[0].snapshots:
        found["trajectory"] = [_at(arm, step, done, results, load, corpus, frozen) for step in arm.trials[0].snapshots]
    if arm.ensembles:
        predictions = {spec.label: probabilities(spec) for spec in done}
        found["ensembles"] = {str(size): ensembles.differences(predictions, size, own=own) for size in arm.ensembles}
    if recipe.average:
        averaged = {spec.label: probabilities(spec, "probabilities/average") for spec in done}
        found["average"] = [
            {"between": [a, b], **metrics.row_means(averaged[a], averaged[b], own)}
            for a, b in combinations(averaged, 2)
        ]
    if arm.equal_compute:
        found["equal_compute"] = [_shared(arm, size, done, load, frozen) for size in (1, *arm.equal_compute)]
    return found


def _shared(arm: Arm, size: int, done: list[TrialSpec], load: Load, frozen: Windows) -> dict[str, Any]:
    """Ensembles of ``size`` networks, each after its share of the steps: at most as many pairs as there are of trials;
    their losses on ``frozen``."""
    steps = round(arm.trials[0].recipe.iterations / size)
    recipe = arm.trials[0].recipe
    windows = frozen.to(recipe.device)
    predictions = {
        spec.label: predict(load(spec, None if size == 1 else steps).to(recipe.device), windows, recipe)
        for spec in done
    }
    most = len(done) * (len(done) - 1) // 2
    return {
        "size": size,
        "iteration": steps,
        "pairs": ensembles.differences(predictions, size, most),
        "losses": ensembles.losses(predictions, size, frozen.targets.flatten()),
    }


def _at(
    arm: Arm,
    step: int,
    done: list[TrialSpec],
    results: list[dict[str, Any]],
    load: Load,
    corpus: Corpus,
    frozen: Windows,
) -> dict[str, Any]:
    """One snapshot: each trial's evaluation there, every pair's metrics on the frozen windows, and the defects' view of
    the same models."""
    recipe = arm.trials[0].recipe
    models = {spec.label: load(spec, step).to(recipe.device) for spec in done}
    evaluations = {
        r["label"]: next(e for e in r["history"] if e["iteration"] == step) for r in results if r["label"] in models
    }
    along = tuple(name for name in arm.protocol if name != protocol.BATCHES)  # the costly one: at the end only
    predictions = {label: predict(model, frozen.to(recipe.device), recipe) for label, model in models.items()}
    own = dict(arm.metrics)
    return {
        "iteration": step,
        "trials": [{"label": label, **evaluation} for label, evaluation in evaluations.items()],
        "pairs": [
            {"between": [a, b], **metrics.row_means(predictions[a], predictions[b], own)}
            for a, b in combinations(predictions, 2)
        ],
        "as_published": protocol.measured(along, models, evaluations, corpus.validation, recipe),
    }
