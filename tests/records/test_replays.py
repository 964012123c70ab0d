"""Twins: the same trial on two kinds of processor, found by its settings; anything else that differs makes it none."""

import grids
import pytest

from actlab.errors import BadInput
from actlab.records.replays import load_twins, twins


def arm(study, processor, losses, activation="relu", torch="2.13.0", **changes):
    """An arm trained on a processor, with a version of torch; ``changes`` are settings."""
    record = grids.record("charlm", activation, losses, **{"scale": "lite"} | changes) | {"study": study}
    record["config"]["activation"] = activation
    record["provenance"]["machine"] |= {"processor": processor, "torch": torch}
    return record


def replay(study, label, processor, now):
    """A trial of the study's relu arm trained again."""
    told = {"study": study, "arm": "charlm-relu", "trial": label, "val_loss": {"recorded": 0.0, "now": now}}
    return told | {"provenance": arm(study, processor, ())["provenance"]}


def test_twins_are_found_in_other_records_and_in_replays():
    """Seeds 42 and 43 in a second study with fewer trials, seed 44 in a replay; the reference is the mean distance of
    the first study's seeds."""
    one, two = arm("one", "a", (2.0, 2.1, 2.3)), arm("two", "b", (2.001, 2.1), trials=["42", "43"])
    found = twins([one, two], [replay("one", "44", "b", 2.28)])
    assert found["label"].tolist() == ["42", "43", "44"]
    assert set(found["processors"]) == {("a", "b")}
    assert found["apart"].tolist() == [pytest.approx(0.001), 0, pytest.approx(0.02)]
    assert found["between_seeds"].tolist() == pytest.approx([(0.1 + 0.2 + 0.3) / 3] * 3)


@pytest.mark.parametrize(
    "changes",
    [{"torch": "2.14.0"}, {"scale": "full"}, {"recipe": {"iterations": 7}}, {"protocol": ["activation: ignored"]}],
)
def test_only_the_processor_may_differ(changes):
    """Another version, size, recipe or protocol makes it another trial."""
    assert twins([arm("one", "a", (2.0,)), arm("two", "b", (2.0,), **changes)], []).empty
    with pytest.raises(BadInput, match="no run of one has a record or replay on a second kind of processor yet"):
        load_twins(["one"])
    same = [arm("one", "a", (2.0,)), arm("two", "a", (2.0,))]
    assert twins(same, [replay("other", "42", "b", 2.0)]).empty, "nor a replay of an unknown record"
