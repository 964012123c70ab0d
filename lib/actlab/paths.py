"""Where things lie: the one place that knows the folders of a project and of actlab itself, which environment variables
move, and asks git about them."""

import functools
import os
import subprocess
from pathlib import Path

from actlab.errors import BadInput

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
"""The repository, where the package lies in one."""
CHECKOUT = ROOT if PACKAGE == ROOT / "lib" / "actlab" and (ROOT / "notebooks").is_dir() else None
"""The same; None for a package that was installed from a wheel."""
SHIPPED = (CHECKOUT or PACKAGE) / "params"
"""The params files of the recorded studies: a wheel has them in the package, and beside them results/bits."""
MARK = ".actlab"
"""File that makes a folder a project (`actlab init` writes it)."""
RECORDS = "[!.]*.json"
"""Pattern of records' files: what is hidden, as macOS leaves `._x.json` beside each file, is none."""


class NoProject(BadInput):
    """Nothing says where records, data and cache belong."""


def project() -> Path | None:
    """Return the project of the current folder: the nearest folder at or above it that `actlab init` made one; else
    actlab's own checkout; None where there is neither."""
    here = Path.cwd()
    marked = (folder for folder in (here, *here.parents) if folder == CHECKOUT or (folder / MARK).is_file())
    return next(marked, CHECKOUT)


def located(name: str) -> Path:
    """Return the whole path of what a user names, ``~`` and links followed."""
    return Path(name).expanduser().resolve()


def _folder(variable: str, name: str) -> Path:
    """Return the folder that a variable names, else that of this name in the project.

    Raises:
        NoProject: neither.
    """
    if value := os.environ.get(variable):
        return located(value)
    if (root := project()) is None:
        raise NoProject(
            f"{Path.cwd()} is in no project of actlab: `actlab init` makes it one, `actlab init FOLDER` another; "
            f"{variable} names a folder outside of any"
        )
    return root / name


def data() -> Path:
    """Return the folder of the data sets: ``ACTLAB_DATA``, else ``data/`` in the project."""
    return _folder("ACTLAB_DATA", "data")


def results() -> Path:
    """Return the folder of the project's records: ``ACTLAB_RESULTS``, else ``results/`` in the project."""
    return _folder("ACTLAB_RESULTS", "results")


def cache() -> Path:
    """Return the folder of checkpoints and finished trials: ``ACTLAB_CACHE``, else ``.cache/`` in the project."""
    return _folder("ACTLAB_CACHE", ".cache")


def params_file(study: str) -> Path:
    """Return the params file of a study: that of the project, else actlab's own; the project's to be where there is
    none."""
    files = [place / f"{study}.yaml" for place in _params()]
    return next((file for file in files if file.is_file()), files[0])


def params_names() -> set[str]:
    """Return the names of the params files in the project and in actlab itself."""
    return {file.stem for place in _params() for file in place.glob("[!.]*.yaml")}


def _params() -> list[Path]:
    root = project()
    return [*([root / "params"] if root else []), SHIPPED]


def shown(path: Path) -> str:
    """Return a path for a message: from the current folder where it lies in that, else whole."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


@functools.cache
def git(*arguments: str) -> str | None:
    """Return the output of a git command in actlab's own checkout; None where it fails, or where the package lies in
    none."""
    if not (ROOT / ".git").exists():  # else git would answer for whatever repository is above
        return None
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout
