"""Wrong params files and records, made from the fields that there are: each ends in one sentence, soon, in little
memory."""

import json
import resource
import time

import ablations
import grids
import pytest
import sweeps
import yaml
from bench.reliability import survived
from damage import DROP, changed
from tiny import typed

from actlab import paths
from actlab.records import store
from actlab.study.kinds import KINDS

pytestmark = pytest.mark.slow
SECONDS, MEMORY = 2, 200_000
"""Of processor time, and kB more than a process has that has loaded everything (280,000)."""
OUTCOME, LONGEST = "one sentence, exit code 2, below 2 s and 500 MB", []
ANCHORS = "".join(f"x{i + 1}: &x{i + 1} [{', '.join([f'*x{i}'] * 9)}]\n" for i in range(30))
FILES = {
    "empty": "",
    "a list": "- a\n",
    "a number": "3",
    "a date": "2001-01-01",
    "no end": "study: 'x",
    "no YAML": "study: [1, 2",
    "a tab": "study:\tx\n\ty: 1",
    "a zero byte": "study: \0",
    "not UTF-8": b"study: \xff",
    "UTF-16": "study: x".encode("utf-16"),
    "other bytes": bytes(range(256)) * 40,
    "keys of numbers": "1: 2\n",
    "a key twice": "study: x\nstudy: y\n",
    "an unknown key": "study: x\ntrails: 3\n",
    "an unknown kind": "kind: mnits\n",
    "a kind that is a list": "kind: [mnist]\n",
    "an alias": "study: &a x\nmodel: *a\n",
    "an alias of itself": "model: &a [*a]\n",
    "names within names": f"x0: &x0 [a]\n{ANCHORS}model: *x30\n",
    "merged keys": "a: &a {trials: 3}\n<<: *a\n",
    "brackets in brackets": "model: " + "[" * 50_000,
    "braces in braces": "model: " + "{a: " * 20_000,
    "a number of 90,000 digits": "seed: " + "1" * 90_000,
    "a key of 90,000 letters": "x" * 90_000 + ": 1\n",
    "a date that is none": "seed: 2001-99-99",
    "a tag that runs": "!!python/object/apply:os.system ['exit 3']",
    "a tag of an object": "study: !!python/name:os.system\n",
    "a file above the limit": "# " + "x" * 2_000_000,
    "ten thousand arms": "{kind: mnist, hidden: [" + ", ".join(map(str, range(1, 10_002))) + "]}",
    "a study elsewhere": "study: ../../x\n",
    "a study with an end of line": 'study: "x\\n"\n',
    "a name with a direction": 'model: "\\u202echarlm"\n',
    "a plug-in that is not there": "{study: x, plugins: none.py}\n",
    "a plug-in that is a folder": "{study: x, plugins: /}\n",
    "a plug-in without end": "{study: x, plugins: /dev/zero}\n",
    "a text without end": "{study: x, dataset: /dev/zero}\n",
    "a text that is a folder": "{study: x, dataset: /}\n",
}
"""What is wrong with the whole file."""
PUT = {"a mapping": {"a": 1}, "a list in a list": [[1]], "no name": "no <\u0416>", "too large": 10**400}
"""What no field takes."""


def wrong_params():
    """Name -> content."""
    found = {name: text if isinstance(text, bytes) else text.encode() for name, text in FILES.items()}
    for name, kind in KINDS.items():
        for turn, field in enumerate(kind.params.model_fields):
            for how in (*PUT, *PUT)[turn % 4 :][:2]:
                about = {"study": "x", "kind": name, field: PUT[how]}
                found[f"{name}, {field}: {how}"] = yaml.safe_dump(about).encode()
    return found


BYTES = {
    "empty": lambda text: b"",
    "cut": lambda text: text[: len(text) // 2],
    "a bit flipped": lambda text: text[:-90] + bytes([text[-90] ^ 1]) + text[-89:],
    "a word changed": lambda text: text.replace(b'"done"', b'"lost"', 1),
    "other bytes": lambda text: b"\0\xff" * 50,
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "a list": lambda text: b"[1, 2]",
    "brackets in brackets": lambda text: b"[" * 200_000,
    "braces in braces": lambda text: b'{"a":' * 100_000,
    "a number of 10,000 digits": lambda text: b'{"checksum": "x", "a": ' + b"1" * 10_000 + b"}",
    "no checksum": lambda text: b'{"kind": "trials"}',
    "a checksum that is a list": lambda text: b'{"checksum": []}',
}
"""What is wrong with the whole file; the checksum says it."""
JUNK = {"absent": DROP, "null": None, "a list": [[]], "below 0": -1.5, "text": "<b>", "too large": 10**30}


def places(value, at=()):
    """The place of everything in a record, of lists in their first entry."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    return ([at] if at else []) + [place for key, item in inner for place in places(item, (*at, key))]


def wrong_records():
    """Name -> (name of the file, bytes, whether it may be read): with a right checksum, but of another shape."""
    made = grids.record(), grids.floor(), sweeps.record("relu", 8, 1e-3, 64), ablations.record("ecd", "bQbV", "gelu")
    for record in (grids.identified(one, "x") for one in made):
        text = json.dumps(record | {"checksum": store.checksum(record)}, indent=1).encode()
        for how, damage in BYTES.items():
            yield f"{record['kind']}: {how}", record["arm"], damage(text), False
        yield f"{record['kind']}: under another's name", "charlm-gelu-0123456789", text, False
        for turn, place in enumerate(places(record)):
            how, put = [*JUNK.items()][turn % len(JUNK)]
            other, name = changed(record, place, put), record["arm"]
            if place[0] == "config":
                other = grids.identified(other | {"arm": name.rpartition("-")[0]}, "x")
                name = other["arm"]
            text = json.dumps(other | {"checksum": store.checksum(other)}).encode()
            yield f"{record['kind']}, {'.'.join(map(str, place))}: {how}", name, text, True


def peak():
    """The most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def refused(words, named, capsys):
    """Whether a command refuses its input, in one sentence; else it ends well. Either way soon, in little memory."""
    before, since = peak(), time.process_time()
    code = typed(*words)
    spent, said = time.process_time() - since, capsys.readouterr().err
    assert spent < SECONDS, f"{named}: {spent} s"
    assert peak() - before < MEMORY, f"{named}: {peak() - before} kB more"
    if code:
        assert (code, said.count("\n")) == (2, 1), f"{named}: {said}"
        assert said.startswith("error: "), f"{named}: {said}"
        assert len(said) < 1000, f"{named}: {said}"
    LONGEST.append(spent)
    return code == 2


def test_wrong_params_files(tmp_path, capsys):
    """Every field of every kind of study with what it does not take, and files that are none; also one of 3 GB, one
    without end, a folder."""
    with survived("wrong params files", OUTCOME, times=0) as row:
        file, before = tmp_path / "params.yaml", peak()
        for named, content in wrong_params().items():
            file.write_bytes(content)
            assert refused(["run", file, "--dry-run"], named, capsys), named
            row.times += 1
        with file.open("wb") as large:
            large.truncate(3 * 10**9)
        for place in (file, "/dev/zero", tmp_path):
            assert refused(["status", place], str(place), capsys), place
            row.times += 1
        row.note = f"at most {max(LONGEST):.2f} s of processor time; {(peak() - before) / 1000:.0f} MB more in all"
        assert row.times > 120
        assert not paths.results().exists()


def test_wrong_records(tmp_path, capsys):
    """Damaged, under another's name, and with every entry replaced in turn, under a right checksum: refused, or read as
    what it may be. One of 3 GB too."""
    with survived("wrong records", OUTCOME, times=0) as row:
        folder, before, used = paths.results() / "x", peak(), 0
        folder.mkdir(parents=True)
        LONGEST.clear()
        for named, name, content, may_be_read in wrong_records():
            for old in folder.iterdir():
                old.unlink()
            (folder / f"{name}.json").write_bytes(content)
            found = refused(["report", "x", "--no-plots", "--out", tmp_path / "out"], named, capsys)
            assert found or may_be_read, named
            row.times, used = row.times + found, used + (not found)
        with (folder / f"{name}.json").open("wb") as large:
            large.truncate(3 * 10**9)
        assert refused(["report", "x"], "3 GB", capsys)
        most = f"at most {max(LONGEST):.2f} s of processor time; {(peak() - before) / 1000:.0f} MB more in all"
        row.times, row.note = row.times + 1, f"{used} others are read; {most}"
        assert row.times > 100
