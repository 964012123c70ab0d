"""Studies in processes of their own that tests bring into trouble. Not a test."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import tiny
import yaml

from actlab import paths
from actlab.records import store

SCRIPT = Path(__file__).with_name("tiny_actlab.py")
PATH = os.pathsep.join(filter(None, [str(SCRIPT.parent), os.environ.get("PYTHONPATH")]))
TIMES = {"seconds", "started", "tokens_per_second", "date", "checksum"}
PARAMS = tiny.STUDY | {"study": "faulty", "activation": ["relu", "swiglu"], "iterations": 9, "evaluate_every": 3}


def essence(value):
    """A record without what tells one run of the same study from another: dates, times, checksum, commit."""
    if isinstance(value, dict):
        return {name: essence(v) for name, v in value.items() if name not in TIMES and not name.startswith("git_")}
    return [essence(v) for v in value] if isinstance(value, list) else value


class Study:
    """A study in a folder of its own; ``place`` is the folder of its records."""

    def __init__(self, folder, params=PARAMS):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.file, self.cache = folder, folder / "params.yaml", folder / "cache"
        self.place = folder / "results" / params["study"]
        self.file.write_text(yaml.safe_dump(params))

    def settings(self, **more):
        """Environment of its processes."""
        own = {"ACTLAB_RESULTS": "results", "ACTLAB_CACHE": "cache", "TINY_DIARY": "diary"}
        return {**{name: str(self.folder / place) for name, place in own.items()}, **more}

    def diary(self):
        """What was trained: (word, process, trial, iteration)."""
        file = self.folder / "diary"
        lines = file.read_text().splitlines() if file.exists() else []
        return [
            (word, int(process), trial, int(iteration)) for word, process, trial, iteration in map(str.split, lines)
        ]

    def wait_for_checkpoint(self, iteration):
        """(process, trial) of the first such line of the diary, as soon as it is there."""
        found = until(lambda: [line[1:3] for line in self.diary() if (line[0], line[3]) == ("saved", iteration)], 120)
        assert found, f"nothing saved at {iteration} within two minutes: {self.diary()}"
        return found[0]

    def records(self):
        """File name -> essence; every record is read, so that a torn one fails."""
        found = {path.name: store.load(path) for path in sorted(self.place.glob("*.json"))}
        return {name: json.dumps(essence(record), sort_keys=True) for name, record in found.items()}

    def strays(self, known="*.json"):
        """What lies in the results beside records, what is ``known``, and hidden files that a killed process was
        writing."""
        files = {path for path in self.place.rglob("*") if path.is_file() and not path.name.startswith(".")}
        return files - {*self.place.glob("*.json"), *self.place.glob(known)}

    def trained(self):
        """Trial -> how often its training was begun or gone on with."""
        return Counter(trial for word, _, trial, _ in self.diary() if word == "train")


class Server:
    """A warm process that forks `actlab` runs, one at a time."""

    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": PATH, "COLUMNS": "1000"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT)], stdin=pipe, stdout=pipe, text=True, env=environment
        )
        self.said, self.code = Path(), 0

    def line(self):
        """The next line that the server prints."""
        line = self.process.stdout.readline().strip()
        assert line, "the server of processes has ended"
        return line

    def start(self, study, *words, **environment):
        """Start ``actlab run STUDY --workers 1 WORDS``; the process's number."""
        self.said = study.folder / f"said-{self.process.pid}"
        order = [["run", str(study.file), "--workers", "1", *words], study.settings(**environment), str(self.said)]
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.line())

    def end(self, *codes):
        """What the process printed, when it has ended, with 0 or one of these codes: a killed one's is less than 0,
        one above 0 comes without a traceback."""
        self.code, said = int(self.line()), self.said.read_text()
        assert self.code in (codes or (0,)), said
        assert self.code <= 0 or "Traceback" not in said, said
        return said

    def run(self, study, *words, codes=(), **environment):
        """Start and wait."""
        self.start(study, *words, **environment)
        return self.end(*codes)

    def mend(self, study, expected):
        """Run the study again: it ends well, with the records of an undisturbed run, and nothing beside them."""
        said = self.run(study)
        assert study.records() == expected
        assert not study.strays()
        return said

    def close(self):
        """End the server."""
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@contextmanager
def cluster(folder, environment, *worker):
    """(address, scheduler) of a Dask cluster, started as a user would start it, with one worker that takes these
    words."""
    file = folder / "scheduler.json"
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(paths.ROOT), PATH]), **environment}

    def start(program, *words):
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard", "--scheduler-file", str(file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *words], cwd=folder, env=settings, start_new_session=True, **quiet)

    scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    one = start("dask_worker", "--nthreads", "1", *worker)
    until(lambda: file.exists() and file.read_text().endswith("}"), 100)
    try:
        yield json.loads(file.read_text())["address"], scheduler
    finally:
        for process in (one, scheduler):
            kill_group(process.pid)
            process.wait(30)


def kill_group(process, sign=signal.SIGKILL):
    """Send a signal to a process and all that it started, if they are still there."""
    with suppress(ProcessLookupError):
        os.killpg(process, sign)


def alive(process):
    """Whether a process is there and not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def until_gone(processes, seconds):
    """Whether none is there any more, after so long at most."""
    return until(lambda: not any(map(alive, processes)), seconds)


def until(look, seconds):
    """What ``look()`` gives, as soon as it gives something; else its last answer after so long."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found
