"""Damaged files."""

import pytest

from actlab import paths
from actlab.errors import DamagedFile
from actlab.study.after import status
from actlab.study.run import run


def test_status_reads_no_cut_file_as_if_it_were_whole(toy):
    """A record: one sentence. A cached trial is missing."""
    study = toy.replace(study="cut", activation="relu", trials=1)
    run(study)
    (record,) = (paths.results() / "cut").glob("charlm-*.json")
    (cached,) = (paths.cache() / "trials").glob("*.safetensors")
    record.write_text(record.read_text()[:-40])
    with pytest.raises(DamagedFile, match="cannot be read as a record"):
        status.of(study)
    record.unlink()
    cached.write_bytes(cached.read_bytes()[:-40])
    found = status.of(study)
    assert found[["missing", "ended"]].to_numpy().tolist() == [[1, 0]]
