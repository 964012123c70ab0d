"""The errors that a user's input can cause: each says what was given, what is allowed, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ActlabError(Exception):
    """Base of every error that is the input's fault; the command line prints it without a traceback."""


class BadInput(ActlabError, ValueError):  # noqa: N818  # reads as what it says, and users catch it by this name
    """A value that cannot be used."""


class UnknownName(BadInput):
    """A name that no table knows; the message lists the known ones.

    >>> raise UnknownName("activation", "rleu", ["relu", "gelu"], "params/repro-lite.yaml")
    Traceback (most recent call last):
    actlab.errors.UnknownName: unknown activation 'rleu' in params/repro-lite.yaml: did you mean 'relu'? known are gelu, relu
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        names = sorted(known)
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        place = f" in {where}" if where else ""
        super().__init__(f"unknown {kind} {name!r}{place}: {hint}known are {', '.join(names)}")
        self._given = (kind, name, names, where)

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, object, list[str], str]]:
        return UnknownName, self._given  # so that it survives the way home from another process


class DataError(ActlabError):
    """A data file that is missing, damaged, or not what its checksum says."""


class RecordError(ActlabError):
    """A record that is damaged, or that would overwrite a different result."""
