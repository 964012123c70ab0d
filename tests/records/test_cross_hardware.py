"""The same trial on two kinds of processor, found by its settings; anything else that differs makes it another."""

import grids
import pytest

from actlab.errors import BadInput
from actlab.records.cross_hardware import cross_hardware, finished, load_cross_hardware, training


def arm(study, processor, losses, activation="relu", torch="2.13.0", **changes):
    """An arm trained on a processor, with a version of torch; ``changes`` are settings."""
    record = grids.record("charlm", activation, losses, **{"scale": "lite"} | changes) | {"study": study}
    record["config"]["activation"] = activation
    record["provenance"]["machine"] |= {"processor": processor, "torch": torch}
    return record


def replay(study, label, processor, now):
    """A trial of the study's relu arm trained again."""
    outcome = {"study": study, "arm": "charlm-relu", "trial": label, "val_loss": {"recorded": 0.0, "now": now}}
    return outcome | {"provenance": arm(study, processor, ())["provenance"]}


def test_runs_on_two_processors_are_found_in_other_records_and_in_replays():
    """Seeds 42 and 43 in a second study with fewer trials, seed 44 in a replay; the reference is the mean distance of
    the first study's seeds."""
    one, two = arm("one", "a", (2.0, 2.1, 2.3)), arm("two", "b", (2.001, 2.1), trials=["42", "43"])
    table = cross_hardware([one, two], [replay("one", "44", "b", 2.28)])
    assert table["label"].tolist() == ["42", "43", "44"]
    assert set(table["processors"]) == {("a", "b")}
    assert table["apart"].tolist() == [pytest.approx(0.001), 0, pytest.approx(0.02)]
    assert table["between_seeds"].tolist() == pytest.approx([(0.1 + 0.2 + 0.3) / 3] * 3)


@pytest.mark.parametrize(
    "changes",
    [{"torch": "2.14.0"}, {"scale": "full"}, {"recipe": {"iterations": 7}}, {"protocol": ["activation: ignored"]}],
)
def test_only_the_processor_may_differ(changes):
    """Another version, size, recipe or protocol makes it another trial."""
    assert cross_hardware([arm("one", "a", (2.0,)), arm("two", "b", (2.0,), **changes)], []).empty
    with pytest.raises(BadInput, match="no run of one has a record or replay on a second kind of processor yet"):
        load_cross_hardware(["one"])
    same = [arm("one", "a", (2.0,)), arm("two", "a", (2.0,))]
    assert cross_hardware(same, [replay("other", "42", "b", 2.0)]).empty, "nor a replay of an unknown record"


def runs(*records):
    return {training(record, trial["label"]) for record, trial in finished(records)}


def test_a_run_is_its_settings_and_seeds():
    """What is only measured does not matter; a rate does, and so does a stream with another seed."""
    base = runs(grids.record())
    assert base == runs(grids.record(snapshots=[5], recipe={"device": "cuda", "evaluate_every": 3}))
    assert not base & runs(grids.record(snapshots=[5], recipe={"device": "cpu", "learning_rate": 0.1}))
    assert len(base & runs(grids.record(varies="init", fixed=42))) == 1
    assert runs(grids.record(losses=(2.0, 2.1))) < base


def test_the_committed_studies_share_trials():
    """40 runs of the study of sources, 15 of the sizes and 10 extremes repeat the primary study."""
    others = runs(*grids.committed("repro-lite"))
    shared = {name: len(runs(*grids.committed(name)) & others) for name in ("sources", "scale", "extreme", "one-bit")}
    assert shared == {"sources": 40, "scale": 15, "extreme": 10, "one-bit": 0}
