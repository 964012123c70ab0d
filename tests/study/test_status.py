"""What status says of a study: each trial once, in one state; what diverged or failed is told apart from what is
missing; the time that is left is within a factor of two."""

from unittest.mock import Mock

import pytest
import tiny

from actlab import paths
from actlab.cli.display import in_words
from actlab.study.after import status
from actlab.study.run import run
from actlab.study.tokens import TokenStudy
from actlab.trainers import loop


def counted(found):
    """The words that are not zero."""
    sums = found.drop(columns=["arm", "seconds"]).sum()
    return sums[sums > 0].to_dict()


def test_diverged_and_missing_are_two_things(toy, monkeypatch):
    """At an absurd rate relu diverges; gelu fails, and is to be trained again."""
    study = toy.replace(learning_rate=1e9, iterations=40, trials=2)
    run(study.replace(activation="relu"))
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", Mock(side_effect=RuntimeError("no more memory")))
        run(study.replace(activation="gelu"))
    found = status.of(study.replace(activation=["relu", "gelu"]))
    assert counted(found) == {"trials": 4, "recorded": 2, "diverged": 2, "missing": 2}
    assert "2 recorded, 0 ended, 0 running, 2 missing; 2 diverged; about" in in_words(found, 1)
    swish = study.replace(activation="swish").arms()[0].trials[0]
    tiny.cached(swish)
    found = status.of(study.replace(activation="swish"))
    assert counted(found) == {"trials": 2, "ended": 1, "missing": 1, "diverged": 1}


def test_no_text_is_tokenized_to_say_what_is_missing(cats):
    """A hundred novels would take minutes."""
    found = status.of(TokenStudy.parse({**tiny.ABLATION, "optimizer": "sgdm", "trials": 2}))
    assert counted(found).keys() == {"trials", "missing"}
    assert not [*paths.cache().rglob("*.bin")]


def test_a_shared_trial_counts_once(toy):
    """The noise floor's plain trial is that of the arm."""
    found = status.of(toy.replace(noise_floor=True))
    assert (counted(found), found["trials"].tolist()) == ({"trials": 10, "missing": 10}, [3, 3, 2, 2])


def test_the_time_that_is_left_comes_from_ended_trials(toy):
    """Unknown before a first one of each kind has ended; then their median, whatever rate and seed they have."""
    study = toy.replace(activation="relu", learning_rate=[0.1, 0.2], trials=2)
    table = status.of(study)
    assert table["arm"].tolist() == ["charlm-relu, learning_rate=0.1", "charlm-relu, learning_rate=0.2"]
    assert in_words(table, 2).endswith("can be told when a first trial of each kind has ended")
    results = tiny.cached(study.arms()[0].trials[0])
    table = status.of(study)
    took = sum(results["seconds"].values())
    assert table["seconds"].tolist() == pytest.approx([took, 2 * took])
    assert status.seconds_left(table, 2) == pytest.approx(1.5 * took)
    assert in_words(table, 2).endswith("s left with --workers 2")
    longer = status.of(study.replace(iterations=[4, 8]))
    assert sorted(longer["seconds"].isna()) == [False, False, True, True]
