"""Rules of single claims follow the records: other records, other verdicts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.support import grids
from tests.support.ablations import made_up, of_published_size, record, records
from tests.support.sweeps import LIFT, longer
from tests.support.sweeps import made_up as swept

from actlab.records.arm_results import arms_of
from actlab.records.defect_names import BOTH, UNPAIRED
from actlab_audit import ablation, language, ledger, mnist, numbers, rules
from actlab_audit.evidence import MIXED, Evidence, by_flaw, readings
from actlab_audit.verdicts import decided

WAITS, OPEN = "undecided", "excluded, cause open"


def verdicts(reads, evidence, *ids):
    """Of these claims, or of all that are read so."""
    chosen = [claim for claim in ledger.claims() if claim.reads == reads and (not ids or claim.id in ids)]
    return {claim.id: ledger.finding(claim, evidence).verdict for claim in chosen}


def lifted(width, parameters=-1.0):
    """A sweep whose GeGLU is better than ReLU by so many points, at equal width and at equal parameters."""
    return swept(lift=LIFT | {"geglu_equal_width": width, "geglu_equal_parameters": parameters})


def shrinking():
    """ReLU leads at 2, 4 and 8 units and trails at 16, in the study's own arms."""
    sizes = {h: lifted(-3.0 if h < 16 else 1.0).trials for h in (2, 4, 8, 16)}
    trials = pd.concat([table[table["hidden"] == h] for h, table in sizes.items()])
    return mnist.Sweep(trials, trials)


def trained_on(more):
    """With records of more epochs."""
    return swept(longer=more)


LOWER = {name: lift - 5 for name, lift in LIFT.items()}
SMALLER = {"gelu": 0.3, "random_prelu": 0.1}


def published(*shift, **more):
    return ablation.read(of_published_size(*shift, **more))


def with_slopes():
    """Of which even GELU has one a feature."""
    return ablation.read(
        [r | {"n_parameters": r["n_parameters"] + 512 * (r["activation"] == "gelu")} for r in records()]
    )


def another_eta():
    eta = {"lr": 1.0, "eta": 10.0, "F0": 2.0, "weight_decay": 0.0}
    return ablation.read([record("ecd", "symmetric", "gelu", optimizer_settings=eta)])


WORLDS = {
    "mnist": {
        "better at equal width only": lambda: lifted(3.0),
        "better everywhere": lambda: lifted(3.0, 2.0),
        "better nowhere": lambda: lifted(-3.0),
        "better at large widths": shrinking,
        "more epochs": lambda: trained_on(longer(3) + longer(10)),
        "some arms of more epochs": lambda: trained_on(longer(3)[:-5]),
        "more epochs lower the accuracy": lambda: trained_on(longer(3, lift=LOWER)),
        "as published": swept,
        "other images": lambda: swept(dataset="digits"),
        "nothing": lambda: mnist.read([]),
    },
    "ablation": {
        "small": made_up,
        "nothing": lambda: ablation.read([]),
        "published losses": lambda: published(0.0),
        "losses 0.3 higher": lambda: published(0.3),
        "published losses of one seed": lambda: published(0.0, seeds=1),
        "published size": lambda: published(),
        "published size, a smaller effect under PReLU": lambda: published(gain=SMALLER),
        "small, a smaller effect under PReLU": lambda: made_up(gain=SMALLER),
        "small, one seed": lambda: made_up(seeds=1),
        "three arms": lambda: ablation.read(records(("ecd",))[:3]),
        "another eta": another_eta,
        "slopes under GELU": with_slopes,
    },
}
EXPECTED = yaml.safe_load(Path(__file__).with_name("made_up.yaml").read_text(encoding="utf-8"))
"""Small records settle settings and no loss; the published size and budget settle losses, effects and interaction."""


@pytest.mark.parametrize(("reads", "world"), [(reads, world) for reads in WORLDS for world in WORLDS[reads]])
def test_image_networks_and_ablation(reads, world):
    expected = {id: verdict for verdict, ids in EXPECTED[reads][world].items() for id in ids.split()}
    assert verdicts(reads, WORLDS[reads][world](), *expected) == expected


def reading(activation, two, one, accuracy=30.0, model="charlm", steps=200):
    """An arm of three trials as published: ``two`` between models, ``one`` of a model with itself; relative PD 0.9."""
    made = grids.record(model, activation, scale="lite", protocol=[UNPAIRED])
    for trial in made["trials"]:
        trial["final"] |= {"val_accuracy": accuracy, "iteration": steps}
    made["config"]["recipe"] |= {"iterations": steps}
    return grids.read_as_published(made, two, one)


def read_so(*found, steps=200):
    """Corrected arms of charlm with relu and swiglu, and these as published."""
    lite = [grids.record(activation=a, losses=(2.0,) * 5) for a in ("relu", "swiglu")]
    for trial in (trial for arm in lite for trial in arm["trials"]):
        trial["final"]["iteration"] = steps
    return Evidence({"lite": arms_of(lite)}, by_flaw(found), readings(found))


@pytest.mark.parametrize(
    ("two", "one", "number", "one_set"),
    [(0.6, 0.6, "artefact", "contradicted"), (0.6, 0.3, "contradicted", WAITS), (0.8, 0.8, "contradicted", WAITS)],
)
def test_a_reading_explains_a_number(two, one, number, one_set):
    """0.6 was published and correct pairs give 0.13: an artefact, and no one set of inputs, only if 0.6 is also what a
    model gives with itself, after as many iterations; 0.9 is what the reading gives of single characters."""
    made = read_so(reading("relu", two, one))

    def mean(evidence, metric="total_variation", published=0.6):
        return rules.mean(evidence, ["charlm"], scales=["lite"], published={metric: published}, flaw=UNPAIRED).verdict

    assert (mean(made), language.one_set(made, "charlm", "relu", 0.6, 200).verdict) == (number, one_set)
    assert mean(made, "relative_pd", 0.9) == "artefact"
    assert {mean(read_so(reading("relu", two, one), steps=500)), mean(read_so())} == {OPEN}
    assert language.one_set(made, "charlm", "relu", 0.6, 500).verdict == WAITS
    assert language.one_set(read_so(), "charlm", "relu", 0.6, 200).verdict == "not run"


def test_one_arm_of_a_mixed_table_has_its_coded_value():
    """swiglu's 0.6 under the name of relative PD, which is 0.9 where it is read alone."""
    made = read_so(reading("swiglu", 0.6, 0.6))
    arguments = {"models": ["charlm"], "activations": ["swiglu"], "published": {"relative_pd": 0.6}}
    assert [rules.mean(made, **arguments, flaw=flaw).verdict for flaw in (MIXED, UNPAIRED)] == [
        "artefact",
        "contradicted",
    ]


@pytest.mark.parametrize(("swiglu", "verdict"), [(0.6, "artefact"), (0.4, "contradicted"), (0.75, "contradicted")])
def test_one_table_with_two_metrics(swiglu, verdict):
    """swiglu's coded value below relu's element-wise 0.9: an artefact if relu's own coded value (0.6) is no larger."""
    made = read_so(reading("relu", 0.6, 0.6), reading("swiglu", swiglu, swiglu))
    arguments = {"what": "", "of": "percent_below", "metric": "val_loss", "published": (44.5, 45.5)}
    for stated, expected in ((200, verdict), (500, OPEN)):
        found = language.mixed_metrics(made, ["charlm"], ["swiglu", "relu"], gain=0.33, stated=stated, **arguments)
        assert found.verdict == expected


def test_a_trade_off_of_a_model_with_itself_is_none(monkeypatch):
    """Accuracy rises with the reading of six models: with themselves too, or not; a leaking model is no point. What
    correct pairs leave open, no reading decides."""

    def judged(found):
        arms = {"models": ["charlm"], "activations": ["relu", "swiglu"]}
        return language.trade_off(read_so(*found), "total_variation", "val_accuracy", **arms)

    rising, flat = (
        [reading("relu", 0.1 * i, 0.1 * (i if alone else i % 2), accuracy=10.0 * i, model=str(i)) for i in range(6)]
        for alone in (True, False)
    )
    assert (judged(rising).verdict, judged(rising).lacks) == (WAITS, "more architectures")
    monkeypatch.setattr(language, "correlated", lambda *_, **__: decided(False, "it falls"))
    assert [judged(f).verdict for f in (rising, flat, rising[:5])] == ["artefact", "contradicted", "contradicted"]
    rising[5]["config"]["protocol"].append(BOTH)
    assert judged(rising).verdict == "contradicted"


MODELS = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm"]
IN_ORDER = [grids.record(m, pd=0.1 + 0.1 * i, losses=(4.0 - 0.3 * i,) * 3) for i, m in enumerate(MODELS)]
SHARES = grids.rising()


def against_relu(*losses):
    return [grids.record(losses=(3.0, 3.1, 3.2)), grids.record(activation="gelu", losses=losses)]


@pytest.mark.parametrize(
    ("rule", "made", "arguments", "verdict"),
    [  # six models in perfect order: p = 2 / 720; four: p = 2 / 24
        ("correlated", IN_ORDER, {"models": MODELS, "second": "val_accuracy"}, "replicated"),
        ("correlated", IN_ORDER, {"models": MODELS, "second": "val_loss"}, "contradicted"),
        ("correlated", IN_ORDER, {"models": MODELS[:4], "second": "val_accuracy"}, WAITS),
        ("never_lower", against_relu(2.0, 2.11, 2.2), {"activations": ["gelu", "relu"]}, "contradicted"),
        ("never_lower", against_relu(2.0, 2.11, 2.2), {"activations": ["relu", "gelu"]}, "replicated"),
        ("never_lower", against_relu(3.4, 2.5, 3.3), {"activations": ["gelu", "relu"]}, WAITS),
        ("same_metric", [grids.record(losses=(2.0,) * 5)], {"second": "churn"}, "replicated"),
        ("same_metric", [grids.record(losses=(2.0,) * 5)], {"second": "raised"}, "contradicted"),
    ],
)
def test_single_claims_of_records(rule, made, arguments, verdict):
    """An exact rank correlation; no benefit in any model; two metrics that are one."""
    defaults = {
        "correlated": {"first": "total_variation"},
        "never_lower": {"metric": "val_loss"},
        "same_metric": {"first": "total_variation"},
    }
    if arguments.get("second") == "raised":
        for i, pair in enumerate(made[0]["reproducibility_metrics"]):
            pair["churn"] += 0.2 + 0.001 * i
        arguments = {"second": "churn"}
    found = getattr(language, rule)(
        Evidence({"lite": arms_of(made)}), **{"models": ["charlm"]} | defaults[rule] | arguments
    )
    assert found.verdict == verdict


def test_an_artefact_of_selection_needs_the_best_checkpoint_to_say_otherwise(monkeypatch):
    """T08, T14, T39, T66, T74: if the lowest losses said the same, there would be no artefact."""
    found = verdicts("models", Evidence({}), "T08", "T14", "T39", "T66", "T74")
    assert set(found.values()) == {"artefact"}
    trials = numbers.charlm_trials
    monkeypatch.setattr(numbers, "charlm_best", {a: float(np.mean(v)) for a, v in trials.items()})
    assert set(verdicts("models", Evidence({}), "T08", "T14", "T74").values()) == {"replicated"}
