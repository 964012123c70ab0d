"""Reliability: every number is the record's, and a missing record shows; replays are counted."""

from actlab import paths
from actlab.chapters import performance, reliability
from actlab.records import store


def record(date="2026-01-02", lost=1):
    row = {
        "fault": "a record empty",
        "outcome": "`--redo-damaged` sets it aside",
        "times": 20,
        "compared": 12,
        "lost": lost,
        "note": "2 s",
    }
    doors = {
        "records": {"tried": 1500, "used": 500, "refused": 999},
        "idx files": {"tried": 10, "used": 0, "refused": 10},
    }
    return {
        "kind": "reliability",
        "faults": [row, {**row, "fault": "another"}],
        "doors": doors,
        "provenance": {"date": date},
    }


def test_tables():
    """Sums over faults and doors; what was neither used nor refused is a traceback; no marks of Markdown."""
    said = reliability.sentence(record())
    assert said.startswith("Of 40 faults")
    assert "2 lost a result; of 1,510 bad or odd inputs 1 ended" in said
    assert "none lost a result" in reliability.sentence(record(lost=0))
    table = reliability.faults(record())
    assert table.loc["a record: empty"].tolist() == [20, "--redo-damaged sets it aside (2 s)", 12, 1]
    doors = reliability.doors(record())
    assert list(doors.index) == ["idx files", "records"]
    assert doors["tracebacks"].tolist() == [0, 1]


def test_the_newest_is_shown_and_a_missing_one_says_so():
    assert performance.newest(None, reliability.STUDY) is None
    for said in (reliability.sentence, reliability.faults, reliability.doors):
        assert "no record yet" in str(said(None))
    for number, date in enumerate(("2026-01-03", "2026-01-01")):
        store.save(store.path_of(reliability.STUDY, f"tests-{number}"), record(date))
    newest = performance.newest(None, reliability.STUDY)
    assert newest
    assert newest["provenance"]["date"] == "2026-01-03"


def add(study, trial, equal=True, changed=(), moment="1"):
    record = {
        "arm": "an-arm",
        "trial": trial,
        "equal": equal,
        "changed": list(changed),
        "val_loss": {"recorded": 2.0, "now": 2.0 if equal else 2.5},
        "provenance": {"date": f"2026-01-0{moment}T00:00:00+00:00"},
    }
    store.save(store.replays_of(store.path_of(study, "an-arm")) / f"{trial}-{moment}.json", record)


def test_replays_are_counted_by_what_had_changed():
    """On another processor, after a change of the code, with other versions, with nothing changed: each replay once;
    the promise leaves the other processor out."""
    store.save(store.path_of("one", "an-arm"), {"trials": [{"label": str(i)} for i in range(9)]})
    for label in "0123":
        add("one", label, equal=False, changed=("processor A -> B", reliability.CODE))
    add("one", "4", changed=(reliability.CODE,))
    add("one", "5", equal=False, changed=("torch 1 -> 2",))
    add("one", "6", equal=False)
    store.save(paths.results() / "performance" / "x.json", {"kind": "performance"})
    replays = reliability.replays()
    found = reliability.by_cause(replays)
    assert found["replays"].tolist() == [1, 1, 4, 1]
    assert found.loc[reliability.CODE].tolist() == [1, 1, "0"]
    assert found.loc["versions"].tolist() == [1, 0, "0.50"]
    assert "1 of 3 replays" in reliability.replayed(replays)
