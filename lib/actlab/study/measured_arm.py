"""What the record of an arm of character models holds: its trained trials, compared with each other at their end and
along the way, averaged, put together, and read as published."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, cast

from torch import nn

from actlab import metrics
from actlab.models import SCALES, LanguageModel
from actlab.plugins import said_of
from actlab.records import store
from actlab.records.defect_names import BATCHES
from actlab.study import defects
from actlab.study.measure import Predictions, ensemble_losses, ensembles, means, row_pairs
from actlab.study.trial import Arm, Left, Results
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.windows import spread

if TYPE_CHECKING:
    from actlab.study.characters import CharacterTrial


class MeasuredArm:
    """An arm whose trials have all ended, with what they left in the cache.

    Args:
        arm: of trials on characters.
        results: of its trials, in their order.
        tensors: what each of them left.
    """

    def __init__(self, arm: Arm, results: list[Results], tensors: Left) -> None:
        self.arm, self.asked, self.results, self.tensors = arm, arm.measures, results, tensors
        self.first = first = cast("CharacterTrial", arm.trials[0])  # it stands for the settings that all share
        self.left = [left for left in results if left["status"] == "done"]
        ended = {left["label"] for left in self.left}
        self.done = [trial for trial in arm.trials if trial.label in ended]
        every = arm.kind == "trials"  # where an arm has changed trials: those of one seed, plain and changed
        pairs = [(a, b) for a, b in combinations(self.done, 2) if every or (a.seed == b.seed and not a.change)]
        self.couples = [(a.label, b.label) for a, b in pairs]
        self.own = dict(self.asked.metrics)  # a user's metrics: name -> sha256
        self.device = "cpu" if first.device == "mps" else first.device  # Apple's has no float64 for comparing
        self.frozen = first.compared_on(self.asked.prediction_windows)
        self.targets = self.frozen.targets.flatten().to(self.device)  # (N,) the characters that come
        self.end = self.predictions()

    def models(self, iteration: int | None = None, start: str = "weights/") -> dict[str, LanguageModel]:
        """Label -> model, on its device, at the end or at a snapshot; ``start``: of the names of the weights."""
        return {
            trial.label: trial.trained(self.tensors(trial, iteration), start).to(trial.place) for trial in self.done
        }

    def predictions(self, iteration: int | None = None, start: str = "weights/") -> Predictions:
        """Label -> predictions on ``device`` of these models."""
        models = self.models(iteration, start)
        return {label: predict(net, self.frozen).to(self.device) for label, net in models.items()}

    def trials(self) -> list[Results]:
        """What the record says of each trial; with its evaluation on training windows, where these are asked for."""
        count = self.asked.training_windows
        if not count:
            return self.results
        windows = spread(self.first.text.train, SCALES[self.first.scale].block_size, count)
        training = {label: {"training": evaluate(net, windows)} for label, net in self.models().items()}
        return [results | training.get(results["label"], {}) for results in self.results]

    def pairs(self) -> list[Results]:
        """All metrics of every couple, at the end."""
        return self._with_distances(
            [
                {"between": [a, b], **metrics.compare(self.end[a], self.end[b], self.targets, self.own)}
                for a, b in self.couples
            ]
        )

    def _with_distances(self, pairs: list[Results], iteration: int | None = None) -> list[Results]:
        """Where trials are compared with themselves changed: also the L2 norm of the difference of all weights."""
        if self.arm.kind not in ("floor", "perturbed"):
            return pairs
        nets = {label: nn.utils.parameters_to_vector(net.parameters()) for label, net in self.models(iteration).items()}
        return [
            {**pair, "weight_distance": (nets[a] - nets[b]).norm().item()}
            for pair, (a, b) in zip(pairs, self.couples, strict=True)
        ]

    def blocks(self) -> Results:
        """``as_published``, ``trajectory``, ``average``, ``ensembles`` and ``equal_compute``, each only where the arm
        asks for it."""
        recipe, extra = self.first.recipe, Results()
        finals = {left["label"]: left["final"] for left in self.left}
        if published := self._as_published(self.asked.protocol, finals):
            extra["as_published"] = published
        if self.asked.snapshots:
            extra["trajectory"] = [self._snapshot(step) for step in self.asked.snapshots]
        if sizes := self.asked.ensembles:
            extra["ensembles"] = {str(size): ensembles(self.end, size, own=self.own) for size in sizes}
        if recipe.average:
            averaged = {str(decay): self.predictions(start=f"average/{decay}/weights/") for decay in recipe.decays}
            pairs = {decay: row_pairs(found, self.couples, self.own) for decay, found in averaged.items()}
            extra["average"] = recipe.single(pairs)
        if sizes := self.asked.equal_compute:
            extra["equal_compute"] = [self._equal_compute(size) for size in (1, *sizes)]
        return extra

    def _as_published(self, on: tuple[str, ...], finals: Results, iteration: int | None = None) -> Results:
        models = self.models(iteration) if on else {}
        return defects.measured(on, models, finals, self.first.text.validation, self.first.batch_size)

    def _snapshot(self, step: int) -> Results:
        """Each trial's evaluation there and against itself at the end, every pair's metrics, and the defects' view of
        the same models."""
        evaluations: Results = {}
        for left in self.left:
            for evaluation in left["history"]:
                if evaluation["iteration"] == step:
                    evaluations[left["label"]] = evaluation
        along = tuple(name for name in self.asked.protocol if name != BATCHES)  # costly: at the end only
        now = self.predictions(step)
        return {
            "iteration": step,
            "to_end": [{"between": [a, a], **metrics.row_means(now[a], self.end[a], self.own)} for a in now],
            "trials": [{"label": label, **evaluation} for label, evaluation in evaluations.items()],
            "pairs": self._with_distances(row_pairs(now, self.couples, self.own), step),
            "as_published": self._as_published(along, evaluations, step),
        }

    def _equal_compute(self, size: int) -> Results:
        """Ensembles of ``size`` networks, each after its share of the steps: at most as many pairs as there are of
        trials; their losses on the frozen windows."""
        steps = round(self.first.iterations / size)
        predictions = self.end if size == 1 else self.predictions(steps)
        return {
            "size": size,
            "iteration": steps,
            "pairs": ensembles(predictions, size, len(predictions) * (len(predictions) - 1) // 2),
            "losses": ensemble_losses(predictions, size, self.targets),
        }

    def record(self) -> store.Record:
        """The arm's own part of its record. Means are over the trials that are done; losses in nats, accuracies in
        %."""
        pairs = self.pairs()
        return {
            "model_name": self.first.model,
            "activation": self.first.activation,
            **means(("relative_pd", "total_variation", "churn", *self.own), (), pairs),
            **means(("val_loss", "val_accuracy"), self.results),
            "trials": self.trials(),
            "reproducibility_metrics": pairs,
            **said_of(self.asked.metrics),
            **self.blocks(),
        }
