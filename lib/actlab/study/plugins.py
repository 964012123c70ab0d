"""Plug-in files: a user's own parts from a Python file, in this process and in every worker, which is sent its text."""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from actlab.errors import ActlabError, BadInput
from actlab.study.own_parts import PARTS, RUNNING, TABLES, PluginFile, parts_in
from actlab.study.source_hash import from_package

FILES: dict[Path, PluginFile] = {}
"""The plug-in files that are loaded, by their place."""


def load(files: Iterable[str]) -> None:
    """Read plug-in files and register their parts; a file that is loaded with this content already is left alone.

    Raises:
        BadInput: a file that cannot be read or run, imports a file of the user's, or registers nothing.
    """
    for name in files:
        try:
            place = Path(name).expanduser().resolve()
            execute(PluginFile(name, place, place.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered."""
    if FILES.get(file.place) == file:
        return
    for part in parts_in(file.place):
        del PARTS[part.kind, part.name]
        TABLES[part.kind].remove(part.name)
    FILES.pop(file.place, None)
    module = ModuleType(f"actlab_plugin_{file.place.stem}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    linecache.cache[file.name] = len(file.text), None, file.text.splitlines(keepends=True), file.name  # for inspect
    with _running(file):
        code = compile(_checked(file), file.name, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102  # the user's own file
    if not parts_in(file.place):
        allowed = ", ".join(f"actlab.register_{kind}" for kind in ("activation", "model", "text", "metric"))
        raise BadInput(f"the plug-in {file.name} registers nothing: it may call {allowed}")
    FILES[file.place] = file


@contextmanager
def _running(file: PluginFile) -> Iterator[None]:
    RUNNING.append(file)
    try:
        yield
    except ActlabError as error:
        raise BadInput(f"plug-in {file.name}: {error}") from None
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file.name]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise BadInput(f"plug-in {file.name}, line {line or '?'}: {type(error).__name__}: {error}") from error
    finally:
        RUNNING.pop()


def _checked(file: PluginFile) -> ast.Module:
    """The file's statements; it may import packages only, since its hash could not see a change of another file."""
    tree = ast.parse(file.text, file.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            relative = isinstance(node, ast.ImportFrom) and node.level
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for name in names:
                if relative or from_package(name) is False:
                    raise BadInput(
                        f"line {node.lineno} imports {name}, a file that no hash follows: put all into one file"
                    )
    return tree
