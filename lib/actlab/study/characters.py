"""Language models on characters: how a trial is trained, and what an arm's record measures."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from actlab.data.text import Corpus, is_file, load_text, shown
from actlab.models import SCALES, LanguageModel, count_parameters
from actlab.plugins import find_part
from actlab.records import store
from actlab.study import defects
from actlab.study.cache import checkpoint_of, snapshot_of
from actlab.study.character_study import CharacterStudy, plan
from actlab.study.character_trial import SHIFT, THREADS, CharacterTrial, load, recipe_of
from actlab.study.optimizing import OF_CHARACTERS, optimizer_of
from actlab.study.timing import pace
from actlab.study.trial import Arm, LanguageTrial, Outcome, Results, Task
from actlab.trainers import checkpoint, loop
from actlab.trainers.determinism import perturb, shift
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import Windows, cover, spread

__all__ = ["Study", "load", "plan"]
PATH = "loop"
Study = CharacterStudy
Report = Callable[[int, float], None]


def content(trial: CharacterTrial) -> str:
    """The hash of its text."""
    return load_text(trial.dataset, trial.text_sha256).sha256


def tasks(trials: Sequence[CharacterTrial]) -> list[tuple[CharacterTrial, ...]]:
    """Each alone."""
    return [(trial,) for trial in trials]


def text_of(trial: CharacterTrial) -> tuple[Corpus, Windows]:
    """(its text; the windows of its validation split, or of the named half of it, on which it is measured)."""
    corpus = load_text(trial.dataset, trial.text_sha256).split_at(trial.train_share)
    corpus = corpus.limited(trial.train_fraction).part(trial.validation)
    text, block, some = corpus.validation, SCALES[trial.scale].block_size, trial.validation_windows
    return corpus, spread(text, block, some) if some else cover(text, block)


def compared_on(trial: CharacterTrial, count: int) -> Windows:
    """The windows on which predictions are compared."""
    return spread(text_of(trial)[0].validation, SCALES[trial.scale].block_size, count)


def network(trial: CharacterTrial, vocab_size: int = 0) -> LanguageModel:
    """Its model before training: where names become objects. ``vocab_size``: of its text, where that need not be
    here."""
    own = dict(trial.parts)
    activation = find_part("activation", trial.activation, own.get("activation", ""))
    factory = find_part("model", trial.model, own.get("model", "")).factory
    if trial.defects:
        factory = partial(defects.network, trial.defects, factory)
    config = trial.model_config_of(vocab_size or load_text(trial.dataset, trial.text_sha256).vocab_size)
    model: LanguageModel = factory(config, activation, trial.gated_width)
    model.initialise(init_streams(trial.seed_of("init")))
    if trial.nudged_at == 0:
        perturb(model)
    if trial.change.startswith(SHIFT):
        shift(model, float(trial.change.removeprefix(SHIFT)), trial.seed)
    return model


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A model's state under the names that a trial's file has for it."""
    return {f"weights/{name}": value for name, value in model.state_dict().items()}


def trained(trial: CharacterTrial, tensors: Mapping[str, Tensor], start: str = "weights/") -> LanguageModel:
    """A trial's model in evaluation mode, with the weights among these tensors."""
    return with_weights(network(trial), tensors, start)


def with_weights(model: LanguageModel, tensors: Mapping[str, Tensor], start: str = "weights/") -> LanguageModel:
    """A model in evaluation mode, with the weights among these tensors."""
    model.load_state_dict({name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)})
    return model.eval()


def averaged(net: nn.Module) -> nn.Module:
    """The model inside a moving average of its weights."""
    return net.get_submodule("module")


def results_of(trial: LanguageTrial, model: nn.Module, done: loop.Trial) -> Results:
    """What every trained language model leaves."""
    return {
        "label": trial.label,
        "seed": trial.seed,
        "n_parameters": count_parameters(model),
        "status": done.status,
        "final": done.final,
        "history": done.progress.history,
        "started": done.progress.started,
        "seconds": done.progress.seconds,
        "weights_sha256": done.weights_sha256,
    }


def train(task: Task[CharacterTrial], place: Path | None, report: Report | None) -> list[Outcome]:
    """One trial: its results; its weights and those of its moving averages, with the predictions of each on the frozen
    windows that are asked for. Snapshots are written beside ``place``."""
    trial, asked = task.first, task.measures
    corpus, validation = text_of(trial)
    frozen = compared_on(trial, asked.prediction_windows or 1)
    model, recipe, nudged = network(trial).to(trial.device), recipe_of(trial), trial.nudged_at
    predictions = f"predictions/{asked.prediction_windows}"
    settings = {"lr": trial.learning_rate, "weight_decay": trial.weight_decay, "betas": trial.betas}
    settings |= OF_CHARACTERS.get(trial.optimizer, {})
    if trial.change == THREADS:
        torch.set_num_threads(2)  # the next trial sets it back

    def evaluated(iteration: int, net: nn.Module) -> None:
        if place is not None and iteration in asked.snapshots:
            held = {predictions: predict(net, frozen, recipe), **weights(net)}
            checkpoint.write_tensors(snapshot_of(place, iteration), held, {"iteration": iteration})
        if iteration and iteration == nudged:
            perturb(net)

    done = loop.train(
        model,
        corpus.train,
        validation,
        frozen,
        recipe,
        trial.seed_of("order"),
        optimizer=optimizer_of(trial.optimizer, trial.parts, model, trial.seed_of("optimizer"), settings),
        dropout_seed=trial.seed_of("dropout"),
        also=(*trial.also, *([nudged] if nudged else ())),
        saved_at=checkpoint_of(place) if place else None,
        on_progress=report,
        on_evaluation=evaluated,
    )
    results = {**results_of(trial, model, done), "variant": trial.change, "best": done.best}
    tensors = {predictions: done.probabilities, **weights(model)}
    if averages := dict(zip(map(str, recipe.decays), done.averages, strict=True)):
        results["average"] = recipe.single({d: evaluate(net, validation, recipe) for d, net in averages.items()})
        tensors |= {f"average/{d}/{predictions}": predict(net, frozen, recipe) for d, net in averages.items()}
        for decay, net in averages.items():
            tensors |= {f"average/{decay}/{name}": value for name, value in weights(averaged(net)).items()}
    return [(results, tensors)]


def seconds(task: Task[CharacterTrial]) -> float:
    """What it takes here, by a few steps that are timed now."""
    trial, asked = task.first, task.measures
    step, window = pace(trial, train)
    last, every = trial.iterations, trial.evaluate_every
    evaluations = len({*range(0, last, every), last, *trial.also})
    compared = asked.prediction_windows * (1 + len(asked.snapshots))
    return step * last + window * (evaluations * len(text_of(trial)[1].inputs) + compared)


def data(trial: CharacterTrial, prediction_windows: int = 0) -> dict[str, Any]:
    """What a record says of its text and windows."""
    corpus, validation = text_of(trial)
    found: dict[str, Any] = {name: getattr(corpus, name) for name in ("name", "sha256", "vocab_size")}
    found["validation_positions"] = validation.positions
    if prediction_windows:
        frozen = compared_on(trial, prediction_windows)
        found |= {"prediction_positions": frozen.positions, "evaluation_sha256": frozen.sha256}
    return found | ({"path": shown(trial.dataset)} if is_file(trial.dataset) else {})


def measure(arm: Arm[CharacterTrial], results: list[Results]) -> store.Record:
    """The arm's own part of its record (``measured_arm``)."""
    from actlab.study.measured_arm import MeasuredArm  # it needs this file

    return MeasuredArm(arm, results).record()


def prepare(study: CharacterStudy, missing: Sequence[Arm[CharacterTrial]]) -> str:
    """What is checked and made before anything is trained (``before_training``)."""
    from actlab.study.before_training import prepared  # it needs this file

    return prepared(study, missing)
