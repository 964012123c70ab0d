"""Trials and arms: from a specification to a trained trial in the cache, from an arm's trials to its record."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from torch import Tensor

from actlab import metrics, paths
from actlab.data.text import Corpus, is_file, load_text, shown
from actlab.errors import ActlabError, BadInput
from actlab.files import mending
from actlab.models import LanguageModel, count_parameters
from actlab.records import store
from actlab.study import before, beyond, protocol, provenance
from actlab.study.arms import ALL, BFLOAT16, NUDGE, PLAIN, THREADS, THREADS_REPEAT, Arm, TrialSpec, arm
from actlab.study.params import Params
from actlab.study.parts import check_parts, said_of, sources
from actlab.study.records import keep, recorded
from actlab.trainers import checkpoint, process
from actlab.trainers.determinism import perturb
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.loop import train
from actlab.trainers.streams import init_streams
from actlab.trainers.windows import Windows, cover, spread

BLOCKS = 20
"""Stretches of the frozen evaluation text for which a pair's metrics are also kept: the second level of resampling."""

OnProgress = Callable[[int, float], None]
Results = dict[str, Any]
"""What a trial leaves for the record: plain values."""


@lru_cache(maxsize=4)
def evaluation_windows(
    dataset: str,
    block_size: int,
    prediction_windows: int,
    part: str = "all",
    validation_windows: int = 0,
    sha256: str = "",
) -> tuple[Windows, Windows]:
    """(the validation split, or the named half of it, or evenly spread windows of that; the frozen windows of the
    predictions)."""
    text = load_text(dataset, sha256).part(part).validation
    measured = spread(text, block_size, validation_windows) if validation_windows else cover(text, block_size)
    return measured, spread(text, block_size, prediction_windows)


def windows_of(spec: TrialSpec) -> tuple[Corpus, Windows, Windows]:
    """The text of a trial and its evaluation windows."""
    corpus = load_text(spec.dataset, spec.text_sha256).limited(spec.train_fraction).part(spec.validation)
    block_size = spec.model_config(corpus.vocab_size).block_size
    measured = (spec.validation, spec.validation_windows, spec.text_sha256)
    return corpus, *evaluation_windows(spec.dataset, block_size, spec.prediction_windows, *measured)


def fresh_model(spec: TrialSpec) -> LanguageModel:
    """The trial's model before training."""
    check_parts(spec.parts, model=spec.model, activation=spec.activation)
    config = spec.model_config(load_text(spec.dataset, spec.text_sha256).vocab_size)
    init = init_streams(spec.seed_of("init"))
    model = protocol.build(spec.model, config, spec.activation, spec.gated_width, init, spec.defects)
    if spec.variant == NUDGE:
        perturb(model)
    return model


def trial_key(spec: TrialSpec, origin: Mapping[str, Any] | None = None) -> str:
    """Names a trial in the cache: its specification, its data, code and machine (here, unless ``origin`` says where
    else)."""
    origin = origin or provenance.here()
    same = (
        replace(spec, varies=ALL, fixed=0) if spec.seed == spec.fixed else spec
    )  # one stream at the seed of all others is no variation
    about = {
        **same.known_by,
        "data": load_text(spec.dataset, spec.text_sha256).sha256,
        "code": origin["trial_code_sha256"],
        "machine": origin["machine"],
    }
    return f"{spec.model}-{spec.activation}-{spec.label}-{store.digest(about)[:16]}"


def cached(spec: TrialSpec, origin: Mapping[str, Any] | None = None) -> Path:
    """The file of a finished trial: its results, predictions and weights. ``origin``: a record's provenance, for the
    trial as it was trained then."""
    return paths.cache() / "trials" / f"{trial_key(spec, origin)}.safetensors"


def snapshot(spec: TrialSpec, iteration: int) -> Path:
    """The file of the weights that a trial had at one of its ``snapshots``."""
    return cached(spec).with_suffix(f".{iteration}.safetensors")


def run_trial(spec: TrialSpec, on_progress: OnProgress | None = None) -> Results:
    """Train one trial, or take it from the cache; a started one goes on from its checkpoint. Never raises for a
    training failure.

    The process works on one thread (two where the trial's variant says so): the bits of a result then depend on no core
    count.
    """
    process.prepare(spec.threads)
    path = cached(spec)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        return mending(lambda: _cached_or_trained(spec, path, on_progress))


def _cached_or_trained(spec: TrialSpec, path: Path, on_progress: OnProgress | None) -> Results:
    if path.exists():
        return checkpoint.read_tensors(path)[1]
    saved_at = path.with_suffix(".checkpoint")
    results, tensors = _train(spec, saved_at, on_progress)
    if results["status"] != "failed":
        checkpoint.write_tensors(path, tensors, results)
        saved_at.unlink(missing_ok=True)
    return results


def train_afresh(spec: TrialSpec, on_progress: OnProgress | None = None) -> tuple[Results, dict[str, Tensor]]:
    """Train one trial without looking at the cache or leaving anything there: its results; its predictions and
    weights."""
    process.prepare(spec.threads)
    return _train(spec, None, on_progress)


def _train(spec: TrialSpec, saved_at: Path | None, on_progress: OnProgress | None) -> tuple[Results, dict[str, Tensor]]:
    results: Results = {"label": spec.label, "seed": spec.seed, "variant": spec.variant}
    try:
        corpus, validation, frozen = windows_of(spec)
        model = fresh_model(spec)
        results["n_parameters"] = count_parameters(model)
        recipe = replace(spec.recipe, dtype="bfloat16") if spec.variant == BFLOAT16 else spec.recipe

        def keep(iteration: int, net: torch.nn.Module) -> None:
            if saved_at is not None and iteration in spec.snapshots:
                checkpoint.write_tensors(snapshot(spec, iteration), _weights(net), {"iteration": iteration})

        trial = train(
            model,
            corpus.train,
            validation,
            frozen,
            recipe,
            spec.seed_of("order"),
            dropout_seed=spec.seed_of("dropout"),
            also=spec.snapshots,
            saved_at=saved_at,
            on_progress=on_progress,
            on_evaluation=keep,
        )
        extra = _at_the_end(spec, model, trial.average, corpus, validation, frozen)
    except ActlabError:
        raise
    except Exception:  # recorded, so that the other trials of a study go on
        return {**results, "status": "failed", "traceback": traceback.format_exc()}, {}
    results |= {
        "status": trial.status,
        "final": trial.final,
        "best": trial.best,
        "history": trial.progress.history,
        "started": trial.progress.started,
        "seconds": trial.progress.seconds,
        "weights_sha256": trial.weights_sha256,
    }
    results |= {name: {"val_loss": loss, "val_accuracy": accuracy} for name, (loss, accuracy, _) in extra.items()}
    others = {f"probabilities/{name}": found for name, (_, _, found) in extra.items() if found is not None}
    return results, {"probabilities": trial.probabilities, **others, **_weights(model)}


def _at_the_end(
    spec: TrialSpec,
    model: LanguageModel,
    average: torch.nn.Module | None,
    corpus: Corpus,
    validation: Windows,
    frozen: Windows,
) -> dict[str, tuple[float, float, Tensor | None]]:
    """What only some trials measure at the end, (loss, accuracy, predictions): the averaged weights; the model on its
    training text."""
    found: dict[str, tuple[float, float, Tensor | None]] = {}
    device = spec.recipe.device
    if average is not None:
        found["average"] = (
            *evaluate(average, validation.to(device), spec.recipe),
            predict(average, frozen.to(device), spec.recipe),
        )
    if spec.training_windows:
        windows = spread(corpus.train, model.config.block_size, spec.training_windows)
        found["training"] = (*evaluate(model, windows.to(device), spec.recipe), None)
    return found


def _weights(model: torch.nn.Module) -> dict[str, Tensor]:
    return {f"weights/{name}": value for name, value in model.state_dict().items()}


def probabilities(spec: TrialSpec, of: str = "probabilities") -> Tensor:
    """Predictions of a finished trial: (N, V); ``of`` may name those of its averaged weights,
    ``probabilities/average``."""
    return checkpoint.read_tensors(cached(spec))[0][of]


def trained_model(
    spec: TrialSpec, iteration: int | None = None, origin: Mapping[str, Any] | None = None
) -> LanguageModel:
    """The model of a finished trial, in evaluation mode; ``iteration``: as it was at one of its ``snapshots``;
    ``origin``: as for ``cached``."""
    model = fresh_model(spec)
    tensors, _ = checkpoint.read_tensors(cached(spec, origin) if iteration is None else snapshot(spec, iteration))
    model.load_state_dict(
        {name.removeprefix("weights/"): t for name, t in tensors.items() if name.startswith("weights/")}
    )
    return model.eval()


def compare(p: Tensor, q: Tensor, targets: Tensor, own: Iterable[str] = ()) -> dict[str, Any]:
    """Every metric of one pair, those of a user's ``own`` too, and the blocks' means of the row-wise ones."""
    rows = metrics.every_row(p, q, own)
    split = metrics.churn_split(p, q, targets)
    return {
        **{name: values.double().mean().item() for name, values in rows.items()},
        "label_pd": metrics.label_pd(p, q, targets),
        **{f"churn_{name}": value for name, value in split._asdict().items()},
        "blocks": {name: metrics.block_means(values, BLOCKS) for name, values in rows.items()},
    }


def pairs_of(arm: Arm, results: Iterable[Results]) -> list[dict[str, Any]]:
    """Every pair of the arm's trials that are done; in a floor or perturbed arm, those of one seed, plain and changed
    or both on two threads."""
    done = beyond.done_of(arm, results)
    if len(done) < 2:
        return []
    targets = windows_of(arm.trials[0])[2].targets.flatten()
    predictions = {spec.label: probabilities(spec) for spec in done}
    pairs = [(a.label, b.label) for a, b in combinations(done, 2) if arm.kind == "trials" or _one_seed(a, b)]
    return [
        {"between": [a, b], **compare(predictions[a], predictions[b], targets, dict(arm.metrics))} for a, b in pairs
    ]


def _one_seed(a: TrialSpec, b: TrialSpec) -> bool:
    return a.seed == b.seed and (a.variant == PLAIN or (a.variant, b.variant) == (THREADS, THREADS_REPEAT))


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def record_of(arm: Arm, results: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended. Means are over the trials that are done; losses in nats,
    accuracies in %."""
    corpus, validation, frozen = windows_of(arm.trials[0])
    pairs = pairs_of(arm, results)
    done = [r for r in results if r["status"] == "done"]
    return {
        "model_name": arm.model,
        "activation": arm.activation,
        "avg_relative_pd": _mean(p["relative_pd"] for p in pairs),
        "avg_total_variation": _mean(p["total_variation"] for p in pairs),
        "avg_churn": _mean(p["churn"] for p in pairs),
        **{f"avg_{name}": _mean(p[name] for p in pairs) for name, _ in arm.metrics},
        "avg_val_loss": _mean(r["final"]["val_loss"] for r in done),
        "avg_val_accuracy": _mean(r["final"]["val_accuracy"] for r in done),
        "trials": results,
        "reproducibility_metrics": pairs,
        "config": arm.config,
        "study": arm.study,
        "arm": arm.id,
        "kind": arm.kind,
        **said_of(arm.metrics),
        **beyond.blocks(arm, results, trained_model, probabilities, corpus, frozen),
        "provenance": sources((*arm.trials[0].parts, *arm.metrics))
        | provenance.of_record(
            threads=max(spec.threads for spec in arm.trials),
            path="compiled" if arm.trials[0].recipe.compiled else "loop",
            plan=arm.plan,
            data={
                "name": corpus.name,
                "sha256": corpus.sha256,
                "vocab_size": corpus.vocab_size,
                "validation_positions": validation.positions,
                "prediction_positions": frozen.positions,
                "evaluation_sha256": frozen.sha256,
                **({"path": shown(arm.trials[0].dataset)} if is_file(arm.trials[0].dataset) else {}),
            },
        ),
    }


def finish(arm: Arm, results: list[Results]) -> store.Record:
    """Write the arm's record and return it (``records.keep``)."""
    return keep(arm, record_of(arm, results))


def run_experiment(model: str, activation: str, params: Params | dict[str, Any]) -> store.Record:
    """Train every trial of one arm in this process and return its record; what is done already is not done again.

    Args:
        model: a key of ``MODELS``.
        activation: a key of ``ACTIVATIONS``.
        params: the other settings; ``model`` and ``activations`` in it are not used.
    """
    values = params.model_dump() if isinstance(params, Params) else params
    settings = Params.parse({**values, "model": model, "activations": activation})
    if len(settings.varies) > 1 or settings.scales:
        raise BadInput(
            "one experiment is one arm: give one stream in `varies` and a `scale`, or run the study with `actlab run`"
        )
    one = arm(settings, model, activation, varies=settings.varies[0])
    if (found := recorded(one)) is None:
        before.check(settings)
    return found or finish(one, [run_trial(spec) for spec in one.trials])
