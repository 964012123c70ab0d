"""Texts that networks write, `actlab sample`: characters drawn after a prompt, and the record that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from actlab.data.text import Corpus, load_text
from actlab.errors import BadInput
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study import provenance
from actlab.study.trial import kind_of, load_model
from actlab.study.trial_repro import dataset_of
from actlab.trainers.streams import generator


@torch.no_grad()
def sample(model: LanguageModel, corpus: Corpus, prompt: str, length: int = 200, seed: int = 0) -> str:
    """``length`` characters after ``prompt``. The same seed gives every model the same draws, so that only the models
    make texts differ.

    Each draw is a uniform number, looked up in the model's cumulative distribution over the characters.
    """
    model.eval()
    tokens, block = corpus.encode(prompt), model.config.block_size
    for draw in torch.rand(length, generator=generator(seed, "sample")):
        probabilities = model(tokens[None, -block:])[0, -1].softmax(-1)
        place = int((probabilities.cumsum(-1) < draw).sum())
        tokens = torch.cat([tokens, torch.tensor([min(place, corpus.vocab_size - 1)])])
    return corpus.decode(tokens[-length:])


@torch.no_grad()
def reading(model: LanguageModel, corpus: Corpus, window: Tensor) -> str:
    """The most probable next character at each of the T positions of a window (T,) of real text."""
    return corpus.decode(model.eval()(window[None])[0].argmax(-1))


def written(record: Path, seeds: Sequence[int | None], prompt: str, length: int = 200, draw: int = 0) -> store.Record:
    """The ``length`` characters that the models of a record's trials draw after a prompt, as a record of their own;
    ``draw`` seeds the draws, which all models share; seed ``None`` stands for the first trial."""
    found = store.load(record)
    if kind_of(found).NAME != "repro":
        raise BadInput(f"{found['arm']}: only character models write; this is a record of kind {found['kind']!r}")
    corpus = load_text(dataset_of(found))
    if not prompt:
        raise BadInput("--prompt: the model needs at least one character to go on from")
    try:
        corpus.encode(prompt)  # a character that the text does not have is refused before anything is trained
    except BadInput as error:
        raise BadInput(f"--prompt {prompt!r}: {error}") from None
    labels = {found["trials"][0]["label"] if seed is None else str(seed): seed for seed in seeds}
    texts = {label: sample(load_model(found, seed), corpus, prompt, length, draw) for label, seed in labels.items()}
    kept = {name: found[name] for name in ("study", "arm", "model_name", "activation")}
    made = provenance.of_record("explore.written", {})
    return {"kind": "text", **kept, "prompt": prompt, "draw": draw, "texts": texts, "provenance": made}


def keep(texts: store.Record) -> Path:
    """Save what ``written`` returns beside the records of its study, in ``texts/``; a path that is taken is refused."""
    return store.save(store.folder_of(texts["study"]) / "texts" / f"{texts['arm']}.json", texts)
