"""The files of each data set that is downloaded, and `get`, which brings them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from actlab import paths
from actlab.data import novels
from actlab.data.fetch import SHAKESPEARE, Source, fetch, find_dataset
from actlab.data.images import MNIST
from actlab.errors import BadInput

SOURCES: dict[str, Callable[[], list[Source]]] = {
    "shakespeare": lambda: [SHAKESPEARE],
    "novels": novels.sources,
    "mnist": lambda: list(MNIST),
}


def sources_of(name: str) -> list[Source]:
    """The files of a data set; none for an embedded one."""
    return [] if find_dataset(name).embedded else SOURCES[name]()


def present(name: str) -> bool:
    """Whether every file lies in the data folder (checksums are not read)."""
    return all((paths.data() / source.file).exists() for source in sources_of(name))


def get(name: str) -> Iterator[Path]:
    """Each file of a data set, downloaded if missing and checked; ``BadInput`` for one that needs none."""
    if find_dataset(name).embedded:
        raise BadInput(f"{name} is built in: it needs no download")
    yield from map(fetch, sources_of(name))
