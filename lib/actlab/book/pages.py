"""Which notebook makes which page, with which parameters and from which files (``book/pages.yaml``), and whether a page
is stale. Executes nothing."""

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter, ValidationError, model_validator

import actlab
from actlab import paths
from actlab.errors import BadInput
from actlab.files import read_yaml
from actlab.records import store

FOLDER = "studies"
"""Of the executed notebooks, below ``book/``: ignored by git, and whatever no entry names is removed from it."""
LIBRARY = Path(actlab.__file__).resolve().parents[1]


class Page(BaseModel):
    """One entry of the file, whose first comment says what each field is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(alias="page", pattern=rf"^{FOLDER}/[a-z0-9_-]+$")
    notebook: str = Field(pattern=r"^[a-z0-9_-]+$")
    file: str | None = None
    params: dict[str, Any] = {}
    reads: list[str] = []
    _root: Path = PrivateAttr()

    def model_post_init(self, root: Path) -> None:
        """The repository is the context of the validation."""
        self._root = root

    @model_validator(mode="after")
    def _sources_exist(self) -> Self:
        files = [read for read in self.reads if Path(read).parts[0] != "results"]
        for place in (self.source, *(self._root / name for name in (self.file, *files) if name)):
            if not place.exists():
                raise ValueError(f"there is no {place.relative_to(self._root)}")
        return self

    @property
    def source(self) -> Path:
        """The notebook."""
        return self._root / "notebooks" / f"{self.notebook}.ipynb"

    @property
    def path(self) -> Path:
        """Of the executed notebook."""
        return self._root / "book" / f"{self.name}.ipynb"

    @property
    def values(self) -> dict[str, Any]:
        """The parameters with which the notebook is executed: those of the params file, then the entry's own."""
        found = {**(read_yaml(self._root / self.file) if self.file else {}), **self.params}
        found.pop("kind", None)
        return found

    @property
    def studies(self) -> list[str] | None:
        """The studies that it reads; ``None``: all of them."""
        found = [Path(read).parts for read in self.reads if Path(read).parts[0] == "results"]
        return None if ("results",) in found else [parts[1] for parts in found]

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file below what the page reads, with the name under which it is read; a study without records has
        none. ``ACTLAB_RESULTS`` moves ``results/``."""
        for read in self.reads:
            moved = Path(read).parts[0] == "results"
            place = paths.results() / Path(read).relative_to("results") if moved else self._root / read
            for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
                if file.is_file() and not file.name.startswith("."):
                    yield f"{read}/{file.relative_to(place).as_posix()}", file

    def inputs(self) -> dict[str, str]:
        """Hash of everything that the page depends on, by kind."""
        return {
            "notebook": contents([("", self.source)]),
            "parameters": store.digest(self.values),
            "records": contents(self.files()),
            "software": software(),
        }

    def changed(self) -> list[str]:
        """The kinds of inputs that are not those with which the page was made; empty where it is fresh."""
        try:
            made_from = json.loads(self.path.read_text(encoding="utf-8"))["metadata"]["actlab"]
        except (OSError, ValueError, KeyError):
            made_from = {}
        return [kind for kind, value in self.inputs().items() if made_from.get(kind) != value]


def contents(files: Iterable[tuple[str, Path]]) -> str:
    """sha256 over names and contents."""
    return store.digest([(name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in files])


@cache
def software() -> str:
    """Hash of the packages' files, of Python and of every installed package."""
    sources = sorted(path for path in LIBRARY.glob("actlab*/**/*") if path.is_file() and path.suffix != ".pyc")
    installed = sorted(f"{package.name}=={package.version}" for package in metadata.distributions())
    return store.digest(
        [contents((str(path.relative_to(LIBRARY)), path) for path in sources), platform.python_version(), installed]
    )


def load_pages(root: Path = paths.ROOT) -> list[Page]:
    """The pages that ``book/pages.yaml`` asks for, checked; none where there is no such file.

    Raises:
        BadInput: an entry that cannot be meant so; the message has its number, from 0, and field.
    """
    source = root / "book" / "pages.yaml"
    try:
        pages = TypeAdapter(list[Page]).validate_python(read_yaml(source) if source.exists() else [], context=root)
    except ValidationError as error:
        raise BadInput(f"book/pages.yaml: {error}") from None
    if twice := sorted(name for name, times in Counter(page.name for page in pages).items() if times > 1):
        raise BadInput(f"book/pages.yaml names a page twice: {', '.join(twice)}")
    return pages
