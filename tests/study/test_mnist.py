"""The sweep of image classifiers: arms and programs, their trials' results, records, and known answers."""

import pytest

from actlab.study.cache import train_afresh
from actlab.study.images import ImageStudy
from actlab.study.run import Ended, Recorded, run, tasks_of

TINY = {"study": "tiny", "hidden": [2, 4], "learning_rate": [1e-1, 1e-3], "batch_size": [64], "trials": 2}


def tiny(**changes):
    return ImageStudy.parse({**TINY, **changes})


def of(**changes):
    """Results by network/hidden/rate."""
    task = tasks_of(tiny(**changes).arms())[0]
    names = [f"{trial.network}/{trial.hidden}/{trial.learning_rate!r}/{trial.seed}" for trial in task.trials]
    return dict(zip(names, [results for results, _ in train_afresh(task)], strict=True))


def test_one_record_an_arm_with_a_trial_a_seed():
    """The display hears of every trial of a program, the longest program first."""
    events = []
    outcome = run(tiny(epochs=[1, 2]), watch=events.append)
    told = [type(event) for event in events]
    assert events[0].missing == told.count(Ended) == 2 * told.count(Recorded) == 48
    assert "-e2, epochs=2" in next(event.arm for event in events if isinstance(event, Ended))
    for arm, record in outcome.items():
        assert [trial["seed"] for trial in record["trials"]] == [42, 43]
        assert record["avg_val_accuracy"] == pytest.approx(sum(t["val_accuracy"] for t in record["trials"]) / 2)
        assert (record["arm"], record["config"]["hidden"]) == (arm.id, arm.trials[0].hidden)


def test_an_absurd_rate_is_recorded_as_diverged():
    trials = of(network=["relu"], hidden=[4], learning_rate=[1e38, 1e-3])
    assert trials["relu/4/1e+38/42"]["status"] == "diverged"
    assert trials["relu/4/1e+38/42"]["val_accuracy"] != trials["relu/4/1e+38/42"]["val_accuracy"]
    assert trials["relu/4/0.001/42"]["status"] == "done"


def test_protocols_differ_in_what_selects():
    trials = of(protocol="as_published", network=["relu"], learning_rate=[1e-2])
    assert all(trial["val_accuracy"] == trial["test_accuracy"] for trial in trials.values())


@pytest.mark.data("mnist")
def test_known_answers_on_mnist():
    """Hidden 8, batch 64, rate 1e-3, one epoch; and the collapse at rate 1e-1 is reported as what it is."""
    settings = {"dataset": "mnist", "network": ["relu", "geglu_equal_width"], "hidden": [2, 8]}
    trials = of(**settings)
    for seed in (42, 43):
        assert 86 < trials[f"relu/8/0.001/{seed}"]["val_accuracy"] < 93
        lost = trials[f"geglu_equal_width/2/0.1/{seed}"]
        assert lost["val_largest_class_share"] > 0.5
        assert lost["val_accuracy"] < 25
