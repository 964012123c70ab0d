"""Where things lie: the one place that knows the repository's folders, which environment variables move, and asks git
about it."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository (the package is installed from it, editable)."""


def _folder(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser().resolve() if value else default


def data() -> Path:
    """Folder of the data sets: ``ACTLAB_DATA``, else ``data/`` in the repository."""
    return _folder("ACTLAB_DATA", ROOT / "data")


def results() -> Path:
    """Folder of the records: ``ACTLAB_RESULTS``, else ``results/`` in the repository."""
    return _folder("ACTLAB_RESULTS", ROOT / "results")


def cache() -> Path:
    """Folder of checkpoints and finished trials: ``ACTLAB_CACHE``, else ``.cache/`` in the repository."""
    return _folder("ACTLAB_CACHE", ROOT / ".cache")


@functools.cache
def git(*arguments: str) -> str | None:
    """Output of a git command in the repository; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout
