"""The ablation read from records: seeds in order, missing as missing, nothing mixed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.ablations import made_up, record, records

from actlab.errors import BadInput
from actlab.records import ablation


def test_values_come_in_the_order_of_seeds() -> None:
    """Of every arm the same seeds at the same places; a missing arm is NaN."""
    f = made_up()
    losses = [t["final"]["val_loss"] for t in f.record("ecd", "bQbV", "gelu")["trials"]]  # type: ignore[index]
    assert f.values("ecd", "bQbV", "gelu").tolist() == losses
    assert np.isnan(f.values("ecd", "bQ", "gelu")).tolist() == [True] * 3


def test_a_diverged_trial_is_no_number() -> None:
    """It keeps its row and its status, and has no loss."""
    broken = record("ecd", "bQbV", "gelu")
    broken["trials"][1] |= {"status": "diverged"}
    f = ablation.read([broken])
    assert np.isnan(f.values("ecd", "bQbV", "gelu")).tolist() == [False, True, False]
    assert f.trials["status"].tolist() == ["done", "diverged", "done"]
    assert len(f.done(broken)) == 2


def test_missing_cells_are_listed() -> None:
    """An arm that is not recorded shows."""
    assert made_up().missing == []
    assert len(ablation.read(records(("ecd",))).missing) == 12
    assert len(ablation.read([]).missing) == 16


def test_levels_have_the_studys_order() -> None:
    """As published, not by the alphabet."""
    assert made_up().levels("optimizer") == ["ecd", "adamw", "sgdm", "soap"]
    assert ablation.read([record("ecd", "bQbV", "gelu", f) for f in (10.0, 0.333, 1.0)]).levels("rate_factor") == [
        0.333,
        1.0,
        10.0,
    ]


def test_other_settings_are_not_mixed() -> None:
    """Losses of two vocabularies, sizes or lengths cannot be compared."""
    with pytest.raises(BadInput, match=r"cannot be read together: dataset=novels.*; dataset=pydoc"):
        ablation.read([record("ecd", "bQbV", "gelu"), record("ecd", "symmetric", "gelu", dataset="pydoc")])


def test_other_kinds_of_record_are_left_out() -> None:
    """A folder may hold baselines."""
    assert len(ablation.read([{"kind": "baseline"}, record("ecd", "bQbV", "gelu")]).records) == 1


def test_words_are_for_people() -> None:
    """Unknown names stay."""
    assert (ablation.words("bQbV"), ablation.words("relu")) == ("bQ+bV", "relu")
    assert not math.isnan(ablation.PUBLISHED["ecd"][0])
