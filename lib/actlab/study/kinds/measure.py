"""What an arm's record measures on its trained trials: pairs, snapshots, ensembles, averaged weights, defects, single
batches. Trains nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab import metrics
from actlab.data.text import Corpus
from actlab.models import LanguageModel
from actlab.records.defect_names import BATCHES
from actlab.study import defects
from actlab.study.arms import PLAIN, Arm, TrialSpec
from actlab.study.kinds.kind import Kind, Results
from actlab.trainers.evaluation import logits_of
from actlab.trainers.recipes import BaseRecipe
from actlab.trainers.windows import Windows, spread

BATCH_TOKENS = 4096
"""Tokens of one published validation batch: 8 x 512, side by side in the text."""
SPANS = 128
"""Batches that are measured; the published runs saw 122, one an evaluation."""
Models = Mapping[str, LanguageModel]
"""Label of a trial -> its model."""
Predictions = Mapping[str, Tensor]
"""Label of a trial -> its probabilities (N, V) on the frozen windows."""


def mean(values: Iterable[float]) -> float:
    """NaN where there are none."""
    return fmean(numbers) if (numbers := list(values)) else float("nan")


def row_pairs(predictions: Predictions, couples: Iterable[tuple[str, str]], own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics of these pairs of trials."""
    couples = list(couples)
    distances = metrics.pairwise(predictions, couples, own)
    return [{"between": list(pair), **values} for pair, values in zip(couples, distances, strict=True)]


@dataclass(frozen=True)
class Trained:
    """An arm whose trials have all ended, with what they left in the cache."""

    arm: Arm
    results: list[Results]
    """Of its trials, in their order."""
    corpus: Corpus
    frozen: Windows
    """The windows that predictions are compared on."""
    kind: Kind
    """Which finds what the trials left, at their end or at a snapshot."""

    @property
    def done(self) -> list[TrialSpec]:
        """The trials that ended well."""
        return [spec for spec, r in zip(self.arm.trials, self.results, strict=True) if r["status"] == "done"]

    def models(self, iteration: int | None = None) -> Models:
        """Label -> model, on the recipe's device."""
        nets = {spec: self.kind.trained(spec, self.kind.tensors(spec, iteration)) for spec in self.done}
        return {spec.label: net.to(spec.recipe.device) for spec, net in nets.items()}

    def predictions(self, iteration: int | None = None, of: str = "probabilities") -> Predictions:
        """As they were kept, on the recipe's device, at the end or at a snapshot."""
        return {spec.label: self.kind.tensors(spec, iteration)[of].to(spec.recipe.device) for spec in self.done}

    @property
    def couples(self) -> list[tuple[str, str]]:
        """Every pair of trials; in a floor or perturbed arm, those of one seed, plain and changed."""
        every = self.arm.kind == "trials"
        pairs = [(a, b) for a, b in combinations(self.done, 2) if every or (a.seed == b.seed and a.variant == PLAIN)]
        return [(a.label, b.label) for a, b in pairs]

    def pairs(self) -> list[Results]:
        """All metrics of every couple, at the end."""
        predictions, own = self.predictions(), dict(self.arm.metrics)
        targets = self.frozen.targets.flatten().to(self.arm.trials[0].recipe.device)
        return self._with_distances(
            [
                {"between": [a, b], **metrics.compare(predictions[a], predictions[b], targets, own)}
                for a, b in self.couples
            ]
        )

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
        arm, own, extra = self.arm, dict(self.arm.metrics), Results()
        first = arm.trials[0]
        if set(arm.protocol) - set(defects.OF_TRAINING):
            finals = {r["label"]: r["final"] for r in self.results}
            extra["as_published"] = self._as_published(arm.protocol, self.models(), finals)
        if first.snapshots:
            extra["trajectory"] = [self._snapshot(step) for step in first.snapshots]
        if arm.ensembles:
            predictions = self.predictions()
            extra["ensembles"] = {str(size): ensembles(predictions, size, own=own) for size in arm.ensembles}
        if first.recipe.average:
            averaged = {str(d): self.predictions(of=f"probabilities/average/{d}") for d in first.recipe.decays}
            pairs = {decay: row_pairs(predictions, self.couples, own) for decay, predictions in averaged.items()}
            extra["average"] = first.recipe.single(pairs)
        if arm.equal_compute:
            extra["equal_compute"] = [self._equal_compute(size) for size in (1, *arm.equal_compute)]
        return extra

    def _as_published(self, on: tuple[str, ...], models: Models, evaluations: Mapping[str, Any]) -> Results:
        return defects.measured(on, models, evaluations, self.corpus.validation, self.arm.trials[0].recipe)

    def _snapshot(self, step: int) -> Results:
        """Each trial's evaluation there, every pair's metrics, and the defects' view of the same models."""
        done = [r for r in self.results if r["status"] == "done"]
        evaluations = {r["label"]: e for r in done for e in r["history"] if e["iteration"] == step}
        along = tuple(name for name in self.arm.protocol if name != BATCHES)  # costly: at the end only
        now, end = self.predictions(step), self.predictions()
        pairs = row_pairs(now, self.couples, dict(self.arm.metrics))
        return {
            "iteration": step,
            "to_end": [
                {"between": [label, label], **metrics.row_means(now[label], end[label], dict(self.arm.metrics))}
                for label in now
            ],
            "trials": [{"label": label, **evaluation} for label, evaluation in evaluations.items()],
            "pairs": self._with_distances(pairs, step),
            "as_published": self._as_published(along, self.models(step) if along else {}, evaluations),
        }

    def _equal_compute(self, size: int) -> Results:
        """Ensembles of ``size`` networks, each after its share of the steps: at most as many pairs as there are of
        trials; their losses on the frozen windows."""
        first = self.arm.trials[0]
        steps, targets = round(first.recipe.iterations / size), self.frozen.targets.flatten().to(first.recipe.device)
        predictions = self.predictions(None if size == 1 else steps)
        return {
            "size": size,
            "iteration": steps,
            "pairs": ensembles(predictions, size, len(predictions) * (len(predictions) - 1) // 2),
            "losses": ensemble_losses(predictions, size, targets),
        }


def disjoint(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels[labels.index(first[0]) :] if label not in first]
        yield from ((first, second) for second in combinations(rest, size))


def ensembles(predictions: Predictions, size: int, most: int | None = None, own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics between the mean probabilities of two disjoint ensembles of ``size`` trials; ``between``
    holds their labels.

    All such pairs, or ``most`` of them, evenly spread over their list.
    """
    pairs = list(disjoint(list(predictions), size))
    n = min(most or len(pairs), len(pairs))
    return [
        {
            "between": [list(first), list(second)],
            **metrics.row_means(_average(predictions, first), _average(predictions, second), own),
        }
        for first, second in (pairs[i * len(pairs) // n] for i in range(n))
    ]


def ensemble_losses(predictions: Predictions, size: int, targets: Tensor) -> list[Results]:
    """Mean cross-entropy (nats) of consecutive disjoint ensembles of ``size`` trials against ``targets`` (N,); ``of``
    holds their labels."""
    labels = list(predictions)
    groups = [labels[i : i + size] for i in range(0, len(labels) - size + 1, size)]
    return [{"of": group, "loss": F.nll_loss(_average(predictions, group).log(), targets).item()} for group in groups]


def _average(predictions: Predictions, labels: Sequence[str]) -> Tensor:
    return torch.stack([predictions[label] for label in labels]).mean(dim=0)


def batch_losses(model: LanguageModel, tokens: Tensor, recipe: BaseRecipe) -> Results:
    """What single validation batches, as published, would say of a trained model of the ablation.

    ``batch_losses``: nats a token, of up to ``SPANS`` spans of about ``BATCH_TOKENS`` tokens (``batch_tokens``; all
    that there are, if fewer) spread evenly over the validation split ``tokens`` (n,).
    """
    block_size = model.config.block_size
    batch_tokens = min(BATCH_TOKENS, len(tokens) - 1) // block_size * block_size
    whole = spread(tokens, max(batch_tokens, block_size), SPANS)  # a split shorter than a window is an error there
    windows = Windows(*(part.reshape(-1, block_size) for part in (whole.inputs, whole.targets)))
    pairs = logits_of(model, windows, recipe)
    losses = torch.cat([F.cross_entropy(logits, targets, reduction="none") for logits, targets in pairs])
    means = losses.view(-1, batch_tokens).double().mean(dim=1)
    return {"batch_tokens": batch_tokens, "batch_losses": [round(value, 6) for value in means.tolist()]}
