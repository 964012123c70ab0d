"""Which notebook makes which page, with which parameters and from which files (``book/pages.yaml``), and whether a page
is stale. Executes nothing."""

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import actlab
from actlab import paths
from actlab.files import read_yaml
from actlab.records import store

FOLDER = "studies"
"""Of the executed notebooks, below ``book/``: ignored by git, and whatever no entry names is removed from it."""
LIBRARY = Path(actlab.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Page:
    """One entry of the file, whose first comment says what each field is."""

    root: Path
    page: str
    notebook: str
    file: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def source(self) -> Path:
        """The notebook."""
        return self.root / "notebooks" / f"{self.notebook}.ipynb"

    @property
    def checks(self) -> Path:
        """Of the numbers that the notebook's prose quotes; there may be none."""
        return self.source.parent / "checks" / f"{self.notebook}.py"

    @property
    def path(self) -> Path:
        """Of the executed notebook."""
        return self.root / "book" / f"{self.page}.ipynb"

    @property
    def values(self) -> dict[str, Any]:
        """The parameters with which the notebook is executed: those of the params file, then the entry's own."""
        found = dict(read_yaml(self.root / self.file)) if self.file else {}
        found |= self.params
        found.pop("kind", None)
        return found

    def every_file(self) -> list[Path]:
        """All that the page reads: what lies in its studies' folders, and its files."""
        found: list[Path] = []
        for study in self.reads:
            found += sorted(paths.results().glob(f"{study}/**/[!.]*"))
        found += [self.root / name for name in self.files]
        return [file for file in found if file.is_file()]

    def made_from(self) -> str:
        """One hash of everything that the page depends on: software, notebook, checks, parameters and what it reads."""
        sources = [file for file in (self.source, self.checks) if file.exists()]
        files = [*contents(sources, self.root), *contents(self.every_file(), paths.results())]
        return store.digest([software(), self.values, files])

    def stale(self) -> bool:
        """Whether the page was made from anything else, or not yet."""
        try:
            made_from = json.loads(self.path.read_text(encoding="utf-8"))["metadata"]["made_from"]
        except (OSError, ValueError, KeyError):
            return True
        return bool(made_from != self.made_from())


def contents(files: Iterable[Path], folder: Path) -> list[str]:
    """Return a line a file: its place, seen from a folder, and the hash of what is in it."""
    return [f"{os.path.relpath(file, folder)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]


@cache
def software() -> str:
    """Hash of actlab's files, of Python's version and of the list of packages."""
    sources = [path for path in LIBRARY.glob("actlab*/**/*") if path.is_file() and path.suffix != ".pyc"]
    sources += paths.ROOT.glob("constraints.txt")
    return store.digest([contents(sorted(sources), LIBRARY), platform.python_version()])


def load_pages(root: Path = paths.ROOT) -> list[Page]:
    """The pages that ``book/pages.yaml`` asks for; none where there is no such file."""
    source = root / "book" / "pages.yaml"
    return [Page(root, **entry) for entry in read_yaml(source)] if source.exists() else []
