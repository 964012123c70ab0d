"""`actlab book` that is interrupted or killed takes Jupyter Book, and all that it started, with it."""

import os
import signal
import subprocess
import sys

import pytest
from faulty import until, until_gone

BOOK = """
import os, subprocess, sys, time
def main():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open("started", "w") as file:
        file.write(f"{os.getpid()} {child.pid}\\n")
    time.sleep(60)
"""
BUILD = """
import signal
from pathlib import Path
from actlab.book.build import _jupyter_book
signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the command line has it
signal.signal(signal.SIGINT, signal.default_int_handler)
_jupyter_book(Path.cwd(), 1)
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_book_leaves_no_process(sent, tmp_path):
    (package := tmp_path / "jupyter_book" / "cli").mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "main.py").write_text(BOOK)
    process = subprocess.Popen([sys.executable, "-c", BUILD], cwd=tmp_path, stderr=subprocess.DEVNULL)
    started = tmp_path / "started"
    assert until(lambda: started.exists() and started.read_text().endswith("\n"), 60)
    os.kill(process.pid, sent)
    assert process.wait(20)
    assert until_gone(map(int, started.read_text().split()), 10)
