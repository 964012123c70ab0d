"""Plug-in files, which hold a user's own activations, models, optimizers, texts and metrics: read, run and, from then
on, known by the hash of the file. Every worker is sent their text; `register.py` has what they call."""

import ast
import hashlib
import linecache
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from actlab import metrics, paths
from actlab.activations import ACTIVATIONS
from actlab.data import text as texts
from actlab.errors import ActlabError, BadInput, Table, brief
from actlab.files import read_text
from actlab.models import MODELS
from actlab.optimizers import OPTIMIZERS
from actlab.plugins.guard import FILES, guarded, line_in_plugin, said

Parts = tuple[tuple[str, str], ...]
"""(kind, sha256) of the parts that are not built in, sorted."""
TABLES: dict[str, Table[Any]] = {
    "activation": ACTIVATIONS,
    "model": MODELS,
    "dataset": texts.TEXTS,
    "metric": metrics.ROWS,
    "optimizer": OPTIMIZERS,
}


@dataclass(frozen=True)
class PluginFile:
    """A plug-in file as it was read: the same text goes to every worker, whatever happens to the file."""

    name: str
    """Its path, as it was given."""
    place: Path
    """Where it lay when it was read."""
    text: str

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Part:
    """One of a user's own parts."""

    kind: str
    name: str
    file: PluginFile
    label: str = ""
    note: str = ""
    formula: str = ""


PARTS: dict[tuple[str, str], Part] = {}
"""By (kind, name)."""
RUNNING: list[PluginFile] = []
"""The plug-in file that is being run, if one is."""


# What a study asks.


def parts_in(place: Path) -> list[Part]:
    """The parts that the plug-in file at a place has registered."""
    return [part for part in PARTS.values() if part.file.place == place]


def plugin_files() -> list[PluginFile]:
    """The plug-in files that are loaded, in their order."""
    return list(dict.fromkeys(part.file for part in PARTS.values()))


def parts_of(**named: str) -> Parts:
    """What is not built in among parts named by their kind, ``activation="mine"``, each with the sha256 of its file (of
    a text: of its characters)."""
    found = {}
    for kind, name in named.items():
        if kind == "dataset":
            found[kind] = texts.own_sha256(name)
        elif part := PARTS.get((kind, name)):
            found[kind] = part.file.sha256
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
    wanted = {paths.located(file) for file in files}
    own = [part for part in PARTS.values() if part.kind == "metric" and part.file.place in wanted]
    return tuple(sorted((part.name, part.file.sha256) for part in own))


def said_of(own: Parts) -> dict[str, Any]:
    """For a record: ``metrics``, name -> label and note, where there are own ones."""
    parts = [PARTS["metric", name] for name, _ in own]
    return {"metrics": {part.name: {"label": part.label, "note": part.note} for part in parts}} if parts else {}


def sources(parts: Parts) -> dict[str, Any]:
    """For a record's provenance: ``plugins``, file -> sha256, source and formulas, if own parts are used."""
    used, found = {sha256 for _, sha256 in parts}, {}
    for file in plugin_files():
        if file.sha256 in used:
            formulas = {part.name: part.formula for part in parts_in(file.place) if part.formula}
            found[file.name] = {"sha256": file.sha256, "source": file.text, "formulas": formulas}
    return {"plugins": found} if found else {}


# Files are read and run.


def load_plugins(files: Iterable[str]) -> None:
    """Read plug-in files and register their parts; a file that is loaded with this content already is left alone.

    Raises:
        BadInput: a file that cannot be read or run, imports a file of the user's, changes a setting of all PyTorch, or
            registers nothing.
    """
    if not isinstance(files, Iterable):
        raise BadInput(f"expected plug-in files, got {brief(files)}")
    for name in [files] if isinstance(files, str) else files:
        try:
            place = paths.located(name)
            execute(PluginFile(name, place, read_text(place, "plug-in")))
        except OSError as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered."""
    if file in plugin_files():
        return
    _forget(file)
    module = ModuleType(f"actlab_plugin_{file.place.stem}_{hashlib.sha256(bytes(file.place)).hexdigest()[:8]}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    linecache.cache[file.name] = len(file.text), None, file.text.splitlines(keepends=True), file.name  # for inspect
    FILES.add(file.name)
    RUNNING.append(file)
    try:
        with guarded(f"the plug-in {file.name}"):
            _run(file, module)
    except BaseException:
        _forget(file)
        raise
    finally:
        RUNNING.pop()
    if not parts_in(file.place):
        kinds = ("activation", "model", "optimizer", "text", "metric")
        allowed = ", ".join(f"actlab.register_{kind}" for kind in kinds)
        raise BadInput(f"the plug-in {file.name} registers nothing: it may call {allowed}")


def _run(file: PluginFile, module: ModuleType) -> None:
    """Execute its text; ``BadInput`` names the line that raised."""
    try:
        _check_imports(tree := ast.parse(file.text, file.name))
        exec(compile(tree, file.name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # the user's own file
    except KeyboardInterrupt:
        raise
    except ActlabError as error:
        raise BadInput(f"plug-in {file.name}: {error}") from None
    except BaseException as error:  # whatever a plug-in raises, it is refused in one sentence
        place = line_in_plugin(error) or f"plug-in {file.name}, line {getattr(error, 'lineno', None) or '?'}"
        raise BadInput(f"{place}: {said(error)}") from error


def _forget(file: PluginFile) -> None:
    for part in parts_in(file.place):
        del PARTS[part.kind, part.name], TABLES[part.kind][part.name]


def _check_imports(tree: ast.Module) -> None:
    """A plug-in imports packages only: its hash could not see a change of another file."""
    imports: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.lineno, "." * node.level + (node.module or "")))
    for line, name in imports:
        if _of_the_user(name):
            raise BadInput(f"line {line} imports {name}, a file that no hash follows: put all into one file")


def _of_the_user(module: str) -> bool:
    """Whether a module is there, and not of Python, actlab or an installed package, whose versions are in every
    record."""
    root = module.split(".")[0]
    if not root:  # of `from . import mine`
        return True
    with suppress(ValueError, ImportError):
        if root not in sys.stdlib_module_names | {"actlab"} and (spec := find_spec(root)):
            places = [spec.origin or "", *(spec.submodule_search_locations or [])]
            return not any({"site-packages", "dist-packages"} & set(Path(place).parts) for place in places)
    return False
