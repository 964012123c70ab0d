"""Files that cannot be written, and files that were cut or edited."""

import os
import signal

import pytest
from faulty import Study, until

pytestmark = pytest.mark.slow
BYTES = {
    "cut": lambda text: text[: len(text) // 2],
    "a word changed": lambda text: text.replace(b'"done"', b'"lost"', 1),
    "other bytes": lambda text: b"\0\xff" * 50,
    "one bit": lambda text: text[:-1] + bytes([text[-1] ^ 1]),
}


def test_files_may_not_grow(server, undisturbed, tmp_path):
    """A limit on the size of files (``RLIMIT_FSIZE``), which needs no rights and stands for a full disk: one sentence
    with path and bytes, exit code 2, no half record, be it checkpoints that fail, or records, or the first file;
    without it the same records."""
    for largest in (1_000, 20_000, 40_000):
        study = Study(tmp_path / str(largest))
        said = server.run(study, codes=[2], TINY_LARGEST=str(largest))
        assert "error: cannot write " in said
        assert "make room or choose another folder, and run again" in said
        assert study.records().items() <= undisturbed.items()
        assert not study.strays()
        server.mend(study, undisturbed)


@pytest.mark.parametrize("damage", ["cut", "a word changed"])
def test_a_damaged_record(damage, server, undisturbed, tmp_path):
    """A damaged record: named, kept; without it the same records."""
    study = Study(tmp_path)
    server.run(study)
    record = next(study.place.glob("charlm-relu-*.json"))
    whole = record.read_bytes()
    record.write_bytes(BYTES[damage](whole))
    said = server.run(study, codes=[2])
    assert f"{record} is damaged" in said
    assert record.read_bytes() == BYTES[damage](whole), "it stays for whoever wants to look"
    record.unlink()
    server.mend(study, undisturbed)


@pytest.mark.parametrize("damage", ["cut", "other bytes", "one bit"])
@pytest.mark.parametrize("file", ["checkpoint", "safetensors"])
def test_a_damaged_checkpoint_or_trial(file, damage, server, undisturbed, tmp_path):
    """A damaged checkpoint or finished trial in the cache: refused with its path; without it the same records."""
    study = Study(tmp_path)
    process = server.start(study, TINY_PAUSE="0.3")
    study.wait_for_checkpoint(3)
    until(lambda: any(study.cache.rglob(f"*.{file}")), 60)
    os.kill(process, 9)
    server.end(-signal.SIGKILL)
    path = next(study.cache.rglob(f"*.{file}"))
    whole = path.read_bytes()
    path.write_bytes(BYTES[damage](whole))
    assert f"{path} is damaged" in server.run(study, codes=[2])
    path.unlink()
    server.mend(study, undisturbed)
