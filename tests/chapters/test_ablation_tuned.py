"""The plan of the tuned ablation, judged on made-up losses whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from actlab.chapters import ablation_tuned as tuned
from actlab.records.ablation import BASE, BROKEN

LEVEL = {"soap": 4.5, "adamw": 4.8, "sgdm": 4.9, "ecd": 4.91}


def losses(gain: float = 0.0, extra: float = 0.0, noise: float = 0.002) -> tuned.Losses:
    """Five seeds: bQ+bV changes the loss by ``gain``, and by ``extra`` more under PReLU; seeds shift all arms alike."""
    random = np.random.default_rng(0)
    seeds = random.normal(0, 0.05, 5)
    return {
        (o, s, a): LEVEL[o]
        + seeds
        + (s == BROKEN) * (gain + (a == "random_prelu") * extra)
        + random.normal(0, noise, 5)
        for o in tuned.OPTIMIZERS
        for s in (BASE, BROKEN)
        for a in tuned.ACTIVATIONS
    }


CASES = [(-0.03, 0.002, "supported"), (0.03, 0.002, "contradicted"), (0, 0.002, "contradicted"), (0, 0.1, "undecided")]


@pytest.mark.parametrize(("extra", "noise", "word"), CASES)
def test_the_interaction_is_judged_by_the_plan(extra: float, noise: float, word: str) -> None:
    """Lower: supported; higher or equivalent to nothing: contradicted; too noisy: undecided."""
    found = losses(0.02, extra, noise)
    assert f"contributes to it is {word}" in tuned.sentences(found)["tuned_interaction"]


def test_numbers_are_the_means_over_seeds() -> None:
    """The estimates are plain paired means, recomputed here."""
    found = losses(-0.05, -0.01)
    prelu, gelu = ([found[o, BROKEN, a] - found[o, BASE, a] for o in LEVEL] for a in ("random_prelu", "gelu"))
    assert tuned.interaction(found).value == pytest.approx(np.mean(prelu) - np.mean(gelu))
    assert "supported" in tuned.sentences(found)["tuned_symmetry"]
    shown = tuned.table(found)
    assert shown.shape == (4, 6), "four arms and two effects an optimizer"
    assert shown.loc["SOAP", "bQ+bV, GELU"].startswith(f"{found['soap', BROKEN, 'gelu'].mean():.3f}")
    said = tuned.sentences(found)["tuned_ranking"]
    assert "SOAP, AdamW, SGDM, ECD" in said


def test_what_is_missing_is_said() -> None:
    """Fifteen arms are no ablation."""
    found = dict(losses())
    del found["ecd", BASE, "gelu"]
    assert set(tuned.sentences(found).values()) == {tuned.NOT_YET}
    assert list(tuned.table(found).index) == [tuned.NOT_YET]
    assert list(tuned.rates_table([]).index) == [tuned.NOT_YET]
