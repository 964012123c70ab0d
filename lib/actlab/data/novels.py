"""The 100 English novels (computationalstylistics/100_english_novels, version 1.4): which files, and their text."""

from pathlib import Path

from actlab.data.fetch import Source, fetch

_URL = "https://raw.githubusercontent.com/computationalstylistics/100_english_novels/master/corpus/"


def sources() -> list[Source]:
    """One source a novel, in the order of their file names (author, title, year)."""
    lines = Path(__file__).with_name("novels.sha256").read_text().splitlines()
    pairs = sorted((name, digest) for digest, name in (line.split() for line in lines))
    return [Source("novels", f"english-novels/corpus/{name}", _URL + name, digest, 0) for name, digest in pairs]


def read(source: Source) -> str:
    """One novel, without byte-order mark, with \\n line ends."""
    return fetch(source).read_text(encoding="utf-8-sig").replace("\r\n", "\n")


def read_all() -> str:
    """All novels, one after another."""
    return "\n".join(read(source) for source in sources())
