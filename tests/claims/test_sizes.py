"""The counting formulas give the models' own counts."""

from __future__ import annotations

import pytest
import torch

from actlab.activations import ACTIVATIONS
from actlab.claims.sizes import FORMULAS, SIZES, VOCABULARY, parameters
from actlab.errors import UnknownName
from actlab.models import MODELS, SCALES, count_parameters


def test_all_models_and_scales() -> None:
    """The formulas know the models and the sizes of the table."""
    assert set(FORMULAS) == set(MODELS)
    for name, size in SIZES.items():
        config = SCALES[name]
        assert (config.n_layer, config.n_embd, config.block_size, config.vocab_size) == (size.layers, size.width, size.context, VOCABULARY)


def test_formula_counts_what_is_built(subtests: pytest.Subtests) -> None:
    """Built without filling it with numbers, every model has as many parameters as its formula says."""
    for model in FORMULAS:
        for scale in SIZES:
            with subtests.test(scale=scale, model=model):
                with torch.device("meta"):
                    built = MODELS[model].factory(SCALES[scale], ACTIVATIONS["relu"], "matched")
                assert parameters(model, scale) == count_parameters(built)


def test_unknown_model() -> None:
    """The message lists the known ones."""
    with pytest.raises(UnknownName, match="did you mean 'charlm'"):
        parameters("charml", "lite")
