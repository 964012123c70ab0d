"""What a hostile reader tried: edited numbers, a clock set back, keys twice, pipes in place of files."""

import os

import grids
import pytest
from damage import changed

from actlab import paths
from actlab.data.text import corpus_of
from actlab.errors import BadInput, RecordError
from actlab.files import parse_yaml
from actlab.records import store
from actlab.records.find import find
from actlab.study.load_model import trial_of
from actlab.study.replay import replay
from actlab.study.run import run


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (["trials", 0, "final", "val_loss"], "final"),
        (["trials", 0, "best", "val_loss"], "best"),
        (["avg_val_loss"], "avg_val_loss"),
        (["reproducibility_metrics", 0, "total_variation"], "the pair with 43"),
    ],
)
def test_replay_compares_all_that_is_measured(toy, place, named):
    record = run(toy.replace(activation="relu", study="edited")).present[0]
    path = store.path_of("edited", record["arm"])
    path.unlink()
    store.save(path, changed(record, place, 0.75))
    assert named in replay(trial_of(store.load(path), "42")).record["differs"]


def test_what_is_no_file_or_says_two_things():
    place = paths.results() / "x" / "pipe.json"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    with pytest.raises(RecordError, match="not a regular file"):
        store.load(place)
    with pytest.raises(BadInput, match="more than once"):
        parse_yaml("per_arm: {charlm: {iterations: 5, iterations: 9}}", "here")
    with pytest.raises(BadInput, match="expected a record's name"):
        find("")
    with pytest.raises(BadInput, match="leads nowhere"):
        paths.located("~nosuchuser/x")
    with pytest.raises(BadInput, match="distinct characters"):
        corpus_of("x", "".join(map(chr, range(20000, 36000))))


@pytest.mark.parametrize("study", ["..", ".", ".hidden", "a/b"])
def test_no_record_names_a_folder_elsewhere(study, tmp_path):
    """Replays and texts of a record that lies anywhere are written into its study's folder."""
    made = store.save(tmp_path / "loose.json", grids.identified(grids.baseline(), study))
    with pytest.raises(RecordError, match="study: String should match pattern"):
        store.load(made)
