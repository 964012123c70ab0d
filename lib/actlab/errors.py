"""The errors that a user's input can cause, each with what was given, what is allowed and where; the limits of what is
read; the closed tables of names that raise them."""

import difflib
import math
import re
import reprlib
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

Row = TypeVar("Row")


LIMITS = {
    "params file": 100_000,
    "plug-in": 1_000_000,
    "record": 100_000_000,
    "text": 100_000_000,
    "message": 800,
    "iterations": 10_000_000,
    "batch": 100_000,
    "windows": 100_000,
    "drawn": 200_000_000,
    "hidden": 10_000,
    "epochs": 10_000,
    "arms": 10_000,
    "trials": 1000,
    "seed": 2**31 - 1,
    "depth": 30,
    "written": 100_000,
    "number": 2**63 - 1,
}
"""The most that is read, said or planned: bytes of files, characters of a message, numbers of a params file (``drawn``:
windows of a trial; ``depth``: of lists in lists), characters that a model writes,
a whole number of a record. Each is far above what a study needs and far below what a machine lacks."""


BRIEF = reprlib.Repr()
BRIEF.maxstring = BRIEF.maxother = 100


def brief(value: object) -> str:
    """A value in a message, in part: a few letters can name gigabytes."""
    try:
        return BRIEF.repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a number of thousands of digits"


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, or what turns the direction of text; a tab and the end of a line are text."""


def visible(text: str) -> str:
    """The same with every control character as it is written in Python: what a record, a params file or a plug-in
    says goes through here before a terminal or a file that is read in one shows it."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


class ActlabError(Exception):
    """Base of every error that is the input's fault; the command line and notebooks print it without a traceback."""

    longest = LIMITS["message"]
    """Characters; of a longer message the middle is left out."""

    def __str__(self) -> str:
        text, end = visible(self.message()), self.longest // 3
        return text if len(text) <= self.longest else f"{text[: 2 * end]} [...] {text[-end:]}"

    def message(self) -> str:
        """The whole message."""
        return super().__str__()

    def _render_traceback_(self) -> list[str]:
        """IPython asks for it."""
        return [f"{type(self).__name__}: {self}"]


class BadInput(ActlabError, ValueError):  # noqa: N818  # reads as what it says, and users catch it by this name
    """A value that cannot be used."""


class UnknownName(BadInput):
    """A name that no table knows; the message lists the known ones.

    >>> from actlab.errors import UnknownName
    >>> raise UnknownName("activation", "rleu", ["relu", "gelu"], "mine.yaml")
    Traceback (most recent call last):
        ...
    actlab.errors.UnknownName: unknown activation 'rleu' in mine.yaml: did you mean 'relu'? known are gelu, relu
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        super().__init__(kind, name, sorted(known), where)  # with these it comes home from another process

    def message(self) -> str:  # noqa: D102
        kind, name, known, where = self.args
        close = difflib.get_close_matches(name[:100], known, n=1) if isinstance(name, str) else []
        hint = f"did you mean {close[0]!r}? " if close else ""
        place = f" in {where}" if where else ""
        return f"unknown {kind} {brief(name)}{place}: {hint}known are {', '.join(known)}"


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Around an import of a package that only an extra brings; ``BadInput`` names the extra where it is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadInput(f"{what}: {error.name} is not installed: pip install 'actlab[{extra}]'") from None


def check_name(kind: str, name: object, known: Iterable[object], where: str = "") -> None:
    """``UnknownName`` where a name is none of those that are known."""
    listed = [*known]
    try:
        found = name in {*listed}
    except TypeError:  # a list, an array, a table: nothing that names anything
        found = False
    if not found:
        raise UnknownName(kind, name, map(str, listed), where)


def check_number(
    what: str,
    value: Any,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = sys.float_info.max,
    whole: bool = False,
) -> None:
    """``BadInput`` with ``what`` was expected, where a value is no number, or none from ``least`` or ``above`` another
    to ``most``, or not ``whole`` where it has to be."""
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not (number and above < value and least <= value <= most):
        raise BadInput(f"expected {what}, got {brief(value)}")


class Table(ChainMap[str, Row]):
    """Rows by name: the built-in ones, which nothing replaces, then a user's own (``plugins`` registers them);
    ``member``: makes the row of a name that belongs to a family, which no list can hold."""

    def __init__(
        self, kind: str, rows: Iterable[tuple[str, Row]], member: Callable[[str], Row | None] = lambda name: None
    ) -> None:
        listed = list(rows)
        self.kind, self._built_in, self._member = kind, dict(listed), member
        if len(self._built_in) != len(listed):
            raise RuntimeError(f"two rows of the table of each {kind} share one name")
        super().__init__({}, self._built_in)  # what is assigned and deleted is in the first

    def __setitem__(self, name: str, row: Row) -> None:
        if name in self._built_in or self._member(name):
            raise BadInput(f"the {self.kind} {name!r} is built in and cannot be replaced: choose another name")
        super().__setitem__(name, row)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (super().__contains__(name) or self._member(name) is not None)

    def __missing__(self, name: str) -> Row:
        if (row := self._member(name)) is None:
            raise KeyError(name)
        return row

    @property
    def built_in(self) -> tuple[str, ...]:
        """Names of the rows that are not a user's own."""
        return tuple(self._built_in)

    def find(self, name: str, where: str = "") -> Row:
        """The row of that name; ``UnknownName`` lists the known ones."""
        if name not in self:
            raise UnknownName(self.kind, name, self, where)
        return self[name]


class NotHeld(ActlabError, AssertionError):  # noqa: N818
    """What a page, the paper or the README says and the records do not."""

    longest = 20_000


class DataError(ActlabError):
    """A data file that is missing, damaged, or not what its checksum says."""


class RecordError(ActlabError):
    """A record that is damaged, of another shape than is read, or that would overwrite a different result."""


class DamagedFile(DataError):  # noqa: N818
    """A file of ours whose content is not what was written."""

    way_out = "delete it and run again"

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(path, str(why))
        self.path = path

    @property
    def fault(self) -> str:
        """Which file, and what is wrong with it."""
        return f"{self.path} is damaged ({self.args[1]})"

    def message(self) -> str:  # noqa: D102
        return f"{self.fault}; {self.way_out}"


class DamagedRecord(DamagedFile, RecordError):  # noqa: N818
    """A record that was cut, or changed after it was written."""

    way_out = "`actlab run --redo-damaged` sets a study's damaged records aside and trains their arms again"


class DiskError(ActlabError):
    """A file that cannot be written: its path, its bytes, and why."""

    def message(self) -> str:  # noqa: D102
        path, size, why = self.args
        way_out = "what was finished is kept: make room or choose another folder, and run again"
        return f"cannot write {path} ({size:,} bytes): {why}; {way_out}"
