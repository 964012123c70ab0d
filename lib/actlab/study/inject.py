"""Checks what papermill injected into a notebook against the parameters that a study declares. Papermill itself only logs a mistake."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from actlab.errors import BadInput, UnknownName
from actlab.study import kinds
from actlab.study.params import Params, StudyParams

WHERE = "the notebook's parameters"
HEADING = "# Parameters"
"""First line of the cell that papermill injects."""

P = TypeVar("P", bound=StudyParams)
Allowed = type | Collection[Any]
"""What an extra parameter may be: of a type, or one of some values."""


def checked(namespace: Mapping[str, Any], cls: type[P] = Params, extra: Mapping[str, Allowed] | None = None) -> P:  # type: ignore[assignment]
    """The study that a notebook's parameters describe; call it in the cell after them: ``params = checked(globals())``.

    Args:
        namespace: the notebook's globals.
        cls: the parameters that the notebook declares; one that the notebook leaves out has its default.
        extra: further parameters of this notebook only, each with its type or its allowed values.

    Raises:
        BadInput: an injected name that is not declared, or a wrong value; the message says what is allowed.
    """
    extra = extra or {}
    for name in injected(namespace):
        if name not in {*cls.model_fields, *extra, "kind"}:
            raise UnknownName("parameter", name, {*cls.model_fields, *extra}, WHERE)
    _check_kind(namespace, cls)
    for name, allowed in extra.items():
        _check_extra(name, namespace.get(name), allowed)
    return cls.parse({name: namespace[name] for name in cls.model_fields if name in namespace}, WHERE)


def injected(namespace: Mapping[str, Any]) -> list[str]:
    """Names that the last injected cell assigned, read from IPython's history; none where papermill injected nothing."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith(HEADING)]
    statements = ast.parse(cells[-1]).body if cells else []
    return [target.id for s in statements if isinstance(s, ast.Assign) for target in s.targets if isinstance(target, ast.Name)]


def _check_kind(namespace: Mapping[str, Any], cls: type[StudyParams]) -> None:
    """A params file given whole (``papermill -f``) may say its kind."""
    kind = namespace.get("kind")
    own = [name for name, row in kinds.KINDS.items() if row.params is cls]
    if kind is not None and kind not in own:
        raise BadInput(f"{WHERE}: kind={kind!r}: this notebook is for {', '.join(own)}")


def _check_extra(name: str, value: object, allowed: Allowed) -> None:
    if isinstance(allowed, type):
        fits = type(value) is allowed
        wanted = allowed.__name__
    else:
        fits = value in allowed
        wanted = f"one of {', '.join(map(repr, allowed))}"
    if not fits:
        raise BadInput(f"{WHERE}: {name}={value!r}: expected {wanted}")
