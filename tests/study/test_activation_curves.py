"""What pages compute on the spot: curves, the flow through a network, written texts."""

import shutil

import numpy as np
import pytest
import tiny
import torch

from actlab import paths
from actlab.activations import ACTIVATIONS
from actlab.data.text import load_text
from actlab.errors import BadInput
from actlab.records import store
from actlab.study import sampling
from actlab.study.activation_curves import ADJUSTABLE, curve, curves, flow
from actlab.study.character_study import CharacterStudy
from actlab.study.sampling import written


def spec(activation="gelu", model="charlm"):
    return tiny.arm(CharacterStudy(), model, activation).trials[0]


def test_curves_have_known_values():
    """relu(-1) = 0; SmeLU(0) = beta / 4; a gated activation is drawn as its gate."""
    drawn = curves()
    assert set(drawn) == set(ACTIVATIONS)
    assert drawn["relu"][1][200] == 0
    assert drawn["smelu_1"][1][300] == pytest.approx(0.25)
    assert curve("smelu_1", 0.1)[1][300] == pytest.approx(0.025)
    assert np.array_equal(drawn["swiglu"][1], drawn["swish"][1])
    assert set(ADJUSTABLE) == {"swish", "swish_beta", "smelu_05", "smelu_1", "smelu"}


@pytest.mark.parametrize("name", ["relu", "swiglu", "prelu", "smelu_1"])
@pytest.mark.parametrize("model", ["charlm", "tinylstm"])
def test_flow_is_what_the_activations_get(name, model):
    """As many gradients as inputs, all finite; they vanish where ReLU is flat and nowhere else; beta moves them."""
    found = flow(spec(name, model), windows=2)
    assert len(found.inputs) == len(found.gradients) > 0
    assert np.isfinite(found.gradients).all()
    if name == "relu" and model == "charlm":
        assert found.silent == pytest.approx((found.inputs <= 0).mean(), abs=1e-3)
    if name == "smelu_1":
        assert not np.array_equal(found.gradients, flow(spec(name, model), beta=0.1, windows=2).gradients)


def test_reading_is_the_most_probable_character():
    """And nothing is written after no character."""
    corpus, model, window = load_text("pydoc"), spec().fresh(), spec().compared_on(8).inputs[0]
    with torch.no_grad():
        logits = model.eval()(window[None])[0]
    assert sampling.reading(model, corpus, window)[5] == corpus.vocabulary[int(logits[5].argmax())]
    with pytest.raises(BadInput, match="at least one"):
        sampling.sample(model, corpus, "")


def test_a_recorded_model_writes(toy):
    """So many characters; the draws' seed matters; what the text lacks is refused before anything is
    trained."""
    path = store.path_of("toy", tiny.relu(toy)["arm"])
    first, again, other = (written(path, [42], "the ", 30, draw)["texts"]["42"] for draw in (0, 0, 1))
    assert len(first) == 30
    assert first == again != other
    shutil.rmtree(paths.cache())
    for prompt, message in (("\N{SNOWMAN}", "--prompt '.': the vocabulary of"), ("", "at least one character")):
        with pytest.raises(BadInput, match=message):
            written(path, [42], prompt)
    assert not paths.cache().exists()
