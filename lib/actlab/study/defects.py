"""The published defects, which explain the published numbers, each switched on by name (`protocol` of a params file),
and what is measured under them.

Off by default, and loud: an arm lists the ones that are on in ``config.protocol``.  Those of training change the trial
(``network``).  Those of measurement leave the record's own numbers alone and add a block ``as_published`` beside them,
so that one training is read both ways.
"""

from collections.abc import Callable, Mapping
from itertools import combinations

import torch
from torch import Tensor

from actlab import metrics
from actlab.activations import Activation, find_activation
from actlab.errors import BadInput, UnknownName
from actlab.models import LanguageModel, ModelConfig
from actlab.models.convlm import ConvBlock
from actlab.records.defect_names import BATCHES, BOTH, DOUBLED, FINAL, IGNORED, LAST, UNPAIRED
from actlab.study.trial import Results
from actlab.trainers.evaluation import evaluate, exact, predict
from actlab.trainers.seeds import generator
from actlab.trainers.windows import Windows

CORRECTED, AS_PUBLISHED = "corrected", "as_published"
DRAWN_WINDOWS, DRAWN_BATCHES = 1000, 200
"""What the reference study's code draws for one prediction or accuracy, and for one loss."""
OF_TRAINING: dict[str, Callable[[str, bool], bool]] = {
    IGNORED: lambda model, gated: model != "charlm",
    BOTH: lambda model, gated: model == "convlm",
    DOUBLED: lambda model, gated: gated,
}
"""Defect -> whether it changes the arms of a model and of gated or plain activations."""
DEFECTS = (*OF_TRAINING, UNPAIRED, LAST, FINAL, BATCHES)
ProtocolParam = str | dict[str, str]
"""``corrected``, ``as_published`` (all defects that apply), or some of them: ``{padding: both, pairing: unpaired}``."""


def checked_protocol(protocol: ProtocolParam) -> ProtocolParam:
    """The protocol, if it is one.

    Raises:
        UnknownName: neither of the two words, or a defect that there is not.
        BadInput: a random evaluation of weights that are not the last.
    """
    for name in switched_on(protocol):
        if name not in (known := (CORRECTED, AS_PUBLISHED) if isinstance(protocol, str) else DEFECTS):
            raise UnknownName("protocol", name, known)
    if "evaluation" in protocol and "selection" not in protocol:
        raise BadInput("protocol evaluation: random batches measure the last weights, so it needs selection: final")
    return protocol


def switched_on(protocol: ProtocolParam) -> list[str]:
    """The word, or the names of the defects."""
    return [protocol] if isinstance(protocol, str) else [f"{key}: {value}" for key, value in protocol.items()]


def defects_of(protocol: ProtocolParam, model: str, activation: str) -> tuple[str, ...]:
    """Names of the defects that are on in an arm: those asked for that apply to it."""
    asked = DEFECTS if protocol == AS_PUBLISHED else switched_on(protocol)
    ignored = IGNORED in asked and OF_TRAINING[IGNORED](model, True)
    gated = find_activation(activation).gated and not ignored
    applying = [name for name in DEFECTS if name not in OF_TRAINING or OF_TRAINING[name](model, gated)]
    return tuple(name for name in applying if name in asked)


def network(
    on: tuple[str, ...],
    factory: Callable[..., LanguageModel],
    config: ModelConfig,
    activation: Activation,
    gated_width: str,
) -> LanguageModel:
    """A network as the published study built it: with ReLU whatever its activation, its convolutions padded on both
    sides."""
    net = factory(config, find_activation("relu") if IGNORED in on else activation, gated_width)
    for block in net.modules() if BOTH in on else ():
        if isinstance(block, ConvBlock):
            reach = sum(block.padding)
            block.padding = (reach // 2, reach // 2)
    return net


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
    on: tuple[str, ...],
    models: Mapping[str, LanguageModel],
    finals: Mapping[str, Mapping[str, float]],
    text: Tensor,
    batch_size: int,
) -> Results:
    """The record's block ``as_published``: what the defects of measurement make of trained models; empty where none is
    on.

    Args:
        on: names of defects.
        models: label -> trained model, on the recipe's device.
        finals: label -> the last evaluation on the whole validation split.
        text: the validation split.
        batch_size: windows in a batch.
    """
    if set(on) <= set(OF_TRAINING):
        return {}
    trials: list[Results] = []
    draws: dict[str, tuple[Drawn, Drawn]] = {}
    for label, net in models.items():
        seed, entry = int(label), Results(label=label)
        draws[label] = (
            draw(net, text, generator(seed, "drawn/0")),
            draw(net, text, generator(seed, "drawn/1")),
        )
        if LAST in on:
            p, targets = draws[label][0]
            entry["val_accuracy"] = 100 * exact(p.argmax(dim=1) == targets).mean().item()
        if BATCHES in on:
            count = DRAWN_BATCHES * batch_size
            windows = _windows(text, net.config.block_size, count, generator(seed, "drawn/batches"))
            entry["val_loss"] = evaluate(net, windows)["val_loss"]
        elif FINAL in on:
            entry["val_loss"] = finals[label]["val_loss"]
        trials.append(entry)
    return {"trials": trials, **(unpaired(draws) if UNPAIRED in on else {})}
