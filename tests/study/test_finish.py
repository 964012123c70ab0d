"""Records of arms: two runs of one study agree on one, and a failure leaves its traceback where no reader takes it for
a record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from actlab.errors import RecordError
from actlab.records import store
from actlab.study import trial_mnist
from actlab.study.finish import failure_of, finish, recorded
from actlab.study.mnist import MnistParams
from actlab.study.run import run


@dataclass(frozen=True)
class One:
    study: str = "toy"
    id: str = "arm"
    config: ClassVar[dict[str, Any]] = {}


def made(status: str = "done", date: str = "today") -> store.Record:
    return {"kind": "trials", "trials": [{"label": "42", "status": status}], "provenance": {"date": date}}


def test_the_first_of_two_runs_is_kept() -> None:
    """The second, which trained nothing of its own, returns the record of the first; nothing is written over."""
    first = finish(One(), made())
    assert {**first, "checksum": store.checksum(first)} == finish(One(), made(date="later")) == recorded(One())


def test_another_result_is_refused() -> None:
    """Two runs that trained one arm to different bits: neither is silently dropped."""
    finish(One(), made())
    with pytest.raises(RecordError, match="holds a different result; move it away"):
        finish(One(), made("diverged"))
    assert [record["trials"][0]["status"] for record in store.load_study("toy")] == ["done"]


def test_a_failure_is_kept_apart_until_the_arm_has_its_record() -> None:
    finish(One(), made("failed", "first"))
    finish(One(), made("failed", "second"))
    assert json.loads(failure_of(One()).read_text())["provenance"]["date"] == "second"
    assert store.load_study("toy") == []
    finish(One(), made())
    assert not failure_of(One()).exists()
    assert len(store.load_study("toy")) == 1


def test_a_program_that_raises_fails_its_trials_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Image classifiers: the seed's trials have failed in every arm, their tracebacks are kept, and the next run mends
    it."""
    params = MnistParams.parse(
        {"study": "tiny", "arms": "relu", "hidden": [2, 4], "learning_rates": [0.01], "batch_sizes": [64], "trials": 2}
    )
    real = trial_mnist.train_trial

    def train(program: trial_mnist.Program, *args: object) -> object:
        if program.seed == 43:
            raise RuntimeError("out of luck")
        return real(program, *args)

    with monkeypatch.context() as patch:
        patch.setattr(trial_mnist, "train_trial", train)
        outcome = run(params)
    assert [(arm.hidden, trial["label"]) for arm, trial in outcome.failed] == [(2, "b64-s43-e1"), (4, "b64-s43-e1")]
    assert store.load_study("tiny") == []
    assert all("out of luck" in failure_of(arm).read_text() for arm in outcome.arms)
    assert run(params).failed == []
    assert len(store.load_study("tiny")) == 2
