"""What holds typed prose to the records: ``holds(fact, statement)`` in a folded cell below it."""

import linecache
import runpy
import sys
from functools import cache
from typing import Any

import pandas as pd

from actlab import paths
from actlab.errors import BadInput, NotHeld


@cache
def script(name: str) -> dict[str, Any]:
    """What a script of the repository leaves: `book/front.py` holds the front page."""
    return runpy.run_path(str(paths.ROOT / name))


def holds(fact: object, statement: str) -> None:
    """Nothing where the fact is true; stops the build where it is not, with the statement and the line that checks it.

    >>> holds(abs(0.0641 - 0.064) < 5e-4, "averaging lowers total variation by 0.064")

    Args:
        fact: one truth value, of Python, NumPy or pandas; a missing one (NaN, NA, None) does not hold.
        statement: the sentence or part of one that rests on it, as typed.

    Raises:
        NotHeld: the fact is not true.
        BadInput: no truth value: a Series, say, or a number.
    """
    missing = pd.api.types.is_scalar(fact) and pd.isna(fact)
    if not (missing or pd.api.types.is_bool(fact)):
        raise BadInput(f"expected true or false for {statement!r}, got {type(fact).__name__}: {str(fact)[:80]}")
    if missing or not fact:
        caller = sys._getframe(1)
        line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip()
        raise NotHeld(f"the records do not hold {statement!r} (found {fact})" + (f": {line}" if line else ""))
