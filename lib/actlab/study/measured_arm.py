"""What the record of an arm of character models holds: its trained trials, compared with each other at their end and
along the way, averaged, put together, and read as published."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from torch import Tensor, nn

from actlab import metrics
from actlab.models import LanguageModel
from actlab.plugins import said_of
from actlab.records import store
from actlab.records.defect_names import BATCHES
from actlab.study import characters, defects
from actlab.study.cache import tensors_of
from actlab.study.character_trial import PLAIN, CharacterTrial, recipe_of
from actlab.study.measure import Predictions, ensemble_losses, ensembles, mean, row_pairs
from actlab.study.trial import Arm, Results
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.windows import spread


@dataclass(frozen=True)
class MeasuredArm:
    """An arm whose trials have all ended, with what they left in the cache."""

    arm: Arm[CharacterTrial]
    results: list[Results]
    """Of its trials, in their order."""

    @property
    def first(self) -> CharacterTrial:
        """It stands for the settings that all share."""
        return self.arm.trials[0]

    @property
    def done(self) -> list[CharacterTrial]:
        """The trials that ended well."""
        return [trial for trial, r in zip(self.arm.trials, self.results, strict=True) if r["status"] == "done"]

    @property
    def device(self) -> str:
        """Where predictions are compared: on the trials' own, but on the CPU where that has no float64 (Apple's)."""
        return "cpu" if self.first.device == "mps" else self.first.device

    @property
    def targets(self) -> Tensor:
        """(N,) the characters that come, on the frozen windows."""
        frozen = characters.compared_on(self.first, self.arm.measures.prediction_windows)
        return frozen.targets.flatten().to(self.device)

    @property
    def couples(self) -> list[tuple[str, str]]:
        """Every pair of trials; where an arm has changed ones, those of one seed, plain and changed."""
        every = self.arm.kind == "trials"
        pairs = [(a, b) for a, b in combinations(self.done, 2) if every or (a.seed == b.seed and a.change == PLAIN)]
        return [(a.label, b.label) for a, b in pairs]

    def models(self, iteration: int | None = None) -> dict[str, LanguageModel]:
        """Label -> model, on its device, at the end or at a snapshot."""
        nets = {trial: characters.trained(trial, tensors_of(trial, iteration)) for trial in self.done}
        return {trial.label: net.to(trial.device) for trial, net in nets.items()}

    def predictions(self, iteration: int | None = None, decay: str = "") -> Predictions:
        """Label -> predictions on ``device``: at the end, at a snapshot, or of the weights averaged with a decay."""
        count, start = self.arm.measures.prediction_windows, f"average/{decay}/" if decay else ""
        found = {}
        for trial in self.done:
            tensors = tensors_of(trial, iteration)
            kept = tensors.get(f"{start}predictions/{count}")
            if kept is None:  # kept for a study with other windows: its weights are here
                net = characters.trained(trial, tensors, f"{start}weights/").to(trial.device)
                kept = predict(net, characters.compared_on(trial, count), recipe_of(trial))
            found[trial.label] = kept.to(self.device)
        return found

    def trials(self) -> list[Results]:
        """What the record says of each trial; with its evaluation on training windows, where these are asked for."""
        count = self.arm.measures.training_windows
        if not count:
            return self.results
        corpus, _ = characters.text_of(self.first)
        models = self.models()
        windows = spread(corpus.train, next(iter(models.values())).config.block_size, count) if models else None
        found = []
        for trial, results in zip(self.arm.trials, self.results, strict=True):
            if windows is not None and trial.label in models:
                training = evaluate(models[trial.label], windows, recipe_of(trial))
                results = {**results, "training": training}
            found.append(results)
        return found

    def pairs(self) -> list[Results]:
        """All metrics of every couple, at the end."""
        predictions, targets, own = self.predictions(), self.targets, dict(self.arm.measures.metrics)
        pairs = [
            {"between": [a, b], **metrics.compare(predictions[a], predictions[b], targets, own)}
            for a, b in self.couples
        ]
        return self._with_distances(pairs)

    def _with_distances(self, pairs: list[Results], iteration: int | None = None) -> list[Results]:
        """Where trials are compared with themselves changed: also the L2 norm of the difference of all weights."""
        if self.arm.kind == "trials":
            return pairs
        nets = {label: nn.utils.parameters_to_vector(net.parameters()) for label, net in self.models(iteration).items()}
        return [
            {**pair, "weight_distance": (nets[a] - nets[b]).norm().item()}
            for pair, (a, b) in zip(pairs, self.couples, strict=True)
        ]

    def blocks(self) -> Results:
        """``as_published``, ``trajectory``, ``average``, ``ensembles`` and ``equal_compute``, each only where the arm
        asks for it."""
        asked, recipe, extra = self.arm.measures, recipe_of(self.first), Results()
        own = dict(asked.metrics)
        if set(asked.protocol) - set(defects.OF_TRAINING):
            finals = {r["label"]: r["final"] for r in self.results if r["status"] == "done"}
            extra["as_published"] = self._as_published(asked.protocol, self.models(), finals)
        if asked.snapshots:
            extra["trajectory"] = [self._snapshot(step) for step in asked.snapshots]
        if asked.ensembles:
            predictions = self.predictions()
            extra["ensembles"] = {str(size): ensembles(predictions, size, own=own) for size in asked.ensembles}
        if recipe.average:
            averaged = {str(decay): self.predictions(decay=str(decay)) for decay in recipe.decays}
            extra["average"] = recipe.single({d: row_pairs(p, self.couples, own) for d, p in averaged.items()})
        if asked.equal_compute:
            extra["equal_compute"] = [self._equal_compute(size) for size in (1, *asked.equal_compute)]
        return extra

    def _as_published(
        self, on: tuple[str, ...], models: Mapping[str, LanguageModel], evaluations: Mapping[str, Results]
    ) -> Results:
        text = characters.text_of(self.first)[0].validation
        return defects.measured(on, models, evaluations, text, recipe_of(self.first))

    def _snapshot(self, step: int) -> Results:
        """Each trial's evaluation there and against itself at the end, every pair's metrics, and the defects' view of
        the same models."""
        own = dict(self.arm.measures.metrics)
        done = [r for r in self.results if r["status"] == "done"]
        evaluations = {r["label"]: e for r in done for e in r["history"] if e["iteration"] == step}
        along = tuple(name for name in self.arm.measures.protocol if name != BATCHES)  # costly: at the end only
        now, end = self.predictions(step), self.predictions()
        return {
            "iteration": step,
            "to_end": [{"between": [label, label], **metrics.row_means(now[label], end[label], own)} for label in now],
            "trials": [{"label": label, **evaluation} for label, evaluation in evaluations.items()],
            "pairs": self._with_distances(row_pairs(now, self.couples, own), step),
            "as_published": self._as_published(along, self.models(step) if along else {}, evaluations),
        }

    def _equal_compute(self, size: int) -> Results:
        """Ensembles of ``size`` networks, each after its share of the steps: at most as many pairs as there are of
        trials; their losses on the frozen windows."""
        steps = round(self.first.iterations / size)
        predictions = self.predictions(None if size == 1 else steps)
        return {
            "size": size,
            "iteration": steps,
            "pairs": ensembles(predictions, size, len(predictions) * (len(predictions) - 1) // 2),
            "losses": ensemble_losses(predictions, size, self.targets),
        }

    def record(self) -> store.Record:
        """The arm's own part of its record. Means are over the trials that are done; losses in nats, accuracies in
        %."""
        pairs, done = self.pairs(), [r for r in self.results if r["status"] == "done"]
        averages = ("relative_pd", "total_variation", "churn", *dict(self.arm.measures.metrics))
        return {
            "model_name": self.first.model,
            "activation": self.first.activation,
            **{f"avg_{name}": mean(p[name] for p in pairs) for name in averages},
            **{f"avg_{name}": mean(r["final"][name] for r in done) for name in ("val_loss", "val_accuracy")},
            "trials": self.trials(),
            "reproducibility_metrics": pairs,
            **said_of(self.arm.measures.metrics),
            **self.blocks(),
        }
