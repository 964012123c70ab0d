"""What a user's own part is, by which ids and cache keys know it: the hash of its file's syntax tree (of a text: of its
characters). `load.py` reads the files."""

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actlab import metrics
from actlab.activations import ACTIVATIONS
from actlab.data import text as texts
from actlab.errors import BadInput, Table
from actlab.models import MODELS
from actlab.records import store

Parts = tuple[tuple[str, str], ...]
"""(kind, sha256) of the parts that are not built in, sorted."""
TABLES: dict[str, Table[Any]] = {
    "activation": ACTIVATIONS,
    "model": MODELS,
    "dataset": texts.TEXTS,
    "metric": metrics.ROWS,
}
DEFINED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class PluginFile:
    """A plug-in file as it was read: the same text goes to every worker, whatever happens to the file."""

    name: str
    """Its path, as it was given."""
    place: Path
    """Where it lay when it was read."""
    text: str

    @functools.cached_property
    def sha256(self) -> str:
        """Of its syntax tree without docstrings: comments and layout change nothing."""
        return store.digest(_plain(ast.parse(self.text, self.name)))


def _plain(node: Any) -> Any:
    """A syntax tree as lists and texts, the same in every version of Python: without empty fields, which come and
    go."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if name != "kind" and value not in (None, [])}
    if isinstance(node, DEFINED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    return [type(node).__name__, *([name, _plain(value)] for name, value in fields.items())]


@dataclass(frozen=True)
class Part:
    """One of a user's own parts."""

    kind: str
    name: str
    thing: Any
    """The class or function that it was registered with."""
    file: PluginFile
    about: Mapping[str, str]
    """What a reader is told of it: ``label`` and ``note`` of a metric, the ``formula`` of an activation."""


PARTS: dict[tuple[str, str], Part] = {}
"""By (kind, name)."""


def parts_in(place: Path) -> list[Part]:
    """The parts that the plug-in file at a place has registered."""
    return [part for part in PARTS.values() if part.file.place == place]


def plugin_files() -> list[PluginFile]:
    """The plug-in files that are loaded, in their order."""
    return list(dict.fromkeys(part.file for part in PARTS.values()))


def parts_of(**named: str) -> Parts:
    """What is not built in among parts named by their kind, ``activation="mine"``, each with the sha256 of its file (of
    a text: of its characters)."""
    found = {kind: PARTS[kind, name].file.sha256 for kind, name in named.items() if (kind, name) in PARTS}
    found |= {kind: texts.own_sha256(name) for kind, name in named.items() if kind == "dataset"}
    return tuple(sorted((kind, sha256) for kind, sha256 in found.items() if sha256))


def find_part(kind: str, name: str, planned: str = "") -> Any:
    """The table's row of an activation or a model, where its name becomes an object.

    Raises:
        BadInput: it is not the one that was ``planned`` (or recorded): its hash, empty for a built-in one.
    """
    if planned and name not in TABLES[kind]:
        raise BadInput(f"the {kind} {name!r} is not known here: load its plug-in file (--plugin; actlab.load_plugins)")
    if planned != (now := dict(parts_of(**{kind: name})).get(kind, "")):
        before, here = (f"hash {each[:10]}" if each else "built in" for each in (planned, now))
        raise BadInput(f"the {kind} {name!r} is not the one that was planned ({before}), but another ({here})")
    return TABLES[kind].find(name)


def own_metrics(files: Iterable[str]) -> Parts:
    """A user's own metrics for a study that names these plug-in files: (name, sha256)."""
    wanted = {Path(file).expanduser().resolve() for file in files}
    own = [part for part in PARTS.values() if part.kind == "metric" and part.file.place in wanted]
    return tuple(sorted((part.name, part.file.sha256) for part in own))


def said_of(metrics: Parts) -> dict[str, Any]:
    """For a record: ``metrics``, name -> label and note, where there are own ones."""
    found = {name: dict(PARTS["metric", name].about) for name, _ in metrics}
    return {"metrics": found} if found else {}


def sources(parts: Parts) -> dict[str, Any]:
    """For a record's provenance: ``plugins``, file -> sha256, source and formulas, if own parts are used."""
    used = {found for _, found in parts}
    found = {
        file.name: {
            "sha256": file.sha256,
            "source": file.text,
            "formulas": {p.name: p.about["formula"] for p in parts_in(file.place) if p.about.get("formula")},
        }
        for file in plugin_files()
        if file.sha256 in used
    }
    return {"plugins": found} if found else {}
