"""Replay of a sample: who is drawn, what is kept, and what contradicts the promise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actlab import paths
from actlab.errors import UnknownName
from actlab.records import store
from actlab.study import replays
from actlab.study.params import Params
from actlab.study.replay import Replay, Task
from actlab.study.run import run


def tasks(**sizes: int) -> list[Task]:
    """Studies with so many trials, of 10, 20, ... seconds."""
    return [
        Task(Path(study), "arm", study, str(i), 10.0 * (i + 1), None)
        for study, count in sizes.items()
        for i in range(count)
    ]


def test_studies_take_turns() -> None:
    """A study of a thousand trials does not crowd out one of two."""
    drawn = replays.sample(tasks(large=1000, small=2), 6)
    assert [task.study for task in drawn] == ["large", "small", "large", "small", "large", "large"]


def test_the_seed_is_the_only_source_of_randomness() -> None:
    """Same seed, same sample; another seed, another one; all trials are drawn once where all are asked for."""
    every = tasks(a=30, b=30)
    assert replays.sample(every, 10, seed=1) == replays.sample(every, 10, seed=1) != replays.sample(every, 10, seed=2)
    assert sorted(task.label + task.study for task in replays.sample(every)) == sorted(
        task.label + task.study for task in every
    )


def test_long_trials_are_left_out() -> None:
    """By what they took when they were recorded."""
    assert {task.label for task in replays.sample(tasks(a=10), minutes=0.5)} == {"0", "1", "2"}
    assert replays.sample([], 3) == []


def write(study: str, **settings: Any) -> None:
    """A study of two trials."""
    values = {
        "trials": 2,
        "iterations": 2,
        "evaluate_every": 2,
        "batch_size": 2,
        "prediction_windows": 4,
        "noise_floor": False,
        **settings,
    }
    run(Params.parse({"study": study, "model": "tinylstm", "activations": "gelu", **values}))


@pytest.fixture
def two_studies(toy: Params) -> None:
    """Two studies of two trials each, and a performance record that replay passes over."""
    write("one")
    write("two")
    store.save(paths.results() / "performance" / "x.json", {"kind": "performance"})


def test_all_trials_of_all_records(two_studies: None) -> None:
    """Each is trained again, told to whoever watches, and its history written."""
    heard: list[str] = []
    found = list(replays.replay_all(replays.recorded_trials(), watch=lambda event: heard.append(event.kind)))
    assert [outcome.equal for outcome in found if isinstance(outcome, Replay)] == [True] * 4
    assert (heard[0], heard.count("trial")) == ("start", 4)
    assert [len(store.load_replays(study)) for study in ("one", "two")] == [2, 2]
    assert [(task.study, task.label) for task in replays.recorded_trials(label="43")] == [("one", "43"), ("two", "43")]


@pytest.mark.slow
def test_processes_replay_the_same_bits() -> None:
    """What this process recorded, two others train again."""
    write("one")
    found = list(replays.replay_all(replays.recorded_trials("one"), workers=2))
    assert [outcome.equal for outcome in found if isinstance(outcome, Replay)] == [True, True]
    assert len(store.load_replays("one")) == 2


def test_what_has_ended_is_kept(two_studies: None) -> None:
    """An interruption after the first loses only what is under way."""
    running = replays.replay_all(replays.recorded_trials("two"))
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert len(store.load_replays("two")) == 1


def test_what_cannot_be_replayed_stops_nothing(two_studies: None) -> None:
    """One record of other data: the others are trained again all the same."""
    path = next((paths.results() / "one").glob("tinylstm*.json"))
    record = json.loads(path.read_text())
    record["provenance"]["data"]["sha256"] = "0" * 64
    path.unlink()
    store.save(path, {key: value for key, value in record.items() if key != "checksum"})
    found = list(replays.replay_all(replays.recorded_trials()))
    assert [type(outcome).__name__ for outcome in found] == ["Impossible", "Impossible", "Replay", "Replay"]
    assert "made on other data" in found[0].sentence


def test_an_unknown_study_lists_the_known(two_studies: None) -> None:
    with pytest.raises(UnknownName, match="known are one, performance, two"):
        replays.recorded_trials("tow")
