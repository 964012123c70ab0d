"""Texts that networks write."""

import pytest
import tiny
import torch

from actlab.data.text import load_text
from actlab.errors import BadInput
from actlab.records import store
from actlab.study.after import sampling
from actlab.study.after.sampling import texts_of
from actlab.study.characters.study import CharacterStudy


def spec(activation="gelu", model="charlm"):
    return tiny.arm(CharacterStudy(), model, activation).trials[0]


def test_reading_is_the_most_probable_character():
    """And nothing is written after no character."""
    corpus, model, window = load_text("pydoc"), spec().fresh(), spec().compared_on(8).inputs[0]
    with torch.no_grad():
        logits = model.eval()(window[None])[0]
    assert sampling.reading(model, corpus, window)[5] == corpus.vocabulary[int(logits[5].argmax())]
    with pytest.raises(BadInput, match="at least one"):
        sampling.sample(model, corpus, "")


def test_a_recorded_model_writes(toy):
    """So many characters; the draws' seed matters; what the text lacks is refused."""
    path = store.path_of("toy", tiny.relu(toy)["arm"])
    first, again, other = (texts_of(path, [42], "the ", 30, draw)["42"] for draw in (0, 0, 1))
    assert len(first) == 30
    assert first == again != other
    for prompt, message in (("\N{SNOWMAN}", "the vocabulary of"), ("", "at least one character")):
        with pytest.raises(BadInput, match=message):
            texts_of(path, [42], prompt, 30, 0)
