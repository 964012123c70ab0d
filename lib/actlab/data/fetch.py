"""The data sets by name, and how a file of one gets here: downloaded over https where it is missing, checked against a
sha256 at every use."""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pooch

from actlab import paths
from actlab.errors import DataError, Table
from actlab.files import read_yaml


@dataclass(frozen=True)
class Source:
    """One downloadable file.

    ``sha256`` is of its content: of the uncompressed bytes where it is a gzip file, since mirrors wrap the same bytes
    differently.
    """

    dataset: str
    file: str
    """Path below the data folder."""
    url: str
    sha256: str
    size: int
    """Bytes of the content."""


@dataclass(frozen=True)
class Dataset:
    """One row of ``actlab data list``."""

    description: str
    files: tuple[Source, ...]
    """None where it ships with Python or scikit-learn and needs no download."""

    @property
    def where(self) -> str:
        """Return ``built in``, ``here`` (in the data folder; checksums are not read) or ``not here``."""
        files = [paths.data() / source.file for source in self.files]
        return ("here" if all(file.exists() for file in files) else "not here") if files else "built in"


def _dataset(name: str, description: str, files: Iterable[dict[str, Any]] = ()) -> tuple[str, Dataset]:
    return name, Dataset(description, tuple(Source(name, **file) for file in files))


DATASETS = Table(
    "dataset", [_dataset(name, **row) for name, row in read_yaml(Path(__file__).with_name("datasets.yaml")).items()]
)
"""By name."""
MAY_PREPARE = ContextVar("MAY_PREPARE", default=True)
"""Whether missing data are prepared: downloaded, or tokenized."""


@contextmanager
def nothing_prepared() -> Iterator[None]:
    """Download and tokenize nothing, within it: missing data are a ``DataError`` at once."""
    before = MAY_PREPARE.set(False)
    try:
        yield
    finally:
        MAY_PREPARE.reset(before)


def _open(path: Path) -> BinaryIO:
    """Open the file's content as a stream, uncompressed where it is a gzip file."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def sha256(path: Path) -> str:
    """Return the hex digest of a file's content (uncompressed where it is a gzip file)."""
    with _open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def fetch(source: Source) -> Path:
    """Return the file of ``source`` in the data folder, downloaded over https if it is missing, verified in either
    case.

    Raises:
        DataError: it cannot be had, or its content is not the expected one. The message gives the ways out.
    """
    folder = paths.data()
    path = folder / source.file
    if not path.exists():
        known = None if path.suffix == ".gz" else f"sha256:{source.sha256}"  # pooch can only check the wrapper
        try:
            if not MAY_PREPARE.get():
                raise DataError("none was tried")
            pooch.retrieve(source.url, known, fname=path.name, path=path.parent, progressbar=False)
        except Exception as error:  # requests' and pooch's errors share no base class
            raise DataError(
                f"{source.dataset}: {source.file} is not in {folder}, and its download failed "
                f"({type(error).__name__}: {error}). Three ways out: set ACTLAB_DATA to a folder that holds "
                f"{source.file}; run `actlab data get {source.dataset}` where there is a network and copy {folder} "
                "here; or use a data set that needs no download (text: treasure, images: digits)."
            ) from error
    try:
        digest = sha256(path)
    except (OSError, EOFError, zlib.error) as error:
        digest = f"no readable file ({error})"
    if digest != source.sha256:
        raise DataError(
            f"{path} is damaged or another version: expected content with sha256 {source.sha256}, found {digest}; "
            f"delete it and run `actlab data get {source.dataset}`"
        )
    return path


def content(source: Source) -> bytes:
    """Return the verified content of ``source``, uncompressed; downloaded if it is missing."""
    with _open(fetch(source)) as file:
        return file.read()
