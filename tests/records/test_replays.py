"""The table of replays counts what lies beside the records."""

from __future__ import annotations

from actlab import paths
from actlab.records import replays, store


def add(study: str, trial: str, equal: bool = True, changed: tuple[str, ...] = (), moment: str = "1") -> None:
    record = {
        "arm": "an-arm",
        "trial": trial,
        "equal": equal,
        "changed": list(changed),
        "val_loss": {"recorded": 2.0, "now": 2.0 if equal else 2.5},
        "provenance": {"date": f"2026-01-0{moment}T00:00:00+00:00", "machine": {"processor": "a processor"}},
    }
    store.save(store.replays_of(store.path_of(study, "an-arm")) / f"{trial}-{moment}.json", record)


def test_trials_and_replays_are_counted_apart() -> None:
    """A trial trained again twice is one trial and two replays; a study without trials has no row; one without replays
    says so."""
    for study, trials in (("one", 3), ("two", 2)):
        store.save(store.path_of(study, "an-arm"), {"trials": [{"label": str(i)} for i in range(trials)]})
    store.save(paths.results() / "performance" / "x.json", {"kind": "performance"})
    add("one", "0")
    add("one", "0", changed=(replays.CODE,), moment="2")
    add("one", "1", equal=False, changed=("torch 2.13.0 -> 2.14.0",))
    table = replays.table(replays.read())
    assert list(table.index) == ["one", "two", "all"]
    assert table.loc["one"].tolist() == ["3", "2", "2", "1", "1", "0", "2026-01-02"]
    assert table.loc["two", "last"] == "none yet"
    assert table.loc["all", "trials recorded"] == "5"


def test_a_broken_promise_is_told() -> None:
    """Not equal though nothing changed: a column of its own, and a sentence with the distance."""
    store.save(store.path_of("one", "an-arm"), {"trials": [{"label": "0"}]})
    assert "No recorded trial" in replays.sentences(replays.read()).data
    add("one", "0", equal=False)
    assert replays.table(replays.read()).loc["all", "not equal, nothing changed"] == "1"
    said = replays.sentences(replays.read()).data
    assert "Replays of recorded trials: 1, on 1 kind of processor" in said
    assert "With nothing changed: 0 of 1 gave the recorded bits" in said
    assert "5.0e-01 nats; changed since: nothing" in said
    assert "after a change ended" not in said


def test_replays_are_counted_by_what_had_changed() -> None:
    """On another processor, after a change of the code, with other versions: each replay in one count, and one sentence
    for all distances."""
    store.save(store.path_of("one", "an-arm"), {"trials": [{"label": str(i)} for i in range(9)]})
    for label in "0123":
        add("one", label, equal=False, changed=("processor A -> B", replays.CODE))
    add("one", "4", changed=(replays.CODE,))
    add("one", "5", equal=False, changed=("torch 1 -> 2",))
    said = replays.sentences(replays.read()).data
    assert "not to be expected: 0 of 4 gave" in said
    assert "after a change of the code: 1 of 1 gave" in said
    assert "with other versions: 0 of 1 gave" in said
    assert "With nothing changed: none yet" in said
    assert "5 replays after a change ended 5.0e-01 to 5.0e-01 nats from" in said
    assert "an-arm trial" not in said
