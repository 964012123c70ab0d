"""Atomic writes of files, texts and YAML of users read with errors that name the place."""

import os
import platform
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Any

import yaml

from actlab.errors import BadInput, DiskError


def write_text(path: Path, text: str) -> Path:
    """Write a text file as ``write_bytes`` does, in UTF-8 with \\n line ends."""
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file beside its place, and move it there when it is whole; its folder is made.

    Raises:
        DiskError: the file cannot be written: no space, no permission, no such folder.
    """
    work = path.with_name(f".{path.name}.{platform.node()}.{os.getpid()}.{get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with work.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(work, path)
    except OSError as error:
        raise DiskError(path, len(content), error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            work.unlink()
    return path


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Read the text of a user's file, every line ending in \\n; ``BadInput`` where it is no UTF-8."""
    try:
        return path.read_text(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a text in UTF-8: {error}") from None


def read_yaml(path: Path) -> Any:
    """Read the values of a YAML file of ours."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


class _Loader(yaml.CSafeLoader):
    """Refuses a mapping that gives one key twice, of which YAML would keep the last without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise yaml.MarkedYAMLError(problem=f"it gives {name} more than once", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, where: str) -> Any:
    """Read the values of a user's YAML.

    Raises:
        BadInput: no YAML, or a key that comes twice.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # it makes no objects
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise BadInput(f"{where} is not YAML: {place}{getattr(error, 'problem', None) or error}") from None
