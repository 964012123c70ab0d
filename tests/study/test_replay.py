"""Replay: equal bits where nothing changed, an explained difference where something did."""

import grids
import pytest
import tiny
from damage import changed

from actlab.errors import BadInput
from actlab.records import store
from actlab.study.after.load_model import trial_of
from actlab.study.after.replay import keep, recorded_trials, replay
from actlab.study.characters.study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.run import bring, run
from actlab.study.tokens import TokenStudy
from actlab.study.workers.pool import run_tasks
from actlab.trainers import loop

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


def test_what_differs_is_told(records, monkeypatch):
    """Other weights or another evaluation break the promise, and so does a failure; with another processor they do not;
    equal bits from other code are told apart."""
    loss = records["trials"]["trials"][0]["history"][0]["val_loss"]
    weights = (["trials", 0, "weights_sha256"], "0" * 64)
    processor = (["provenance", "machine", "processor"], "another processor")
    evaluation = (["trials", 0, "history", 0, "val_loss"], loss + 1e-15)
    code = (["provenance", "trial_code_sha256"], "0")
    for changes, equal, wrong, words in (
        ([weights], False, True, "; everything else is as recorded"),
        ([weights], False, True, "NOT equal in weights_sha256"),
        ([evaluation], False, True, "NOT equal in history"),
        ([weights, processor], False, False, "changed since: processor another processor -> "),
        ([code], True, False, "changed since: the code that trains"),
    ):
        found = replay(task_of(saved(records["trials"], *changes)))
        assert (found.record["equal"], found.wrong) == (equal, wrong)
        assert words in found.sentence
    path = saved(records["trials"])
    monkeypatch.setattr(loop, "train", lambda *a, **k: 1 / 0)
    found = replay(task_of(path))
    assert found.wrong
    assert "ZeroDivisionError" in found.sentence


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


def test_all_trials_of_all_records(toy):
    """The history is written beside the record, which stays as it is; what cannot be replayed stops nothing."""
    for study in ("one", "two"):
        run(tinylstm(toy, study=study, noise_floor=False))
    before = store.load_study("two")
    _, record = sorted(store.load_study("one"), key=lambda record: record["kind"])
    saved(record, OTHER_DATA)
    found = [replay(trial) for trial in recorded_trials()]
    assert [outcome.record is None for outcome in found] == [True, True, False, False]
    assert "made on other data" in found[0].sentence
    for outcome in found[2:]:
        keep(outcome.record)
    assert [len(store.load_below(study, "replays")) for study in ("one", "two")] == [0, 2]
    assert store.load_study("two") == before


@pytest.mark.slow
def test_processes_replay_the_same_bits():
    """What this process recorded, two others train again."""
    run(CharacterStudy.parse({"study": "one", "model": "tinylstm", "activation": "gelu", **tiny.STUDY}))
    outcomes = run_tasks(replay, recorded_trials("one"), workers=2)
    assert [outcome.record["equal"] for _, outcome in outcomes] == [True, True]
