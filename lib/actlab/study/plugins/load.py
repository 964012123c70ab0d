"""Plug-in files, which hold a user's own parts: read, run and, from then on, known; every worker is sent their text."""

import ast
import linecache
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from zlib import crc32

from actlab.errors import ActlabError, BadInput
from actlab.files import read_text
from actlab.study.plugins.identity import PARTS, TABLES, PluginFile, parts_in, plugin_files

RUNNING: list[PluginFile] = []
"""The plug-in file that is being run, if one is."""


def load_plugins(files: Iterable[str]) -> None:
    """Read plug-in files and register their parts; a file that is loaded with this content already is left alone.

    Raises:
        BadInput: a file that cannot be read or run, imports a file of the user's, or registers nothing.
    """
    for name in files:
        try:
            place = Path(name).expanduser().resolve()
            execute(PluginFile(name, place, read_text(place, "plug-in")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered."""
    if file in plugin_files():
        return
    _forget(file)
    module = ModuleType(f"actlab_plugin_{file.place.stem}_{crc32(bytes(file.place)):08x}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    linecache.cache[file.name] = len(file.text), None, file.text.splitlines(keepends=True), file.name  # for inspect
    RUNNING.append(file)
    try:
        code = compile(_checked(file), file.name, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102  # the user's own file
    except (Exception, SystemExit) as error:
        _forget(file)
        if isinstance(error, ActlabError):
            raise BadInput(f"plug-in {file.name}: {error}") from None
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file.name]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise BadInput(f"plug-in {file.name}, line {line or '?'}: {type(error).__name__}: {error}") from error
    finally:
        RUNNING.pop()
    if not parts_in(file.place):
        allowed = ", ".join(f"actlab.register_{kind}" for kind in ("activation", "model", "text", "metric"))
        raise BadInput(f"the plug-in {file.name} registers nothing: it may call {allowed}")


def _forget(file: PluginFile) -> None:
    for part in parts_in(file.place):
        del PARTS[part.kind, part.name], TABLES[part.kind][part.name]


def _checked(file: PluginFile) -> ast.Module:
    """The file's statements; it may import packages only, since its hash could not see a change of another file."""
    tree = ast.parse(file.text, file.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            relative = isinstance(node, ast.ImportFrom) and node.level
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for name in names:
                if relative or _of_the_user(name):
                    raise BadInput(
                        f"line {node.lineno} imports {name}, a file that no hash follows: put all into one file"
                    )
    return tree


def _of_the_user(module: str) -> bool:
    """Whether a module is there, and not of Python, actlab or an installed package, whose versions are in every
    record."""
    root = module.split(".")[0]
    with suppress(ValueError, ImportError):
        if root not in sys.stdlib_module_names | {"actlab"} and (spec := find_spec(root)):
            places = [spec.origin or "", *(spec.submodule_search_locations or [])]
            return not any({"site-packages", "dist-packages"} & set(Path(place).parts) for place in places)
    return False
