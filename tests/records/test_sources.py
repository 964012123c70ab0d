"""Sources of irreproducibility: which record is which, known differences, and the rule's outcomes."""

import math
from dataclasses import astuple
from itertools import combinations, product

import grids
import numpy as np
import pytest

from actlab.chapters import sources as chapter
from actlab.records import sources

LABELS = ["42", "43", "44", "45", "46"]
HALVES = [(list(a), list(b)) for a, b in combinations(combinations(LABELS, 2), 2) if not set(a) & set(b)]


def stream(activation, varies, level, spread=0.001):
    """Five trials whose pairs differ by ``level`` and a little; ensembles of two differ by half of it; at iteration 5
    by a tenth."""
    noise = np.random.default_rng(len(activation) * 7 + len(varies)).normal(0, spread, (5, 5))
    record, early = (
        grids.record("charlm", activation, (2.0,) * 5, pd) for pd in (level + noise, np.full((5, 5), level / 10))
    )
    record["config"]["recipe"] |= {"iterations": 10}
    record["config"] |= {"varies": varies} if varies != "all" else {}
    trials = [{"label": a, "val_loss": 3.0} for a in LABELS]
    pairs = early["reproducibility_metrics"]
    return record | {
        "trajectory": [{"iteration": 5, "trials": trials, "pairs": pairs, "as_published": {}}],
        "ensembles": {"2": [{"between": [a, b], "total_variation": level / 2} for a, b in HALVES]},
    }


def perturbed(activation, nudge):
    """Five seeds: repeats are exact, nudged runs differ by ``nudge`` times 1 to 5."""
    pairs = [pair for i, seed in enumerate(LABELS) for pair in grids.pairs_of(seed, nudge * (i + 1))]
    return grids.record("charlm", activation) | {"kind": "perturbed", "reproducibility_metrics": pairs}


def study(smooth=0.05, nudges=(1e-4, 1e-8)):
    """relu at 0.1 under every stream, the smooth activations at ``smooth``."""
    levels = {"relu": 0.1, "gelu": smooth, "smelu_1": smooth}
    records = [stream(a, s, level) for a, level in levels.items() for s in sources.STREAMS]
    return sources.read([*records, *(perturbed(a, nudges[a != "relu"]) for a in levels)])


def said(part, found):
    """What the rule says of a part of it."""
    return str(chapter.rule_table({"made-up": found}).loc[part].item())


def test_read_tells_streams_and_perturbations_apart():
    """One arm a stream; the perturbed record has its own place."""
    found = study()
    arms = found.grids["charlm"].arms.values()
    assert {(arm.activation, arm.varies) for arm in arms} == set(product(["relu", "gelu", "smelu_1"], sources.STREAMS))
    np.testing.assert_allclose(found.perturbation("charlm", "relu", "nudge"), [1e-4, 2e-4, 3e-4, 4e-4, 5e-4])
    assert found.floors()["charlm", "relu"] == 1e-4, "of the first seed"
    np.testing.assert_array_equal(found.perturbation("charlm", "relu", "repeat"), np.zeros(5))
    assert not len(found.perturbation("charlm", "relu", "bfloat16"))


def test_smooth_outcomes():
    """Lower in both: supported; higher in one: contradicted; equal: undecided."""
    told = [said("smooth activations agree more", study(level)) for level in (0.05, 0.2, 0.1)]
    assert told == ["supported", "contradicted", "undecided"]


def test_streams_are_adjusted_together():
    """Two activations under four streams make eight comparisons of a model; all are found."""
    found = study(0.05).tests()
    assert len(found) == chapter.tables({"made-up": study(0.05)}).data.count(" *<") == 8
    assert all(p < 0.05 for _, _, p, _ in found)
    told = [said("differences from relu by stream", study(level)) for level in (0.05, 0.2, 0.1)]
    assert [text.partition(" (")[0] for text in told] == [
        f"{higher} of 8 are significantly higher, {lower} lower" for higher, lower in ((0, 8), (8, 0), (0, 0))
    ]


def test_a_stream_that_changes_nothing_is_not_tested():
    """A model without dropout has no comparison there."""
    sizes = {"all": (0.1, 0.001), "dropout": (0.0, 0.0)}
    records = [stream(a, s, level, spread=spread) for a in ("relu", "gelu") for s, (level, spread) in sizes.items()]
    assert [arm.varies for arm, *_ in sources.read(records).tests()] == ["all"]


def test_kink_needs_an_interval_above_zero():
    """Four orders of magnitude between relu and the smooth ones explain; equal nudges do not; zeros have no
    logarithm."""
    found = sources.amplification(study(), "charlm", "gelu")
    assert found.value == pytest.approx(4)
    assert "grows further under relu" in chapter.kink(study())
    assert said("1-ULP perturbations", study()).endswith("by at least +4.0 [+4.0, +4.0] powers of ten (n = 5)")
    assert "grows not significantly further" in chapter.kink(study(nudges=(1e-6, 1e-6)))
    assert math.isnan(sources.amplification(study(nudges=(1e-6, 0.0)), "charlm", "gelu").value)
    fewer = study()
    del fewer.perturbed["charlm", "gelu"]["reproducibility_metrics"][1]
    assert sources.amplification(fewer, "charlm", "gelu").n == 4, "seeds that only one of them has"


def test_ensembles():
    """Single trials are the ordinary pairs with the ordinary interval; the gain is their difference, with an interval
    of its own."""
    arm = next(arm for arm in study().arms() if arm.activation == "relu")
    one, two = sources.ensembles(arm).values()
    ordinary = arm.estimate("total_variation")
    assert astuple(one)[:4] == pytest.approx(astuple(ordinary)[:4])
    assert two.value == pytest.approx(0.05)
    gain = sources.ensemble_gain(arm, 2)
    assert gain.value == pytest.approx(one.value - two.value)
    assert gain.low > 0
    assert said("ensembles", study()) == "agree more than single runs in 3 of 3 comparisons"
    assert chapter.ensemble({"made-up": study(0.1)}).startswith(
        "averaging the probabilities of two runs lowers total variation by 50% on average"
    )
