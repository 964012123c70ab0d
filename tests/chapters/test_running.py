"""The page on running: its fixed words hold in the records, and the study of this machine is shown or asked for."""

from __future__ import annotations

import pytest
from tests.support import grids

from actlab.chapters import performance, reliability, running
from actlab.records import store


def test_title_and_caption_are_what_the_records_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fault lost a result; where the same bits are promised they came; most intervals beside the peers include 0."""
    monkeypatch.delenv("ACTLAB_RESULTS")
    record = performance.newest(None, reliability.STUDY)
    assert record is not None
    assert sum(row["lost"] for row in record["faults"]) == 0
    replays = [r for r in reliability.replays() if not reliability.on_another_processor(r)]
    assert replays
    assert all(replay["equal"] for replay in replays)
    assert all(estimate.value > 0 for estimate in performance.against_peers().values())
    level = [estimate.low < 0 < estimate.high for estimate in performance.against_peers().values()]
    assert 2 * sum(level) > len(level)


def test_the_study_of_this_machine() -> None:
    """Where it was not trained the command is told; else its runs are counted, and a row an activation shows them."""
    assert "No record yet on this machine: `actlab run params/made-up.yaml`" in running.extent("made-up").data
    for activation in ("relu", "gelu"):
        record = grids.record(activation=activation)
        for trial in record["trials"]:
            trial["seconds"] = {"training": 2.0, "evaluation": 0.5}
        store.save(store.path_of("made-up", record["arm"]), record)
    assert "6 runs of 2 activations took 15 s of one core (a processor)" in running.extent("made-up").data
    table = running.table("made-up")
    assert list(table.index) == ["relu", "gelu"]
    assert table.loc["gelu", "validation loss (nats)"].startswith("2.100 [")
    assert table["runs"].tolist() == [3, 3]
