"""A page's parameters, and its checks: what papermill injected (papermill itself only logs a mistake); ``holds`` and
``agrees`` for typed numbers, and the run of `notebooks/checks/NAME.py` in the page's own kernel. Checks compare the
text with the records, never with what the reader's machine computes."""

import inspect
import re
import runpy
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from actlab.errors import BadInput, NotHeld, check_name
from actlab.records.labels import EVERY, words

if TYPE_CHECKING:  # what they import costs seconds that a page which only reads records does not have
    from actlab.study.study import Study

WHERE = "the notebook's parameters"

P = TypeVar("P", bound="Study")


def checked(namespace: dict[str, Any], cls: type[P], /, **extra: type) -> P:
    """Read the study that a notebook's parameters describe, in the cell after them:
    ``params = checked(globals(), CharacterStudy)``.

    Args:
        namespace: the notebook's globals.
        cls: the parameters that the notebook declares; one that it leaves out, or that is None, has its default.
        extra: further parameters of this notebook only, each with its type.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value; the message says what is allowed.
    """
    given(namespace, [*cls.model_fields, "kind"], **extra)
    values = {name: value for name in cls.model_fields if (value := namespace.get(name)) is not None}
    return cls.parse(values, WHERE)


def given(namespace: dict[str, Any], others: Collection[str] = (), /, **declared: type) -> None:
    """Check the parameters of a notebook: each that is declared here has its type, and papermill injected no other
    (but ``others``, checked elsewhere). A list in words, as ``-p studies '["scale"]'`` gives it, becomes one. From here
    on the notebook shows its tables ``readable``.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value.
    """
    show_tables_readable()
    for name in injected(namespace):
        check_name("parameter", name, [*declared, *others], WHERE)
    for name, wanted in declared.items():
        value = namespace.get(name)
        if wanted is list and isinstance(value, str):
            from actlab.study.fields import as_list

            value = namespace[name] = [*as_list(value)]
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise BadInput(f"{WHERE}: {name}={value!r}: expected {wanted.__name__}")


def show_tables_readable() -> None:
    """Let a notebook show each table as ``readable`` writes it; nothing happens outside of a notebook."""
    from IPython import get_ipython

    if shell := get_ipython():
        formatter = shell.display_formatter.formatters["text/html"]
        formatter.for_type(pd.DataFrame, readable)
        formatter.for_type(pd.Series, lambda column: readable(column.to_frame(column.name or "")))


def readable(table: pd.DataFrame) -> str:
    """Write a table for people: ReLU for ``relu``, p (Holm) for ``p_holm``, 10 for 10.0, an en dash for no value."""
    named = table.map(_in_words).rename(index=_in_words, columns=_title).rename_axis(index=_title, columns=_title)
    if isinstance(table.index, pd.RangeIndex):  # numbers of rows say nothing
        named.index = pd.Index([""] * len(named))
    html: str = (named.apply(_without_decimals) if len(named) else named)._repr_html_()
    return re.sub("<td>(NaN|None|&lt;NA&gt;)</td>", "<td>–</td>", html)


def _in_words(value: Any) -> Any:
    """Return what a level or a metric is called, and a whole number without decimals; anything else as it is."""
    if not isinstance(value, str):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    return EVERY[value].short if value in EVERY else words(value)


def _title(value: Any) -> Any:
    """Return what a column or an axis is called."""
    name = _in_words(value)
    return name.replace("_", " ") if isinstance(name, str) else name


def _without_decimals(column: pd.Series) -> pd.Series:
    """Return a column of floats that are all whole numbers as integers, and any other as it is."""
    whole = column.dtype.kind == "f" and column.notna().any() and (column.dropna() % 1 == 0).all()
    return column.astype("Int64") if whole else column


def injected(namespace: Mapping[str, Any]) -> list[str]:
    """List the names that the last injected cell assigned, one a line, read from IPython's history; none where
    papermill injected nothing."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith("# Parameters")]
    return re.findall(r"^(\w+) = ", cells[-1], re.MULTILINE) if cells else []


def holds(fact: object, statement: str) -> None:
    """Raise where a fact is not true.

    >>> from actlab import holds
    >>> holds(0.0641 < 0.07, "averaging lowers total variation by less than 7 points")

    Args:
        fact: one truth value, of Python, NumPy or pandas; anything else, a missing one too, does not hold.
        statement: what the page says and rests on it.

    Raises:
        NotHeld: the fact is not true.
    """
    if not (pd.api.types.is_bool(fact) and fact):
        raise NotHeld(f"the records do not hold {statement!r} (found {str(fact)[:80]})")


def agrees(found: object, typed: object, statement: str, digits: int | None = None) -> None:
    """Raise where the page says another value than was found, with both.

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
    """Write a sentence for each ``check_...`` of a file that does not hold. A check is given the page's variables that
    its parameters name, and one that raises does not hold either."""
    sentences = []
    for name, check in runpy.run_path(str(file)).items():
        if name.startswith("check_"):
            try:
                check(**{parameter: page[parameter] for parameter in inspect.signature(check).parameters})
            except NotHeld as error:
                sentences.append(str(error))
            except Exception as error:  # a table of other records may lack a column, say
                sentences.append(f"{name} raises {type(error).__name__}: {error}")
    return sentences
