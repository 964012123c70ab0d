"""The errors that a user's input can cause, each with what was given, what is allowed and where; the closed tables of
names that raise them."""

import difflib
import reprlib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Row = TypeVar("Row")

_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = 100
brief = _BRIEF.repr
"""A value in a message, cut where it is long."""


class ActlabError(Exception):
    """Base of every error that is the input's fault; the command line and notebooks print it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of a traceback."""
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

    def __init__(self, kind: str, name: object, known: Iterable[object], where: str = "") -> None:
        super().__init__(kind, name, sorted(map(str, known)), where)  # from these another process makes it again

    def __str__(self) -> str:
        kind, name, known, where = self.args
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        place = f" in {where}" if where else ""
        return f"unknown {kind} {brief(name)}{place}: {hint}known are {', '.join(known)}"


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Surround an import of a package that only an extra brings; ``BadInput`` names the extra where it is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadInput(
            f"{what}: {error.name} is not installed; install actlab's extra [{extra}], in a clone: "
            f"pip install '.[{extra}]'"
        ) from None


def check_name(kind: str, name: object, known: Iterable[object], where: str = "") -> None:
    """Raise ``UnknownName`` where a name is none of those that are known."""
    if name not in (listed := [*known]):
        raise UnknownName(kind, name, listed, where)


class Table(ChainMap[str, Row]):
    """Rows by name: the built-in ones, which nothing replaces, then a user's own (``plugins`` registers them);
    ``member``: makes the row of a name that belongs to a family, which no list can hold. Another name raises
    ``UnknownName``, which lists the known ones."""

    def __init__(
        self, kind: str, rows: Iterable[tuple[str, Row]], member: Callable[[str], Row | None] = lambda name: None
    ) -> None:
        listed = list(rows)
        self.kind, self.built_in, self._member = kind, dict(listed), member
        assert len(self.built_in) == len(listed), f"two rows of the table of each {kind} share one name"
        super().__init__({}, self.built_in)  # what is assigned and deleted is in the first

    def __setitem__(self, name: str, row: Row) -> None:
        if name in self.built_in or self._member(name):
            raise BadInput(f"the {self.kind} {name!r} is built in and cannot be replaced: choose another name")
        super().__setitem__(name, row)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (super().__contains__(name) or self._member(name) is not None)

    def __missing__(self, name: str) -> Row:
        if name in self and (row := self._member(name)) is not None:
            return row
        raise UnknownName(self.kind, name, self)


class NotHeld(ActlabError, AssertionError):  # noqa: N818
    """A page, the paper or the README says what the records do not."""


class DataError(ActlabError):
    """A data file that is missing, damaged, or not what its checksum says."""


class RecordError(ActlabError):
    """A record that is damaged, of another shape than is read, or that would overwrite a different result."""


class DamagedFile(DataError, RecordError):  # noqa: N818
    """A file of ours whose content is not what was written: its path, and why."""

    def __str__(self) -> str:
        path, why = self.args
        return f"{path} is damaged ({why}); delete it (`git restore` brings a committed one back) and run again"


class DiskError(ActlabError):
    """A file that cannot be written: its path, its bytes, and why."""

    def __str__(self) -> str:
        path, size, why = self.args
        way_out = "what was finished is kept: make room or choose another folder, and run again"
        return f"cannot write {path} ({size:,} bytes): {why}; {way_out}"
