"""The effects of the tuned ablation, on losses whose truth is known."""

import numpy as np
import pytest
from ablations import record

from actlab.records.ablation import BROKEN, CELLS, effect, interaction, read

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


def test_the_interaction_is_the_mean_of_paired_differences():
    """Plain paired means, recomputed here: how much more breaking the symmetry changes the loss under PReLU."""
    f = tuned(-0.05, -0.01)
    prelu, gelu = (np.mean([effect(f)[o, a] for o in LEVEL]) for a in ("random_prelu", "gelu"))
    assert interaction(f).value == pytest.approx(prelu - gelu)
