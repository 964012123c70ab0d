"""Reliability: every number of the tables is the record's, and a missing record shows; replays are counted."""

from __future__ import annotations

from typing import Any

from actlab import paths
from actlab.chapters import reliability
from actlab.records import store


def record(date: str = "2026-01-02", lost: int = 1) -> dict[str, Any]:
    row = {
        "fault": "a kill",
        "outcome": "goes on",
        "times": 20,
        "compared": 12,
        "lost": lost,
        "note": "2 s",
        "seconds": 3.14159,
    }
    origin = {
        "date": date,
        "git_commit": "0123456789abcdef",
        "git_dirty": False,
        "machine": {"processor": "a processor"},
    }
    doors = {
        "records": {"tried": 1500, "used": 500, "refused": 999},
        "idx files": {"tried": 10, "used": 0, "refused": 10},
    }
    return {
        "kind": "reliability",
        "faults": [row, {**row, "fault": "another"}],
        "doors": doors,
        "seconds": 99.6,
        "provenance": origin,
    }


def test_tables() -> None:
    """Sums over faults and doors; what was neither used nor refused is a traceback."""
    totals = reliability.totals(record())[""]
    assert totals["faults"] == 40
    assert totals["results lost"] == 2
    assert totals["bad or odd inputs"] == "1,510"
    assert totals["tracebacks"] == 1
    assert totals["commit"] == "0123456789"
    assert reliability.faults(record()).loc["a kill", "records compared"] == 12
    doors = reliability.doors(record())
    assert list(doors.index) == ["idx files", "records"]
    assert doors["tracebacks"].tolist() == [0, 1]


def test_a_table_shows_words() -> None:
    """No marks of Markdown, a damage apart from what it damaged, and a moment that people can read."""
    made = record("2026-01-02T08:06:30+00:00")
    names = ("a record empty", "a record other bytes", "a checkpoint: a list", "kill -9 of a worker")
    made["faults"] = [
        {**made["faults"][0], "fault": name, "outcome": "`--redo-damaged` sets it aside"} for name in names
    ]
    table = reliability.faults(made)
    assert list(table.index) == [
        "a record: empty",
        "a record: overwritten with other bytes",
        "a checkpoint: a list in its place",
        "kill -9 of a worker",
    ]
    assert set(table["what came of it"]) == {"--redo-damaged sets it aside (2 s)"}
    assert reliability.totals(made).loc["date", ""] == "2026-01-02 08:06 UTC"


def test_the_newest_is_shown_and_a_missing_one_says_so() -> None:
    assert reliability.newest() is None
    for table in (reliability.totals, reliability.faults, reliability.doors):
        assert "no record yet" in str(table(None))
    for number, date in enumerate(("2026-01-03", "2026-01-01")):
        store.save(store.path_of(reliability.STUDY, f"tests-{number}"), record(date))
    newest = reliability.newest()
    assert newest
    assert newest["provenance"]["date"] == "2026-01-03"


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
    add("one", "0", changed=(reliability.CODE,), moment="2")
    add("one", "1", equal=False, changed=("torch 2.13.0 -> 2.14.0",))
    table = reliability.replays_table(reliability.histories())
    assert list(table.index) == ["one", "two", "all"]
    assert table.loc["one"].tolist() == ["3", "2", "2", "1", "1", "0", "2026-01-02"]
    assert table.loc["two", "last"] == "none yet"
    assert table.loc["all", "trials recorded"] == "5"


def test_replays_are_counted_by_what_had_changed() -> None:
    """On another processor, after a change of the code, with other versions: each replay in one count, and one sentence
    for all distances."""
    store.save(store.path_of("one", "an-arm"), {"trials": [{"label": str(i)} for i in range(9)]})
    for label in "0123":
        add("one", label, equal=False, changed=("processor A -> B", reliability.CODE))
    add("one", "4", changed=(reliability.CODE,))
    add("one", "5", equal=False, changed=("torch 1 -> 2",))
    add("one", "6", equal=False)
    said = reliability.replays_listed(reliability.histories()).data
    assert "not to be expected: 0 of 4 gave" in said
    assert "after a change of the code: 1 of 1 gave" in said
    assert "with other versions: 0 of 1 gave" in said
    assert "With nothing changed: 0 of 1 gave the recorded bits" in said
    assert "5 replays after a change ended 5.0e-01 to 5.0e-01 nats from" in said
    assert said.count("n-arm trial") == 1
    assert "5.0e-01 nats; changed since: nothing" in said
