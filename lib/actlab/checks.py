"""A page's parameters, and its checks: what papermill injected (papermill itself only logs a mistake); ``holds`` and
``agrees`` for typed numbers, and the run of `notebooks/checks/NAME.py` in the page's own kernel. Checks compare the
text with the records, never with what the reader's machine computes."""

import ast
import inspect
import re
import runpy
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from actlab.errors import BadInput, NotHeld, check_name
from actlab.records import store
from actlab.records.labels import EVERY, PAIR_METRICS, words

if TYPE_CHECKING:  # what they import costs seconds that a page which only reads records does not have
    from actlab.study.study import Study

WHERE = "the notebook's parameters"
OF_PAIRS = (*PAIR_METRICS, "churn_win", "churn_loss", "churn_neutral")
"""Metrics that every page of pairs may show."""
HEADING = "# Parameters"
"""First line of the cell that papermill injects."""

P = TypeVar("P", bound="Study")


def checked(namespace: dict[str, Any], cls: type[P] | None = None, extra: Mapping[str, type] | None = None) -> P:
    """Read the study that a notebook's parameters describe, in the cell after them: ``params = checked(globals())``.

    Args:
        namespace: the notebook's globals.
        cls: the parameters that the notebook declares (of language models unless given); one that it leaves out, or
            that is None, has its default.
        extra: further parameters of this notebook only, each with its type.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value; the message says what is allowed.
    """
    if namespace.get("train_missing") is True and namespace.get("workers") != 1:
        from actlab.study.workers.startup import start_fork_server

        start_fork_server()  # it loads its libraries while this process loads its own
    from actlab.plugins import own_metrics
    from actlab.study.character_study import CharacterStudy

    study: type[Any] = cls or CharacterStudy
    extra = extra or {}
    check_types(namespace, extra, [*study.model_fields, "kind"])
    values = {name: value for name in study.model_fields if (value := namespace.get(name)) is not None}
    params: P = study.parse(values, WHERE)
    if "metric" in extra and study is CharacterStudy:  # before anything is trained
        check_name("metric", namespace["metric"], [*OF_PAIRS, *dict(own_metrics(params.plugins))], WHERE)
    return params


def given(namespace: dict[str, Any], metrics: Collection[str] = (), /, **declared: type) -> None:
    """Check the parameters of a notebook that trains nothing: each has its type; a list in words, as
    papermill's ``-p studies '["scale"]'`` gives it, becomes one. A ``metric`` is one of pairs, one that a study among
    the parameters has measured, or one of the page's own ``metrics``.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value.
    """
    check_types(namespace, declared)
    if "metric" in declared and namespace["metric"] not in (known := {*OF_PAIRS, *metrics}):
        for study in {namespace[name] for name, wanted in declared.items() if wanted is str} & {*store.studies()}:
            known |= {metric for record in store.load_study(study) for metric in record.get("metrics", ())}
        check_name("metric", namespace["metric"], known, WHERE)


def check_types(namespace: dict[str, Any], declared: Mapping[str, type], others: Collection[str] = ()) -> None:
    """Raise ``BadInput`` where an injected name is neither declared nor among ``others``, or a declared one has another
    type. From here on the notebook shows its tables ``readable``."""
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
    values = column.dropna()
    whole = column.dtype.kind == "f" and len(values) > 0 and (values % 1 == 0).all()
    return column.astype("Int64") if whole else column


def injected(namespace: Mapping[str, Any]) -> list[str]:
    """List the names that the last injected cell assigned, read from IPython's history; none where papermill injected
    nothing."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith(HEADING)]
    nodes = ast.walk(ast.parse(cells[-1])) if cells else ()
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


START = "check_"
"""Of the name of every function that is a check."""


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
        if name.startswith(START):
            try:
                check(**{parameter: page[parameter] for parameter in inspect.signature(check).parameters})
            except NotHeld as error:
                sentences.append(str(error))
            except Exception as error:  # a table of other records may lack a column, say
                sentences.append(f"{name} raises {type(error).__name__}: {error}")
    return sentences
