"""What the record of an arm of characters measures on its trials when all have ended: each trial, pairs of them,
snapshots, averages of weights, ensembles."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab import metrics
from actlab.models import LanguageModel
from actlab.plugins import described_metrics
from actlab.records import store
from actlab.records.defect_names import BATCHES, OF_MEASUREMENT
from actlab.study.arm import Arm, means
from actlab.study.cache import tensors_of
from actlab.study.characters.trial import CharacterTrial
from actlab.study.trial import Results
from actlab.trainers import setup
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.windows import spread

Predictions = Mapping[str, Tensor]
"""Label of a trial -> its probabilities (N, V) on the frozen windows."""
AS_PUBLISHED: list[Callable[[tuple[str, ...], Mapping[str, LanguageModel], Results, CharacterTrial], Results]] = []
"""What measures the models of an arm with published defects of measurement: ``actlab_audit.defects`` adds it."""


def disjoint(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels[labels.index(first[0]) :] if label not in first]
        for second in combinations(rest, size):
            yield first, second


def ensembles(
    predictions: Predictions, size: int, most: int | None = None, own_metrics: Iterable[str] = ()
) -> list[Results]:
    """Measure the row-wise metrics between the mean probabilities of two disjoint ensembles of ``size`` trials: of all
    such pairs, or of ``most`` of them, evenly spread over their list."""
    pairs = list(disjoint(list(predictions), size))
    n = min(most or len(pairs), len(pairs))
    rows = []
    for first, second in (pairs[i * len(pairs) // n] for i in range(n)):
        distances = metrics.row_means(mean_of(predictions, first), mean_of(predictions, second), own_metrics)
        rows.append({"between": [list(first), list(second)], **distances})
    return rows


def ensemble_losses(predictions: Predictions, size: int, targets: Tensor) -> list[Results]:
    """Measure the mean cross-entropy (nats) of consecutive disjoint ensembles of ``size`` trials against ``targets``
    (N,)."""
    labels = list(predictions)
    groups = [labels[i : i + size] for i in range(0, len(labels) - size + 1, size)]
    return [{"of": group, "loss": F.nll_loss(mean_of(predictions, group).log(), targets).item()} for group in groups]


def mean_of(predictions: Predictions, labels: Sequence[str]) -> Tensor:
    """Average the probabilities of an ensemble."""
    return torch.stack([predictions[label] for label in labels]).mean(dim=0)


@dataclass(frozen=True)
class CharacterArm(Arm):
    """An arm of language models on characters, whose predictions are compared."""

    def measured(self, results: list[Results]) -> store.Record:  # noqa: D102
        return Comparison(self, results).record()


class Comparison:
    """The trials of an arm of characters, compared when all of them have ended.

    Args:
        arm: of trials on characters.
        results: of its trials, in their order.
    """

    def __init__(self, arm: CharacterArm, results: list[Results]) -> None:
        self.arm, self.measures, self.results = arm, arm.measures, results
        self.first = first = cast("CharacterTrial", arm.trials[0])  # it stands for the settings that all share
        self.finals = {trial["label"]: trial["final"] for trial in results if trial["status"] == "done"}
        self.done = [trial for trial in arm.trials if trial.label in self.finals]
        any_two = arm.kind == "trials"  # an arm with changes compares each trial with the plain one of its seed
        self.couples = [
            (a.label, b.label) for a, b in combinations(self.done, 2) if any_two or (a.seed == b.seed and not a.change)
        ]
        self.own_metrics = dict(self.measures.metrics)
        self.device = "cpu" if first.device == "mps" else first.device  # Apple's has no float64 for comparing
        self.frozen = first.compared_on(self.measures.prediction_windows)
        self.targets = self.frozen.targets.flatten().to(self.device)  # (N,) the characters that come
        self.end = self.predictions()

    def models(self, iteration: int | None = None, start: str = "weights/") -> dict[str, LanguageModel]:
        """Load the models of the trials, each on its device, at the end or at a snapshot, by label; ``start`` begins
        the names of the weights."""
        return {trial.label: trial.trained(tensors_of(trial, iteration), start).to(trial.place) for trial in self.done}

    def predictions(self, iteration: int | None = None, start: str = "weights/") -> Predictions:
        """Predict with these models, by label: at once on the cores of a CPU, each on one thread."""
        models = self.models(iteration, start)
        with ThreadPoolExecutor(os.cpu_count() if self.first.place == "cpu" else 1, initializer=setup.prepare) as pool:
            predicted = pool.map(lambda net: predict(net, self.frozen).to(self.device), models.values())
            return dict(zip(models, predicted, strict=True))

    def row_pairs(self, predictions: Predictions) -> list[Results]:
        """Measure the row-wise metrics of every couple."""
        return [
            {"between": [a, b], **metrics.row_means(predictions[a], predictions[b], self.own_metrics)}
            for a, b in self.couples
        ]

    def record(self) -> store.Record:
        """Make the arm's own part of its record. Means are over the trials that are done; losses in nats, accuracies in
        %."""
        pairs = self.with_distances(
            [
                {"between": [a, b], **metrics.compare(self.end[a], self.end[b], self.targets, self.own_metrics)}
                for a, b in self.couples
            ]
        )
        averaged = ("relative_pd", "total_variation", "churn", *self.own_metrics, "val_loss", "val_accuracy")
        return {
            "model_name": self.arm.config["model"],
            "activation": self.arm.config["activation"],
            **means(averaged, self.results, pairs),
            "trials": self.trials(),
            "reproducibility_metrics": pairs,
            **described_metrics(self.measures.metrics),
            **self.blocks(),
        }

    def trials(self) -> list[Results]:
        """Return the results of each trial, with its evaluation on training windows where the study wants that."""
        if not self.measures.training_windows:
            return self.results
        windows = spread(self.first.text.train, self.frozen.inputs.shape[1], self.measures.training_windows)
        training = {label: {"training": evaluate(net, windows)} for label, net in self.models().items()}
        return [results | training.get(results["label"], {}) for results in self.results]

    def with_distances(self, pairs: list[Results], iteration: int | None = None) -> list[Results]:
        """Add the L2 norm of the difference of all weights to pairs of a trial and itself changed."""
        if self.arm.kind not in ("floor", "perturbed"):
            return pairs
        nets = {label: nn.utils.parameters_to_vector(net.parameters()) for label, net in self.models(iteration).items()}
        distances = [(nets[a] - nets[b]).norm().item() for a, b in self.couples]
        return [pair | {"weight_distance": distance} for pair, distance in zip(pairs, distances, strict=True)]

    def blocks(self) -> Results:
        """Make the blocks ``as_published``, ``trajectory``, ``average``, ``ensembles`` and ``equal_compute``, where the
        arm has them."""
        recipe, measures, blocks = self.first.recipe, self.measures, Results()
        if published := self.as_published(self.finals):
            blocks["as_published"] = published
        if measures.snapshots:
            blocks["trajectory"] = [self.snapshot(step) for step in measures.snapshots]
        if measures.ensembles:
            sizes = measures.ensembles
            blocks["ensembles"] = {str(size): ensembles(self.end, size, own_metrics=self.own_metrics) for size in sizes}
        if recipe.average:
            averaged = {str(decay): self.predictions(start=f"average/{decay}/weights/") for decay in recipe.decays}
            pairs = {decay: self.row_pairs(nets) for decay, nets in averaged.items()}
            blocks["average"] = recipe.single(pairs)
        if measures.equal_compute:
            blocks["equal_compute"] = [self.equal_compute(size) for size in (1, *measures.equal_compute)]
        return blocks

    def as_published(self, evaluations: Results, iteration: int | None = None) -> Results:
        """Measure the same trials as the published defects of measurement show them; empty where none is on."""
        measured = {*OF_MEASUREMENT} if iteration is None else {*OF_MEASUREMENT} - {BATCHES}  # which are costly
        defects = tuple(name for name in self.measures.protocol if name in measured)
        return AS_PUBLISHED[-1](defects, self.models(iteration), evaluations, self.first) if defects else {}

    def snapshot(self, step: int) -> Results:
        """Evaluate each trial at a step, its distance to its own end, and the pairs and defects there."""
        histories = {trial["label"]: trial["history"] for trial in self.results if trial["label"] in self.finals}
        evaluations = {a: entry for a, history in histories.items() for entry in history if entry["iteration"] == step}
        predictions = self.predictions(step)
        return {
            "iteration": step,
            "to_end": [
                {"between": [a, a], **metrics.row_means(predictions[a], self.end[a], self.own_metrics)}
                for a in predictions
            ],
            "trials": [{"label": label, **evaluation} for label, evaluation in evaluations.items()],
            "pairs": self.with_distances(self.row_pairs(predictions), step),
            "as_published": self.as_published(evaluations, step),
        }

    def equal_compute(self, size: int) -> Results:
        """Compare ensembles of ``size`` networks, each after its share of the steps: at most as many pairs as there are
        of trials, with their losses on the frozen windows."""
        steps = round(self.first.iterations / size)
        predictions = self.end if size == 1 else self.predictions(steps)
        most = len(predictions) * (len(predictions) - 1) // 2
        return {
            "size": size,
            "iteration": steps,
            "pairs": ensembles(predictions, size, most, self.own_metrics),
            "losses": ensemble_losses(predictions, size, self.targets),
        }
