"""Records of real trials with one entry of another type, missing, empty or huge, under a right checksum: every reader
gives its answer, or refuses with one sentence."""

import random
import warnings

import grids
import pytest
import tiny
from damage import DROP, changed, places

from actlab import report
from actlab.records import store, tables
from actlab.records.cross_hardware import load_cross_hardware
from actlab.study import load_model, replay, status
from actlab.study.images import ImageStudy
from actlab.study.run import run
from actlab.study.sampling import written
from actlab.study.tokens import TokenStudy
from actlab.study.twins import TwinStudy

DOOR = "records"
CASES = 12
PUT = [DROP, None, [[]], [], {}, {"x": 1}, -1.5, 0, True, "", "x", "٤٢", 2**62, 10**30, 1e308, float("nan")]


@pytest.fixture
def studies(toy, cats):
    """Kind of record -> a study that makes it, with everything that its records can hold."""
    small = {**tiny.STUDY, "study": "fuzz", "activation": "relu"}
    whole = {"snapshots": (2,), "average": (0.5, 0.9), "ensembles": (2,), "equal_compute": (2,), "trials": 4}
    return {
        "trials": toy.replace(study="fuzz", activation="relu", training_windows=2, **whole),
        "perturbed": toy.replace(study="fuzz", activation="relu", perturbations=("nudge",)),
        "twins": TwinStudy(**small),
        "mnist": ImageStudy.parse({**tiny.SWEEP, "study": "fuzz"}),
        "ablation": TokenStudy(**tiny.ABLATION, study="fuzz", optimizer="adamw", activation="gelu"),
    }


def readers(study, path):
    """Everything that reads a record."""
    record = store.load(path)
    trials = [load_model.trial_of(record, trial["label"]) for trial in record["trials"]]
    yield lambda: tables.load("fuzz", "all")
    yield lambda: [tables.load_pairs("fuzz", block, "all") for block in tables.BLOCKS]
    yield lambda: [tables.load_losses("fuzz", block) for block in tables.LOSSES]
    yield lambda: tables.load_curves("fuzz", "all")
    yield lambda: load_cross_hardware(["fuzz"])
    yield lambda: report.load("fuzz")
    yield lambda: status.in_words(status.of(study), 1)
    yield lambda: replay.possible(replay.sample(replay.recorded_trials("fuzz")))
    yield lambda: [replay.replay(trial) for trial in trials]
    yield lambda: written(path, [None], "the ", 5)
    yield lambda: load_model.load_model(record, anyway=True)


@pytest.mark.parametrize("kind", ["trials", "perturbed", "twins", "mnist", "ablation"])
def test_a_record_is_read_whole_or_refused_whole(kind, studies, door, monkeypatch):
    study = studies[kind]
    record = next(one for one in run(study).present if one["kind"] == kind)
    store.path_of("fuzz", record["arm"]).unlink()
    again = record["trials"][0]
    monkeypatch.setattr(replay, "train_afresh", lambda task, report: [(dict(again), {})])
    monkeypatch.setattr(load_model, "run_task", lambda task, report: [again])
    monkeypatch.setattr(status, "seconds_timed", lambda trial, _: {status.pace_of(trial): 1.0})
    draw = random.Random(kind)
    for place in draw.sample(places(record), CASES):
        made = changed(record, place, draw.choice(PUT))
        if place[0] == "config":
            made = grids.identified(made | {"arm": record["arm"].rpartition("-")[0]}, "fuzz")
        path = store.save(store.path_of("fuzz", made["arm"] if place[0] == "config" else record["arm"]), made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of means over nothing, of infinities less infinities
            if door.accepts(lambda path=path: store.load(path)) and door.accepts(
                lambda path=path: [*readers(study, path)]
            ):
                for read in readers(study, path):
                    door.accepts(read)
        path.unlink()


def test_a_bad_record_stops_no_other_study(caplog):
    """Of all studies, the one with a damaged record is left out, and told."""
    grids.save(grids.record(), study="good")
    bad = grids.saved(grids.record(), "bad")
    bad.write_text(bad.read_text()[:-100])
    assert [trial.record["study"] for trial in replay.recorded_trials()] == ["good"] * 3
    assert "bad is left out" in caplog.text
