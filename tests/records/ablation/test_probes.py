"""Single batches, alignment and copying as read from records."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.ablations import BATCHES, made_up, record, records

from actlab.records import ablation


def test_the_lowest_of_many_batches_is_optimistic() -> None:
    """One batch is fair; the lowest of 122 normal draws of sd 0.25 lies about 2.5 sd below the mean, as a simulation
    says."""
    found = ablation.protocol(made_up())
    assert found is not None
    assert found.optimism(1) == pytest.approx(0, abs=1e-9)
    generator = np.random.default_rng(0)
    simulated = np.mean([generator.choice(found.batch_losses, 64, replace=False).min() for _ in range(4000)])
    assert found.reported[64].value == pytest.approx(simulated, abs=0.01)
    assert 2 < found.optimism(122) / found.spread < 3.2
    assert found.reported[8].low < found.reported[8].value < found.reported[8].high


def test_no_batches_no_protocol() -> None:
    """A short text has one batch: nothing is said."""
    short = record("adamw", "symmetric", "gelu")
    for trial in short["trials"]:
        trial["analyses"]["batch_losses"] = [4.0]
    f = ablation.read([short])
    assert ablation.protocol(f) is None
    assert ablation.batches(f) is None
    assert ablation.protocol(ablation.read([])) is None


def test_easy_batches_are_easy_for_every_model() -> None:
    """The text's part of the spread cancels between two arms, and one batch is the easiest for all."""
    found = ablation.batches(made_up())
    assert found is not None
    assert (found.trials, found.batches, found.same_easiest) == (48, BATCHES, 48)
    assert found.spread == pytest.approx(0.25, abs=0.05)
    assert found.paired_spread == pytest.approx(0, abs=1e-9)


def test_alignment_counts_heads_outside_the_null() -> None:
    """Cosine 0.6 is outside +-0.3 in every head of every seed; 0 is inside."""
    f = made_up()
    heads = ablation.alignments(f, "ecd", "bQbV", "gelu")
    assert [(h.layer, h.head) for h in heads] == [(i, j) for i in range(2) for j in range(4)]
    assert all(h.outside == h.cosine.n == 3 and h.low < 0 < h.high < h.cosine.value for h in heads)
    table = ablation.outside_null(f)
    assert table.loc[("ECD", "bQ+bV"), "outside the null"] == "48 (100%)"
    assert table.loc[("ECD", "symmetric"), "outside the null"] == "0 (0%)"
    assert (table["spread of logits"] == "0.100").all()
    assert ablation.alignments(f, "ecd", "bQ", "gelu") == []


def test_copying_is_paired_by_seed() -> None:
    """bQ+bV copies better by the gain in loss, and by a tenth in completions."""
    f = made_up()
    assert ablation.copying(f)["ecd", "bQbV", "gelu"].value == pytest.approx(0.3)
    assert ablation.copying_gains(f)["ecd", "random_prelu"].value == pytest.approx(0.3, abs=0.01)
    assert ablation.copying_items(f) == 900
    assert ablation.copying_items(ablation.read([])) == 0
    alone = ablation.copying_gains(ablation.read(records()[:1]))["ecd", "gelu"]
    assert math.isnan(alone.value)


def test_batches_are_tabled() -> None:
    """In words, or a word that there are none."""
    assert ablation.batches_table(made_up()).loc["trials with the same easiest batch", ""] == "48 of 48"
    assert "not measured" in ablation.batches_table(ablation.read([])).iloc[0, 0]
