"""`make book` and the quick tests with every other Python of 3.11 to 3.13 that is here, two at a time, each in a clone
and an environment of its own: the versions differ in their text, their warnings and their wheels.

Fails where a Python fails, and where no other one is here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED = ("3.11", "3.12", "3.13")
COMMANDS = (["make", "book"], ["make", "tests"])
SAY = "import ensurepip, sys, venv; print(sys.version.split()[0], sys.executable)"
"""Run by an interpreter that can make an environment."""


def says(*command: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """What a command prints, and its exit code."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def candidates() -> list[str]:
    """Where an interpreter may be: the system's, those on the path, those of pyenv."""
    names = ["python3", *(f"python{version}" for version in SUPPORTED)]
    found = ["/usr/bin/python3", *filter(None, map(shutil.which, names))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [*found, *(str(path) for path in sorted(pyenv.glob("3.*/bin/python3")))]


def interpreters(programs: Iterable[str]) -> dict[str, str]:
    """Version, such as 3.12.1 -> the first of the programs that is it and can make an environment."""
    found: dict[str, str] = {}
    for program in filter(os.path.exists, programs):
        version, _, place = says(program, "-c", SAY).stdout.strip().partition(" ")
        if version.startswith(tuple(f"{each}." for each in SUPPORTED)):
            found.setdefault(version, place)
    return found


def tried(program: str, folder: Path, workers: int) -> str:
    """Run the commands with an interpreter in a fresh clone; returns the end of what a failed one says, or nothing."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    known = {name: os.environ[name] for name in ("PATH", "HOME", "ACTLAB_DATA", "LANG") if name in os.environ}
    for command in COMMANDS:
        done = says(*command, f"PYTHON={program}", f"WORKERS={workers}", cwd=folder, env=known)
        if done.returncode:
            return f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}"
    shutil.rmtree(folder)
    return ""


def main() -> int:
    """Say which were tried, with what outcome, and which are absent."""
    here = says(str(ROOT / ".venv" / "bin" / "python"), "-c", SAY).stdout.split()[0]
    others = {version: program for version, program in interpreters(candidates()).items() if version != here}
    absent = [each for each in SUPPORTED if not any(version.startswith(f"{each}.") for version in (here, *others))]
    print(f"checked: Python {here}; also here: {', '.join(others) or 'none'}; absent: {', '.join(absent) or 'none'}")
    with tempfile.TemporaryDirectory(prefix="actlab-pythons-") as folder, ThreadPoolExecutor(2) as pool:
        workers = dict.fromkeys(others, 1)
        if len(others) % 2:
            workers[[*others][-1]] = os.cpu_count() or 1  # nothing is left to run beside it
        outcomes = pool.map(lambda version: tried(others[version], Path(folder) / version, workers[version]), others)
        failed = 0
        for version, said in zip(others, outcomes, strict=True):
            print(f"Python {version} ({others[version]}): {said or 'make book and the quick tests pass'}", flush=True)
            failed += bool(said)
    if not others:
        print("no other Python of 3.11 to 3.13 is here: what differs between them cannot be seen")
    return 1 if failed or not others else 0


if __name__ == "__main__":
    sys.exit(main())
