"""A trial of a language model on characters: its text and windows, its model, its training, its arm's record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from actlab.data.text import Corpus, is_file, load_text, located, shown
from actlab.models import SCALES, LanguageModel, count_parameters
from actlab.plugins import find_part, said_of
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study import arms, defects
from actlab.study.arms import ALL, BFLOAT16, Arm, TrialSpec
from actlab.study.kinds import baselines
from actlab.study.kinds.kind import Kind, Outcome, Report, Results
from actlab.study.kinds.measure import Trained, mean
from actlab.study.params.language import Params
from actlab.trainers import checkpoint, setup
from actlab.trainers.determinism import perturb, shift
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.loop import Trial, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import Windows, cover, spread


def windows_of(spec: TrialSpec) -> tuple[Corpus, Windows, Windows]:
    """(the text of a trial; its validation split, or the named half of it, or evenly spread windows of that; the frozen
    windows of the predictions)."""
    corpus = load_text(spec.dataset, spec.text_sha256).split_at(spec.train_share)
    corpus = corpus.limited(spec.train_fraction).part(spec.validation)
    text, block, some = corpus.validation, SCALES[spec.scale].block_size, spec.validation_windows
    measured = spread(text, block, some) if some else cover(text, block)
    return corpus, measured, spread(text, block, spec.prediction_windows)


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


def dataset_of(record: Mapping[str, Any]) -> str:
    """The text of a record; a user's file where it lay, from the current folder."""
    return located(record["provenance"]["data"].get("path", record["config"]["dataset"]))


class Characters(Kind):
    """Language models on characters; predictions of an arm's trials are compared."""

    name, folder = "repro", "trials"
    params: ClassVar[type[Params]] = Params
    parts: ClassVar[tuple[type, ...]] = (Arm, TrialSpec)
    records: ClassVar[tuple[str, ...]] = ("trials", "floor", "perturbed")

    def plan(self, params: Params) -> list[Arm]:  # noqa: D102
        return arms.arms_of(params)

    def prepare(self, params: Params, missing: Sequence[Arm]) -> str:
        """Refuse, or announce, what bfloat16 means on this processor; measure the text's own tables."""
        trials = {arm.model: arm.trials[0] for arm in missing}.values()
        slow = [spec for spec in trials if (spec.recipe.dtype, spec.recipe.device) == ("bfloat16", "cpu")]
        note = setup.check_bfloat16(map(self.model, slow)) if slow else ""
        baselines.ensure(params)
        return note

    def compared_on(self, task: TrialSpec) -> Windows:
        """The frozen windows."""
        return windows_of(task)[2]

    def data(self, task: TrialSpec) -> dict[str, Any]:
        """What a record says of its text and windows."""
        corpus, validation, frozen = windows_of(task)
        return {
            "name": corpus.name,
            "sha256": corpus.sha256,
            "vocab_size": corpus.vocab_size,
            "validation_positions": validation.positions,
            "prediction_positions": frozen.positions,
            "evaluation_sha256": frozen.sha256,
            **({"path": shown(task.dataset)} if is_file(task.dataset) else {}),
        }

    def known_by(self, task: TrialSpec) -> tuple[str, dict[str, Any]]:
        """One stream at the seed of all others is no variation."""
        same = replace(task, varies=ALL, fixed=0) if task.seed == task.fixed else task
        about = {**by_content(same.known_by), "data": load_text(task.dataset, task.text_sha256).sha256}
        return f"{task.model}-{task.activation}-{task.label}", about

    def model(self, task: TrialSpec) -> LanguageModel:  # noqa: D102
        own = dict(task.parts)
        activation = find_part("activation", task.activation, own.get("activation", ""))
        factory = find_part("model", task.model, own.get("model", "")).factory
        if task.defects:
            factory = partial(defects.network, task.defects, factory)
        config = task.model_config(load_text(task.dataset, task.text_sha256).vocab_size)
        model: LanguageModel = factory(config, activation, task.gated_width)
        model.initialise(init_streams(task.seed_of("init")))
        if task.nudged_at == 0:
            perturb(model)
        if task.variant.startswith("shift-"):
            shift(model, float(task.variant.removeprefix("shift-")), task.seed)
        return model

    def train(self, task: TrialSpec, saved_at: Path | None, report: Report | None) -> Outcome:
        """Snapshots go beside the checkpoint ``saved_at``."""
        corpus, validation, frozen = windows_of(task)
        model, nudged = self.model(task), task.nudged_at
        recipe = replace(task.recipe, dtype="bfloat16") if task.variant == BFLOAT16 else task.recipe
        if task.variant == "threads":
            torch.set_num_threads(2)  # the next trial sets it back

        def evaluated(iteration: int, net: nn.Module) -> None:
            if saved_at is not None and iteration in task.snapshots:
                held = {"probabilities": predict(net, frozen, recipe), **weights(net)}
                checkpoint.write_tensors(
                    saved_at.with_suffix(f".{iteration}.safetensors"), held, {"iteration": iteration}
                )
            if iteration and iteration == nudged:
                perturb(net)

        trial = train(
            model,
            corpus.train,
            validation,
            frozen,
            recipe,
            task.seed_of("order"),
            dropout_seed=task.seed_of("dropout"),
            also=(*task.snapshots, *([nudged] if nudged else ())),
            saved_at=saved_at,
            on_progress=report,
            on_evaluation=evaluated,
        )
        results = {**results_of(task, model, trial), "variant": task.variant, "best": trial.best}
        tensors = {"probabilities": trial.probabilities, **weights(model)}
        if averages := dict(zip(map(str, recipe.decays), trial.averages, strict=True)):
            results["average"] = recipe.single({d: evaluate(net, validation, recipe) for d, net in averages.items()})
            tensors |= {f"probabilities/average/{d}": predict(net, frozen, recipe) for d, net in averages.items()}
        if task.training_windows:  # without dropout
            windows = spread(corpus.train, model.config.block_size, task.training_windows)
            results["training"] = evaluate(model, windows, recipe)
        return results, tensors

    def measure(self, arm: Arm, results: list[Results]) -> store.Record:
        """Means are over the trials that are done; losses in nats, accuracies in %."""
        corpus, _, frozen = windows_of(arm.trials[0])
        trained = Trained(arm, results, corpus, frozen, self)
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

    def task_of(self, record: store.Record, label: str) -> TrialSpec:  # noqa: D102
        config = record["config"]
        seed, _, variant = label.partition("-")
        recipe: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in config["recipe"].items()}
        own = {
            "recipe": Recipe(**recipe),
            "dataset": dataset_of(record),
            "defects": tuple(name for name in config.get("protocol", ()) if name in defects.OF_TRAINING),
        }
        return TrialSpec.from_config(config, seed=int(seed), variant=variant, **own)
