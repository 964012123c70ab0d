"""Which notebook makes which page: reads ``book/pages.yaml``. Executes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from actlab import paths
from actlab.errors import BadInput

FOLDER = "studies"
"""Of the executed notebooks, below ``book/``: ignored by git, and whatever no entry names is removed from it."""


class Entry(BaseModel):
    """One entry of the file: a notebook, and the parameters with which it makes a page (or one page for each set in
    ``each``)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    page: str = Field(pattern=rf"^{FOLDER}/[a-z0-9_{{}}-]+$", description="the page as the table of contents names it")
    notebook: str = Field(pattern=r"^[a-z0-9_-]+$", description="a notebook's name below notebooks/")
    file: str | None = Field(None, description="a params file whose values come first")
    params: dict[str, Any] = Field(default_factory=dict, description="literals; they override the file's")
    each: list[dict[str, Any]] = Field([{}], min_length=1, description="parameter sets: one page for each")
    reads: list[str] = Field(default_factory=list, description="files or folders that the page depends on")


@dataclass(frozen=True)
class Page:
    """One page: what is executed with what, and everything else that it reads."""

    name: str
    notebook: Path
    params: dict[str, Any]
    reads: tuple[str, ...]
    root: Path

    @property
    def path(self) -> Path:
        """Of the executed notebook."""
        return self.root / "book" / f"{self.name}.ipynb"

    @property
    def studies(self) -> list[str] | None:
        """The studies that it reads; ``None``: all of them."""
        found = [Path(read).parts for read in self.reads if Path(read).parts[0] == "results"]
        return None if ("results",) in found else [parts[1] for parts in found]

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file below what the page reads, with the name under which it is read; a study without records has
        none."""
        for read in self.reads:
            place = located(read, self.root)
            found = sorted(place.rglob("*")) if place.is_dir() else [place]
            yield from (
                (f"{read}/{f.relative_to(place).as_posix()}", f)
                for f in found
                if f.is_file() and not f.name.startswith(".")
            )


def located(read: str, root: Path) -> Path:
    """Where something that a page reads lies; ``ACTLAB_RESULTS`` moves ``results/``."""
    first, *rest = Path(read).parts
    return paths.results().joinpath(*rest) if first == "results" and root == paths.ROOT else root / read


def load_pages(root: Path = paths.ROOT) -> list[Page]:
    """The pages that ``book/pages.yaml`` asks for, checked; none where there is no such file.

    Raises:
        BadInput: an entry that cannot be meant so; the message names its place in the file.
    """
    source = root / "book" / "pages.yaml"
    if not source.exists():
        return []
    entries = _read(source, list)
    pages = [page for i, entry in enumerate(entries) for page in _pages(entry, f"book/pages.yaml, entry {i + 1}", root)]
    names = [page.name for page in pages]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"book/pages.yaml names a page twice: {', '.join(twice)}")
    return pages


def _read(path: Path, shape: type) -> Any:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    if not isinstance(values, shape):
        raise BadInput(f"{path} must hold a {shape.__name__}, found {type(values).__name__}")
    return values


def _pages(values: object, where: str, root: Path) -> Iterator[Page]:
    try:
        entry = Entry.model_validate(values)
    except ValidationError as error:
        raise BadInput(
            "; ".join(f"{where}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        ) from None
    notebook = root / "notebooks" / f"{entry.notebook}.ipynb"
    needed = [
        notebook,
        *([root / entry.file] if entry.file else []),
        *(located(r, root) for r in entry.reads if Path(r).parts[0] != "results"),
    ]
    for path in needed:
        if not path.exists():
            raise BadInput(f"{where}: there is no {path.relative_to(root)}")
    from_file = _read(root / entry.file, dict) if entry.file else {}
    shared = {key: value for key, value in from_file.items() if key != "kind"} | entry.params
    for one in entry.each:
        params = shared | one
        name = replaced(entry.page, params, where)
        if not _is_name(name):
            raise BadInput(f"{where}: {name!r} cannot be a page's name: use a-z, 0-9, _ and -")
        yield Page(name, notebook, params, tuple(entry.reads), root)


def _is_name(name: str) -> bool:
    return name.removeprefix(f"{FOLDER}/").replace("-", "").replace("_", "").isalnum()


def replaced(text: str, words: dict[str, Any], where: str) -> str:
    """A text with every ``{{word}}`` replaced; a list is joined by commas.

    Raises:
        BadInput: a word that has no value.
    """
    parts = text.split("{{")
    done = [parts[0]]
    for part in parts[1:]:
        word, closed, rest = part.partition("}}")
        if not closed or word.strip() not in words:
            raise BadInput(f"{where}: {{{{{word.strip()}}}}} has no value: known are {', '.join(sorted(words))}")
        value = words[word.strip()]
        done += [", ".join(map(str, value)) if isinstance(value, list) else str(value), rest]
    return "".join(done)
