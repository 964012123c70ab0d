"""The ablation as the audit reads it: one rate, missing as missing, known effects."""

import numpy as np
import pytest
from tests.support.ablations import made_up, record, records

from actlab.errors import BadInput
from actlab_audit import ablation


def test_the_published_rate_is_read():
    """Whatever else was recorded."""
    found = ablation.read([record("ecd", "bQbV", "gelu", factor) for factor in (10.0, 0.333, 3.0, 1.0)])
    assert found.trials["rate_factor"].tolist() == [1.0] * 3


def test_a_diverged_trial_is_no_number():
    """It keeps its row and its status, and has no loss; nor has an arm without a record."""
    broken = record("ecd", "bQbV", "gelu")
    broken["trials"][1] |= {"status": "diverged"}
    f = ablation.read([{"kind": "baseline"}, broken])
    assert np.isnan(f.losses["ecd", "bQbV", "gelu"]).tolist() == [False, True, False]
    assert np.isnan(f.losses["ecd", "symmetric", "gelu"]).all()
    assert f.trials["status"].tolist() == ["done", "diverged", "done"]


def test_other_settings_are_not_mixed():
    """Losses of two vocabularies, sizes or lengths cannot be compared."""
    with pytest.raises(BadInput, match=r"cannot be read together: dataset=novels \| pydoc"):
        ablation.read([record("ecd", "bQbV", "gelu"), record("ecd", "symmetric", "gelu", dataset="pydoc")])


def test_effects_and_interaction():
    """-0.1 under GELU, -0.3 under PReLU, seed by seed. A missing cell leaves no interaction."""
    f = made_up()
    assert f.effects.T.groupby("activation").mean().mean(axis=1).round(2).tolist() == [-0.1, -0.3]
    by_hand = [
        f.losses[o, "bQbV", a] - f.losses[o, "symmetric", a]
        for a in ("random_prelu", "gelu")
        for o in ablation.PUBLISHED
    ]
    assert ablation.interaction(f)["estimate"] == pytest.approx(np.mean(by_hand[:4]) - np.mean(by_hand[4:]))
    none = ablation.interaction(made_up(gain={"gelu": 0.1, "random_prelu": 0.1}))
    assert none["low"] < 0 < none["high"]
    assert ablation.interaction(ablation.read(records()[:-1]))["n"] == 0
