"""The command `actlab` over a toy text and a tiny model, with a diary of what it trains; trouble is ordered by
environment variables. Not a test.

``python tiny_actlab.py`` forks it from a warm process, one run after another: a JSON list [words, environment, file of
what it prints] comes in as a line of stdin, the process's number and later its exit code go out. Workers load this
module too.

TINY_DIARY     file for lines of `word process trial iteration`: train, saved, resumed
TINY_PAUSE     seconds to wait after each checkpoint
TINY_LARGEST   bytes that a file may have (``RLIMIT_FSIZE``)
TINY_DIE_AT    kill -9 of the process at this step of writing: before the flush, before the move or after it, counted
"""

import atexit
import json
import os
import resource
import signal
import sys
import time
from dataclasses import replace
from importlib import import_module
from itertools import count

import tiny

from actlab.data.text import TEXTS
from actlab.models import SCALES
from actlab.study import cache, run  # noqa: F401  # run: loaded before the fork
from actlab.trainers import checkpoint, loop

LATER = ("actlab.cli.display", "actlab.report")
"""What a run would load itself."""


def note(word, path, iteration):
    """One line of the diary; lines of several processes do not mix."""
    with open(os.environ["TINY_DIARY"], "a") as file:
        file.write(f"{word} {os.getpid()} {path.name.split('.')[0]} {iteration}\n")


def shrink():
    """A model and a text that train in milliseconds, under the names of the quick ones."""
    SCALES["quick"] = replace(tiny.CONFIG)
    TEXTS.built_in["pydoc"] = TEXTS.built_in["treasure"] = lambda: tiny.FOX


def listen():
    """Training and checkpoints leave lines in the diary."""
    train, save, load = loop.train, checkpoint.save, checkpoint.load

    def noted_train(training):
        note("train", training.saved_at, 0)
        return train(training)

    def noted_save(path, model, optimizer, progress):
        save(path, model, optimizer, progress)
        note("saved", path, progress["iteration"])
        time.sleep(float(os.environ.get("TINY_PAUSE", "0")))

    def noted_load(path, model, optimizer):
        progress = load(path, model, optimizer)
        note("resumed", path, progress["iteration"])
        return progress

    loop.train, checkpoint.save, checkpoint.load = noted_train, noted_save, noted_load


def trouble():
    """What is to go wrong in this process."""
    if "TINY_LARGEST" in os.environ:
        largest = int(os.environ["TINY_LARGEST"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    if "TINY_DIE_AT" in os.environ:
        _die_at(int(os.environ["TINY_DIE_AT"]))


def _die_at(last):
    fsync, move, steps = os.fsync, os.replace, count(1)

    def step():
        if next(steps) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    os.fsync = lambda file: (step(), fsync(file))
    os.replace = lambda work, path: (step(), move(work, path), step())


def serve():
    """Fork a process for each line of stdin, one at a time."""
    cache.code()  # once for all
    for module in LATER:
        import_module(module)
    for line in sys.stdin:
        words, environment, said = json.loads(line)
        if (child := os.fork()) == 0:
            os.setsid()
            os.environ.update(environment)
            with open(said, "w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            trouble()
            code = tiny.typed(*words)
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(code)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


shrink()
if loop.train.__module__ == "actlab.trainers.loop":  # a worker loads this file as its main module and a preload
    listen()
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background ignores it
    serve()
