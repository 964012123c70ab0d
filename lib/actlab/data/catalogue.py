"""The data sets by name: what each is, which files it has, and `get`, which brings them all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from actlab import paths
from actlab.data import novels
from actlab.data.fetch import SHAKESPEARE, Source, fetch
from actlab.data.images import MNIST
from actlab.errors import BadInput, Table


@dataclass(frozen=True)
class Dataset:
    """One row of ``actlab data list``."""

    description: str
    files: Callable[[], list[Source]] = list
    """None where it ships with Python or scikit-learn and needs no download."""

    @property
    def where(self) -> str:
        """``built in``, ``here`` (in the data folder; checksums are not read) or ``not here``."""
        files = [paths.data() / source.file for source in self.files()]
        return ("here" if all(file.exists() for file in files) else "not here") if files else "built in"


DATASETS: Table[Dataset] = Table(
    "dataset",
    (
        ("pydoc", Dataset("Python's help topics (465 thousand characters with CPython 3.11)")),
        ("shakespeare", Dataset("tiny Shakespeare, 1,115,394 characters, 65 of them distinct", lambda: [SHAKESPEARE])),
        ("novels", Dataset("100 English novels, 78 MB, of the public domain", novels.sources)),
        ("digits", Dataset("scikit-learn's 1,797 handwritten digits of 8 x 8")),
        ("mnist", Dataset("70,000 handwritten digits of 28 x 28", lambda: list(MNIST))),
    ),
)


def get(name: str) -> Iterator[Path]:
    """Each file of a data set, downloaded if missing and checked; ``BadInput`` for one that needs none."""
    files = DATASETS.find(name).files()
    if not files:
        raise BadInput(f"{name} is built in: it needs no download")
    yield from map(fetch, files)
