"""The page's tables: every number is the record's, and a missing record shows."""

from __future__ import annotations

from typing import Any

from actlab.records import reliability, store


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
        assert "not yet" in str(table(None))
    for number, date in enumerate(("2026-01-03", "2026-01-01")):
        store.save(store.path_of(reliability.STUDY, f"tests-{number}"), record(date))
    newest = reliability.newest()
    assert newest
    assert newest["provenance"]["date"] == "2026-01-03"
