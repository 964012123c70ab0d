"""Which notebook makes which page, with which parameters and from which files (``book/pages.yaml``), and whether a page
is stale. Executes nothing."""

import json
import platform
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter, ValidationError, model_validator

import actlab
from actlab import paths
from actlab.errors import BadInput
from actlab.files import contents, read_yaml
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
    files: list[str] = []
    _root: Path = PrivateAttr()

    def model_post_init(self, root: Path) -> None:
        """The repository is the context of the validation."""
        self._root = root

    @model_validator(mode="after")
    def _sources_exist(self) -> Self:
        named = [self._root / name for name in (self.file, *self.files) if name]
        for place in (self.source, *named):
            if not place.exists():
                raise ValueError(f"there is no {place.relative_to(self._root)}")
        return self

    @property
    def source(self) -> Path:
        """The notebook."""
        return self._root / "notebooks" / f"{self.notebook}.ipynb"

    @property
    def checks(self) -> Path:
        """Of the numbers that the notebook's prose quotes; there may be none."""
        return self.source.parent / "checks" / f"{self.notebook}.py"

    @property
    def path(self) -> Path:
        """Of the executed notebook."""
        return self._root / "book" / f"{self.name}.ipynb"

    @property
    def values(self) -> dict[str, Any]:
        """The parameters with which the notebook is executed: those of the params file, then the entry's own."""
        found = dict(read_yaml(self._root / self.file)) if self.file else {}
        found |= self.params
        found.pop("kind", None)
        return found

    def every_file(self) -> list[Path]:
        """All that the page reads: what lies in its studies' folders, and its files."""
        found: list[Path] = []
        for study in self.reads:
            found += sorted(paths.results().glob(f"{study}/**/[!.]*"))
        found += [self._root / name for name in self.files]
        return [file for file in found if file.is_file()]

    def made_from(self) -> str:
        """One hash of everything that the page depends on: software, notebook, checks, parameters and what it reads."""
        sources = [file for file in (self.source, self.checks) if file.exists()]
        files = [*contents(sources, self._root), *contents(self.every_file(), paths.results())]
        return store.digest([software(), self.values, files])

    def stale(self) -> bool:
        """Whether the page was made from anything else, or not yet."""
        try:
            made_from = json.loads(self.path.read_text(encoding="utf-8"))["metadata"]["made_from"]
        except (OSError, ValueError, KeyError):
            return True
        return bool(made_from != self.made_from())


@cache
def software() -> str:
    """Hash of actlab's files, of Python and of every package that a page can use."""
    sources = sorted(path for path in LIBRARY.glob("actlab*/**/*") if path.is_file() and path.suffix != ".pyc")
    return store.digest([contents(sources, LIBRARY), platform.python_version(), versions(("actlab",))])


EXTRAS = ("book", "data", "explore")
"""Of actlab, which pages are made with; so that no page is stale when JupyterLab joins them."""


def versions(names: Iterable[str]) -> dict[str, str]:
    """Version of each installed package among these and all that they need, in the order of names."""
    found: dict[str, str] = {}
    left = [*names]
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in found:
            continue
        with suppress(metadata.PackageNotFoundError):  # of another system
            package = metadata.distribution(name)
            found[name] = package.version
            for line in package.requires or ():
                extra = re.search(r"extra == ['\"]([\w-]+)", line)
                if extra is None or (name == "actlab" and extra[1] in EXTRAS):
                    left += re.findall(r"^[\w.-]+", line)
    return dict(sorted(found.items()))


def load_pages(root: Path = paths.ROOT) -> list[Page]:
    """The pages that ``book/pages.yaml`` asks for, checked; none where there is no such file.

    Raises:
        BadInput: an entry that cannot be meant so; the message has its number, from 0, and field.
    """
    source = root / "book" / "pages.yaml"
    try:
        entries = read_yaml(source) if source.exists() else []
        pages = TypeAdapter(list[Page]).validate_python(entries, context=root)
    except ValidationError as error:
        raise BadInput(f"book/pages.yaml: {error}") from None
    if twice := sorted(name for name, times in Counter(page.name for page in pages).items() if times > 1):
        raise BadInput(f"book/pages.yaml names a page twice: {', '.join(twice)}")
    return pages
