"""Plug-in files, which hold a user's own activations, models, optimizers, texts and metrics: read, run and, from then
on, known by the hash of the file. Every worker is sent their text; `register.py` has what they call."""

import ast
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from actlab import metrics, paths
from actlab.activations import ACTIVATIONS
from actlab.data import text as texts
from actlab.errors import BadInput, Table, brief
from actlab.files import read_text
from actlab.models import MODELS
from actlab.optimizers import OPTIMIZERS
from actlab.plugins.guard import FILES, guarded

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
    found = {kind: PARTS[kind, name].file.sha256 for kind, name in named.items() if (kind, name) in PARTS}
    if "dataset" in named:
        found["dataset"] = texts.own_sha256(named["dataset"])
    return tuple(sorted((kind, sha256) for kind, sha256 in found.items() if sha256))


def find_part(kind: str, name: str, planned: str = "") -> Any:
    """The table's row of an activation or a model, where its name becomes an object.

    Raises:
        BadInput: it is not the one that was ``planned`` (or recorded): its hash, empty for a built-in one.
    """
    now = dict(parts_of(**{kind: name})).get(kind, "")
    if planned != now:
        before, here = planned[:10] or "none", now[:10] or "none"
        raise BadInput(
            f"the {kind} {name!r} is not the one that was planned (hash {before}), but another (hash {here}): load the "
            "plug-in file that it came from (--plugin; actlab.load_plugins)"
        )
    return TABLES[kind].find(name)


def own_metrics(files: Iterable[str]) -> Parts:
    """A user's own metrics for a study that names these plug-in files: (name, sha256)."""
    places = {paths.located(file) for file in files}
    own = [part for part in PARTS.values() if part.kind == "metric" and part.file.place in places]
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
            execute(PluginFile(name, place, read_text(place)))
        except OSError as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered."""
    if file in plugin_files():
        return
    _forget(file.place)
    module = ModuleType(f"actlab_plugin_{file.sha256}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    FILES.add(file.name)
    RUNNING.append(file)
    try:
        with guarded(f"the plug-in {file.name}"):
            tree = ast.parse(file.text, file.name)
            _check_imports(file, tree)
            exec(compile(tree, file.name, "exec"), module.__dict__)  # noqa: S102  # the user's own file
            _check_imports(file, tree)  # it may have made its own folder one of those that Python looks into
            if not parts_in(file.place):
                raise BadInput(
                    f"the plug-in {file.name} registers nothing: it may call actlab.register_activation, _model, "
                    "_optimizer, _text or _metric"
                )
    except BaseException:
        _forget(file.place)
        raise
    finally:
        RUNNING.pop()


def _forget(place: Path) -> None:
    for part in parts_in(place):
        del PARTS[part.kind, part.name], TABLES[part.kind][part.name]


def _check_imports(file: PluginFile, tree: ast.Module) -> None:
    """A plug-in imports packages only: its hash could not see a change of another file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        else:
            continue
        if own := [*filter(_of_the_user, names)]:
            raise BadInput(
                f"plug-in {file.name}: line {node.lineno} imports {own[0]}, a file that no hash follows: put all into "
                "one file"
            )


def _of_the_user(module: str) -> bool:
    """Whether a module is there, and not of Python, actlab or an installed package, whose versions are in every
    record."""
    root = module.partition(".")[0]
    if not root:  # of `from . import mine`
        return True
    if root == "actlab" or root in sys.stdlib_module_names:
        return False
    spec = find_spec(root)
    if spec is None:
        return False
    places = f"{spec.origin} {spec.submodule_search_locations}"
    return "site-packages" not in places and "dist-packages" not in places
