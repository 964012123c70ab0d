"""The command `actlab` over a toy text and a tiny model, with a diary of what it trains; trouble is ordered by
environment variables. Not a test.

``python tiny_actlab.py run ...`` is the command. ``python tiny_actlab.py serve`` forks it from a warm process, one run
after another: a JSON list [words, environment, file of what it prints] comes in as a line of stdin, the process's
number and later its exit code go out. Dask's workers preload this module.

TINY_DIARY     file for lines of `word process trial iteration`: train, saved, resumed
TINY_PAUSE     seconds to wait after each checkpoint
TINY_DIE_AT    the number of the step of writing (before the flush, before the move, after it) at which the process
kills itself TINY_LARGEST   bytes that a file may have (``RLIMIT_FSIZE``)
"""

import atexit
import json
import os
import resource
import signal
import sys
import time
from dataclasses import replace

import tiny

from actlab import files
from actlab.data.text import TEXTS
from actlab.models import SCALES
from actlab.study import provenance, run  # noqa: F401  # run: loaded before the fork
from actlab.study.kinds import characters
from actlab.trainers import checkpoint


def note(word, path, iteration):
    """One line of the diary; lines of several processes do not mix."""
    line = f"{word} {os.getpid()} {path.name.split('.')[0]} {iteration}\n"
    file = os.open(os.environ["TINY_DIARY"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def shrink():
    """A model and a text that train in milliseconds, under the names of the quick ones."""
    SCALES["quick"] = replace(tiny.CONFIG)
    TEXTS._built_in["pydoc"] = lambda: tiny.FOX


def listen():
    """Training and checkpoints leave lines in the diary."""
    train, save, load = characters.train, checkpoint.save, checkpoint.load

    def noted_train(*args, **kwargs):
        note("train", kwargs["saved_at"], 0)
        return train(*args, **kwargs)

    def noted_save(path, model, optimizer, progress):
        save(path, model, optimizer, progress)
        note("saved", path, progress["iteration"])
        time.sleep(float(os.environ.get("TINY_PAUSE", "0")))

    def noted_load(path, model, optimizer):
        progress = load(path, model, optimizer)
        note("resumed", path, progress["iteration"])
        return progress

    characters.train, checkpoint.save, checkpoint.load = noted_train, noted_save, noted_load


def trouble():
    """What is to go wrong in this process."""
    if "TINY_LARGEST" in os.environ:
        largest = int(os.environ["TINY_LARGEST"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    if "TINY_DIE_AT" in os.environ:
        _die_at(int(os.environ["TINY_DIE_AT"]))


def _die_at(last):
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

    class System:
        """``os`` as ``files`` sees it."""

        def __getattr__(self, name):
            return getattr(os, name)

        def fsync(self, file):
            step()
            os.fsync(file)

        def replace(self, work, path):
            step()
            os.replace(work, path)
            step()

    files.os = System()


def command(words):
    """Run ``actlab WORDS``; its exit code."""
    trouble()
    return tiny.typed(*words)


def serve():
    """Fork a process for each line of stdin, one at a time."""
    import dask.config
    import distributed  # noqa: F401  # slow to load, as is the next
    from sklearn.datasets import load_digits  # noqa: F401

    dask.config.set(
        {"distributed.worker.multiprocessing-method": "fork"}
    )  # so that its workers need not load it either
    provenance.code()
    print("ready", flush=True)
    for line in sys.stdin:
        words, environment, said = json.loads(line)
        if (child := os.fork()) == 0:
            os.setsid()
            os.environ.update(environment)
            file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, 1)
            os.dup2(file, 2)
            code = 70
            try:
                code = command(words)
            finally:
                atexit._run_exitfuncs()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


shrink()
if (
    characters.train.__module__ == "actlab.trainers.loop"
):  # a worker that Dask spawns loads this file as its main module and as a preload
    listen()
if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell that starts the tests in the background has it ignored
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.exit(command(sys.argv[1:]))
