"""What the record of an arm of character models holds: its trained trials, compared with each other at their end and
along the way, averaged, put together, and read as published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, cast

from torch import Tensor, nn

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


@dataclass(frozen=True)
class MeasuredArm:
    """An arm whose trials have all ended, with what they left in the cache."""

    arm: Arm
    results: list[Results]
    """Of its trials, in their order."""
    tensors: Left

    @cached_property
    def done(self) -> list[CharacterTrial]:
        """The trials that ended well."""
        ended = zip(self.arm.trials, self.results, strict=True)
        return cast("list[CharacterTrial]", [trial for trial, results in ended if results["status"] == "done"])

    @property
    def first(self) -> CharacterTrial:
        """It stands for the settings that all share."""
        return cast("CharacterTrial", self.arm.trials[0])

    @property
    def left(self) -> list[Results]:
        """What the trials left that ended well."""
        return [results for results in self.results if results["status"] == "done"]

    @property
    def device(self) -> str:
        """Where predictions are compared: on the trials' own, but on the CPU where that has no float64 (Apple's)."""
        return "cpu" if self.first.device == "mps" else self.first.device

    @property
    def targets(self) -> Tensor:
        """(N,) the characters that come, on the frozen windows."""
        frozen = self.first.compared_on(self.arm.measures.prediction_windows)
        return frozen.targets.flatten().to(self.device)

    @property
    def own(self) -> dict[str, str]:
        """A user's own metrics: name -> sha256."""
        return dict(self.arm.measures.metrics)

    @property
    def couples(self) -> list[tuple[str, str]]:
        """Every pair of trials; where an arm has changed ones, those of one seed, plain and changed."""
        every = self.arm.kind == "trials"
        pairs = [(a, b) for a, b in combinations(self.done, 2) if every or (a.seed == b.seed and not a.change)]
        return [(a.label, b.label) for a, b in pairs]

    def models(self, iteration: int | None = None, start: str = "weights/") -> dict[str, LanguageModel]:
        """Label -> model, on its device, at the end or at a snapshot; ``start``: of the names of the weights."""
        nets = {trial: trial.trained(self.tensors(trial, iteration), start) for trial in self.done}
        return {trial.label: net.to(trial.device) for trial, net in nets.items()}

    def predictions(self, iteration: int | None = None, start: str = "weights/") -> Predictions:
        """Label -> predictions on ``device`` of these models."""
        frozen = self.first.compared_on(self.arm.measures.prediction_windows)
        models = self.models(iteration, start)
        return {label: predict(net, frozen).to(self.device) for label, net in models.items()}

    @cached_property
    def end(self) -> Predictions:
        """Label -> predictions at the end."""
        return self.predictions()

    def trials(self) -> list[Results]:
        """What the record says of each trial; with its evaluation on training windows, where these are asked for."""
        count = self.arm.measures.training_windows
        if not count:
            return self.results
        windows = spread(self.first.text.train, SCALES[self.first.scale].block_size, count)
        training = {label: {"training": evaluate(net, windows)} for label, net in self.models().items()}
        return [results | training.get(results["label"], {}) for results in self.results]

    def pairs(self) -> list[Results]:
        """All metrics of every couple, at the end."""
        predictions, targets = self.end, self.targets
        pairs = [
            {"between": [a, b], **metrics.compare(predictions[a], predictions[b], targets, self.own)}
            for a, b in self.couples
        ]
        return self._with_distances(pairs)

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
        asked, recipe, extra = self.arm.measures, self.first.recipe, Results()
        if set(asked.protocol) - set(defects.OF_TRAINING):
            finals = {results["label"]: results["final"] for results in self.left}
            extra["as_published"] = self._as_published(asked.protocol, finals)
        if asked.snapshots:
            extra["trajectory"] = [self._snapshot(step) for step in asked.snapshots]
        if asked.ensembles:
            extra["ensembles"] = {str(size): ensembles(self.end, size, own=self.own) for size in asked.ensembles}
        if recipe.average:
            averaged = {str(decay): self.predictions(start=f"average/{decay}/weights/") for decay in recipe.decays}
            extra["average"] = recipe.single({d: row_pairs(p, self.couples, self.own) for d, p in averaged.items()})
        if asked.equal_compute:
            extra["equal_compute"] = [self._equal_compute(size) for size in (1, *asked.equal_compute)]
        return extra

    def _as_published(self, on: tuple[str, ...], finals: Results, iteration: int | None = None) -> Results:
        models = self.models(iteration) if on else {}
        return defects.measured(on, models, finals, self.first.text.validation, self.first.batch_size)

    def _snapshot(self, step: int) -> Results:
        """Each trial's evaluation there and against itself at the end, every pair's metrics, and the defects' view of
        the same models."""
        evaluations = {r["label"]: e for r in self.left for e in r["history"] if e["iteration"] == step}
        along = tuple(name for name in self.arm.measures.protocol if name != BATCHES)  # costly: at the end only
        now, end = self.predictions(step), self.end
        return {
            "iteration": step,
            "to_end": [{"between": [a, a], **metrics.row_means(now[a], end[a], self.own)} for a in now],
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
            **said_of(self.arm.measures.metrics),
            **self.blocks(),
        }
