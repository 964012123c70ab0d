"""Identity of a user's own function or class: one hash of its source and of all that it refers to (helpers, values).

A name is no identity: results that are filed under a name come back for another function of that name.
What comes from an installed package counts by its name, since versions are in every record.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from actlab.errors import BadInput
from actlab.records import store

WAY_OUT = "write it into a file and name that in `plugins` (or with --plugin)"
PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), range, torch.dtype, torch.device)
HIDDEN = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__"}
HIDDEN |= {"__static_attributes__", "_abc_impl", "__abstractmethods__", "__parameters__"}
"""Of a class: what says nothing about what it computes."""


def fingerprint(thing: Any, what: str) -> str:
    """sha256 of the sources and values that ``thing`` is made of.

    Args:
        thing: a function or a class.
        what: names it in messages, ``the activation 'mine'``.

    Raises:
        BadInput: a source that cannot be read (typed at a prompt, made by ``exec``), or a reference to an object whose
            content cannot be hashed.
    """
    found: list[str] = []
    _visit(thing, what, found, set())
    return store.digest(found)


def from_package(module: str) -> bool | None:
    """Whether a module belongs to Python, to actlab or to an installed package, whose versions are in every record;
    ``None`` where it is not found."""
    root = module.split(".")[0]
    if root in sys.stdlib_module_names | {"builtins", "actlab"}:
        return True
    try:
        spec = find_spec(root)
    except (ValueError, ImportError):
        spec = None
    places = [spec.origin or "", *(spec.submodule_search_locations or [])] if spec else []
    inside = any({"site-packages", "dist-packages"} & set(Path(place).parts) for place in places)
    return inside if spec else None


def _visit(thing: Any, what: str, found: list[str], seen: set[int]) -> None:
    if isinstance(thing, PLAIN):
        found.append(repr(thing))
    elif id(thing) in seen:
        found.append("again")
    else:
        seen.add(id(thing))
        for said, inner in _parts(thing, what):
            found.append(said)
            if inner is not thing:
                _visit(inner, what, found, seen)


def _parts(thing: Any, what: str) -> Iterator[tuple[str, Any]]:
    """(words, what they refer to), one after another; the thing itself where there is nothing more to look into."""
    if isinstance(thing, ModuleType):
        yield f"module {thing.__name__}", thing
    elif isinstance(thing, functools.partial):
        yield from (("partial", each) for each in (thing.func, thing.args, thing.keywords))
    elif isinstance(thing, staticmethod | classmethod | MethodType):
        yield "method", thing.__func__
    elif isinstance(thing, property):
        yield from (("property", each) for each in (thing.fget, thing.fset))
    elif isinstance(thing, FunctionType | type | BuiltinFunctionType) or hasattr(thing, "__name__"):
        yield from _code(thing, what)
    elif isinstance(thing, tuple | list | set | frozenset):
        yield f"{type(thing).__name__} of {len(thing)}", thing
        yield from (("item", each) for each in (thing if isinstance(thing, tuple | list) else sorted(thing, key=repr)))
    elif isinstance(thing, dict):
        yield from ((f"key {key!r}", value) for key, value in thing.items())
    elif isinstance(thing, torch.Tensor):
        yield f"{thing.dtype} {thing.tolist()}", thing
    else:
        raise BadInput(
            f"{what} refers to an object of type {type(thing).__name__}, whose content no hash can follow: {WAY_OUT}"
        )


def _code(thing: Any, what: str) -> Iterator[tuple[str, Any]]:
    module = getattr(thing, "__module__", None) or "builtins"
    name = f"{module}.{getattr(thing, '__qualname__', thing.__name__)}"
    if from_package(module):
        yield name, thing
        return
    if isinstance(thing, type):
        yield "class", thing
        yield from (("base", base) for base in thing.__bases__)
        yield from ((member, value) for member, value in sorted(vars(thing).items()) if member not in HIDDEN)
    elif isinstance(thing, FunctionType):
        try:
            yield inspect.getsource(thing), thing
        except (OSError, TypeError):
            raise BadInput(
                f"the source of {what} cannot be read, so that no id of a result could name it: {WAY_OUT}"
            ) from None
        yield from _references(thing)
    else:
        raise BadInput(f"{what} is made of {name}, whose source cannot be read: {WAY_OUT}")


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Defaults, closure and globals that the function's code loads, by name."""
    yield from (("default", value) for value in function.__defaults__ or ())
    yield from sorted((function.__kwdefaults__ or {}).items())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    loaded = sorted(set(_globals(function.__code__)))
    yield from ((name, function.__globals__[name]) for name in loaded if name in function.__globals__)


def _globals(code: CodeType) -> Iterator[str]:
    """Names that the code, or code inside it, loads from the module."""
    yield from (each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)
