"""The engine: what is recorded is loaded, what failed does not stop the rest, and processes change no bit."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path

import pytest

from actlab.errors import BadInput, DataError, RecordError, UnknownName
from actlab.records import store
from actlab.study import provenance, trial_repro
from actlab.study import run as study
from actlab.study.arms import arms_of
from actlab.study.params import Params
from actlab.study.progress import Event
from actlab.study.run import load, run


def essence(record: store.Record) -> str:
    """A record without what tells one run of the same study from another: date, code in use, seconds, checksum."""
    trials = [
        {key: value for key, value in trial.items() if key not in ("seconds", "started")}
        for trial in record.get("trials", [])
    ]
    rest = {key: value for key, value in record.items() if key not in ("checksum", "provenance", "trials")}
    return json.dumps({**rest, "trials": trials, "data": record["provenance"]["data"]}, sort_keys=True)


def test_a_study_from_nothing_to_its_records(toy: Params) -> None:
    """Every arm gets a record, in the order of the arms, and the display hears of each arm and trial once."""
    events: list[Event] = []
    settings = toy.replace(noise_floor=True)
    outcome = run(settings, watch=events.append)
    assert outcome.arms == arms_of(settings)
    assert [record["arm"] for record in outcome.records] == [arm.id for arm in outcome.arms]
    assert outcome.present == [outcome.baseline, *outcome.records]
    assert outcome.missing == outcome.failed == []
    kinds = Counter(event.kind for event in events)
    assert (kinds["arm"], kinds["trial"]) == (4, 2 * 3 + 2 * 2), (
        "the first trial of a noise floor is the arm's first trial"
    )
    assert all(event.record is not None for event in events if event.kind == "arm")
    assert [essence(record) for record in load(settings).present] == [essence(record) for record in outcome.present]


def test_what_is_recorded_is_not_trained(toy: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run trains nothing and tells the same; one more activation trains only its own trials."""
    first = run(toy)
    labels, real = [], study.run_trial

    def watched(spec: object, on_progress: object) -> object:
        labels.append(spec.activation)  # type: ignore[attr-defined]
        return real(spec, on_progress)  # type: ignore[arg-type]

    monkeypatch.setattr(study, "run_trial", watched)
    assert [essence(r) for r in run(toy).present] == [essence(r) for r in first.present]
    assert labels == []
    run(toy.replace(activations=("relu", "gelu", "swish")))
    assert labels == ["swish"] * 3


def test_missing_arms_show(toy: Params) -> None:
    """``load`` trains nothing and lists what has no record."""
    assert len(load(toy).missing) == 2
    assert load(toy).present == []
    run(toy.replace(activations="gelu"))
    outcome = load(toy)
    assert [arm.activation for arm in outcome.missing] == ["relu"]
    assert [record and record["activation"] for record in outcome.records] == [None, "gelu"]


def test_a_failed_trial_does_not_stop_the_others(toy: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    """One trial raises: the other arm is recorded, the failure is told with its traceback, its arm stays unrecorded and
    can be run again."""
    real = trial_repro.train

    def train(*args: object, **kwargs: object) -> object:
        if args[5] == 43 and "relu" in str(args[0]).lower():
            raise RuntimeError("out of luck")
        return real(*args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(trial_repro, "train", train)
        outcome = run(toy)
    assert [(arm.activation, t["label"]) for arm, t in outcome.failed] == [("relu", "43")]
    assert "RuntimeError: out of luck" in outcome.failed[0][1]["traceback"]
    relu, gelu = outcome.records
    assert [p["between"] for p in relu["reproducibility_metrics"]] == [["42", "44"]]
    assert len(gelu["reproducibility_metrics"]) == 3
    assert [arm.activation for arm in load(toy).missing] == ["relu"]
    assert run(toy).failed == []
    assert load(toy).missing == []


def test_a_damaged_record_stops_the_study(toy: Params) -> None:
    """A record that was edited is an error, never silently replaced."""
    record = run(toy).records[0]
    path = store.path_of("toy", record["arm"])
    path.write_text(path.read_text().replace('"charlm"', '"convlm"', 1))
    with pytest.raises(RecordError, match="was changed after it was written"):
        run(toy)


def test_processes_change_no_bit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two worker processes leave the records that one process leaves, but for times and dates."""
    params = Params(
        study="two",
        activations=("swiglu",),
        trials=2,
        iterations=1,
        batch_size=2,
        prediction_windows=4,
        noise_floor=False,
    )
    records = {}
    provenance.code.cache_clear()
    for workers in (2, 1):
        for folder in ("RESULTS", "CACHE"):
            monkeypatch.setenv(f"ACTLAB_{folder}", f"{tmp_path}/{workers}/{folder}")
        events: list[Event] = []
        records[workers] = run(params, workers, events.append).present
        assert Counter(event.kind for event in events)["trial"] == 2
    assert len(records[1]) == 2, "the arm and the text's baselines"
    assert [essence(r) for r in records[1]] == [essence(r) for r in records[2]]


def test_errors_survive_the_way_home_from_a_worker() -> None:
    """An error of input is the same after pickling: a worker that raises it does not break the pool."""
    for error in (UnknownName("model", "x", ["charlm"], "file"), DataError("a"), BadInput("b"), RecordError("c")):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), str(error))
