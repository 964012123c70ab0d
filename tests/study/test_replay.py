"""Replay: equal bits where nothing changed, an explained difference where something did; samples of all records."""

from unittest.mock import Mock

import grids
import pytest
import tiny
from damage import DROP, changed

from actlab import paths
from actlab.data.images import load_images
from actlab.errors import BadInput, RecordError
from actlab.records import store
from actlab.study import characters, images
from actlab.study.character_study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.load_model import RecordedTrial, trial_of
from actlab.study.replay import possible, recorded_trials, replay, replay_all, sample
from actlab.study.run import bring, run
from actlab.study.tokens import TokenStudy
from actlab.study.twins import TwinStudy
from actlab.trainers.determinism import perturb

OTHER_DATA = (["provenance", "data", "sha256"], "0" * 64)


def tinylstm(toy, **changes):
    changes = {"study": "tiny-quick", "model": "tinylstm", "noise_floor": True} | changes
    return toy.replace(activation="gelu", trials=2, **changes)


@pytest.fixture
def records(toy):
    """The two records of a tiny arm, by kind."""
    return {record["kind"]: record for record in run(tinylstm(toy)).present}


def task_of(path, label=None):
    return trial_of(store.load(path), label)


def saved(record, *changes):
    """The file of a record with these values in these places."""
    path = store.path_of(record["study"], record["arm"])
    path.unlink(missing_ok=True)
    for place, value in changes:
        record = changed(record, place, value)
    record |= {"arm": record["arm"].rpartition("-")[0]}
    return grids.saved(record, record["study"])


@pytest.mark.parametrize("label", ["42", "42-nudge", "42-repeat"])
def test_replay_gives_the_recorded_bits(records, label):
    """Every trial of a record, perturbed or not, can be trained again to the same weights."""
    found = replay(task_of(saved(records["floor"]), label))
    assert found.record["equal"], found.sentence
    assert "equal bit for bit" in found.sentence


def test_a_record_of_before_has_not_all_that_is_measured_now(records):
    """The distance of weights came later: where it is recorded it is compared, where it is not nothing is wrong."""
    distance = ["reproducibility_metrics", 0, "weight_distance"]
    pair = records["floor"]["reproducibility_metrics"][0]
    assert replay(task_of(saved(records["floor"], (distance, 0.625)), "42-repeat")).record["differs"] != []
    earlier = [{name: value for name, value in pair.items() if name != "weight_distance"}]
    rest = records["floor"]["reproducibility_metrics"][1:]
    path = saved(records["floor"], (["reproducibility_metrics"], earlier + rest))
    assert replay(task_of(path, "42-repeat")).record["equal"]


def test_a_trial_that_diverged_alone_is_replayed(toy):
    """Also twins, and where it comes out well now and no other trial is there to be compared with."""
    small = {**tiny.STUDY, "trials": 1, "learning_rate": 1e38, "followers": "own", "activation": "relu"}
    (record,) = run(TwinStudy(study="lost", **small)).present
    assert {trial["status"] for trial in record["trials"]} == {"diverged"}
    found = replay(trial_of(record, "42-own"))
    assert found.record["equal"], found.sentence
    alone = tiny.relu(toy.replace(trials=1))
    unfinished = {name: alone["trials"][0][name] for name in ("label", "seed")} | {"status": "diverged"}
    assert "NOT equal" in replay(task_of(saved(alone, (["trials"], [unfinished])), "42")).sentence


def test_what_differs_is_told(records, monkeypatch):
    """Other weights or another evaluation break the promise, and so does a failure; with another processor they do not;
    equal bits from other code are told apart."""
    loss = records["trials"]["trials"][0]["history"][0]["val_loss"]
    weights = (["trials", 0, "weights_sha256"], "0" * 64)
    processor = (["provenance", "machine", "processor"], "another processor")
    evaluation = (["trials", 0, "history", 0, "val_loss"], loss + 1e-15)
    code = (["provenance", "trial_code_sha256"], "0")
    for changes, equal, wrong, words in (
        ([weights], False, True, "NOT equal in weights_sha256"),
        ([evaluation], False, True, "NOT equal in history"),
        ([weights, processor], False, False, "what differs: processor another processor -> "),
        ([code], True, False, "although this changed since: the code that trains"),
    ):
        found = replay(task_of(saved(records["trials"], *changes)))
        assert (found.record["equal"], found.wrong) == (equal, wrong)
        assert words in found.sentence
    path = saved(records["trials"])
    monkeypatch.setattr(characters.loop, "train", lambda *a, **k: 1 / 0)
    found = replay(task_of(path))
    assert found.wrong
    assert "FAILED: ZeroDivisionError" in found.sentence


def test_a_perturbed_replay_is_as_far_away_as_the_noise_floor(toy, tmp_path, monkeypatch):
    """Another machine, played by one unit in the last place: its total variation from the cached predictions is that of
    the recorded perturbation, exactly."""
    outcome = run(tinylstm(toy, model="charlm", iterations=20))
    path = store.path_of("tiny-quick", outcome.present[0]["arm"])
    fresh = characters.CharacterTrial.fresh

    def perturbed(trial, vocab_size=0):
        model = fresh(trial)
        perturb(model)
        return model

    monkeypatch.setattr(characters.CharacterTrial, "fresh", perturbed)
    again = replay(task_of(path))
    assert (found := again.record) is not None
    assert "weights_sha256" in found["differs"]
    pairs = outcome.present[1]["reproducibility_metrics"]
    moved = [p["total_variation"] for p in pairs if p["between"] == ["42", "42-nudge"]]
    assert [found["total_variation"]] == moved
    assert f"one unit in the last place: {moved[0]:.1e}" in again.sentence
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "empty"))
    assert "not in the cache" in replay(task_of(path)).sentence


def test_a_network_of_the_image_sweep_is_replayed_alone():
    """Trained among others, it comes out the same on its own, in every number that was recorded."""
    more = {"study": "sweep", "network": ["relu", "geglu_equal_width"], "hidden": [2, 4], "learning_rate": [1e-1, 1e-3]}
    for record in run(ImageStudy.parse(tiny.SWEEP | more)).present[::5]:
        found = replay(task_of(store.path_of("sweep", record["arm"]), "43"))
        assert found.record["equal"], found.sentence
        assert "test_accuracy" in found.record["compared"]


def test_an_ablation_is_replayed(cats):
    """As a notebook asks for it, loaded or trained: every optimizer gives its bits again."""
    study = TokenStudy.parse({**tiny.ABLATION, "symmetry": "bQbV", "activation": "random_prelu"})
    with pytest.raises(BadInput, match="has no record of these settings yet"):
        bring(study, train_missing=False)
    records = bring(study, train_missing=True, workers=1)
    assert [record["optimizer"] for record in records] == ["ecd", "adamw", "sgdm", "soap"]
    for record in records:
        assert record["trials"][0]["status"] == "done"
        found = replay(task_of(store.path_of(record["study"], record["arm"])))
        assert found.record["equal"], found.sentence


def test_what_is_not_compared_is_named(toy, tmp_path, monkeypatch):
    """What needs weights that are not kept: pairs at snapshots, ensembles of shorter trainings; of another machine,
    whose cache is empty, also the pairs with other trials."""
    more = {"snapshots": [2], "ensembles": [2], "equal_compute": [2], "training_windows": 2, "trials": 4}
    (record,) = run(toy.replace(activation=("relu",), **more)).present
    path = store.path_of("toy", record["arm"])
    always = "equal_compute, training"
    along = "trajectory.to_end, trajectory.pairs"
    assert replay(task_of(path)).sentence.endswith(f"; not compared: {along}, {always}")
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "empty"))
    elsewhere = f"; not compared: the pair with 43, the pair with 44, the pair with 45, {along}, ensembles, {always}"
    assert replay(task_of(path)).sentence.endswith(elsewhere)
    (plain,) = run(toy.replace(study="plain", activation=("relu",))).present
    assert "not compared" not in replay(task_of(store.path_of("plain", plain["arm"]))).sentence


def test_a_record_that_says_too_little_to_train_is_refused(toy):
    """What tables read, but no trial is: one sentence."""
    record = changed(tiny.relu(toy), ["config", "recipe", "evaluate_every"], DROP)
    said = replay(task_of(saved(record), "42")).sentence
    assert said.endswith("has settings that no trial has: 'evaluate_every' is absent")


def test_a_record_without_trials_is_refused():
    with pytest.raises(RecordError, match="'baseline' holds no trials"):
        task_of(store.save(store.path_of("made-up", "baseline"), grids.baseline()))


def tasks(**sizes):
    """Tasks of studies with so many trials; the i-th took i minutes."""
    trials = [(study, {"label": str(i), "seconds": 60.0 * i}) for study, n in sizes.items() for i in range(n)]
    return [RecordedTrial({"study": study, "trials": [trial]}, trial["label"]) for study, trial in trials]


def test_a_sample_takes_turns_by_its_seed_alone():
    """A study of a thousand trials does not push out one of two; long trials are left out on request."""
    drawn = [task.record["study"] for task in sample(tasks(large=1000, small=2))[:6]]
    assert (drawn.count("large"), drawn.count("small")) == (4, 2)
    every = tasks(a=20, b=20)
    assert sample(every, seed=1)[:10] == sample(every, seed=1)[:10] != sample(every, seed=2)[:10]
    assert set(sample(every)) == set(every)
    assert {task.label for task in sample(tasks(a=10), minutes=2.5)} == {"0", "1", "2"}
    assert sample([]) == []


def test_only_what_can_be_trained_here_is_drawn(toy):
    """Trials of a GPU, of other data or of a part that is not loaded are passed over, each reason said once."""
    run(tinylstm(toy, study="one", model=("tinylstm", "charlm"), noise_floor=False))
    every = recorded_trials("one")
    assert possible(every) == (every, [])
    first, second = {task.id: task.record for task in every}.values()
    saved(first, (["config", "recipe", "device"], "cuda"))
    found, skipped = possible(recorded_trials("one"), 2)
    assert [task.id for task in found] == [second["arm"]] * 2
    assert skipped == ["skipped 2 trials that cannot be trained here: it was trained on cuda, which is not here"]
    saved(second, (["config", "parts"], {"model": "0" * 64}))
    found, skipped = possible(recorded_trials("one"))
    assert found == []
    assert "is not the one that was planned (hash 0000000000), but another (hash none)" in skipped[1]


def test_what_is_not_here_is_not_downloaded(committed, data_folder, monkeypatch):
    """960 trials without their images are skipped for one reason, and nothing is asked for."""
    for kept in (load_images, images._about):  # by other tests
        kept.cache_clear()
    asked = Mock()
    monkeypatch.setattr("pooch.retrieve", asked)
    found, (skipped,) = possible(recorded_trials("mnist"), 2)
    assert (found, asked.called) == ([], False)
    assert skipped.startswith("skipped 960 trials that cannot be trained here: mnist")
    assert "`actlab data get mnist`" in skipped


def test_all_trials_of_all_records(toy):
    """Each is told to whoever watches, and its history written beside the record as it ends if asked for; the record
    stays as it is; what cannot be replayed stops nothing; a performance record is passed over."""
    for study in ("one", "two"):
        run(tinylstm(toy, study=study, noise_floor=False))
    store.save(paths.results() / "performance" / "x.json", {"kind": "performance", "study": "performance"})
    before = store.load_study("two")
    assert [(task.record["study"], task.label) for task in recorded_trials(label="43")] == [
        ("one", "43"),
        ("two", "43"),
    ]
    next(replay_all(recorded_trials("two")))
    assert store.load_replays("two") == []
    running = replay_all(recorded_trials("two"), keeps=True)
    next(running)
    running.close()
    assert len(store.load_replays("two")) == 1
    _, record = sorted(store.load_study("one"), key=lambda record: record["kind"])
    saved(record, OTHER_DATA)
    heard = []
    found = list(replay_all(recorded_trials(), watch=lambda event: heard.append(type(event).__name__), keeps=True))
    assert [outcome.record is None for outcome in found] == [True, True, False, False]
    assert "not replayed: " in found[0].sentence
    assert "made on other data" in found[0].sentence
    assert (heard[0], heard.count("Ended")) == ("Started", 4)
    assert [len(store.load_replays(study)) for study in ("one", "two")] == [0, 3]
    assert store.load_study("two") == before
    assert {entry["record_checksum"] for entry in store.load_replays("two")} <= {each["checksum"] for each in before}


@pytest.mark.slow
def test_processes_replay_the_same_bits():
    """What this process recorded, two others train again."""
    run(CharacterStudy.parse({"study": "one", "model": "tinylstm", "activation": "gelu", **tiny.STUDY}))
    outcomes = replay_all(recorded_trials("one"), workers=2, keeps=True)
    assert [outcome.record["equal"] for outcome in outcomes] == [True, True]
    assert len(store.load_replays("one")) == 2


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (["average", "0.5", 0, "churn"], "average"),
        (["ensembles", "2", 0, "total_variation"], "ensembles"),
        (["trajectory", 0, "trials", 0, "val_accuracy"], "trajectory.trials"),
    ],
)
def test_replay_compares_what_is_measured_beside_the_trial(toy, place, named):
    """Of averaged weights, of ensembles, at snapshots: with what of the other trials is in the cache."""
    study = toy.replace(activation="relu", study="beside", trials=4, average=(0.5, 0.9), ensembles=(2,), snapshots=(2,))
    record = run(study).present[0]
    assert replay(trial_of(record, "42")).record["equal"]
    path = saved(record, (place, 0.625))
    assert replay(task_of(path, "42")).record["differs"] == [named]


def test_replay_compares_the_steps_of_twins(toy):
    """Of a follower beside its leader."""
    small = {**tiny.STUDY, "trials": 1, "followers": "own", "iterations": 2, "evaluate_every": 1}
    record = run(TwinStudy(**small, study="twins", activation="relu")).present[0]
    follower = record["trials"][1]["label"]
    assert "steps" in replay(trial_of(record, follower)).record["compared"]
    path = saved(record, (["steps", 0, "pairs", 0, "weight_distance"], 0.625))
    assert replay(task_of(path, follower)).record["differs"] == ["steps"]
