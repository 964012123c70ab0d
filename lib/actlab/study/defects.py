"""Protocol switches: the defects that explain the published numbers, each switched on by name, and what is measured
under them.

Off by default, and loud: an arm lists the ones that are on in ``config.protocol``.  Those of training change the trial.
 Those of measurement leave the record's own numbers alone and add a block ``as_published`` beside them, so that one
 training is read both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from actlab import metrics
from actlab.activations import find_activation
from actlab.errors import BadInput, UnknownName
from actlab.models import LanguageModel, build_model
from actlab.models.layers import ModelConfig
from actlab.models.published import build_published
from actlab.trainers.evaluation import evaluate, logits_of
from actlab.trainers.recipes import Recipe
from actlab.trainers.streams import generator
from actlab.trainers.windows import SKIP, Windows

CORRECTED, AS_PUBLISHED = "corrected", "as_published"
DRAWN_WINDOWS, DRAWN_BATCHES = 1000, 200
"""What the reference study's code draws for one prediction or accuracy, and for one loss."""
IGNORED, BOTH, UNPAIRED, LAST, DOUBLED, FINAL, BATCHES = (
    "activation: ignored",
    "padding: both",
    "pairing: unpaired",
    "accuracy: last_1000",
    "gated_width: doubled",
    "selection: final",
    "evaluation: 200 random batches",
)


@dataclass(frozen=True)
class Defect:
    """One row of the table. ``applies(model, gated)`` says which arms it changes; ``trains``: the trial itself, not
    only what is measured of it."""

    name: str
    sentence: str
    applies: Callable[[str, bool], bool] = lambda model, gated: True
    trains: bool = False

    @property
    def switch(self) -> tuple[str, str]:
        """Key and value in a params file."""
        key, _, value = self.name.partition(": ")
        return key, value


_ROWS = (
    Defect(
        IGNORED,
        "an activation that the factory does not recognise becomes ReLU",
        lambda model, gated: model != "charlm",
        trains=True,
    ),
    Defect(
        BOTH,
        "convolutions are padded on both sides, so that a position sees the characters that it predicts",
        lambda m, g: m == "convlm",
        True,
    ),
    Defect(
        DOUBLED,
        "a gated layer keeps the plain width, with 1.5 times the parameters",
        lambda model, gated: gated,
        trains=True,
    ),
    Defect(
        UNPAIRED,
        f"each model predicts {DRAWN_WINDOWS} freshly drawn windows, at their last position: two models never see one input",
    ),
    Defect(LAST, f"accuracy is taken at the last position of {DRAWN_WINDOWS} random windows"),
    Defect(FINAL, "the last weights are reported, however far past the lowest validation loss"),
    Defect(BATCHES, f"the validation loss is the mean over {DRAWN_BATCHES} random batches"),
)
DEFECTS: dict[str, Defect] = {row.name: row for row in _ROWS}
Protocol = str | Mapping[str, str]
"""``corrected``, ``as_published`` (all defects that apply), or some of them: ``{padding: both, pairing: unpaired}``."""


def check(protocol: Protocol) -> None:
    """Refuse what is no protocol.

    Raises:
        UnknownName: neither of the two words, or a switch that there is not.
        BadInput: a value that the switch does not have, or a random evaluation of weights that are not the last.
    """
    if isinstance(protocol, str):
        if protocol not in (CORRECTED, AS_PUBLISHED):
            raise UnknownName("protocol", protocol, (CORRECTED, AS_PUBLISHED))
        return
    switches = dict(defect.switch for defect in _ROWS)
    for key, value in protocol.items():
        if key not in switches:
            raise UnknownName("protocol switch", key, switches)
        if value != switches[key]:
            raise BadInput(
                f"protocol {key} must be {switches[key]!r} (leave it out for the correct way), got {value!r}"
            )
    if "evaluation" in protocol and "selection" not in protocol:
        raise BadInput("protocol evaluation: random batches measure the last weights, so it needs selection: final")


def defects_of(protocol: Protocol, model: str, activation: str) -> tuple[str, ...]:
    """Names of the defects that are on in an arm: those asked for that apply to it."""
    named: dict[str, list[str]] = {CORRECTED: [], AS_PUBLISHED: list(DEFECTS)}
    asked = named[protocol] if isinstance(protocol, str) else [f"{key}: {value}" for key, value in protocol.items()]
    gated = find_activation(activation).gated and not (IGNORED in asked and DEFECTS[IGNORED].applies(model, True))
    return tuple(row.name for row in _ROWS if row.name in asked and row.applies(model, gated))


def build(
    model: str,
    config: ModelConfig,
    activation: str,
    gated_width: str,
    init: Callable[[str], torch.Generator],
    defects: tuple[str, ...],
) -> LanguageModel:
    """``build_model`` with the defects of training on (``gated_width`` is the caller's)."""
    if not defects:
        return build_model(model, config, activation, gated_width=gated_width, generator_for=init)
    return build_published(
        model,
        config,
        activation,
        activation_ignored=IGNORED in defects,
        padded_both=BOTH in defects,
        gated_width=gated_width,
        generator_for=init,
    )


def coded_pd(p: Tensor, q: Tensor) -> float:
    """mean |p - q| / (mean p + mean q) of two (N, V) tensors: the reference study's code. Mean total variation, where
    rows are of one input."""
    return ((p - q).abs().mean() / (p.mean() + q.mean())).item()


@dataclass(frozen=True)
class Drawn:
    """Predictions (N, V) at the last positions of freshly drawn windows, and the characters (N,) that came there."""

    probabilities: Tensor
    targets: Tensor

    @property
    def accuracy(self) -> float:
        """In %."""
        return 100 * (self.probabilities.argmax(dim=1) == self.targets).double().mean().item()


def _windows(text: Tensor, block_size: int, count: int, random: torch.Generator) -> Windows:
    starts = torch.randint(len(text) - block_size, (count,), generator=random)
    windows = text[starts[:, None] + torch.arange(block_size + 1)].long()
    return Windows(windows[:, :-1], windows[:, 1:])


def draw(model: LanguageModel, text: Tensor, recipe: Recipe, random: torch.Generator) -> Drawn:
    """What the published ``get_predictions`` returns: the last position of ``DRAWN_WINDOWS`` random windows of
    ``text``."""
    width = model.config.block_size
    windows = _windows(text, width, DRAWN_WINDOWS, random)
    shown = Windows(windows.inputs, torch.full_like(windows.targets, SKIP)).to(recipe.device)
    last = [
        torch.softmax(logits.view(-1, width, logits.shape[1])[:, -1], dim=1).cpu()
        for logits, _ in logits_of(model, shown, recipe)
    ]
    return Drawn(torch.cat(last), windows.targets[:, -1])


def unpaired(draws: Mapping[str, tuple[Drawn, Drawn]]) -> dict[str, list[dict[str, Any]]]:
    """``pairs`` of trials, and each trial against ``itself``, as published: the first's first draw against the second's
    second draw."""
    couples = {"pairs": list(combinations(draws, 2)), "itself": [(label, label) for label in draws]}
    return {
        name: [{"between": [a, b], **_compare(draws[a][0].probabilities, draws[b][1].probabilities)} for a, b in pairs]
        for name, pairs in couples.items()
    }


def _compare(p: Tensor, q: Tensor) -> dict[str, float]:
    return {"coded_pd": coded_pd(p, q), "relative_pd": metrics.relative_pd(p, q), "churn": metrics.churn(p, q)}


def measured(
    defects: tuple[str, ...],
    models: Mapping[str, LanguageModel],
    finals: Mapping[str, dict[str, float]],
    text: Tensor,
    recipe: Recipe,
) -> dict[str, Any]:
    """The record's block ``as_published``: what the defects of measurement make of trained models; empty where none is
    on.

    Args:
        defects: names.
        models: label -> trained model, on the recipe's device.
        finals: label -> the last evaluation on the whole validation split.
        text: the validation split.
        recipe: batch size and device.
    """
    on = [name for name in defects if not DEFECTS[name].trains]
    if not on:
        return {}
    draws = (
        {label: _two_draws(net, text, recipe, int(label)) for label, net in models.items()}
        if {UNPAIRED, LAST} & set(on)
        else {}
    )
    trials = []
    for label, net in models.items():
        entry: dict[str, Any] = {"label": label}
        if LAST in on:
            entry["val_accuracy"] = draws[label][0].accuracy
        if BATCHES in on:
            random = _windows(
                text, net.config.block_size, DRAWN_BATCHES * recipe.batch_size, generator(int(label), "drawn/batches")
            )
            entry["val_loss"] = evaluate(net, random.to(recipe.device), recipe)[0]
        elif FINAL in on:
            entry["val_loss"] = finals[label]["val_loss"]
        trials.append(entry)
    return {"trials": trials, **(unpaired(draws) if UNPAIRED in on else {})}


def _two_draws(model: LanguageModel, text: Tensor, recipe: Recipe, seed: int) -> tuple[Drawn, Drawn]:
    first, second = (draw(model, text, recipe, generator(seed, f"drawn/{i}")) for i in range(2))
    return first, second
