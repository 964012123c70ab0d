"""Other kernels than recorded, and damaged files."""

import os

import pytest
import tiny

from actlab import paths
from actlab.errors import DamagedRecord
from actlab.study import provenance
from actlab.study.after import status
from actlab.study.after.load_model import trial_of
from actlab.study.after.replay import replay
from actlab.study.cache import place_of
from actlab.study.run import run


@pytest.fixture
def other_kernels(monkeypatch):
    """From where this is called MKL has other instructions than before."""

    def chosen():
        monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
        provenance.machine.cache_clear()

    yield chosen
    monkeypatch.undo()
    provenance.machine.cache_clear()


def test_instructions_that_the_environment_chooses_belong_to_the_machine(toy, other_kernels):
    """Set, they are another machine: to the cache, to a replay, and to one of a record that had them."""
    plain = trial_of(tiny.relu(toy), "42")
    place = place_of(plain.trial)
    other_kernels()
    assert place_of(plain.trial) != place
    assert "MKL_CBWR None -> COMPATIBLE" in replay(plain).record["changed"]
    chosen = trial_of(tiny.relu(toy.replace(study="chosen")), "42")
    os.environ["MKL_CBWR"] = ""
    provenance.machine.cache_clear()
    assert "MKL_CBWR COMPATIBLE -> None" in replay(chosen).record["changed"]


def test_status_reads_no_cut_file_as_if_it_were_whole(toy):
    """A record: one sentence. A cached trial is missing."""
    study = toy.replace(study="cut", activation="relu", trials=1)
    run(study)
    (record,) = (paths.results() / "cut").glob("charlm-*.json")
    (cached,) = (paths.cache() / "trials").glob("*.safetensors")
    record.write_text(record.read_text()[:-40])
    with pytest.raises(DamagedRecord, match="cannot be read as a record"):
        status.of(study)
    record.unlink()
    cached.write_bytes(cached.read_bytes()[:-40])
    found = status.of(study)
    assert found[["missing", "ended"]].to_numpy().tolist() == [[1, 0]]
