"""Texts that networks write, `actlab sample`: characters drawn after a prompt, and the record that keeps them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from actlab import paths
from actlab.errors import BadInput
from actlab.models import LanguageModel
from actlab.models.vocabulary import Vocabulary
from actlab.records import store
from actlab.records.find import find
from actlab.study import provenance
from actlab.study.load_model import kept_model, told_of, trial_of, vocabulary_of
from actlab.study.params import RECORDED
from actlab.study.progress import Watch, unwatched
from actlab.trainers.seeds import generator


def begun(vocabulary: Vocabulary, prompt: str) -> Tensor:
    """The characters of a prompt, (n,) int64; ``BadInput``: it has none, or one that the text has not."""
    if not prompt:
        raise BadInput("a model needs at least one character to go on from")
    return vocabulary.encode(prompt)


@torch.no_grad()
def sample(model: LanguageModel, vocabulary: Vocabulary, prompt: str, length: int = 200, seed: int = 0) -> str:
    """``length`` characters after ``prompt``. The same seed gives every model the same draws, so that only the models
    make texts differ.

    Each draw is a uniform number, looked up in the model's cumulative distribution over the characters.
    """
    model.eval()
    tokens, block = begun(vocabulary, prompt), model.config.block_size
    for draw in torch.rand(length, generator=generator(seed, "sample")):
        probabilities = model(tokens[None, -block:])[0, -1].softmax(-1)
        place = int((probabilities.cumsum(-1) < draw).sum())
        tokens = torch.cat([tokens, torch.tensor([min(place, model.config.vocab_size - 1)])])
    return vocabulary.decode(tokens[-length:])


@torch.no_grad()
def reading(model: LanguageModel, vocabulary: Vocabulary, window: Tensor) -> str:
    """The most probable next character at each of the T positions of a window (T,) of real text."""
    return vocabulary.decode(model.eval()(window[None])[0].argmax(-1))


def written(
    name: str | Path,
    seeds: Sequence[int | None],
    prompt: str,
    length: int = 200,
    draw: int = 0,
    anyway: bool = False,
    watch: Watch = unwatched,
) -> store.Record:
    """The ``length`` characters that the models of a record's trials draw after a prompt, as a record of their own.

    Args:
        name: of the record (``records.find``).
        seeds: of its trials; ``None`` stands for the first.
        prompt, length, draw: text to go on from; characters; the seed of the draws, which all models share.
        anyway: also of models that had to be trained again with other weights than recorded; ``notes`` says so.
        watch: hears of a training.
    """
    record = store.load(find(name))
    trials = {trial.label: trial for trial in (trial_of(record, seed) for seed in seeds)}
    if RECORDED[record["kind"]] != "repro":
        raise BadInput(f"{record['arm']}: only character models write; this is a record of kind {record['kind']!r}")
    vocabulary = vocabulary_of(next(iter(trials.values())))
    assert vocabulary is not None, "characters have one"
    try:
        begun(vocabulary, prompt)  # what it cannot go on from is refused before anything is trained
    except BadInput as error:
        raise BadInput(f"--prompt {prompt!r}: {error}") from None
    texts, notes = dict[str, str](), dict[str, str]()
    for label, trial in trials.items():
        model, note = kept_model(trial, anyway, partial(told_of, watch, trial))
        texts[label] = sample(model, vocabulary, prompt, length, draw)
        if note:
            notes[label] = note
    made = {name: record[name] for name in ("study", "arm", "model_name", "activation")}
    made |= {"kind": "text", "prompt": prompt, "draw": draw, "texts": texts}
    if notes:
        made["notes"] = notes
    return made | {"provenance": provenance.of_record("explore.written", {})}


def keep(texts: store.Record) -> Path:
    """Save what ``written`` returns in the project's ``results/STUDY/texts/``; a path that is taken is refused."""
    return store.save(paths.results() / texts["study"] / "texts" / f"{texts['arm']}.json", texts)
