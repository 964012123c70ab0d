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


def count(name, scale, activation, gated_width="matched"):
    """Parameters of a model that is never filled with numbers."""
    with torch.device("meta"):
        return count_parameters(MODELS[name].factory(SCALES[scale], ACTIVATIONS[activation], gated_width))


def test_plain_counts_are_the_published_ones():
    """Exactly the reference implementation's, which the ledger of claims holds. (The other activations against relu: a
    contract.)"""
    found = {name: {scale: count(name, scale, "relu") for scale in ("lite", "partial", "full")} for name in MODELS}
    assert found == numbers.our_parameters


def test_gated_counts_match_within_one_percent(subtests):
    """At every scale; 1.2% or 2.2% at the smallest, where a width is coarse."""
    coarse = {"quick": 0.012, "116k": 0.012, "33k": 0.022}
    for name, scale in product(MODELS, SCALES):
        with subtests.test(scale=scale, name=name):
            assert abs(count(name, scale, "swiglu") / count(name, scale, "relu") - 1) < coarse.get(scale, 0.01)


@pytest.mark.parametrize(("scale", "expected"), [("lite", 561_920), ("full", 14_343_936)])
def test_doubled_counts_are_the_published_ones(scale, expected):
    """``doubled`` reproduces the unmatched arms of the reference study, the same for both models."""
    assert {count(name, scale, "swiglu", "doubled") for name in ("charlm", "minigpt")} == {expected}


def test_prelu_adds_one_slope_a_hidden_feature():
    """And nothing else: 4 C in each of charlm's two blocks, C in each of convlm's six."""
    added = [count(name, "lite", "prelu") - count(name, "lite", "relu") for name in ("charlm", "convlm")]
    assert added == [2 * 4 * 128, 6 * 128]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("n_layer", 0, "n_layer as a whole number from 1, got 0"),
        ("vocab_size", 2.5, "vocab_size as a whole number from 1, got 2.5"),
        ("block_size", True, "block_size as a whole number from 1, got True"),
        ("n_embd", None, "n_embd as a whole number from 1, got None"),
        ("n_head", 5, r"n_embd \(12\) must be a multiple of n_head \(5\)"),
        ("dropout", 1.0, r"dropout in \[0, 1\), got 1.0"),
        ("dropout", float("nan"), "got nan"),
        ("dropout", "0.1", "got '0.1'"),
    ],
)
def test_config_errors_name_the_field(field, value, message):
    """A size that no model can have is refused where it enters, with the field and the value."""
    with pytest.raises(BadInput, match=message):
        replace(tiny.CONFIG, **{field: value})


def test_an_unknown_gated_width_is_refused():
    with pytest.raises(BadInput, match="unknown gated_width 'wide': known are doubled, matched"):
        build_model("charlm", tiny.CONFIG, "swiglu", gated_width="wide")
