"""The ablation's sentences carry the records' numbers."""

from __future__ import annotations

import re

from tests.support.ablations import made_up, record, records

from actlab.chapters import ablation
from actlab.records.ablation import read, times


def test_sentences_carry_numbers() -> None:
    """Effects with intervals and n, how many survive Holm, and the protocol's optimism."""
    found = ablation.sentences(made_up())
    assert "16 of the 16 arms have records; 48 trials, 0 diverged" in found["ablation_extent"]
    assert "307,200 tokens (novels)" in found["ablation_extent"]
    assert re.search(
        r"below 0 is better, is -0\.(19|20)\d \[-0\.2\d\d, -0\.1\d\d\] nats averaged over all arms, n = 3",
        found["ablation_gain"],
    )
    assert re.search(r"the largest is -0\.(29|30)\d .*random PReLU", found["ablation_gain"])
    assert "8 of 8 such differences stay apart" in found["ablation_gain"]
    assert re.search(r"is \+0\.(19|20)\d \[\+0\.1\d\d, \+0\.2\d\d\] nats", found["ablation_interaction"])
    assert "interval excludes 0" in found["ablation_interaction"]
    assert "not been varied" in found["ablation_rates"]
    assert "lowest of 122" in found["ablation_protocol"]


def test_a_better_rate_is_named() -> None:
    """Three times the published rate is 0.2 nats lower for the made-up ECD; AdamW has no other rate."""
    f = read([*records(("ecd", "adamw")), record("ecd", "symmetric", "gelu", 3.0)])
    found = ablation.sentences(f)
    assert found["ablation_rates"].endswith(
        "arms: ECD at 3 times its published rate (n = 3, 0.20 nats lower, the largest tried)"
    )
    assert "27 trials, 3 of them at other learning rates, 0 diverged" in found["ablation_extent"]


def test_every_optimizer_whose_rate_was_varied_is_named() -> None:
    """At a tenth and at ten times the published rate the made-up losses are those of the published one, but for noise
    of less than 0.01."""
    varied = [record(o, "symmetric", "gelu", factor) for o in ("ecd", "sgdm") for factor in (0.333, 3.0, 10.0)]
    said = ablation.sentences(read([*records(("ecd", "sgdm")), *varied]))["ablation_rates"]
    assert said.count("at 3 times its published rate") == 2
    assert "tried" not in said  # 3 is neither the largest nor the smallest
    assert [times(factor) for factor in (0.333, 1.0, 3.0, 10.0)] == ["1/3", "1", "3", "10"]


def test_the_published_rate_may_be_the_best() -> None:
    """A diverged other rate leaves the published one."""
    wild = record("ecd", "symmetric", "gelu", 3.0)
    for trial in wild["trials"]:
        trial["status"] = "diverged"
    said = ablation.sentences(read([*records(("ecd",)), wild]))["ablation_rates"]
    assert said.endswith("ECD at its published rate")


def test_no_records_no_numbers() -> None:
    """Missing shows as missing, in part and as a whole."""
    assert set(ablation.sentences(read([])).values()) == {"No record yet"}
    partly = ablation.sentences(read([record("ecd", "symmetric", "gelu")]))
    assert partly["ablation_gain"].startswith("No arm and its bQ+bV partner")
    assert "cannot be said" in partly["ablation_interaction"]


def test_tables_name_what_is_missing() -> None:
    """Sixteen rows always; in words what single batches are worth, and where keys lie along bQ."""
    assert len(ablation.arms_table(made_up())) == 16
    partly = ablation.arms_table(read(records(("ecd",))))
    assert (partly == "no record yet").all(axis=1).sum() == 12
    assert ablation.published_table()["gain"].to_dict()["ECD"] == "+0.20"
    assert ablation.batches_table(made_up()).loc["trials with the same easiest batch", ""] == "48 of 48"
    assert "not measured" in ablation.batches_table(read([])).iloc[0, 0]


def test_heads_outside_the_null_are_counted() -> None:
    """Cosine 0.6 is outside +-0.3 in every head of every seed; 0 is inside."""
    table = ablation.outside_null(made_up())
    assert table.loc[("ECD", "bQ+bV"), "outside the null"] == "48 (100%)"
    assert table.loc[("ECD", "symmetric"), "outside the null"] == "0 (0%)"
    assert (table["spread of logits"] == "0.100").all()
