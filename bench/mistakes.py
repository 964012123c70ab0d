"""`python -m bench.mistakes`: wrong params files and records, made from the fields that there are; each must end in one
sentence, soon, in little memory. Counts them; nothing is recorded."""

import copy
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import yaml

from actlab import cli, paths
from actlab.errors import CONTROL
from actlab.records import store
from actlab.study.params import KINDS, study_of

SECONDS, MEMORY = 2, 200_000
"""Of processor time, and kB more than a process has that has loaded everything (280,000)."""
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
    "a key twice, inside": "study: x\nper_arm: {charlm: {iterations: 5, iterations: 9}}\n",
    "digits of Arabic": "study: x\nperturbations: [nudge-\u0661]\n",
    "a number in base 8": "study: x\ntrials: 010\n",
    "orders to a terminal": 'study: "\\e]0;owned\\a"\n',
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
    "a text of a user who is not there": "{study: x, dataset: ~nosuchuser/a.txt}\n",
    "a text that is a folder": "{study: x, dataset: /}\n",
}
"""What is wrong with the whole file."""
PUT = {"a mapping": {"a": 1}, "a list in a list": [[1]], "no name": "no <\u0416>", "too large": 10**400}
"""What no field takes."""


def wrong_params():
    """Name -> content."""
    found = {name: text if isinstance(text, bytes) else text.encode() for name, text in FILES.items()}
    for name in KINDS:
        for turn, field in enumerate(study_of(name).model_fields):
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
MADE = (
    "repro-lite/charlm-relu-5c9cbada92",
    "repro-lite/charlm-relu-floor-a2fe6fda02",
    "mnist/relu-h2-lr0.001-b64-4a77e0db86",
    "ablation-novels/adamw-bQbV-gelu-2039600b2f",
)
"""Recorded, one of each kind."""
DROP = object()
JUNK = {
    **{"absent": DROP, "null": None, "a list": [[]], "below 0": -1.5, "text": "<b>", "too large": 10**30},
    **{"a folder above": "..", "orders to a terminal": "\x1b]0;owned\x07\u202e", "digits of Arabic": "\u0664\u0662"},
}


def places(value, at=(), most=1):
    """The place of everything in a record, of lists in so many of their entries."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:most]) if isinstance(value, list) else ()
    return ([at] if at else []) + [place for key, item in inner for place in places(item, (*at, key), most)]


def changed(record, place, put):
    """A copy with another entry at a place (keys and indices), or without it."""
    made = inside = copy.deepcopy(record)
    for key in place[:-1]:
        inside = inside[key]
    if put is DROP:
        del inside[place[-1]]
    else:
        inside[place[-1]] = put
    return made


def content(record):
    """Of its file, under the name that its settings ask for."""
    name = f"{record['arm'].rpartition('-')[0]}-{store.digest(record['config'])[:10]}"
    made = {**record, "arm": name} if isinstance(record["arm"], str) else record
    return name, json.dumps(made | {"checksum": store.checksum(made)}, indent=1).encode()


def wrong_records():
    """Name -> (name of the file, bytes, whether it may be read): with a right checksum, but of another shape."""
    for made in MADE:
        record = json.loads((paths.ROOT / "results" / f"{made}.json").read_text()) | {"study": "x"}
        kind, (name, text) = record["kind"], content(record)
        for how, damage in BYTES.items():
            yield f"{kind}: {how}", name, damage(text), False
        yield f"{kind}: under another's name", "charlm-gelu-0123456789", text, False
        for turn, place in enumerate(places(record)[::4]):
            how, put = [*JUNK.items()][turn % len(JUNK)]
            other = changed(record, place, put)
            whole = place[0] == "config" and len(place) > 1
            found = (
                content(other) if whole else (name, json.dumps(other | {"checksum": store.checksum(other)}).encode())
            )
            yield f"{kind}, {'.'.join(map(str, place))}: {how}", *found, True


def peak():
    """The most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def refused(words, named):
    """(whether a command refuses its input, in one sentence; seconds): else it ends well; soon, in little memory."""
    before, since, said, printed, code = peak(), time.process_time(), StringIO(), StringIO(), 0
    sys.argv = ["actlab", *map(str, words)]
    with redirect_stderr(said), redirect_stdout(printed):
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    spent, text = time.process_time() - since, said.getvalue()
    assert spent < SECONDS, f"{named}: {spent} s"
    assert peak() - before < MEMORY, f"{named}: {peak() - before} kB more"
    assert not CONTROL.search(text + printed.getvalue()), f"{named}: a terminal obeys it"
    whole = code == 2 and text.count("\n") == 1 and text.startswith("error: ") and len(text) < 1000
    assert whole or not code, f"{named}: {text}"
    return code == 2, spent


def params_files(folder):
    """(refused, used, seconds of the longest) of the wrong params files; also one of 3 GB, an endless one, a folder."""
    file, every = folder / "params.yaml", []
    for named, text in wrong_params().items():
        file.write_bytes(text)
        every.append((named, refused(["run", file, "--dry-run"], named)))
    os.truncate(file, 3 * 10**9)
    every += [(str(place), refused(["status", place], place)) for place in (file, "/dev/zero", folder)]
    assert [named for named, (refuses, _) in every if not refuses] == []
    return len(every), 0, max(spent for _, (_, spent) in every)


def records(folder):
    """The same of the wrong records, below a folder of results, with one of 3 GB; what is read may be so."""
    place, every = folder / "results" / "x", []
    place.mkdir(parents=True)
    for named, name, text, may_be_read in wrong_records():
        (place / f"{name}.json").write_bytes(text)
        refuses, spent = refused(["report", "x", "--no-plots", "--out", folder / "out"], named)
        assert refuses or may_be_read, named
        every.append((refuses, spent))
        (place / f"{name}.json").unlink()
    (place / f"{name}.json").touch()
    os.truncate(place / f"{name}.json", 3 * 10**9)
    every.append(refused(["report", "x"], "3 GB"))
    count = sum(refuses for refuses, _ in every)
    return count, len(every) - count, max(spent for _, spent in every)


if __name__ == "__main__":
    for measure in (params_files, records):
        with tempfile.TemporaryDirectory() as made:
            os.environ["ACTLAB_RESULTS"] = os.environ["ACTLAB_CACHE"] = f"{made}/results"
            count, used, longest = measure(Path(made))
            most = f"{longest:.2f} s, {peak() / 1000:.0f} MB"
            print(f"wrong {measure.__name__}: {count} refused in one sentence, {used} read; {most}", flush=True)
