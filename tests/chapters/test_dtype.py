"""Equivalence of two number types, on made-up records."""

from itertools import combinations

import numpy as np
import yaml

from actlab import paths
from actlab.chapters import dtype
from actlab.records import repro
from actlab.records.labels import PAIR_METRICS

PLAN = yaml.safe_load((paths.ROOT / "params" / "dtype.yaml").read_text())["plan"]


def study(loss_shift, tv_shift, noise=0.0005):
    """Two arms of five seeds; shifts apply to every trial and every pair."""
    random, labels = np.random.default_rng(1), [str(42 + i) for i in range(5)]
    records = []
    for activation in ("relu", "gelu"):
        own = random.normal(2.3, 0.02, 5)
        finals = [{"val_loss": x + loss_shift + noise * random.normal(), "val_accuracy": 30.0} for x in own]
        pairs = [
            {"between": [a, b], **dict.fromkeys(PAIR_METRICS, 0.08 + tv_shift + noise * random.normal())}
            for a, b in combinations(labels, 2)
        ]
        trials = [{"label": n, "status": "done", "final": f, "best": f} for n, f in zip(labels, finals, strict=True)]
        about = {
            "kind": "trials",
            "study": "x",
            "arm": activation,
            "model_name": "charlm",
            "activation": activation,
            "config": {"trials": labels},
        }
        records.append({**about, "trials": trials, "reproducibility_metrics": pairs})
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
