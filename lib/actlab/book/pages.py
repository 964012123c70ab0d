"""Which notebook makes which page, with which parameters: reads ``book/pages.yaml``. Executes nothing."""

from __future__ import annotations

import re
from collections import Counter
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
    """One entry of the file, whose first comment says what each field is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    page: str = Field(pattern=rf"^{FOLDER}/[a-z0-9_-]+$")
    notebook: str = Field(pattern=r"^[a-z0-9_-]+$")
    file: str | None = None
    params: dict[str, Any] = {}
    reads: list[str] = []


@dataclass(frozen=True)
class Page:
    """One page: what is executed with what, and everything else that it reads."""

    name: str
    notebook: Path
    params: dict[str, Any]
    reads: tuple[str, ...]
    root: Path
    from_file: frozenset[str] = frozenset()
    """Names of those parameters that its params file gives."""

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
            for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
                if file.is_file() and not file.name.startswith("."):
                    yield f"{read}/{file.relative_to(place).as_posix()}", file


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
    entries = _read(source, list) if source.exists() else []
    pages = [_page(entry, f"book/pages.yaml, entry {i}", root) for i, entry in enumerate(entries, 1)]
    if twice := sorted(name for name, times in Counter(page.name for page in pages).items() if times > 1):
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


def _page(values: object, where: str, root: Path) -> Page:
    try:
        entry = Entry.model_validate(values)
    except ValidationError as error:
        found = [f"{where}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise BadInput("; ".join(found)) from None
    needed = [f"notebooks/{entry.notebook}.ipynb", *([entry.file] if entry.file else []), *entry.reads]
    for name in needed:
        if Path(name).parts[0] != "results" and not (root / name).exists():
            raise BadInput(f"{where}: there is no {name}")
    from_file = _read(root / entry.file, dict) if entry.file else {}
    params = {key: value for key, value in (from_file | entry.params).items() if key != "kind"}
    return Page(entry.page, root / needed[0], params, tuple(entry.reads), root, frozenset(from_file))


def replaced(text: str, words: dict[str, Any], where: str) -> str:
    """A text with every ``{{word}}`` replaced; a list is joined by commas.

    Raises:
        BadInput: a word that has no value.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in words:
            raise BadInput(f"{where}: {{{{{found[1]}}}}} has no value: known are {', '.join(sorted(words))}")
        given = words[found[1]]
        return ", ".join(map(str, given)) if isinstance(given, list) else str(given)

    return re.sub(r"\{\{\s*(.*?)\s*\}\}", value, text)
