"""A full disk, a folder that may not be written, files that were cut or edited."""

import os
import shutil
import subprocess

import pytest
from faulty import Study, until

from actlab.records import store

pytestmark = pytest.mark.slow

NEED = "make room or choose another folder, and run again"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 512 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip(
            "no small file system can be mounted here (needs root); the test with a limit of file sizes does run"
        )
    yield place
    subprocess.run(["umount", str(place)], check=True)


def refused(said):
    """One sentence that names a path, the bytes and the way out."""
    assert "error: cannot write " in said
    assert NEED in said
    assert "Traceback" not in said
    assert sum("error:" in line for line in said.splitlines()) == 1


def test_disk_full(server, undisturbed, small_disk, tmp_path, faults):
    """Filled to the last byte and with less and less room: an error each time, no half record, and once there is room
    the study ends as it should."""
    refusals = 0
    outcome = "one sentence with path and bytes, exit code 2, no half record; with room again the same records"
    with faults.survived("disk full (a small file system), at seven degrees", outcome) as row:
        for number, room in enumerate((0, 4, 12, 24, 48, 96, 160)):
            study = Study(tmp_path / str(number), disk=small_disk)
            ballast = small_disk / "ballast"
            fill(ballast, 1024 * room)
            code, said = server.run(study)
            if code:
                assert code == 2, said
                refused(said)
                refusals += 1
            assert study.records().items() <= undisturbed.items()
            assert study.strays() == []
            ballast.unlink()
            server.mend(study, row, undisturbed)
            shutil.rmtree(study.results)
            shutil.rmtree(study.cache)
        assert refusals >= 3
        row.times = refusals


def fill(ballast, left):
    """Take all room of a file system but ``left`` bytes."""
    block = b"x" * 1024
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(block) == len(block):
                pass
        except OSError:
            pass
    os.truncate(ballast, max(0, ballast.stat().st_size - left))


def test_files_may_not_grow(server, undisturbed, tmp_path, faults):
    """The same through a limit of the process (``RLIMIT_FSIZE``), which needs no rights: checkpoints fail, or records,
    or the first file."""
    outcome = "one sentence with path and bytes, exit code 2, no half record; without it the same records"
    with faults.survived("a limit on the size of files", outcome, times=0) as row:
        for largest in (1_000, 20_000, 40_000):
            study = Study(tmp_path / str(largest))
            code, said = server.run(study, TINY_LARGEST=str(largest))
            assert code == 2, said
            refused(said)
            assert study.records().items() <= undisturbed.items()
            assert study.strays() == []
            server.mend(study, row, undisturbed)
            row.times += 1


def test_a_folder_that_is_a_file(server, tmp_path):
    """Results and cache that cannot be folders."""
    (tmp_path / "file").write_text("not a folder")
    for name in ("ACTLAB_RESULTS", "ACTLAB_CACHE"):
        code, said = server.run(Study(tmp_path / name), **{name: str(tmp_path / "file")})
        assert code == 2, said
        assert str(tmp_path / "file") in said
        assert "Traceback" not in said


def cut(content):
    return content[: len(content) // 2]


def flip(content):
    return content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]


def edit(content):
    return content.replace(b'"avg_churn": 0', b'"avg_churn": 1', 1)


DAMAGES = {
    "cut in the middle": cut,
    "edited by hand": edit,
    "empty": lambda content: b"",
    "other bytes": lambda content: b"\x00\xff" * 50,
    "a list": lambda content: b"[1, 2]\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record(damage, server, undisturbed, tmp_path, faults):
    """Named, left where it is, and on request set aside and made again; what was set aside is not read."""
    study = Study(tmp_path)
    assert server.run(study)[0] == 0
    outcome = "named, kept; `--redo-damaged` sets it aside and makes it again"
    with faults.survived(f"a record {damage}", outcome) as row:
        record = next(study.place.glob("charlm-relu-*.json"))
        whole = record.read_bytes()
        record.write_bytes(DAMAGES[damage](whole))
        assert record.read_bytes() != whole
        code, said = server.run(study)
        assert code == 2, said
        assert f"{record} is damaged" in said
        assert "--redo-damaged" in said
        assert "Traceback" not in said
        assert record.read_bytes() == DAMAGES[damage](whole), "it stays for whoever wants to look"
        code, said = server.run(study, "--redo-damaged")
        assert code == 0, said
        row.same(study.records(), undisturbed)
        aside = study.place / "set-aside" / record.name
        assert aside.read_bytes() == DAMAGES[damage](whole)
        assert f"set aside: {aside}" in said
        assert study.strays("set-aside") == []
        assert server.run(study, "--redo-damaged")[0] == 0
        assert len(list(aside.parent.iterdir())) == 1


@pytest.mark.parametrize("damage", [name for name in DAMAGES if "hand" not in name] + ["with one bit flipped"])
@pytest.mark.parametrize("file", ["checkpoint", "safetensors"])
def test_a_damaged_checkpoint_or_trial(file, damage, server, undisturbed, tmp_path, faults):
    """What a crash of the machine or a bad disk leaves in the cache: set aside with a note, trained again, the same
    bits."""
    study = Study(tmp_path)
    words = {"checkpoint": "checkpoint", "safetensors": "finished trial in the cache"}[file]
    with faults.survived(f"a {words}: {damage}", "set aside with a note, trained again, the same bits") as row:
        process = server.start(study, TINY_PAUSE="0.3")
        study.wait_for("saved", 3 if file == "checkpoint" else 0)
        if file == "safetensors":
            until(lambda: any(study.cache.rglob("*.safetensors")), 60)
        os.kill(process, 9)
        server.end()
        path = next(study.cache.rglob(f"*.{file}"))
        whole = path.read_bytes()
        path.write_bytes({**DAMAGES, "with one bit flipped": flip}[damage](whole))
        said = server.mend(study, row, undisturbed)
        assert f"{path} is damaged" in said
        assert "Traceback" not in said
        assert (path.parent / "set-aside" / path.name).exists()


ABLATION = {
    "kind": "ablation",
    "study": "faulty",
    "optimizers": ["sgdm"],
    "symmetry": ["bQ"],
    "activations": ["gelu"],
    "iterations": 4,
    "evaluate_every": 2,
    "batch_size": 2,
    "vocab_size": 300,
    "validation_windows": 2,
}


def test_rate_ten_diverges_and_the_study_goes_on(server, tmp_path, faults):
    """SGD at 333 times its rate of 0.03: diverged is a status and a record; the arm at the published rate is done."""
    study = Study(tmp_path, {**ABLATION, "rate_factors": [1000 / 3, 1.0], "iterations": 40, "evaluate_every": 20})
    with faults.survived("a trial that diverges (rate 10)", "status diverged, in its record; the study goes on"):
        code, said = server.run(study)
        assert code == 0, said
        status = {
            record["rate_factor"] == 1: record["trials"][0]["status"]
            for record in map(store.load, study.place.glob("*.json"))
        }
        assert status == {True: "done", False: "diverged"}
