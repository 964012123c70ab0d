"""Texts that networks write, `actlab sample`: characters drawn after a prompt."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from actlab.errors import BadInput
from actlab.models import LanguageModel
from actlab.models.vocabulary import Vocabulary
from actlab.records import store
from actlab.study.after.load_model import load_model, trial_of
from actlab.trainers import setup
from actlab.trainers.seeds import generator


@torch.no_grad()
def sample(model: LanguageModel, vocabulary: Vocabulary, prompt: str, length: int = 200, seed: int = 0) -> str:
    """Draw ``length`` characters after ``prompt``. The same seed gives every model the same draws, so that only the
    models make texts differ.

    Each draw is a uniform number, looked up in the model's cumulative distribution over the characters.
    """
    if not prompt:
        raise BadInput("--prompt: a model needs at least one character to go on from")
    setup.prepare()  # on one thread: the products are small
    tokens, block = vocabulary.encode(prompt), model.eval().config.block_size
    for draw in torch.rand(length, generator=generator(seed, "sample")):
        cumulative = model(tokens[None, -block:])[0, -1].softmax(-1).cumsum(-1)
        place = (cumulative < draw).sum().clamp(max=len(cumulative) - 1)
        tokens = torch.cat([tokens, place[None]])
    return vocabulary.decode(tokens[-length:])


@torch.no_grad()
def reading(model: LanguageModel, vocabulary: Vocabulary, window: Tensor) -> str:
    """Decode the most probable next character at each of the T positions of a window (T,) of real text."""
    return vocabulary.decode(model.eval()(window[None])[0].argmax(-1))


def texts_of(name: str | Path, seeds: Sequence[int | None], prompt: str, length: int, draw: int) -> dict[str, str]:
    """Let the models of a record's trials write: label of a trial -> the characters that its model drew.

    Args:
        name: of the record (``records.store.find``).
        seeds: of its trials; ``None`` stands for the first.
        prompt, length, draw: text to go on from; characters; the seed of the draws, which all models share.
    """
    record, texts = store.load(store.find(name)), dict[str, str]()
    for trial in [trial_of(record, seed) for seed in seeds]:
        model = load_model(record, trial.label)
        if model.vocabulary is None:
            raise BadInput(f"{trial.name}: its tokens came without the tokenizer that decodes them")
        texts[trial.label] = sample(model, model.vocabulary, prompt, length, draw)
    return texts
