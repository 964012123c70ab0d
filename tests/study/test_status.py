"""What status says of a study: each trial once, in one state; what diverged or failed is told apart from what is
missing; the time that is left is within a factor of two."""

import time
from unittest.mock import Mock

import pandas as pd
import pytest
import tiny

from actlab.study import status
from actlab.study.character_study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.run import load, run
from actlab.study.tokens import TokenStudy
from actlab.trainers import loop


def counted(found):
    """The words that are not zero."""
    sums = found.drop(columns=["arm", "seconds"]).sum()
    return sums[sums > 0].to_dict()


def test_diverged_failed_and_missing_are_three_things(toy, monkeypatch):
    """At an absurd rate relu diverges, gelu fails, swish was not asked for."""
    study = toy.replace(learning_rate=1e9, iterations=40, trials=2)
    run(study.replace(activation="relu"))
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", Mock(side_effect=RuntimeError("no more memory")))
        run(study.replace(activation="gelu"))
    found = status.of(study.replace(activation=["relu", "gelu", "swish"]))
    assert counted(found) == {"trials": 6, "recorded": 2, "diverged": 2, "failed": 2, "missing": 2}
    assert "2 recorded, 0 ended, 0 running, 2 failed, 2 missing; 2 diverged; about" in status.in_words(found, 1)
    swish = load(study.replace(activation="swish")).arms[0].trials[0]
    tiny.cached(swish)
    found = status.of(study.replace(activation="swish"))
    assert counted(found) == {"trials": 2, "ended": 1, "missing": 1, "diverged": 1}


def test_a_shared_trial_counts_once(toy):
    """The noise floor's plain trial is that of the arm."""
    found = status.of(toy.replace(noise_floor=True))
    assert (counted(found), found["trials"].tolist()) == ({"trials": 10, "missing": 10}, [3, 3, 2, 2])


def test_rates_take_the_same_time(toy, monkeypatch):
    """Of trials that differ in nothing but their rates and seeds one is timed; of another size, another one."""
    timed = Mock(wraps=status.seconds_timed)
    monkeypatch.setattr(status, "seconds_timed", timed)
    study = toy.replace(activation="relu", learning_rate=[i / 100 for i in range(1, 31)], weight_decay=[0.0, 0.1])
    found = status.of(study)
    assert (len(found), timed.call_count) == (60, 1)
    assert found["seconds"].nunique() == 1
    status.of(study.replace(batch_size=[2, 4]))
    assert timed.call_count == 3


def test_a_busy_machine_gains_less_by_workers():
    """Two workers halve the time where each has a core, and not where all share one."""
    found = pd.DataFrame(
        [dict.fromkeys(status.STATES, 0) | {"trials": 2, "missing": 2, "diverged": 0, "seconds": 40.0}]
    )
    for share, seconds in ((1.0, 25), (0.0, 45)):
        found.attrs["share"] = share
        assert f"about {seconds} s left on 2 workers" in status.in_words(found, 2, start=5.0)


def test_where_no_time_can_be_told_the_records_tell_one(toy, monkeypatch):
    """Of the trials of the same study, by device: what is missing, at their mean pace; a shared trial counts once."""
    study = toy.replace(noise_floor=True)
    run(study.replace(noise_floor=False, activation="relu"))
    monkeypatch.setattr(status, "seconds_known", lambda every: {})
    monkeypatch.setattr(status, "seconds_timed", lambda trial, arms: {})
    told = status.as_recorded(study.arms())
    (record,) = load(study).present
    spent = [status.seconds_of(trial) for trial in record["trials"]]
    assert told.index.tolist() == [record["provenance"]["machine"]["processor"]]
    assert told.to_numpy().tolist() == [[3, pytest.approx(sum(spent) / 3), 7, pytest.approx(7 * sum(spent) / 3 / 3600)]]
    said = status.in_words(status.of(study), 2)
    assert "cannot be told here, without its data, device or parts; about " in said
    assert said.endswith(f" on {told.index[0]}, by 3 trials that were recorded there")
    empty = toy.replace(study="nothing")
    assert status.as_recorded(empty.arms()).empty
    assert status.in_words(status.of(empty), 2).endswith("or parts")


KINDS = {
    "characters": CharacterStudy(trials=2, activation=("gelu",), iterations=40),
    "recurrent": CharacterStudy(trials=2, activation=("gelu",), model=("tinylstm",), iterations=20),
    "sweep": ImageStudy.parse({**tiny.SWEEP, "trials": 2, "hidden": [4], "batch_size": [8], "epochs": [3]}),
    "ablation": TokenStudy(optimizer=("ecd",), symmetry=("bQbV",), activation=("gelu",), iterations=20),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_time_is_told_within_a_factor_of_two(kind, monkeypatch):
    """By the clock of the processor, so that what else runs here does not matter: seconds of a study before it runs,
    and those that its trials then had."""
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    params = KINDS[kind].replace(study="timed")
    (told,) = status.of(params.replace(**({"noise_floor": False} if isinstance(params, CharacterStudy) else {})))[
        "seconds"
    ]
    (record,) = [r for r in run(params).present if r["kind"] != "baseline"][:1]
    spent = [t["seconds"] for t in record["trials"]]
    took = sum(sum(each.values()) if isinstance(each, dict) else each for each in spent)
    assert took / 2 < told < 2 * took
