"""Checks of typed numbers: ``holds`` and ``agrees``, and the run of a page's checks, `notebooks/checks/NAME.py`, in the
page's own kernel. They compare the text with the records, never with what the reader's machine computes."""

import inspect
import runpy
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from actlab.errors import BadInput, NotHeld

START = "check_"
"""Of the name of every function that is a check."""


def holds(fact: object, statement: str) -> None:
    """Nothing where the fact is true; raises where it is not.

    >>> from actlab import holds
    >>> holds(0.0641 < 0.07, "averaging lowers total variation by less than 7 points")

    Args:
        fact: one truth value, of Python, NumPy or pandas; a missing one (NaN, NA, None) does not hold.
        statement: what the page says and rests on it.

    Raises:
        NotHeld: the fact is not true.
        BadInput: no truth value: a Series, say, or a number.
    """
    missing = pd.api.types.is_scalar(fact) and pd.isna(fact)
    if not (missing or pd.api.types.is_bool(fact)):
        raise BadInput(f"expected true or false for {statement!r}, got {type(fact).__name__}: {str(fact)[:80]}")
    if missing or not fact:
        raise NotHeld(f"the records do not hold {statement!r} (found {fact})")


def agrees(found: object, typed: object, statement: str, digits: int | None = None) -> None:
    """Nothing where what is found is what the page says; raises with both where it is not.

    >>> from actlab.checks import agrees
    >>> agrees(0.0641, 0.064, "averaging lowers total variation by 0.064", digits=3)
    >>> agrees(["charlm"], ["charlm"], "the effect grows again in charlm alone")

    Args:
        found: a number, or several (a Series, an array, a list); without ``digits`` anything that can be compared.
        typed: the same as the page has it.
        statement: what the page says of it.
        digits: decimals to which what is found is rounded; -2 rounds to hundreds.

    Raises:
        NotHeld: they differ, or a number is missing.
    """
    if digits is not None:
        numbers, quoted = np.round(np.asarray(found, dtype=float), digits), np.asarray(typed, dtype=float)
        same = numbers.shape == quoted.shape and np.allclose(numbers, quoted, rtol=0, atol=1e-12)  # NaN is not close
        found = numbers.tolist()
    else:
        found = found.tolist() if isinstance(found, pd.Series | pd.Index | np.ndarray) else found
        same = found == typed
    if not same:
        raise NotHeld(f"{statement!r}: the page says {typed}, the records say {found}")


def failures(file: Path | str, page: Mapping[str, object]) -> list[str]:
    """A sentence for each ``check_...`` of a file that does not hold. A check is given the page's variables that its
    parameters name, and one that raises does not hold either."""
    found = []
    for name, check in runpy.run_path(str(file)).items():
        if name.startswith(START):
            try:
                check(**{each: page[each] for each in inspect.signature(check).parameters})
            except NotHeld as error:
                found.append(str(error))
            except Exception as error:  # a table of other records may lack a column, say
                found.append(f"{name} raises {type(error).__name__}: {error}")
    return found
