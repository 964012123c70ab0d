"""Studies of every kind: what is recorded is loaded, what failed does not stop the rest, processes change no bit, a
study that grows keeps the bits of its trials, and two runs agree on one record."""

import pickle
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import grids
import pytest
import tiny
from damage import changed
from faulty import essence

import actlab
from actlab import paths
from actlab.cli.display import in_words
from actlab.errors import DamagedFile, DiskError, RecordError, UnknownName
from actlab.records import store
from actlab.study import images as sweep
from actlab.study import run as study
from actlab.study import tokens
from actlab.study.after import status
from actlab.study.characters.study import CharacterStudy
from actlab.study.characters.trial import CharacterTrial
from actlab.study.images import ImageStudy
from actlab.study.record import bits_of, failure_of, finish, recorded
from actlab.study.run import Ended, Recorded, bring, load, run
from actlab.study.tokens import TokenStudy

STUDIES = (
    CharacterStudy.parse({"study": "grown", "model": "nanotransformer", "activation": "relu", **tiny.STUDY}),
    ImageStudy.parse({"study": "grown-mnist", **tiny.SWEEP}),
    TokenStudy.parse(
        {**tiny.ABLATION, "study": "grown-ablation", "trials": 2, "optimizer": "sgdm", "vocab_size": 257}
    ).replace(symmetry="bQ", activation="gelu"),
)
pytestmark = pytest.mark.usefixtures("toy")
two_kinds = pytest.mark.parametrize("params", STUDIES[:2], ids=lambda params: params.study)


def test_a_study_from_nothing_to_its_records(toy, monkeypatch):
    """Every arm gets a record, in the order of the arms; the display hears of each arm and trial once; a second run
    trains nothing, and one more activation its own trials only."""
    settings, events = toy.replace(noise_floor=True), []
    assert (len(load(toy).missing), load(toy).present) == (2, [])
    outcome = run(settings, watch=events.append)
    assert list(outcome) == settings.arms()
    assert [record["arm"] for record in outcome.present] == [arm.id for arm in outcome]
    assert outcome.missing == outcome.failed == []
    heard = Counter(map(type, events))
    assert (heard[Recorded], heard[Ended]) == (4, 2 * 3 + 2 * 2), "a noise floor shares the arm's first trial"
    trained, real = [], study.run_task

    def watched(task, report):
        trained.append(task.first.activation)
        return real(task, report)

    monkeypatch.setattr(study, "run_task", watched)
    assert list(map(essence, run(settings).present)) == list(map(essence, outcome.present))
    run(toy.replace(activation=("relu", "gelu", "swish")))
    assert trained == ["swish"] * 3


@two_kinds
def test_a_failed_trial_does_not_stop_the_others(params, monkeypatch):
    """One seed of relu raises: other arms are recorded (those of a program of image classifiers share its fate); the
    failure is told with its traceback, its arm stays unrecorded, until it is run again."""
    images = params is STUDIES[1]
    kind = sweep.ImageTrial if images else CharacterTrial
    real = kind.train
    params = params.replace(**({"hidden": [2, 4]} if images else {"activation": ["relu", "gelu"]}))

    def train(first, *args):
        fails = first.seed == 43 and (images or first.activation == "relu")
        return 1 / 0 if fails else real(first, *args)

    with monkeypatch.context() as patch:
        patch.setattr(sweep, "SEEDS", 1)
        patch.setattr(kind, "train", train)
        outcome = run(params)
    failed = [arm for arm, _ in outcome.failed]
    assert {trial["label"] for _, trial in outcome.failed} == {"43"}
    assert failed == load(params).missing == list(outcome)[: 2 if images else 1]
    assert "ZeroDivisionError" in failure_of(next(iter(outcome))).read_text()
    assert (run(params).failed, load(params).missing) == ([], [])
    assert not failure_of(next(iter(outcome))).exists()


def test_errors_survive_the_way_home_from_a_worker():
    """An error of input is the same after pickling: a worker that raises it does not break the pool."""
    place = Path("place")
    for error in (UnknownName("model", "x", ["charlm"], "file"), DamagedFile(place, "a"), DiskError(place, 2, "b")):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), str(error))


def grown(params, trials):
    (record,) = run(params.replace(trials=trials)).present
    return record


def test_a_notebook_says_what_is_missing(toy, capsys):
    """Where it only loads: by the names that tell the arms apart; nothing where all is there. It is no warning, which
    ends a book."""
    run(toy.replace(activation="relu"))
    study = toy.replace(activation=["relu", "gelu"], learning_rate=[0.001, 0.5])
    assert len(bring(toy.replace(activation="relu"), train_missing=False)) == 1
    assert capsys.readouterr() == ("", "")
    assert len(bring(study, train_missing=False)) == 1
    said, warned = capsys.readouterr()
    assert not warned
    assert "results/toy lacks 3 of 4 configurations, which train_missing=True makes: charlm-relu, learning_rate" in said
    assert said.count("learning_rate=0.5") == 2


@pytest.mark.parametrize("params", STUDIES, ids=lambda params: params.study)
def test_a_study_that_grows_keeps_its_trials(params, monkeypatch):
    """From two trials to three, with the cache and without it: the first two are what they were, and only the larger
    record is read. Status counts what is done and left."""
    monkeypatch.setattr(sweep, "SEEDS", 2)
    small = grown(params, 2)
    found = status.of(params.replace(trials=4))
    assert found[["trials", "recorded", "ended", "running", "missing"]].to_numpy().tolist() == [[4, 0, 2, 0, 2]]
    assert found["seconds"].gt(0).all()
    assert "2 missing; 0 diverged; about " in in_words(found, 1)
    large = grown(params, 3)
    shutil.rmtree(paths.cache())
    tokens.text_shards.cache_clear()
    store.path_of(params.study, large["arm"]).unlink()
    for record in (large, grown(params, 3)):
        assert list(map(bits_of, record["trials"][:2])) == list(map(bits_of, small["trials"]))
    trials, pairs = actlab.load(params.study)
    assert trials["seed"].tolist() == [42, 43, 44]
    assert len(pairs) in (0, 3)
    assert store.path_of(params.study, small["arm"]).exists(), "the smaller record is kept as it was"


@two_kinds
def test_trials_that_come_out_differently_are_refused(params):
    """Other bits than recorded (another machine, say): the first such trial ends the run; the message says the ways
    out."""
    small = grown(params, 2)
    path = store.path_of(params.study, small["arm"])
    small["trials"][0] |= {"weights_sha256": "0" * 64} if params is STUDIES[0] else {"val_loss": 1.0}
    path.unlink()
    store.save(path, small)
    with pytest.raises(RecordError, match=r"trial 42 comes out differently .* --set study=NAME"):
        grown(params, 3)


def test_the_first_of_two_runs_is_kept_and_another_result_refused():
    """The second, which trained nothing of its own, returns the record of the first; other bits are never dropped
    silently."""
    first = grids.identified(grids.record(losses=(2.0,)), "toy")
    later = changed(first, ["provenance", "date"], "2026-01-02")
    other = changed(first, ["trials", 0, "history"], [])
    one = SimpleNamespace(study="toy", id=first["arm"], config={})
    finish(one, first)
    assert {**first, "checksum": store.checksum(first)} == finish(one, later) == recorded(one)
    with pytest.raises(RecordError, match="holds a different result; move it away"):
        finish(one, other)


@pytest.mark.slow
def test_two_threads_give_the_bits_of_one(toy, monkeypatch, tmp_path):
    """A network that one of them makes draws nothing from the stream of the other's dropout."""
    studies = [toy.replace(activation=name, study=name, iterations=40, trials=4) for name in ("relu", "gelu", "swish")]

    def weights(records):
        return [trial["weights_sha256"] for trial in records.present[0]["trials"]]

    alone = [weights(run(study)) for study in studies]
    for folder in ("ACTLAB_CACHE", "ACTLAB_RESULTS"):
        monkeypatch.setenv(folder, str(tmp_path / "threads" / folder))
    with ThreadPoolExecutor(3) as pool:
        assert [weights(records) for records in pool.map(run, studies)] == alone
