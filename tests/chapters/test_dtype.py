"""Equivalence of two number types, on made-up records."""

import numpy as np
import yaml
from tests.support import grids

from actlab import paths
from actlab.chapters import dtype
from actlab.records import repro

PLAN = yaml.safe_load((paths.ROOT / "params" / "dtype.yaml").read_text())["plan"]


def study(loss_shift, tv_shift, noise=0.0005):
    """Two arms of five seeds; shifts apply to every trial and every pair."""
    random, records = np.random.default_rng(1), []
    for activation in ("relu", "gelu"):
        losses = random.normal(2.3, 0.02, 5) + loss_shift + noise * random.normal(size=5)
        pairs = 0.08 + tv_shift + noise * random.normal(size=(5, 5))
        records.append(grids.record("charlm", activation, losses, pairs))
    return repro.read(records)


def word(**shifts):
    found = dtype.table(study(**{"loss_shift": 0.0, "tv_shift": 0.0, **shifts}), study(0, 0, 0), PLAN)
    assert len(found) == 5
    return str(found[dtype.VERDICT].iloc[-1])


def test_the_plan_says_what_is_equivalent():
    """Within both margins: supported; beyond one of them: contradicted; too noisy to say: undecided; nothing recorded:
    said so."""
    assert word() == "supported"
    assert word(loss_shift=0.02) == "contradicted"
    assert word(tv_shift=-0.01) == "contradicted"
    assert word(noise=0.01) == "undecided"
    assert list(dtype.table(repro.read([]), study(0, 0), PLAN).index) == [dtype.NOT_YET]
