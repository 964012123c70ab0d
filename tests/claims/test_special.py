"""Claims S01 to S24 follow the records: other records, other verdicts."""

from __future__ import annotations

import torch
from tests.support.ablations import made_up, record, records

from actlab import claims
from actlab.claims.ablation import CLAIMS, PUBLISHED_VOCABULARY, gpt2_parameters
from actlab.models import count_parameters
from actlab.models.gpt2 import GPT2, GPT2_SCALES, find_activation
from actlab.records import ablation as ablation_records
from actlab.records.ablation import PUBLISHED, Factorial

BIG = {
    "scale": "124m",
    "recipe": {"iterations": 122_071},
    "model_size": {"n_layer": 12, "n_embd": 768, "n_head": 12, "block_size": 512},
}


def verdicts(f: Factorial) -> dict[str, str]:
    return dict(claims.judged(CLAIMS, f)["verdict"])


def as_published(shift: float = 0.0, **more: object) -> Factorial:
    """Records of the published size whose PReLU losses are the published ones, moved by ``shift``."""
    made = records(**BIG, **more)
    for r in made:
        target = PUBLISHED[r["optimizer"]][r["symmetry"] == "bQbV"] + shift
        for i, trial in enumerate(r["trials"]):
            trial["final"] = trial["final"] | {"tokens": 500_002_816, "val_loss": target + 0.001 * (i - 1)}
    return ablation_records.read(made)


def in_full(**more: object) -> Factorial:
    """Made-up records of the published size and budget."""
    made = records(**BIG, **more)
    for r in made:
        for trial in r["trials"]:
            trial["final"] = trial["final"] | {"tokens": 500_002_816}
    return ablation_records.read(made)


def test_every_claim_is_there_once() -> None:
    """S01 to S24 in order, each with a rule."""
    assert [claim.id for claim in CLAIMS] == [f"S{n:02d}" for n in range(1, 25)]
    assert all(claim.rule and claim.reported for claim in CLAIMS)


def test_the_formula_counts_the_models_parameters() -> None:
    """124,082,688, and the small model of the records."""
    with torch.device("meta"):
        big = GPT2(GPT2_SCALES["124m"], find_activation("gelu"))
        small = GPT2(GPT2_SCALES["quick"], find_activation("gelu"))
    assert gpt2_parameters(PUBLISHED_VOCABULARY) == count_parameters(big) == 124_082_688
    assert gpt2_parameters(512, 2, 64, 64) == count_parameters(small)


def test_small_records_settle_settings_and_no_loss() -> None:
    """What was run is replicated; losses of 124 million parameters stay untested."""
    found = verdicts(made_up())
    assert all(
        found[id] == "replicated" for id in ("S01", "S02", "S03", "S06", "S08", "S09", "S10", "S11", "S22", "S23")
    )
    assert all(found[f"S{n}"] == "not yet tested" for n in (*range(12, 21), "04", "05"))
    assert (found["S07"], found["S24"]) == ("not testable", "not testable")


def test_symmetric_means_between_features() -> None:
    """S23: a GELU with one slope a feature would tell features apart; that the function is neither even nor odd says
    nothing here."""
    slopes = [r | {"n_parameters": r["n_parameters"] + 512 * (r["activation"] == "gelu")} for r in records()]
    assert verdicts(ablation_records.read(slopes))["S23"] == "contradicted"


def test_the_hypothesis_follows_the_interaction() -> None:
    """Larger under PReLU, smaller, equal, or not all arms there; a small model says nothing of the published one."""
    assert verdicts(in_full())["S21"] == "replicated"
    assert verdicts(in_full(gain={"gelu": 0.3, "random_prelu": 0.1}))["S21"] == "contradicted"
    assert verdicts(made_up())["S21"] == "not yet tested"
    assert verdicts(made_up(gain={"gelu": 0.3, "random_prelu": 0.1}))["S21"] == "not yet tested"
    assert verdicts(made_up(gain={"gelu": 0.1, "random_prelu": 0.1}))["S21"] == "not yet tested"
    assert verdicts(ablation_records.read(records(("ecd",))[:3]))["S21"] == "not yet tested"
    assert verdicts(made_up(seeds=1))["S21"] == "not yet tested"


def test_published_losses_are_judged_at_the_published_size() -> None:
    """The published values themselves are replicated, others contradicted, one seed says nothing."""
    same, other = verdicts(as_published()), verdicts(as_published(0.3))
    assert all(same[f"S{n}"] == "replicated" for n in range(12, 21))
    assert all(other[f"S{n}"] == "contradicted" for n in range(12, 20))
    assert (same["S04"], same["S05"], other["S20"]) == ("replicated", "replicated", "replicated")
    assert all(verdicts(as_published(seeds=1))[f"S{n}"] == "not yet tested" for n in range(12, 21))


def test_other_effects_contradict_the_published_ones() -> None:
    """Gains of 0.3 for every optimizer are not -0.20, -0.01, +0.01, +0.14."""
    assert verdicts(in_full())["S20"] == "contradicted"


def test_another_setting_is_not_the_published_one() -> None:
    """ECD with another eta leaves S08 open."""
    changed = record(
        "ecd", "symmetric", "gelu", optimizer_settings={"lr": 1.0, "eta": 10.0, "F0": 2.0, "weight_decay": 0.0}
    )
    assert verdicts(ablation_records.read([changed]))["S08"] == "not yet tested"


def test_settings_are_told_in_words() -> None:
    """No name of a program's argument is left."""
    found = claims.judged(CLAIMS, made_up())["ours"]
    assert "learning rate 0.0003, betas 0.95 and 0.95, weight decay 0.01, new bases every 10 steps" in found["S10"]
    assert (
        "learning rate 0.03, momentum 0.95, Nesterov's form, initial velocity of standard deviation 0.1" in found["S11"]
    )
    assert found["S04"].count("tokens") == 1


def test_no_records_no_verdict() -> None:
    """Only what arithmetic decides is decided."""
    found = verdicts(ablation_records.read([]))
    assert {id for id, v in found.items() if v != "not yet tested"} == {"S02", "S03"}
