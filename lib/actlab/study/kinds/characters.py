"""A trial of a language model on characters: its text and windows, its model, its training, its arm's record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from actlab.data.text import Corpus, is_file, load_text, located, shown
from actlab.models import SCALES, LanguageModel, build_model, count_parameters
from actlab.models.published import pad_both
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study import arms, defects
from actlab.study.arms import ALL, BFLOAT16, Arm, TrialSpec
from actlab.study.measure import Results, Trained, mean
from actlab.study.params import Params
from actlab.study.parts import check_parts, said_of
from actlab.study.pool import Report
from actlab.trainers import checkpoint
from actlab.trainers.determinism import perturb
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.loop import Trial, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import Windows, cover, spread

NAME, FOLDER, OWN = "repro", "trials", (Params, Arm, TrialSpec, "trials", "floor", "perturbed")
arms_of = arms.arms_of


def tasks_of(params: Params, arm: Arm) -> Sequence[TrialSpec]:
    """What has to be trained for an arm, one task a trial."""
    return arm.trials


@lru_cache(maxsize=4)
def evaluation_windows(
    dataset: str,
    sha256: str,
    share: float,
    part: str,
    block_size: int,
    validation_windows: int,
    prediction_windows: int,
) -> tuple[Windows, Windows]:
    """(the validation split, or the named half of it, or evenly spread windows of that; the frozen windows of the
    predictions)."""
    text = load_text(dataset, sha256).split_at(share).part(part).validation
    measured = spread(text, block_size, validation_windows) if validation_windows else cover(text, block_size)
    return measured, spread(text, block_size, prediction_windows)


def windows_of(spec: TrialSpec) -> tuple[Corpus, Windows, Windows]:
    """The text of a trial and its evaluation windows."""
    corpus = load_text(spec.dataset, spec.text_sha256).split_at(spec.train_share)
    corpus = corpus.limited(spec.train_fraction).part(spec.validation)
    text = spec.dataset, spec.text_sha256, spec.train_share, spec.validation
    block_size = SCALES[spec.scale].block_size
    return corpus, *evaluation_windows(*text, block_size, spec.validation_windows, spec.prediction_windows)


def compared_on(spec: TrialSpec) -> Windows:
    """The frozen windows, on which the predictions of two trials are compared."""
    return windows_of(spec)[2]


def data_of(spec: TrialSpec) -> dict[str, Any]:
    """What a record says of its text and windows."""
    corpus, validation, frozen = windows_of(spec)
    return {
        "name": corpus.name,
        "sha256": corpus.sha256,
        "vocab_size": corpus.vocab_size,
        "validation_positions": validation.positions,
        "prediction_positions": frozen.positions,
        "evaluation_sha256": frozen.sha256,
        **({"path": shown(spec.dataset)} if is_file(spec.dataset) else {}),
    }


def known_by(spec: TrialSpec) -> tuple[str, dict[str, Any]]:
    """(the start of its name in the cache, what identifies it there beside code and machine). One stream at the seed of
    all others is no variation."""
    same = replace(spec, varies=ALL, fixed=0) if spec.seed == spec.fixed else spec
    about = {**by_content(same.known_by), "data": load_text(spec.dataset, spec.text_sha256).sha256}
    return f"{spec.model}-{spec.activation}-{spec.label}", about


def fresh_model(spec: TrialSpec) -> LanguageModel:
    """The trial's model before training."""
    check_parts(spec.parts, model=spec.model, activation=spec.activation)
    config = spec.model_config(load_text(spec.dataset, spec.text_sha256).vocab_size)
    init = init_streams(spec.seed_of("init"))
    used = "relu" if defects.IGNORED in spec.defects else spec.activation
    model = build_model(spec.model, config, used, gated_width=spec.gated_width, generator_for=init)
    if defects.BOTH in spec.defects:
        pad_both(model)
    if spec.nudged_at == 0:
        perturb(model)
    return model


def train_trial(spec: TrialSpec, saved_at: Path | None, report: Report | None) -> tuple[Results, dict[str, Tensor]]:
    """Results; predictions and weights. Snapshots go beside the checkpoint ``saved_at``."""
    corpus, validation, frozen = windows_of(spec)
    model = fresh_model(spec)
    recipe = replace(spec.recipe, dtype="bfloat16") if spec.variant == BFLOAT16 else spec.recipe

    def keep(iteration: int, net: nn.Module) -> None:
        if saved_at is not None and iteration in spec.snapshots:
            place = saved_at.with_suffix(f".{iteration}.safetensors")
            predicted = predict(net, frozen.to(recipe.device), spec.recipe)
            checkpoint.write_tensors(place, {"probabilities": predicted, **weights(net)}, {"iteration": iteration})
        if iteration and iteration == spec.nudged_at:
            perturb(net)

    trial = train(
        model,
        corpus.train,
        validation,
        frozen,
        recipe,
        spec.seed_of("order"),
        dropout_seed=spec.seed_of("dropout"),
        also=(*spec.snapshots, *([spec.nudged_at] if spec.nudged_at else ())),
        saved_at=saved_at,
        on_progress=report,
        on_evaluation=keep,
    )
    tensors = {"probabilities": trial.probabilities, **weights(model)}
    results = {**results_of(spec, model, trial), "variant": spec.variant, "best": trial.best}

    def measured(net: nn.Module, windows: Windows) -> dict[str, float]:
        loss, accuracy = evaluate(net, windows.to(recipe.device), spec.recipe)
        return {"val_loss": loss, "val_accuracy": accuracy}

    averages = dict(zip(map(str, recipe.decays), trial.averages, strict=True))
    if averages:
        results["average"] = recipe.single({name: measured(net, validation) for name, net in averages.items()})
    for name, net in averages.items():
        tensors[f"probabilities/average/{name}"] = predict(net, frozen.to(recipe.device), spec.recipe)
    if spec.training_windows:  # without dropout
        windows = spread(corpus.train, model.config.block_size, spec.training_windows)
        results["training"] = measured(model, windows)
    return results, tensors


def results_of(spec: Any, model: nn.Module, trial: Trial) -> Results:
    """What every trained language model leaves."""
    return {
        "label": spec.label,
        "seed": spec.seed,
        "n_parameters": count_parameters(model),
        "status": trial.status,
        "final": trial.final,
        "history": trial.progress.history,
        "started": trial.progress.started,
        "seconds": trial.progress.seconds,
        "weights_sha256": trial.weights_sha256,
    }


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A model's state under the names that a trial's file has for it."""
    return {f"weights/{name}": value for name, value in model.state_dict().items()}


def measured_of(
    arm: Arm,
    results: list[Results],
    tensors: Callable[[TrialSpec, int | None], dict[str, Tensor]],
    model: Callable[[TrialSpec, int | None], LanguageModel],
) -> store.Record:
    """The arm's own part of its record. Means are over the trials that are done; losses in nats, accuracies in %."""
    corpus, _, frozen = windows_of(arm.trials[0])
    trained = Trained(arm, results, corpus, frozen, tensors, model)
    pairs, done = trained.pairs(), [r for r in results if r["status"] == "done"]
    averages = ("relative_pd", "total_variation", "churn", *dict(arm.metrics))
    return {
        "model_name": arm.model,
        "activation": arm.activation,
        **{f"avg_{name}": mean(p[name] for p in pairs) for name in averages},
        **{f"avg_{name}": mean(r["final"][name] for r in done) for name in ("val_loss", "val_accuracy")},
        "trials": results,
        "reproducibility_metrics": pairs,
        **said_of(arm.metrics),
        **trained.blocks(),
    }


def trial_of(record: store.Record, label: str) -> TrialSpec:
    """The specification of a recorded trial."""
    config = record["config"]
    seed, _, variant = label.partition("-")
    recipe: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in config["recipe"].items()}
    own = {
        "recipe": Recipe(**recipe),
        "dataset": dataset_of(record),
        "defects": tuple(name for name in config.get("protocol", ()) if name in defects.OF_TRAINING),
    }
    return TrialSpec.read(config, seed=int(seed), variant=variant, **own)


def dataset_of(record: Mapping[str, Any]) -> str:
    """The text of a record; a user's file where it lay, from the current folder."""
    return located(record["provenance"]["data"].get("path", record["config"]["dataset"]))
