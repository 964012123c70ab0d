"""Files that cannot be written, a folder that is none, files that were cut or edited."""

import os
import signal

import pytest
from bench.reliability import survived
from faulty import Study, until

pytestmark = pytest.mark.slow


def test_files_may_not_grow(server, undisturbed, tmp_path):
    """A limit of the process (``RLIMIT_FSIZE``), which needs no rights and stands for a full disk: checkpoints fail, or
    records, or the first file. No half record; without the limit the study ends as it should."""
    outcome = "one sentence with path and bytes, exit code 2, no half record; without it the same records"
    with survived("a limit on the size of files", outcome, times=0) as row:
        for largest in (1_000, 20_000, 40_000):
            study = Study(tmp_path / str(largest))
            said = server.run(study, codes=[2], TINY_LARGEST=str(largest))
            assert "error: cannot write " in said
            assert "make room or choose another folder, and run again" in said
            assert study.records().items() <= undisturbed.items()
            assert study.strays() == []
            server.mend(study, row, undisturbed)
            row.times += 1


def test_a_folder_that_is_a_file(server, tmp_path):
    """Results and cache that cannot be folders."""
    (tmp_path / "file").write_text("not a folder")
    for name in ("ACTLAB_RESULTS", "ACTLAB_CACHE"):
        file = str(tmp_path / "file")
        assert file in server.run(Study(tmp_path / name), codes=[2], **{name: file})


DAMAGES = {
    "cut in the middle": lambda content: content[: len(content) // 2],
    "edited by hand": lambda content: content.replace(b'"avg_churn": 0', b'"avg_churn": 1', 1),
    "empty": lambda content: b"",
    "other bytes": lambda content: b"\x00\xff" * 50,
    "a list": lambda content: b"[1, 2]\n",
    "with one bit flipped": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record(damage, server, undisturbed, tmp_path):
    """Named, left where it is, and on request set aside and made again; what was set aside is not read."""
    study = Study(tmp_path)
    server.run(study)
    outcome = "named, kept; `--redo-damaged` sets it aside and makes it again"
    with survived(f"a record {damage}", outcome) as row:
        record = next(study.place.glob("charlm-relu-*.json"))
        whole = record.read_bytes()
        record.write_bytes(DAMAGES[damage](whole))
        assert record.read_bytes() != whole
        said = server.run(study, codes=[2])
        assert f"{record} is damaged" in said
        assert "--redo-damaged" in said
        assert record.read_bytes() == DAMAGES[damage](whole), "it stays for whoever wants to look"
        said = server.run(study, "--redo-damaged")
        row.same(study.records(), undisturbed)
        aside = study.place / "set-aside" / record.name
        assert aside.read_bytes() == DAMAGES[damage](whole)
        assert f"set aside: {aside}" in said
        assert study.strays("set-aside") == []
        server.run(study, "--redo-damaged")
        assert len(list(aside.parent.iterdir())) == 1


@pytest.mark.parametrize("damage", [name for name in DAMAGES if "hand" not in name])
@pytest.mark.parametrize("file", ["checkpoint", "safetensors"])
def test_a_damaged_checkpoint_or_trial(file, damage, server, undisturbed, tmp_path):
    """What a crash of the machine or a bad disk leaves in the cache: set aside with a note, trained again, the same
    bits."""
    study = Study(tmp_path)
    words = {"checkpoint": "checkpoint", "safetensors": "finished trial in the cache"}[file]
    with survived(f"a {words}: {damage}", "set aside with a note, trained again, the same bits") as row:
        process = server.start(study, TINY_PAUSE="0.3")
        study.wait_for_checkpoint(3)
        until(lambda: any(study.cache.rglob(f"*.{file}")), 60)
        os.kill(process, 9)
        server.end(-signal.SIGKILL)
        path = next(study.cache.rglob(f"*.{file}"))
        whole = path.read_bytes()
        path.write_bytes(DAMAGES[damage](whole))
        said = server.mend(study, row, undisturbed)
        assert f"{path} is damaged" in said
        assert "Traceback" not in said
        assert (path.parent / "set-aside" / path.name).exists()
