"""`make install` where make is absent (Windows): .venv with the versions of constraints.lock, held to their hashes."""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("book", "data", "explore", "cluster", "test")
PLACE = ROOT / ".venv"
PYTHON = PLACE / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def pip(*words: str) -> None:
    """Install something into .venv."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *words]
    subprocess.run(command, cwd=ROOT, check=True)


def listed(name: str, lines: list[str]) -> str:
    """A file of requirements in .venv."""
    (PLACE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(PLACE / name)


def install() -> None:
    """Everything that the book, the studies and the tests need."""
    venv.create(PLACE, with_pip=True)
    lock = (ROOT / "constraints.lock").read_text(encoding="utf-8")
    tools = re.findall(r"(?m)^(?:pip|uv)==.*\\\n(?: .*\\\n)* .*$", lock)
    pip("--require-hashes", "-r", listed("tools.txt", tools))
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = made["project"]
    names = {name for extra in EXTRAS for name in project["optional-dependencies"][extra]}
    every = [*made["build-system"]["requires"], *project["dependencies"], *sorted(names)]
    pip("--only-binary", ":all:", "-c", "constraints.lock", "-r", listed("names.txt", every))
    pip("--no-deps", "--no-build-isolation", "-e", ".")


if __name__ == "__main__":
    install()
