"""The ablation's sentences carry the records' numbers."""

from __future__ import annotations

from tests.support.ablations import made_up, record, records

from actlab import factorial


def test_sentences_carry_numbers() -> None:
    """Effects with intervals and n, how many survive Holm, and the protocol's optimism."""
    found = factorial.sentences(made_up())
    assert "16 of the 16 arms have records; 48 trials in all, 0 diverged" in found["ablation_extent"]
    assert "307,200 tokens (novels)" in found["ablation_extent"]
    assert "bQ+bV gains +0.2" in found["ablation_gain"]
    assert "8 of 8 gains stay apart" in found["ablation_gain"]
    assert "interval excludes 0" in found["ablation_interaction"]
    assert "not been varied" in found["ablation_rates"]
    assert "lowest of 122" in found["ablation_protocol"]


def test_a_better_rate_is_named() -> None:
    """Three times the published rate is 0.2 nats lower for the made-up ECD; AdamW has no other rate."""
    f = factorial.read([*records(("ecd", "adamw")), record("ecd", "symmetric", "gelu", 3.0)])
    assert factorial.sentences(f)["ablation_rates"].endswith("ECD at 3 times its published rate (0.20 nats lower)")


def test_no_records_no_numbers() -> None:
    """Missing shows as missing, in part and as a whole."""
    assert set(factorial.sentences(factorial.read([])).values()) == {"No record yet"}
    partly = factorial.sentences(factorial.read([record("ecd", "symmetric", "gelu")]))
    assert partly["ablation_gain"].startswith("No arm and its bQ+bV partner")
    assert "cannot be said" in partly["ablation_interaction"]
