"""The records of actlab's own studies, for a package that was installed without its repository: downloaded from there,
checked against the hash that the package carries."""

import shutil
import tempfile
from importlib import metadata
from pathlib import Path

import pooch

from actlab import paths
from actlab.data.tree import sha256_of_files
from actlab.errors import DataError

HASH = "records.sha256"
"""File of a wheel, in the package: of the records of its version (``tree``)."""


def address() -> str:
    """Of the repository's archive of this version, from the project's metadata; empty where that names no
    repository."""
    about = metadata.metadata("actlab")
    named = dict(entry.split(", ", 1) for entry in about.get_all("Project-URL") or [])
    return f"{named['Repository']}/archive/refs/tags/v{about['Version']}.zip" if "Repository" in named else ""


def get(source: str = "") -> Path:
    """Folder of the records, which every project may read from then on: in a checkout, its own; else downloaded into
    the data folder.

    Args:
        source: address of an archive (zip) of the repository, where it is not that of the project's metadata.

    Raises:
        DataError: they cannot be had, or are not those of this version. The message gives the ways out.
    """
    if paths.CHECKOUT is not None:
        return paths.CHECKOUT / "results"
    place, expected = paths.downloaded(), _expected()
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            found = _downloaded(source or address(), Path(work), place)
            _check(found, expected)
            shutil.move(found, place)
    _check(place, expected)
    return place


def _expected() -> str:
    file = paths.PACKAGE / HASH
    if not file.is_file():
        raise DataError(f"this package of actlab has no {HASH}, so that no records can be checked: install its wheel")
    return file.read_text(encoding="utf-8").strip()


def _downloaded(source: str, work: Path, place: Path) -> Path:
    """The archive's folder of records."""
    otherwise = f"name its archive (`actlab data get records --from ADDRESS`), or copy `results` of a clone to {place}"
    if not source:
        raise DataError(f"this version of actlab does not say where its repository is: {otherwise}")
    pooch.get_logger().setLevel("WARNING")  # else it asks to be given the hash of the archive
    try:
        pooch.retrieve(source, None, fname="archive.zip", path=work, processor=pooch.Unzip(extract_dir="files"))
    except Exception as error:  # requests' and pooch's errors share no base class
        failed = f"{source} could not be had ({type(error).__name__}: {error})"
        raise DataError(f"records: {failed}; {otherwise}") from error
    found = [folder for pattern in ("results", "*/results") for folder in (work / "files").glob(pattern)]
    if not found:
        raise DataError(f"{source} holds no folder `results`: expected an archive of actlab's repository")
    return found[0]


def _check(folder: Path, expected: str) -> None:
    """``DataError`` where the records are not those of this version."""
    if (found := sha256_of_files(folder)) != expected:
        raise DataError(
            f"{folder} does not hold the records of actlab {metadata.version('actlab')}: expected sha256 {expected}, "
            f"found {found}; delete it where it is there, and give the archive of that version"
        )
