"""Arms: which there are, in which order, and ids that name everything that a result depends on and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from actlab import paths
from actlab.models import SCALES
from actlab.records import store
from actlab.study import kinds
from actlab.study.arms import Arm, arm, arms_of
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


def test_ids_of_committed_records_stay() -> None:
    """Records are found by these names: a change of ``Arm.config`` would orphan every published result."""
    assert [a.id for a in arms_of(PUBLISHED)] == ["charlm-gelu-a336a0a884", "charlm-gelu-floor-478c95d266"]


def test_the_params_file_makes_the_published_arms() -> None:
    """params/repro-lite.yaml is that study: 36 arms and 36 noise floors, the pinned id among them."""
    arms = arms_of(kinds.load_repro(paths.ROOT / "params" / "repro-lite.yaml"))
    assert [a.kind for a in arms] == ["trials"] * 36 + ["floor"] * 36
    assert "charlm-gelu-a336a0a884" in [a.id for a in arms]
    assert len({a.id for a in arms}) == 72


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


def test_every_setting_that_matters_is_in_the_id(subtests: pytest.Subtests) -> None:
    """Results made under different settings never share a file."""
    for field in CHANGES:
        with subtests.test(field=field):
            assert arms_of(PUBLISHED.replace(**{field: CHANGES[field]}))[0].id != arms_of(PUBLISHED)[0].id


def test_settings_that_do_not_matter_are_not_in_the_id() -> None:
    """The study's name, what else it runs and in which order change no id; these and ``CHANGES`` are all settings."""
    changes = {
        "study": "other",
        "order": "activation",
        "noise_floor": False,
        "perturbations": ("nudge",),
        "plugins": (),
    }
    changes |= {"activations": ("gelu", "relu")}
    for change in ({key: value} for key, value in changes.items()):
        assert arms_of(PUBLISHED.replace(**change))[0].id == "charlm-gelu-a336a0a884"
    assert set(CHANGES) | {"study", "plugins", "order", "noise_floor", "perturbations", *ELSEWHERE} == set(
        Params.model_fields
    )


def test_the_size_behind_the_scales_name_is_in_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a scale ever redefined, old records would not be taken for new ones."""
    monkeypatch.setitem(SCALES, "lite", replace(SCALES["lite"], n_layer=3))
    assert arms_of(PUBLISHED)[0].id != "charlm-gelu-a336a0a884"


def names(params: Params) -> list[tuple[str, str, str]]:
    return [(a.kind, a.model, a.activation) for a in arms_of(params)]


def test_order() -> None:
    """``model``: one model's activations after another; ``activation``: one activation's models; floors always last."""
    params = Params(model=("charlm", "convlm"), activations=("relu", "gelu"))
    by_model = [("charlm", "relu"), ("charlm", "gelu"), ("convlm", "relu"), ("convlm", "gelu")]
    by_activation = [("charlm", "relu"), ("convlm", "relu"), ("charlm", "gelu"), ("convlm", "gelu")]
    assert names(params) == [(kind, *cell) for kind in ("trials", "floor") for cell in by_model]
    assert names(params.replace(order="activation")) == [
        (kind, *cell) for kind in ("trials", "floor") for cell in by_activation
    ]
    assert names(params.replace(noise_floor=False)) == [("trials", *cell) for cell in by_model]


def test_trials_follow_the_seed() -> None:
    """Trials have consecutive seeds; a floor has the first seed plain, repeated and nudged; the plain one is the arm's
    first trial."""
    ordinary, floor = arms_of(PUBLISHED)
    assert [(spec.seed, spec.variant) for spec in ordinary.trials] == [(seed, "") for seed in range(42, 47)]
    assert [spec.label for spec in floor.trials] == ["42", "42-repeat", "42-nudge"]
    assert floor.trials[0] == ordinary.trials[0]


def test_fields_at_their_defaults_are_in_no_id() -> None:
    """What came after the first records is not in their hash: written out as it is by default, it changes nothing."""
    said = PUBLISHED.replace(
        protocol="corrected", varies=("all",), snapshots=(), ensembles=(), scales=("lite",), perturbations=()
    )
    assert [a.id for a in arms_of(said)] == ["charlm-gelu-a336a0a884", "charlm-gelu-floor-478c95d266"]
    assert not {"protocol", "defects", "varies", "fixed", "snapshots", "ensembles"} & set(arms_of(said)[0].config)


def test_one_stream_at_a_time() -> None:
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


def test_perturbed_arms_hold_every_seed_plain_and_changed() -> None:
    """After the floors; every perturbation of every seed, and only the two-thread ones on two threads."""
    *_, one = arms_of(PUBLISHED.replace(trials=2, perturbations=("nudge", "threads2")))
    assert one.kind == "perturbed"
    assert [spec.label for spec in one.trials] == ["42", "42-nudge", "42-threads2", "43", "43-nudge", "43-threads2"]
    assert [spec.threads for spec in one.trials] == [1, 1, 2] * 2


def test_scales_are_swept() -> None:
    """One arm a size, the sizes in the order given; ``scale`` alone where no list is."""
    arms = arms_of(PUBLISHED.replace(scales=("33k", "lite"), noise_floor=False))
    assert [a.trials[0].scale for a in arms] == ["33k", "lite"]
    assert arms[1].id == "charlm-gelu-a336a0a884"


def test_config_is_plain_and_complete() -> None:
    """``Arm.config`` survives JSON, and holds the recipe, the trials' labels and the size."""
    config = arms_of(PUBLISHED)[0].config
    assert store.canonical(config) == store.canonical(json.loads(store.canonical(config)))
    assert config["trials"] == ["42", "43", "44", "45", "46"]
    assert config["recipe"]["iterations"] == 500
    assert config["model_size"] == {"n_layer": 2, "n_embd": 128, "n_head": 4, "block_size": 128, "dropout": 0.2}


def test_one_arm_alone_is_the_studys() -> None:
    """``arm`` gives what ``arms_of`` lists."""
    assert [arm(PUBLISHED, "charlm", "gelu", kind) for kind in ("trials", "floor")] == arms_of(PUBLISHED)
    assert isinstance(arm(PUBLISHED, "charlm", "gelu"), Arm)


def test_vocabulary_comes_from_the_text() -> None:
    """A spec's model has its scale's size over the text's own vocabulary."""
    config = arms_of(PUBLISHED)[0].trials[0].model_config(99)
    assert config == replace(SCALES["lite"], vocab_size=99)
