"""Inside a network: what flows through its activations, and what two models make of the same draws."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actlab.activations import get_activation
from actlab.data.text import load_text
from actlab.study import explore
from actlab.study.arms import TrialSpec, arm
from actlab.study.params import Params
from actlab.study.trial_repro import fresh_model, windows_of


def spec(activation: str = "gelu", model: str = "charlm", seed: int = 42) -> TrialSpec:
    return arm(
        Params(model=(model,), activations=(activation,), prediction_windows=8, seed=seed), model, activation
    ).trials[0]


@pytest.mark.parametrize("name", ["relu", "swiglu", "prelu", "smelu_1"])
@pytest.mark.parametrize("model", ["charlm", "tinylstm"])
def test_flow_is_what_the_activations_get(name: str, model: str) -> None:
    """As many gradients as inputs; the model is left as it was."""
    found = explore.flow(spec(name, model), windows=2)
    assert len(found.inputs) == len(found.gradients) > 0
    assert np.isfinite(found.gradients).all()


def test_gradient_is_zero_where_relu_is_flat_and_nowhere_else() -> None:
    found = explore.flow(spec("relu"), windows=2)
    assert found.silent == pytest.approx((found.inputs <= 0).mean(), abs=1e-3)
    assert explore.flow(spec("gelu"), windows=2).silent < 1e-3


def test_beta_reaches_function_and_network() -> None:
    """Another beta, another curve and other gradients; the limits are the activation's own."""
    x, narrow, _ = explore.curve("smelu_1", 0.1)
    _, wide, _ = explore.curve("smelu_1", 2.0)
    assert wide[len(x) // 2] == pytest.approx(2.0 / 4)
    assert narrow[len(x) // 2] == pytest.approx(0.1 / 4)
    first, second = (explore.flow(spec("smelu_1"), beta=beta, windows=2).gradients for beta in (0.1, 2.0))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(explore.curve("relu", 3.0)[1], np.maximum(x, 0))


def test_every_adjustable_activation_has_a_beta() -> None:
    assert set(explore.ADJUSTABLE) == {"swish", "swish_beta", "smelu_05", "smelu_1", "smelu"}
    assert all(hasattr(get_activation(name), "beta") for name in explore.ADJUSTABLE)


def test_samples_depend_on_model_and_seed_alone() -> None:
    corpus, one, other = load_text("pydoc"), fresh_model(spec()), fresh_model(spec(seed=43))
    assert explore.sample(one, corpus, "The ", 30) == explore.sample(one, corpus, "The ", 30)
    assert explore.sample(one, corpus, "The ", 30) != explore.sample(one, corpus, "The ", 30, seed=1)
    assert explore.sample(one, corpus, "The ", 30) != explore.sample(other, corpus, "The ", 30)


def test_reading_is_the_most_probable_character() -> None:
    corpus, model, window = load_text("pydoc"), fresh_model(spec()), windows_of(spec())[2].inputs[0]
    with torch.no_grad():
        logits = model.eval()(window[None])[0]
    assert explore.reading(model, corpus, window)[5] == corpus.vocabulary[int(logits[5].argmax())]
