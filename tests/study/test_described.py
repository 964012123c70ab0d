"""Every field of a params file is described, from its type and docstring alone."""

import pytest

from actlab.study.described import NAMES, fields
from actlab.study.params import KINDS, study_of

ROWS = fields()


def of(name, kind):
    (row,) = [row for row in ROWS if row.name == name and kind in row.kinds]
    return row


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_kind_has_one_row(kind):
    """With a meaning, a default and what is allowed; axes are those of the study."""
    study = study_of(kind)
    for name in study.model_fields:
        row = of(name, NAMES[kind])
        assert len(row.meaning) > 5
        assert row.default
        assert row.allowed
        assert row.several == (name in study.axes)


@pytest.mark.parametrize(
    ("name", "kind", "default", "allowed"),
    [
        ("batch_size", "tokens", "8", "a whole number from 1 to 100,000"),
        ("batch_size", "images", "8, 64", "a whole number from 1 to 100,000"),
        ("schedule", "characters", "constant", "constant, linear, cooldown, cosine"),
        ("schedule", "tokens", "constant", "constant, cosine"),
        ("clip", "tokens", "0", "a number at least 0"),
        ("train_share", "twins", "0.9", "a number above 0 and below 1"),
        ("model", "characters", "charlm", "charlm, minigpt, nanotransformer, convlm, hybridlm, tinylstm"),
        ("activation", "tokens", "gelu, random_prelu", "a name that `actlab list activations` shows"),
        ("noise_floor", "characters", "true", "true, false"),
        ("betas", "characters", "none", "a list of 2: a number at least 0 and below 1"),
        ("rates.study", "tokens", "required", "text"),
        ("tuning.keep", "characters", "2", "a whole number from 1 to 10,000"),
    ],
)
def test_what_a_row_says(name, kind, default, allowed):
    row = of(name, kind)
    assert (row.default, row.allowed) == (default, allowed)
