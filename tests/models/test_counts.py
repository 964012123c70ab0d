"""Parameter counts: exactly the reference study's for plain arms, within 1% of them for gated ones."""

from dataclasses import replace
from itertools import product

import pytest
import tiny
import torch

from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.models import MODELS, SCALES, build_model, count_parameters
from actlab_audit import numbers

GATED = [name for name, entry in ACTIVATIONS.items() if entry.gated]
PLAIN = [name for name, entry in ACTIVATIONS.items() if not entry.gated and not entry.per_feature]


def count(name, scale, activation, gated_width="matched"):
    """Parameters of a model that is never filled with numbers."""
    with torch.device("meta"):
        return count_parameters(MODELS[name].factory(SCALES[scale], ACTIVATIONS[activation], gated_width))


def test_plain_counts_are_the_published_ones(subtests):
    """Every plain activation gives exactly the reference implementation's count, which the ledger of claims holds."""
    assert set(numbers.our_parameters) == set(MODELS)
    for name, scale in product(MODELS, ("lite", "partial", "full")):
        with subtests.test(scale=scale, name=name):
            counts = {count(name, scale, activation) for activation in (PLAIN if scale == "lite" else PLAIN[:1])}
            assert counts == {numbers.our_parameters[name][scale]}


def test_gated_counts_match_within_one_percent(subtests):
    """All gated arms of a model have one count, and it is the plain arm's within 1% (1.2% or 2.2% at the smallest
    scales: a width is coarse)."""
    coarse = {"quick": 0.012, "116k": 0.012, "33k": 0.022}
    for name, scale in product(MODELS, SCALES):
        with subtests.test(scale=scale, name=name):
            counts = {count(name, scale, activation) for activation in (GATED if scale == "lite" else GATED[:1])}
            assert len(counts) == 1
            assert abs(counts.pop() / count(name, scale, "relu") - 1) < coarse.get(scale, 0.01)


@pytest.mark.parametrize(("scale", "expected"), [("lite", 561_920), ("full", 14_343_936)])
def test_doubled_counts_are_the_published_ones(scale, expected):
    """``doubled`` reproduces the unmatched arms of the reference study, the same for both models."""
    assert {count(name, scale, "swiglu", "doubled") for name in ("charlm", "minigpt")} == {expected}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("n_layer", 0, "n_layer must be at least 1, got 0"),
        ("n_head", 5, r"n_embd \(12\) must be a multiple of n_head \(5\)"),
        ("dropout", 1.0, r"dropout must lie in \[0, 1\), got 1.0"),
        ("dropout", float("nan"), "got nan"),
    ],
)
def test_config_errors_name_the_field(field, value, message):
    """A size that no model can have is refused where it enters, with the field and the value."""
    with pytest.raises(BadInput, match=message):
        replace(tiny.CONFIG, **{field: value})


def test_an_unknown_gated_width_is_refused():
    with pytest.raises(BadInput, match="unknown gated_width 'wide': known are doubled, matched"):
        build_model("charlm", tiny.CONFIG, "swiglu", gated_width="wide")
