"""The ablation as the audit reads it: one rate, missing as missing, known effects."""

import pytest
from tests.support.ablations import record, records

from actlab.errors import BadInput
from actlab_audit import ablation


@pytest.fixture
def read(saved):
    """The runs of made-up records."""

    def make(made):
        saved(made_up=made)
        return ablation.read("made-up")

    return make


def test_the_published_rate_is_read(read):
    """Whatever else was recorded."""
    found = read([record("ecd", "bQbV", "gelu", factor) for factor in (10.0, 0.333, 3.0, 1.0)])
    assert found["rate_factor"].tolist() == [1.0] * 3
    assert read([record("ecd", "bQbV", "gelu", 3.0)]) is None


def test_a_diverged_trial_is_no_number(read):
    """It keeps its row and its status, and has no gain; nor has an arm without a record."""
    broken = record("ecd", "bQbV", "gelu")
    broken["trials"][1] |= {"status": "diverged"}
    runs = read([broken, record("ecd", "symmetric", "gelu"), record("soap", "bQbV", "gelu")])
    assert runs["status"].tolist().count("diverged") == 1
    found = ablation.gains(runs).set_index(["optimizer", "seed"])["gain"].isna()
    assert (found["ecd"].tolist(), found["soap"].tolist()) == ([False, True, False], [True] * 3)


def test_other_settings_are_not_mixed(read):
    """Losses of two vocabularies, sizes or lengths cannot be compared."""
    with pytest.raises(BadInput, match=r"cannot be read together: dataset=pydoc \| novels"):
        read([record("ecd", "bQbV", "gelu"), record("ecd", "symmetric", "gelu", dataset="pydoc")])


def test_effects_and_interaction(read):
    """-0.1 under GELU, -0.3 under PReLU, but for a little noise. A missing cell leaves no interaction."""
    runs, both = read(records()), ("random_prelu", "gelu")
    gains = ablation.gains(runs).groupby("activation")["gain"].mean()
    assert gains.round(2).to_dict() == {"gelu": -0.1, "random_prelu": -0.3}
    assert ablation.effect(runs, *both)["estimate"] == pytest.approx(gains["random_prelu"] - gains["gelu"])
    none = ablation.effect(read(records(gain={"gelu": 0.1, "random_prelu": 0.1})), *both)
    assert none["low"] < 0 < none["high"]
    assert ablation.effect(read(records()[:-1]), *both)["n"] == 0
