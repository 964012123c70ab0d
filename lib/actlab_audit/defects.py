"""What the published defects of measurement make of trained models, for the records of studies that switch them on: a
plug-in that their params files name, ``plugins: [actlab_audit.defects]``."""

from collections.abc import Mapping
from itertools import combinations

import torch
from torch import Tensor

from actlab import metrics
from actlab.models import LanguageModel
from actlab.records.defect_names import BATCHES, FINAL, LAST, UNPAIRED
from actlab.study.characters.comparison import AS_PUBLISHED
from actlab.study.characters.trial import CharacterTrial
from actlab.study.trial import Results
from actlab.trainers.evaluation import evaluate, exact, predict
from actlab.trainers.seeds import generator
from actlab.trainers.windows import Windows

DRAWN_WINDOWS, DRAWN_BATCHES = 1000, 200
"""What the reference study's code draws for one prediction or accuracy, and for one loss."""


def coded_pd(p: Tensor, q: Tensor) -> float:
    """mean |p - q| / (mean p + mean q) of two (N, V) tensors: the reference study's code. Mean total variation, where
    rows are of one input."""
    return ((p - q).abs().mean() / (p.mean() + q.mean())).item()


Drawn = tuple[Tensor, Tensor]
"""Predictions (N, V) at the last positions of freshly drawn windows, and the characters (N,) that came there."""


def _windows(text: Tensor, block_size: int, count: int, random: torch.Generator) -> Windows:
    starts = torch.randint(len(text) - block_size, (count,), generator=random)
    windows = text[starts[:, None] + torch.arange(block_size + 1)].long()
    return Windows(windows[:, :-1], windows[:, 1:])


def draw(model: LanguageModel, text: Tensor, random: torch.Generator) -> Drawn:
    """What the published ``get_predictions`` returns: the last position of ``DRAWN_WINDOWS`` random windows of
    ``text``."""
    width = model.config.block_size
    windows = _windows(text, width, DRAWN_WINDOWS, random)
    probabilities = predict(model, windows)
    return probabilities[width - 1 :: width].clone(), windows.targets[:, -1]  # a copy: the rest is freed


def unpaired(draws: Mapping[str, tuple[Drawn, Drawn]]) -> dict[str, list[Results]]:
    """``pairs`` of trials, and each trial against ``itself``, as published: the first's first draw against the second's
    second draw."""

    def compared(a: str, b: str) -> Results:
        (p, _), (q, _) = draws[a][0], draws[b][1]
        distances = {"relative_pd": metrics.relative_pd(p, q), "churn": metrics.churn(p, q)}
        return {"between": [a, b], "coded_pd": coded_pd(p, q), **distances}

    return {
        "pairs": [compared(a, b) for a, b in combinations(draws, 2)],
        "itself": [compared(label, label) for label in draws],
    }


def measured(
    on: tuple[str, ...], models: Mapping[str, LanguageModel], evaluations: Results, trial: CharacterTrial
) -> Results:
    """The record's block ``as_published``.

    Args:
        on: names of defects of measurement.
        models: label -> trained model, on its device.
        evaluations: label -> the model's evaluation on the whole validation text.
        trial: any of the arm.
    """
    text = trial.text.validation
    trials: list[Results] = []
    draws: dict[str, tuple[Drawn, Drawn]] = {}
    for label, net in models.items():
        seed, entry = int(label), Results(label=label)
        draws[label] = draw(net, text, generator(seed, "drawn/0")), draw(net, text, generator(seed, "drawn/1"))
        if LAST in on:
            p, targets = draws[label][0]
            entry["val_accuracy"] = 100 * exact(p.argmax(dim=1) == targets).mean().item()
        if BATCHES in on:
            count = DRAWN_BATCHES * trial.batch_size
            windows = _windows(text, net.config.block_size, count, generator(seed, "drawn/batches"))
            entry["val_loss"] = evaluate(net, windows)["val_loss"]
        elif FINAL in on:
            entry["val_loss"] = evaluations[label]["val_loss"]
        trials.append(entry)
    return {"trials": trials, **(unpaired(draws) if UNPAIRED in on else {})}


AS_PUBLISHED.append(measured)
