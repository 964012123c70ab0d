"""Records are JSON that every reader takes."""

import json
import math

import grids

from actlab import paths
from actlab.records import store


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def read(path):
    """As a reader other than Python's reads it."""
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def with_gaps(overflow=math.nan):
    """A record whose first trial has no training loss before its first step, and at the next evaluation no loss."""
    made = grids.record()
    first, second, _ = made["trials"][0]["history"]
    first["train_loss"], second["val_loss"], made["avg_churn"] = math.nan, overflow, math.nan
    return grids.identified(made | {"provenance": made["provenance"] | {"machine": {"gpu": None}}})


def test_what_is_not_finite_is_null_in_the_file_and_nan_when_read():
    """NaN and an infinity; what is empty for another reason stays so. The checksum is that of the file's own text."""
    path = store.save(store.path_of("made-up", with_gaps()["arm"]), with_gaps(math.inf))
    first, second, _ = (file := read(path))["trials"][0]["history"]
    assert (first["train_loss"], second["val_loss"], file["avg_churn"]) == (None, None, None)
    assert file["checksum"] == store.checksum(file) == store.checksum(with_gaps())
    first, second, _ = (record := store.load(path))["trials"][0]["history"]
    assert all(map(math.isnan, (first["train_loss"], second["val_loss"], record["avg_churn"])))
    assert record["provenance"]["machine"] == {"gpu": None}


def test_a_replay_that_diverged_is_read_with_nan(tmp_path):
    """Its losses stand in a dictionary of their own."""
    replay = store.load(next((paths.ROOT / "results").glob("*/replays/*/*.json")))
    path = store.save(tmp_path / "replay.json", replay | {"val_loss": {"recorded": math.nan, "now": math.nan}})
    assert read(path)["val_loss"] == {"recorded": None, "now": None}
    assert all(map(math.isnan, store.load(path)["val_loss"].values()))


def test_every_committed_record_is_strict():
    """No bare NaN or infinity, which JSON has not."""
    results = paths.ROOT / "results"
    for path in results.rglob("*.json"):
        if b"NaN" in (content := path.read_bytes()) or b"Infinity" in content:
            assert read(path), path
