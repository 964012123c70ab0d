"""The ledger's counts are the models' own."""

from __future__ import annotations

import pytest
import torch

from actlab.activations import ACTIVATIONS
from actlab.claims.sizes import PARAMETERS, parameters
from actlab.errors import UnknownName
from actlab.models import MODELS, SCALES, count_parameters


def test_the_table_counts_what_is_built(subtests: pytest.Subtests) -> None:
    """Built without filling it with numbers, every model has as many parameters as the table says, at every scale."""
    assert set(PARAMETERS) == set(MODELS)
    assert {tuple(counts) for counts in PARAMETERS.values()} == {("lite", "partial", "full")}
    for model, counts in PARAMETERS.items():
        for scale in counts:
            with subtests.test(scale=scale, model=model):
                with torch.device("meta"):
                    built = MODELS[model].factory(SCALES[scale], ACTIVATIONS["relu"], "matched")
                assert parameters(model, scale) == count_parameters(built)


def test_unknown_model() -> None:
    """The message lists the known ones."""
    with pytest.raises(UnknownName, match="did you mean 'charlm'"):
        parameters("charml", "lite")
