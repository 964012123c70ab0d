"""Twins: the same trial on two kinds of processor, found by its settings; anything else that differs makes it none;
equivalence of two number types."""

from types import SimpleNamespace

import grids
import numpy as np
import pytest
import yaml

from actlab import paths
from actlab.chapters import processors
from actlab.errors import BadInput
from actlab.records import repro
from actlab.records.wording import small


def arm(study, processor, losses, activation="relu", torch="2.13.0", **changes):
    """An arm trained on a processor, with a version of torch; ``changes`` are settings."""
    record = grids.record("charlm", activation, losses, **{"scale": "lite"} | changes) | {"study": study}
    record["config"]["activation"] = activation
    record["provenance"]["machine"] |= {"processor": processor, "torch": torch}
    return record


def replay(study, label, processor, now):
    """A trial of the study's relu arm trained again."""
    told = {"study": study, "arm": "charlm-relu", "trial": label, "val_loss": {"recorded": 0.0, "now": now}}
    return told | {"provenance": arm(study, processor, ())["provenance"]}


def test_twins_are_found_in_other_records_and_in_replays():
    """Seeds 42 and 43 in a second study with fewer trials, seed 44 in a replay; the reference is the mean distance of
    the first study's seeds."""
    one, two = arm("one", "a", (2.0, 2.1, 2.3)), arm("two", "b", (2.001, 2.1), trials=["42", "43"])
    found = processors.twins([one, two], [replay("one", "44", "b", 2.28)])
    assert found["label"].tolist() == ["42", "43", "44"]
    assert set(found["processors"]) == {("a", "b")}
    assert found["apart"].tolist() == [pytest.approx(0.001), 0, pytest.approx(0.02)]
    assert found["between_seeds"].tolist() == pytest.approx([(0.1 + 0.2 + 0.3) / 3] * 3)


@pytest.mark.parametrize(
    "changes",
    [{"torch": "2.14.0"}, {"scale": "full"}, {"recipe": {"iterations": 7}}, {"protocol": ["activation: ignored"]}],
)
def test_only_the_processor_may_differ(changes):
    """Another version, size, recipe or protocol makes it another trial."""
    assert processors.twins([arm("one", "a", (2.0,)), arm("two", "b", (2.0,), **changes)], []).empty
    with pytest.raises(BadInput, match="no run of one has a record or replay on a second kind of processor yet"):
        processors.read(["one"])
    same = [arm("one", "a", (2.0,)), arm("two", "a", (2.0,))]
    assert processors.twins(same, [replay("other", "42", "b", 2.0)]).empty, "nor a replay of an unknown record"


def test_sentences_tell_relu_from_the_others():
    """The median of each; what was trained where."""
    gelu = [arm("one", "a", (2.0, 2.1), "gelu"), arm("two", "b", (2.0, 2.1), "gelu")]
    relu = [arm("one", "a", (2.0, 2.1)), arm("two", "b", (2.001, 2.103))]
    found = processors.twins([*gelu, *relu], [])
    told = processors.summary(found)
    assert "by 0.001 to 0.003 nats under relu. Under the others it changes by at most 0, in charlm by" in told
    assert "are 0.0020 (charlm) under relu. Those of the others are 0 (charlm). These are 4 runs on a and b" in told


def test_where_one_ulp_grows_and_what_a_gpu_changes():
    """Under relu in one of two models, under gelu in the other; the same seeds elsewhere."""
    moved = {("charlm", "relu"): 0.01, ("charlm", "gelu"): 1e-7, ("minigpt", "relu"): 0.0, ("minigpt", "gelu"): 0.02}
    grid = SimpleNamespace(floors=lambda: moved)
    told = "more than 0.0001 apart: here, under relu in 1 of 2 architectures, under other activations in minigpt"
    assert processors.grown({"here": grid}) == told
    charlm, minigpt = processors.figure_rates({"here": grid}).axes
    assert [len(each.get_yticks()) for each in (charlm, minigpt)] == [2, 1], "0 has no place"
    del moved["minigpt", "gelu"]
    assert processors.growing(grid).endswith("under other activations in none")
    here, there = (repro.read([grids.record(losses=losses)]) for losses in ((2.0, 2.1, 2.2), (2.0, 2.15, 2.2)))
    said = "the same seeds on a CPU and on a GPU, relu in charlm: losses at most 0.050 nats apart; mean total "
    assert processors.on_both(here, there)[0].startswith(said)


PLAN = yaml.safe_load((paths.ROOT / "params" / "dtype.yaml").read_text())["plan"]


def rounded(loss_shift=0.0, tv_shift=0.0, noise=0.0005):
    """Two arms of five seeds; shifts apply to every trial and every pair."""
    random, records = np.random.default_rng(1), []
    for activation in ("relu", "gelu"):
        losses = random.normal(2.3, 0.02, 5) + loss_shift + noise * random.normal(size=5)
        pairs = 0.08 + tv_shift + noise * random.normal(size=(5, 5))
        records.append(grids.record("charlm", activation, losses, pairs))
    return repro.read(records)


def outcome(arms=2, **shifts):
    told, found = processors.equivalence(rounded(**shifts), rounded(noise=0), PLAN, arms)
    assert len(found) == 4
    return told.partition(" is equivalent to float32 is ")[2].partition(":")[0]


def test_the_plan_says_what_is_equivalent():
    """Within both margins: supported; beyond one of them: contradicted; too noisy to say: undecided; nothing recorded:
    said so."""
    assert [outcome(), outcome(arms=3)] == ["supported", "undecided"], "the third is not recorded"
    assert outcome(loss_shift=0.02) == "contradicted"
    assert outcome(tv_shift=-0.01) == "contradicted"
    assert outcome(noise=0.01) == "undecided"
    assert processors.equivalence(repro.read([]), rounded(), PLAN, 2)[0] == processors.NO_HALF


def moved(found):
    """A study whose perturbed pairs lie so far apart."""
    return SimpleNamespace(floors=lambda: found)


@pytest.mark.parametrize(
    ("cpu", "slow", "words"),
    [
        ((0.02, 1e-7), (1e-7, 1e-4), ("no", "yes")),
        ((1e-7, 1e-8), (1e-7, 2e-3), ("yes", "no")),
        ((1e-5, 1e-7), (5e-4, 1e-7), ("undecided", "undecided")),
    ],
)
def test_what_the_growth_needs(cpu, slow, words):
    """As params/rounding.yaml and params/rounding-slow.yaml word it: one activation is enough to grow without the GPU
    or the rate, both must stay below for the opposite."""
    here, low = (dict(zip([("minigpt", "gelu"), ("minigpt", "swiglu")], values, strict=True)) for values in (cpu, slow))
    found = processors.causes(moved(here), moved(dict.fromkeys(here, 0.03)), moved(low))
    assert found.loc["minigpt, swiglu"].tolist() == [small(cpu[1]), "0.030", small(slow[1]), *words]


@pytest.mark.parametrize(
    ("grown", "planned", "word"),
    [(0, 6, "supported"), (0, 5, "undecided"), (3, 6, "undecided"), (4, 6, "contradicted")],
)
def test_the_rule_at_tuned_rates(grown, planned, word):
    """As params/rounding-tuned.yaml words it: every smooth arm small, of all that were planned; or one that grows in
    four architectures."""
    models = [f"model {index}" for index in range(planned)]
    found = {(model, name): 1e-7 for model in models for name in ("gelu", "swish", "smelu_05", "smelu_1", "swiglu")}
    found |= {(model, "gelu"): 0.01 for model in models[:grown]} | {(model, "relu"): 0.01 for model in models}
    said = processors.at_tuned_rates(moved(found))
    assert f" but relu is {word}: {grown} of {5 * planned} configurations exceed this" in said
