"""The page on running: durations, faults and replays are counted as recorded."""

import pytest
from tests.support import grids

from actlab import paths
from actlab.chapters import running
from actlab.errors import BadInput
from actlab.records import store


def test_durations_are_the_medians_of_the_records():
    """Of a study on two devices, with the device that trained."""
    for model, device, gpu, seconds in (("charlm", "cpu", None, [7, 9, 30]), ("convlm", "cuda", "H100", [1, 3, 2])):
        record = grids.record(model=model)
        record["config"]["recipe"] |= {"device": device, "iterations": 1500}
        record["provenance"]["machine"] |= {"processor": "EPYC", "gpu": gpu}
        for trial, spent in zip(record["trials"], seconds, strict=False):
            trial["seconds"] = {"training": spent}
        grids.save(record)
    found = running.durations("made-up")
    assert found["trained on"].tolist() == ["EPYC", "H100"]
    assert found["training, s"].tolist() == ["9", "2"]
    assert found["steps"].tolist() == ["1,500"] * 2


def outcome(date="2026-01-02", lost=1):
    row = {"times": 20, "lost": lost}
    doors = {
        "records": {"tried": 1500, "used": 500, "refused": 999},
        "idx files": {"tried": 10, "used": 0, "refused": 10},
    }
    return {
        "kind": "reliability",
        "study": "reliability",
        "faults": [row, row],
        "doors": doors,
        "provenance": {"date": date},
    }


def test_tables():
    """Sums over faults and inputs; what was neither used nor refused is a traceback."""
    said = running.trust(outcome())
    assert said.startswith("Of 40 faults")
    assert "2 lost a result; of 1,510 bad or odd inputs 1 ended" in said
    assert "none lost a result" in running.trust(outcome(lost=0))


def test_the_newest_is_shown_and_a_missing_one_says_so():
    with pytest.raises(BadInput, match="results/reliability has no record yet"):
        running.newest(running.TRUST)
    for number, date in enumerate(("2026-01-03", "2026-01-01")):
        store.save(store.path_of(running.TRUST, f"tests-{number}"), outcome(date))
    assert running.newest(running.TRUST)["provenance"]["date"] == "2026-01-03"


def test_whole_commands_are_told_by_processor():
    """The last record of each kind with bfloat16 arithmetic; ratios are medians over models."""
    for number, (capability, half) in enumerate([("AVX2", None), ("AVX512", 9.0), ("AMX", 1.0), ("AVX512", 8.0)]):
        ways = {"reference": [12.0], "float32": [9.0, 4.0, 1.0]} | ({"bfloat16": [half]} if half else {})
        measured = {"bfloat16": half is not None, "models": {"charlm": ways}}
        made = {"date": f"2026-01-0{number + 1}", "machine": {"processor": "P", "capability": capability}}
        about = {"kind": running.SPEED, "name": "commands", "arm": f"commands-{number}"}
        grids.save(about | {"measured": measured, "provenance": made}, study=running.SPEED)
    assert running.halves() == {"P, AVX512": 0.5, "P, AMX": 4.0}
    assert running.commands().loc[("P, AMX", "charlm")].tolist() == ["12", "4", "3.0", "1", "12.0"]


def add(trial, equal=True, changed=()):
    record = {
        **{"kind": "replay", "study": "one", "record_checksum": "", "compared": [], "differs": []},
        "arm": "an-arm",
        "trial": trial,
        "equal": equal,
        "changed": list(changed),
        "val_loss": {"recorded": 2.0, "now": 2.0 if equal else 2.5},
        "provenance": {"date": "2026-01-01T00:00:00+00:00"},
    }
    store.save(store.replays_of(store.path_of("one", "an-arm")) / f"{trial}.json", record)


def test_replays_are_counted_by_what_had_changed():
    """On another processor, after a change of the code, with other versions, with nothing changed: each replay once;
    the promise leaves the other processor out."""
    store.save(store.path_of("one", "an-arm"), {"trials": [{"label": str(i)} for i in range(9)]})
    for label in "0123":
        add(label, equal=False, changed=("processor A -> B", running.CODE))
    add("4", changed=(running.CODE,))
    add("5", equal=False, changed=("torch 1 -> 2",))
    add("6", equal=False)
    store.save(paths.results() / "performance" / "x.json", {"kind": "performance", "study": "performance"})
    replays = running.replays()
    found = running.by_cause(replays)
    assert found["replays"].tolist() == [1, 1, 4, 1]
    assert found.loc[running.CODE].tolist() == [1, 1, "0"]
    assert found.loc["versions"].tolist() == [1, 0, "0.50"]
    assert "1 of 3 replays" in running.replayed(replays)
