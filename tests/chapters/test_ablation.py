"""The ablation's sentences carry the records' numbers; the tuned plan is judged on losses whose truth is known."""

import re

import numpy as np
import pytest
from ablations import made_up, record

from actlab.chapters import ablation
from actlab.records.ablation import BROKEN, CELLS, effect, interaction, rates, read


def test_sentences_carry_numbers():
    """The effect with its interval and n, how many survive Holm, and the optimism of the published validation."""
    found = ablation.sentences(made_up())
    assert found["ablation_extent"].startswith("16 of 16 configurations have records; ")
    assert found["ablation_extent"].endswith("up to 170,240 parameters and see 307,200 tokens")
    assert "raises the loss significantly in 0 and lowers it in 8 of 8 comparisons" in found["ablation_effect"]
    assert re.search(
        r"the loss changes by -0\.(19|20)\d \[-0\.2\d\d, -0\.1\d\d\] nats \(n = 3\)", found["ablation_effect"]
    )
    assert "minima over 122" in found["ablation_batches"]


def test_no_records_no_numbers():
    """Missing shows as missing."""
    partly = ablation.sentences(read([record("ecd", "symmetric", "gelu")]))
    assert partly["ablation_effect"].startswith("No configuration and its bQ+bV partner")


def test_tables_hold_effects_and_losses():
    """A row an optimizer with both effects; a row an arm."""
    table = ablation.table(made_up())
    assert table.loc["ECD", "effect of bQ+bV with random PReLU"].startswith(("-0.29", "-0.30"))
    assert len(ablation.losses(made_up())) == 16


LEVEL = {"soap": 4.5, "adamw": 4.8, "sgdm": 4.9, "ecd": 4.91}


def tuned(gain=0.0, extra=0.0, noise=0.002):
    """Five seeds: bQ+bV changes the loss by ``gain``, and by ``extra`` more under PReLU; seeds shift all arms alike."""
    random = np.random.default_rng(0)
    seeds, found = random.normal(0, 0.05, 5), []
    for o, s, a in CELLS:
        made, own = record(o, s, a, seeds=5), random.normal(0, noise, 5)
        for i, trial in enumerate(made["trials"]):
            benefit = (s == BROKEN) * (gain + (a == "random_prelu") * extra)
            trial["final"]["val_loss"] = LEVEL[o] + seeds[i] + own[i] + benefit
        found.append(made)
    return read(found)


RATES = rates(record("ecd", "symmetric", "gelu", x) for x in (1.0, 3.0))
CASES = [(-0.03, 0.002, "supported"), (0.03, 0.002, "contradicted"), (0, 0.002, "contradicted"), (0, 0.1, "undecided")]


@pytest.mark.parametrize(("extra", "noise", "word"), CASES)
def test_the_interaction_is_judged_by_the_plan(extra, noise, word):
    """Lower: supported; higher or equivalent to nothing: contradicted; too noisy: undecided."""
    said = ablation.tuned_sentences(tuned(0.02, extra, noise), RATES)["tuned_plan"]
    assert f'contributes to the benefit" {word}' in said


def test_the_tuned_numbers_are_the_means_over_seeds():
    """Plain paired means, recomputed here; the ranking; how much tuning changed."""
    f = tuned(-0.05, -0.01)
    prelu, gelu = (np.mean([effect(f)[o, a] for o in LEVEL]) for a in ("random_prelu", "gelu"))
    assert interaction(f).value == pytest.approx(prelu - gelu)
    said = ablation.tuned_sentences(f, RATES)
    assert "(bQ+bV) lowers the final loss" in said["tuned_symmetry"]
    assert '"bQ+bV helps" is supported' in said["tuned_plan"]
    assert "SOAP, AdamW, SGDM, ECD" in said["tuned_ranking"]
    assert "by up to 0.20 nats (ECD)" in said["tuned_rates"]
