"""Arms: which there are, in which order, and ids that name everything that a result depends on and nothing else."""

from dataclasses import replace
from itertools import product

import yaml

import actlab_audit.defects  # noqa: F401  # they may be switched on
from actlab import paths
from actlab.models import SCALES
from actlab.records.settings import DEFAULTS
from actlab.study.characters.study import CharacterStudy
from actlab.study.characters.trial import CharacterTrial
from actlab.study.characters.twins import TwinTrial
from actlab.study.params import read_params

STREAMS = ("init", "order", "dropout")
PUBLISHED = read_params(paths.ROOT / "params" / "repro-lite.yaml").replace(model="charlm", activation="gelu")
PUBLISHED_IDS = ["charlm-gelu-a336a0a884", "charlm-gelu-floor-478c95d266"]
"""Of the committed records of params/repro-lite.yaml (``test_recorded_ids`` asks for all of them)."""


def ids(**changes):
    return [arm.id for arm in PUBLISHED.replace(**changes).arms()]


CHANGES = yaml.safe_load("""
trials: 4
seed: 43
dataset: pydoc
scale: partial
batch_size: 16
learning_rate: 1.0e-3
weight_decay: 0.1
iterations: 501
evaluate_every: 25
prediction_windows: 128
gated_width: doubled
device: cuda
dtype: bfloat16
compiled: true
model: minigpt
activation: relu
protocol: as_published
varies: init
snapshots: [100, 400]
ensembles: [2]
train_share: 0.8
train_fraction: 0.5
validation: first
validation_windows: 64
training_windows: 8
schedule: linear
warmup: 50
clip: 1.0
optimizer: sgd
betas: [0.8, 0.9]
average: 0.9
per_arm: {charlm: {iterations: 400}}
""")
ELSEWHERE = {"equal_compute", "rates", "tuning", "plan"}
"""Tested elsewhere: they need other settings beside them."""


def test_every_setting_that_matters_is_in_the_id(subtests):
    """Results made under different settings never share a file; the study's name, what else it runs and in which order
    change no id. These are all settings."""
    assert ids() == PUBLISHED_IDS
    for field, value in CHANGES.items():
        with subtests.test(field=field):
            assert ids(**{field: value})[0] != PUBLISHED_IDS[0]
    same = {"study": "other", "order": "activation", "noise_floor": False, "perturbations": ("nudge",), "plugins": ()}
    same["follow"] = True
    for field, value in (*same.items(), ("activation", ("gelu", "relu")), ("scale", ("lite",))):
        assert ids(**{field: value})[0] == PUBLISHED_IDS[0]
    assert {*CHANGES, *same, *ELSEWHERE} == {*CharacterStudy.model_fields}


def test_the_size_behind_the_scales_name_is_in_the_id(monkeypatch):
    """Were a scale ever redefined, old records would not be taken for new ones."""
    monkeypatch.setitem(SCALES, "lite", replace(SCALES["lite"], n_layer=3))
    assert ids()[0] != PUBLISHED_IDS[0]


def test_readers_know_every_default_that_is_in_no_id():
    """A record that does not name such a setting is read as having its default."""
    later = [name for name, (_, optional) in CharacterTrial.identifying().items() if optional]
    planned = {name: TwinTrial.model_fields[name].default for name in later}
    assert planned == {name: DEFAULTS[name] for name in planned}


def test_order():
    """``model``: one model's activations after another; ``activation``: one activation's models; floors always last."""
    params = CharacterStudy(model=("charlm", "convlm"), activation=("relu", "gelu"))
    by_model = list(product(params.model, params.activation))
    by_activation = [(model, activation) for activation in params.activation for model in params.model]
    for order, cells in (("model", by_model), ("activation", by_activation)):
        arms = params.replace(order=order).arms()
        found = [(each.kind, each.trials[0].model, each.trials[0].activation) for each in arms]
        assert found == [(kind, *cell) for kind in ("trials", "floor") for cell in cells]


def test_lists_of_settings_make_a_grid():
    """Each point has the arms that it has alone; a setting of one arm stands at every point, once."""
    own = {"activation": ["relu", "gelu"], "trials": 2, "per_arm": {"charlm/gelu": {"learning_rate": 0.01}}}
    grid = CharacterStudy.parse(own | {"learning_rate": [0.001, 0.003], "batch_size": "[8, 16]"})
    alone = [own | {"learning_rate": rate, "batch_size": batch} for rate in (0.001, 0.003) for batch in (8, 16)]
    assert {arm.id for arm in grid.arms()} == {arm.id for each in alone for arm in CharacterStudy.parse(each).arms()}
    assert len(grid.arms()) == 2 * (4 + 2)
    assert [point["learning_rate"] for point in grid.replace(learning_rate=0.1, batch_size=4).points()] == [0.1] * 2


def test_one_stream_at_a_time():
    """The trial's seed feeds the stream that varies, and the first seed the others; where all vary, it feeds all."""
    arms = PUBLISHED.replace(varies=("all", *STREAMS)).arms()
    found = [[one.trials[1].seed_of(stream) for stream in STREAMS] for one in arms[:4]]
    assert found == [[43, 43, 43], [43, 42, 42], [42, 43, 42], [42, 42, 43]]
