"""Arms: which there are, in which order, and ids that name everything that a result depends on and nothing else."""

import json
from dataclasses import MISSING, fields, replace

from actlab.models import SCALES
from actlab.records import store
from actlab.records.settings import DEFAULTS
from actlab.study.arms import LATER_OF_RECIPE, TrialSpec, arm, arms_of
from actlab.study.params import Params

PUBLISHED = Params(
    study="repro-lite",
    model=("charlm",),
    activations=("gelu",),
    trials=5,
    seed=42,
    dataset="shakespeare",
    scale="lite",
    batch_size=32,
    learning_rate=3e-4,
    iterations=500,
    evaluate_every=50,
)


PUBLISHED_IDS = ["charlm-gelu-a336a0a884", "charlm-gelu-floor-478c95d266"]
"""Of the committed records of params/repro-lite.yaml (``test_recorded_ids`` asks for all of them)."""


def ids(**changes):
    return [arm.id for arm in arms_of(PUBLISHED.replace(**changes))]


CHANGES = {
    "trials": 4,
    "seed": 43,
    "dataset": "pydoc",
    "scale": "partial",
    "batch_size": 16,
    "learning_rate": 1e-3,
    "weight_decay": 0.1,
    "iterations": 501,
    "evaluate_every": 25,
    "prediction_windows": 128,
    "gated_width": "doubled",
    "device": "cuda",
    "dtype": "bfloat16",
    "compiled": True,
    "model": "minigpt",
    "activations": "relu",
    "protocol": "as_published",
    "varies": "init",
    "snapshots": (100, 400),
    "ensembles": (2,),
    "scales": ("partial",),
    "train_fraction": 0.5,
    "validation": "first",
    "validation_windows": 64,
    "training_windows": 8,
    "schedule": "linear",
    "average": 0.9,
    "per_arm": {"charlm": {"iterations": 400}},
}


ELSEWHERE = {"equal_compute", "rates", "tuning", "plan"}
"""Tested below: they need other settings beside them."""


def test_every_setting_that_matters_is_in_the_id(subtests):
    """Results made under different settings never share a file; the study's name, what else it runs and in which order
    change no id. These are all settings."""
    assert ids() == PUBLISHED_IDS
    for field, value in CHANGES.items():
        with subtests.test(field=field):
            assert ids(**{field: value})[0] != PUBLISHED_IDS[0]
    same = {"study": "other", "order": "activation", "noise_floor": False, "perturbations": ("nudge",), "plugins": ()}
    for field, value in (*same.items(), ("activations", ("gelu", "relu")), ("scales", ("lite",))):
        assert ids(**{field: value})[0] == PUBLISHED_IDS[0]
    assert {*CHANGES, *same, *ELSEWHERE} == set(Params.model_fields)


def test_the_size_behind_the_scales_name_is_in_the_id(monkeypatch):
    """Were a scale ever redefined, old records would not be taken for new ones."""
    monkeypatch.setitem(SCALES, "lite", replace(SCALES["lite"], n_layer=3))
    assert ids()[0] != PUBLISHED_IDS[0]


def test_readers_know_every_default_that_is_in_no_id():
    """A record that does not name such a setting is read as having its default."""
    later = {field.name: field.default for field in fields(TrialSpec) if field.default is not MISSING}
    for name in ("fixed", "defects"):  # the first seed, where one stream varies; the protocol says the other
        del later[name]
    planned = {name: list(v) if isinstance(v, tuple) else v for name, v in (later | LATER_OF_RECIPE).items()}
    assert planned | {"parts": {}} == {name: DEFAULTS[name] for name in planned}


def names(params):
    return [(a.kind, a.model, a.activation) for a in arms_of(params)]


def test_order():
    """``model``: one model's activations after another; ``activation``: one activation's models; floors always last."""
    params = Params(model=("charlm", "convlm"), activations=("relu", "gelu"))
    by_model = [("charlm", "relu"), ("charlm", "gelu"), ("convlm", "relu"), ("convlm", "gelu")]
    by_activation = [("charlm", "relu"), ("convlm", "relu"), ("charlm", "gelu"), ("convlm", "gelu")]
    assert names(params) == [(kind, *cell) for kind in ("trials", "floor") for cell in by_model]
    assert names(params.replace(order="activation")) == [
        (kind, *cell) for kind in ("trials", "floor") for cell in by_activation
    ]
    assert names(params.replace(noise_floor=False)) == [("trials", *cell) for cell in by_model]


def test_trials_follow_the_seed():
    """Trials have consecutive seeds; a floor has the first seed plain, repeated and nudged; the plain one is the arm's
    first trial."""
    ordinary, floor = arms_of(PUBLISHED)
    assert [(spec.seed, spec.variant) for spec in ordinary.trials] == [(seed, "") for seed in range(42, 47)]
    assert [spec.label for spec in floor.trials] == ["42", "42-repeat", "42-nudge"]
    assert floor.trials[0] == ordinary.trials[0]


def test_one_stream_at_a_time():
    """An arm a stream: its seed feeds that stream, and the first seed the others; the name says which."""
    arms = arms_of(PUBLISHED.replace(varies=("all", "init", "order", "dropout"), noise_floor=False))
    assert [a.trials[0].varies for a in arms] == ["all", "init", "order", "dropout"]
    assert [
        a.id.startswith(f"charlm-gelu-{word}")
        for a, word in zip(arms, ("a336", "init-", "order-", "dropout-"), strict=True)
    ] == [True] * 4
    for one in arms[1:]:
        for spec in one.trials:
            varied = one.trials[0].varies
            assert {s: spec.seed_of(s) for s in ("init", "order", "dropout")} == {
                "init": 42,
                "order": 42,
                "dropout": 42,
            } | {varied: spec.seed}
    assert {arms[0].trials[1].seed_of(s) for s in ("init", "order", "dropout")} == {43}


def test_perturbed_arms_hold_every_seed_plain_and_changed():
    """After the floors; every perturbation of every seed, and only the two-thread ones on two threads."""
    *_, one = arms_of(PUBLISHED.replace(trials=2, perturbations=("nudge", "threads2")))
    assert one.kind == "perturbed"
    assert [spec.label for spec in one.trials] == ["42", "42-nudge", "42-threads2", "43", "43-nudge", "43-threads2"]
    assert [spec.threads for spec in one.trials] == [1, 1, 2] * 2


def test_config_is_plain_and_complete():
    """``Arm.config`` survives JSON, and holds the recipe, the trials' labels and the size."""
    config = arms_of(PUBLISHED)[0].config
    assert store.canonical(config) == store.canonical(json.loads(store.canonical(config)))
    assert config["trials"] == ["42", "43", "44", "45", "46"]
    assert config["recipe"]["iterations"] == 500
    assert config["model_size"] == {"n_layer": 2, "n_embd": 128, "n_head": 4, "block_size": 128, "dropout": 0.2}


def test_a_recorded_arm_gives_its_trials_back():
    """``TrialSpec.read`` is the inverse of what the record's settings say."""
    one = arm(PUBLISHED.replace(snapshots=(100,), train_fraction=0.5), "charlm", "gelu")
    config = json.loads(store.canonical(one.config))
    own = {"recipe": one.trials[0].recipe, "seed": 42, "variant": ""}
    assert TrialSpec.read(config, **own) == one.trials[0]
