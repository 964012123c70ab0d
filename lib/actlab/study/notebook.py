"""Parameters of a notebook: what papermill injected, checked against what a study declares (papermill itself only logs
a mistake)."""

import ast
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.records import store
from actlab.records.labels import EVERY, PAIR_METRICS, words
from actlab.study.workers.startup import start_fork_server

if TYPE_CHECKING:  # what they import costs seconds that a page which only reads records does not have
    from actlab.study.study import Study

WHERE = "the notebook's parameters"
OF_PAIRS = (*PAIR_METRICS, "churn_win", "churn_loss", "churn_neutral")
"""Metrics that every page of pairs may show."""
HEADING = "# Parameters"
"""First line of the cell that papermill injects."""

P = TypeVar("P", bound="Study")


def checked(namespace: dict[str, Any], cls: type[P] | None = None, extra: Mapping[str, type] | None = None) -> P:
    """The study that a notebook's parameters describe; call it in the cell after them: ``params = checked(globals())``.

    Args:
        namespace: the notebook's globals.
        cls: the parameters that the notebook declares (of language models unless given); one that it leaves out, or
            that is None, has its default.
        extra: further parameters of this notebook only, each with its type.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value; the message says what is allowed.
    """
    if namespace.get("train_missing") is True and namespace.get("workers") != 1:
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
    """The same check for a notebook that trains nothing: each of its parameters with its type; a list in words, as
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
    """``BadInput`` where an injected name is neither declared nor among ``others``, or a declared one has another
    type; from here on tables are shown as people read them."""
    from IPython import get_ipython

    if shell := get_ipython():
        formatter = shell.display_formatter.formatters["text/html"]
        formatter.for_type(pd.DataFrame, readable)
        formatter.for_type(pd.Series, lambda column: readable(column.to_frame("" if column.name is None else None)))
    for name in injected(namespace):
        check_name("parameter", name, [*declared, *others], WHERE)
    for name, wanted in declared.items():
        value = namespace.get(name)
        if wanted is list and isinstance(value, str):
            from actlab.study.fields import as_list

            value = namespace[name] = [*as_list(value)]
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise BadInput(f"{WHERE}: {name}={value!r}: expected {wanted.__name__}")


def readable(table: pd.DataFrame) -> str:
    """A table for people: ReLU for ``relu``, p (Holm) for ``p_holm``, 10 for 10.0, and an en dash where no value is."""
    named = table.map(_said).rename(index=_said, columns=_head).rename_axis(index=_head, columns=_head)
    if isinstance(table.index, pd.RangeIndex):  # numbers of rows say nothing
        named.index = pd.Index([""] * len(named))
    html: str = (named.apply(_whole) if len(named) else named)._repr_html_()
    return re.sub("<td>(NaN|None|&lt;NA&gt;)</td>", "<td>–</td>", html)


def _said(value: Any) -> Any:
    """What a level or a metric is called; anything else as it is."""
    if not isinstance(value, str):
        return value
    return EVERY[value].short if value in EVERY else words(value)


def _head(value: Any) -> Any:
    """The same of a column or an axis."""
    return said.replace("_", " ") if isinstance(said := _said(value), str) else said


def _whole(column: pd.Series) -> pd.Series:
    """Floats that are whole numbers, each of them, as integers."""
    values = column.dropna()
    return column.astype("Int64") if column.dtype.kind == "f" and len(values) and (values % 1 == 0).all() else column


def injected(namespace: Mapping[str, Any]) -> list[str]:
    """Names that the last injected cell assigned, read from IPython's history; none where papermill injected
    nothing."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith(HEADING)]
    nodes = ast.walk(ast.parse(cells[-1])) if cells else ()
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
