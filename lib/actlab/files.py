"""Atomic writes of files, damaged files set aside, files read up to a limit; text that is safe in a page, tables that
are safe in a spreadsheet."""

import csv
import hashlib
import io
import logging
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from actlab.errors import LIMITS, BadInput, DamagedFile, DiskError, visible

Made = TypeVar("Made")
NOT_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError)  # what PyYAML raises

ASIDE = "set-aside"
"""Folder, beside what is read, of files that can no longer be trusted; nothing reads it, nothing deletes it."""


@contextmanager
def replacing(path: Path, size: int) -> Iterator[Path]:
    """Give a path to write to; when the block ends, its file takes the place of ``path``, after an exception it
    disappears.

    Args:
        path: the file to be; its folder is made.
        size: bytes that are to be written.

    Raises:
        DiskError: the file cannot be written: no space, no permission, no such folder.
    """
    work = path.with_name(f".{path.name}.{platform.node()}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        yield work
        with work.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(work, path)
    except OSError as error:
        raise DiskError(path, size, error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            work.unlink()


@cache
def _sweep(folder: Path) -> None:
    """Remove, before a process writes its first file there, what killed ones left half-written: the working files of
    processes of this machine that are no more."""
    if os.name != "posix":  # elsewhere the signal 0 would end the process that it asks for
        return
    working_file = re.compile(rf"\..+\.{re.escape(platform.node())}\.([0-9]+)", re.DOTALL)
    for name in os.listdir(folder):
        if found := working_file.fullmatch(name):
            try:
                os.kill(int(found[1]), 0)
            except ProcessLookupError:
                (folder / name).unlink(missing_ok=True)
            except (PermissionError, OverflowError):
                continue  # another user's process, or no number of one


def write_text(path: Path, text: str) -> Path:
    """Write a text file atomically, in UTF-8 with \\n line ends."""
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file atomically."""
    with replacing(path, len(content)) as work:
        work.write_bytes(content)
    return path


def escaped(text: object) -> str:
    """Text of a record, a params file or a label, for HTML and Markdown, attributes too: what either takes for markup
    as a numeric entity, which both show as the character. Whatever becomes part of a page goes through here."""
    return re.sub(r"[^\w\s.,;:+%/()=-]|(?<![^\W_])_|_(?![^\W_])", lambda found: f"&#{ord(found[0])};", str(text))


def in_csv(table: Any, **how: Any) -> str:
    """A pandas table as CSV (``how``: as for ``to_csv``) in which no cell is a formula to a spreadsheet."""
    out = io.StringIO(newline="")
    rows = csv.reader(io.StringIO(table.to_csv(**how), newline=""))
    csv.writer(out, lineterminator="\n").writerows(map(_inert, row) for row in rows)
    return out.getvalue()


def _inert(cell: str) -> str:
    """What begins as a formula does, also behind blanks or in full width, gets an apostrophe before it, which
    spreadsheets take for text; a number stays, and what orders a terminal about is spelled out."""
    cell = visible(cell)
    if not re.match(r"(\\x00|\\x0[bcd]|[\s\u200b\ufeff])*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\n]", cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def read_yaml(path: Path) -> Any:
    """The values of a YAML file of ours."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def read_bytes(path: Path, kind: str) -> bytes:
    """A file of a user's, one of the kinds that ``errors.LIMITS`` has; ``BadInput`` where it is larger than they are,
    without reading more of it."""
    if "\0" in str(path):
        raise BadInput(f"{str(path)!r} is no {kind}: a path holds no NUL")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInput(f"{path} is no {kind}: it is not a regular file")  # a pipe would be waited for
    with path.open("rb") as file:
        content = file.read(LIMITS[kind] + 1)
    if len(content) > LIMITS[kind]:
        raise BadInput(f"{path} is no {kind}: it has more than {LIMITS[kind]:,} bytes")
    return content


def contents(files: Iterable[Path], folder: Path) -> list[str]:
    """A line a file: its place, seen from a folder, and the hash of what is in it."""
    return [f"{os.path.relpath(file, folder)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]


def state_of(path: Path) -> os.stat_result:
    """Size and times of a file; ``BadInput`` where it has none: a link that leads nowhere."""
    try:
        return path.stat()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error


def read_text(path: Path, kind: str, encoding: str = "utf-8") -> str:
    """The text of such a file, every line ending in \\n; ``BadInput`` also where it is no UTF-8."""
    try:
        return io.TextIOWrapper(io.BytesIO(read_bytes(path, kind)), encoding).read()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start} is {error.object[error.start]:#04x} ({error.reason})"
        raise BadInput(f"{path} is not a {kind} in UTF-8: {byte}") from None


class _Loader(yaml.CSafeLoader):
    """Refuses a mapping that has a key twice, or `<<`, which merges one that may have its keys, and a number that is
    not what it looks like: to YAML 010 is 8, 1:30 is 90."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if any(key.tag.endswith(":merge") for key, _ in node.value):
            problem = "<< merges mappings: write the values out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        names = [str(key.value) for key, _ in node.value]
        if twice := [name for name in names if names.count(name) > 1]:
            raise yaml.MarkedYAMLError(problem=f"it gives {twice[0]:.40} more than once", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)

    def plain_number(self, node: yaml.ScalarNode) -> float:
        """As it stands there."""
        if re.search(r"^[-+]?0\w|[:_]", node.value):
            problem = f"{node.value:.40} is no plain number: write it without :, _ or a 0 before it"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        whole = node.tag.endswith(":int")
        return super().construct_yaml_int(node) if whole else super().construct_yaml_float(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.plain_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.plain_number)


def parse_yaml(text: str, where: str) -> Any:
    """The values of a user's YAML. Tags are refused, and aliases: a few bytes of them name gigabytes, or
    themselves.

    Raises:
        BadInput: no YAML, an alias, a tag, a key that comes twice, or lists in lists without end.
    """
    try:
        depth = 0
        event: Any
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > LIMITS["depth"]:
                why = "lists are nested too deeply"
            elif isinstance(event, yaml.AliasEvent):
                why = f"*{event.anchor:.40} is an alias"
            elif tag := getattr(event, "tag", None):
                why = f"{tag:.60} is a tag"
            else:
                why = ""
            if why:
                raise yaml.MarkedYAMLError(problem=f"{why}: write the values out", problem_mark=event.start_mark)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # it makes no objects
    except NOT_YAML as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise BadInput(f"{where} is not YAML: {place}{problem}") from None


def set_aside(path: Path) -> Path:
    """Move a file into ``set-aside`` beside it, where nothing reads it; an earlier one of that name stays. Returns its
    new place."""
    folder = path.parent / ASIDE
    folder.mkdir(exist_ok=True)
    place = folder / path.name
    number = 1
    while place.exists():
        number += 1
        place = folder / f"{path.name}.{number}"
    return path.rename(place)


def mending(make: Callable[[], Made]) -> Made:
    """What ``make`` returns; a damaged file that it meets is set aside with a warning, and it is called again."""
    while True:
        try:
            return make()
        except DamagedFile as damage:
            logging.getLogger("actlab").warning(
                "%s; set aside as %s, and made again", damage.fault, set_aside(damage.path)
            )
