"""Replay: equal bits where nothing changed, an explained difference where something did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actlab import store
from actlab.errors import BadInput, RecordError
from actlab.study.engine import run_study
from actlab.study.params import Params
from actlab.study.replay import replay, specification

SETTINGS: dict[str, Any] = {
    "study": "tiny-quick",
    "model": "tinylstm",
    "activations": "gelu",
    "trials": 2,
    "iterations": 3,
    "evaluate_every": 3,
    "batch_size": 2,
    "prediction_windows": 4,
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The two records of a tiny arm, by kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTLAB_RESULTS", str(tmp_path_factory.mktemp("results")))
        patch.setenv("ACTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {r["kind"]: r for r in run_study(Params.parse(SETTINGS)).present}


def saved(record: dict[str, Any], **changes: Any) -> Path:
    return store.save(store.path_of("tiny-quick", "copy"), {**record, **changes})


@pytest.mark.parametrize(("kind", "label"), [("trials", None), ("trials", "43"), ("floor", "42-nudge"), ("floor", "42-repeat")])
def test_replay_gives_the_recorded_bits(records: dict[str, Any], kind: str, label: str | None) -> None:
    """Every trial of a record, nudged or not, can be trained again to the same weights."""
    found = replay(saved(records[kind]), label)
    assert found.equal, found.sentence
    assert "equal bit for bit" in found.sentence


def test_another_result_is_not_equal(records: dict[str, Any]) -> None:
    """A record of another seed's weights is told from the replay, with both losses."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["trials"][0]["weights_sha256"] = changed["trials"][1]["weights_sha256"]
    found = replay(saved(changed))
    assert not found.equal
    assert "NOT equal" in found.sentence
    assert "are the recorded ones" in found.sentence


def test_another_machine_is_named(records: dict[str, Any]) -> None:
    """Where the processor differs, the sentence says from what to what."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["trials"][0]["weights_sha256"] = "0"
    changed["provenance"]["machine"]["processor"] = "another processor"
    assert "processor another processor -> " in replay(saved(changed)).sentence


def test_other_data_is_refused(records: dict[str, Any]) -> None:
    """A replay on another text would compare nothing."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["provenance"]["data"]["sha256"] = "0" * 64
    with pytest.raises(RecordError, match="made on other data"):
        replay(saved(changed))


def test_unknown_label_lists_the_known(records: dict[str, Any]) -> None:
    """The labels of a record are its trials'."""
    with pytest.raises(BadInput, match="known are 42, 43"):
        specification(records["trials"], "44")
