"""Own parts registered: `register_activation`, `_model`, `_text`, `_metric`, in a session or from a plug-in file, which
every worker is sent the text of."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import torch
from torch import Tensor

from actlab.activations import Activation
from actlab.errors import ActlabError, BadInput
from actlab.files import read_text
from actlab.models import LanguageModel, Model
from actlab.study.fingerprint import fingerprint, from_package
from actlab.study.part_hashes import PARTS, TABLES, Part, PluginFile, parts_in, plugin_files

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
RESERVED = {
    *("between", "blocks", "label_pd", "coded_pd", "val_loss", "val_accuracy", "best_val_loss"),
    *("relative_pd", "churn_win", "churn_loss", "churn_neutral"),
}
"""What pairs and trials of a record call their own numbers."""
RUNNING: list[PluginFile] = []
"""The plug-in file that is being run, if one is."""


def _also_as_decorator(register: Callable[..., None]) -> Callable[..., Any]:
    """Without a thing, ``register(name)`` gives a decorator that registers what it decorates and returns it."""

    @functools.wraps(register)
    def either(name: str, thing: Any = None, **about: Any) -> Any:
        if thing is None:
            return functools.partial(either, name, **about)
        register(name, thing, **about)
        return thing

    return either


def _add(kind: str, name: str, thing: Any, row: Any, **about: str) -> None:
    what = f"the {kind} {name!r}"
    if not NAME.fullmatch(name):
        raise BadInput(f"{what}: a name is a small letter and up to 39 small letters, digits and _")
    file = RUNNING[-1] if RUNNING else None
    if file and kind != "metric":  # a metric trains nothing: a change elsewhere in the file is not its own
        hashed = sha256(file.text.encode()).hexdigest()
    else:
        hashed = fingerprint(thing, what) if kind != "dataset" else ""  # ``data.text`` hashes its characters
    part = Part(kind, name, thing, file, hashed, about)
    before = PARTS.get((kind, name))
    if before and (file or before.origin != part.origin):  # a session may register one name again
        raise BadInput(f"{what} is already registered by {before.origin}: choose another name")
    TABLES[kind][name] = row
    PARTS[kind, name] = part


@_also_as_decorator
def register_activation(
    name: str, class_or_factory: Any, *, gated: bool = False, formula: str = "", source: str = ""
) -> None:
    """Add an activation to the table; also as a decorator, ``@actlab.register_activation("mine")``.

    Args:
        name: by which params files, notebooks and the command line call it; a built-in name is refused.
        class_or_factory: without arguments makes an ``nn.Module`` that maps (..., n) to (..., n), a gated one (...,
            2n), the gate first, to (..., n). If it takes ``features``, it is given n. A module that learns parameters
            has a method ``initialise(generator)`` that sets their start.
        gated: whether it multiplies two projections; models then give it both, at the plain arm's parameter count.
        formula: LaTeX.
        source: who defined it.

    Raises:
        BadInput: a name that is taken, a module of another shape, or a source that cannot be read.
    """
    takes = callable(class_or_factory) and "features" in inspect.signature(class_or_factory).parameters
    row = Activation(name, class_or_factory, formula, source, gated, takes)
    what = f"the activation {name!r}"
    size = 8 if gated else 4
    try:
        module = row.make(features=4)
        learned = ", ".join(key for key, _ in module.named_parameters())
        given = torch.linspace(-2, 2, 6 * size).view(2, 3, size).requires_grad_()
        found = module(given * 1)  # not a leaf of the graph, so that it may be changed in place
        (slope,) = torch.autograd.grad(found.sum(), given)
    except Exception as error:
        raise BadInput(
            f"{what} must be a class or function that makes an nn.Module without arguments, with a gradient: {error}"
        ) from None
    if (shape := found.shape) != (2, 3, 4):
        hint = " (one that halves its input needs gated=True)" if shape == (2, 3, 2) else ""
        raise BadInput(f"{what} must map (2, 3, {size}) to (2, 3, 4), but gives {tuple(shape)}{hint}")
    if not (learned or (found.isfinite().all() and slope.isfinite().all())):  # what it learns has no start yet
        raise BadInput(f"{what} or its derivative is not finite everywhere between -2 and 2")
    if learned and not hasattr(module, "initialise"):
        raise BadInput(f"{what} learns {learned}: give it a method initialise(generator) that sets their start")
    _add("activation", name, (class_or_factory, gated), row)


@_also_as_decorator
def register_model(name: str, class_or_factory: Any, *, description: str = "", acts_in: str = "") -> None:
    """Add a language model to the table; also as a decorator.

    Args:
        name: as for an activation.
        class_or_factory: ``(config, activation, gated_width)`` -> ``actlab.models.LanguageModel``; ``activation`` is an
            entry of the table: ``activation.make(features=n)`` and ``actlab.models.layers.FeedForward`` make modules of
            it.
        description: what it is.
        acts_in: where its activation acts.
    """
    if isinstance(class_or_factory, type) and not issubclass(class_or_factory, LanguageModel):
        given = class_or_factory.__name__
        raise BadInput(f"the model {name!r} must be an actlab.models.LanguageModel, {given} is not")
    _add("model", name, class_or_factory, Model(name, class_or_factory, description, acts_in))


@_also_as_decorator
def register_text(name: str, function: Callable[[], str], *, description: str = "") -> None:
    """Add a character text to the table; also as a decorator. A file of text needs none of this: its path is its name.

    Args:
        name: as for an activation.
        function: without arguments gives the text, each time the same; called once in a process.
        description: what it is.
    """

    @functools.cache
    def text() -> str:
        if not isinstance(found := function(), str):
            raise BadInput(f"the text {name!r} must be a str, not {type(found).__name__}")
        return found

    _add("dataset", name, function, text, note=description)


@_also_as_decorator
def register_metric(name: str, function: Any, *, label: str = "", note: str = "") -> None:
    """Add a metric, which enters every pair of the records written from now on, and the tables; also as a decorator.

    Args:
        name: as for an activation.
        function: of two (N, V) tensors of probabilities of the same N inputs, some of all at a time; gives (N,), one
            value an input, whatever the others are.
        label: with unit and range, as tables and axes have it; the name unless given.
        note: what it means, and which direction is better.
    """
    if name in RESERVED:
        raise BadInput(f"the metric {name!r} would hide a number that records hold already: choose another name")

    def rows(p: Tensor, q: Tensor) -> Tensor:
        found, allowed = function(p, q), f"the metric {name!r} must give one finite value an input, not"
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        if shape != p.shape[:1]:
            raise BadInput(f"{allowed} {shape} for two {tuple(p.shape)} tensors")
        for value in found[~found.isfinite()]:
            raise BadInput(f"{allowed} {value.item()}")
        return found

    rows(*(torch.linspace(-1, end, 3 * 64).sin().view(3, 64).softmax(1) for end in (1, 20)))
    _add("metric", name, function, rows, label=label or name, note=note)


def load_plugins(files: Iterable[str]) -> None:
    """Read plug-in files and register their parts; a file that is loaded with this content already is left alone.

    Raises:
        BadInput: a file that cannot be read or run, imports a file of the user's, or registers nothing.
    """
    for name in files:
        try:
            place = Path(name).expanduser().resolve()
            execute(PluginFile(name, place, read_text(place, "plug-in")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered."""
    if file in plugin_files():
        return
    _forget(file)
    module = ModuleType(f"actlab_plugin_{file.place.stem}_{crc32(bytes(file.place)):08x}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    linecache.cache[file.name] = len(file.text), None, file.text.splitlines(keepends=True), file.name  # for inspect
    RUNNING.append(file)
    try:
        code = compile(_checked(file), file.name, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102  # the user's own file
    except (Exception, SystemExit) as error:
        _forget(file)
        if isinstance(error, ActlabError):
            raise BadInput(f"plug-in {file.name}: {error}") from None
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file.name]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise BadInput(f"plug-in {file.name}, line {line or '?'}: {type(error).__name__}: {error}") from error
    finally:
        RUNNING.pop()
    if not parts_in(file.place):
        allowed = ", ".join(f"actlab.register_{kind}" for kind in ("activation", "model", "text", "metric"))
        raise BadInput(f"the plug-in {file.name} registers nothing: it may call {allowed}")


def _forget(file: PluginFile) -> None:
    for part in parts_in(file.place):
        del PARTS[part.kind, part.name], TABLES[part.kind][part.name]


def _checked(file: PluginFile) -> ast.Module:
    """The file's statements; it may import packages only, since its hash could not see a change of another file."""
    tree = ast.parse(file.text, file.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            relative = isinstance(node, ast.ImportFrom) and node.level
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for name in names:
                if relative or from_package(name) is False:
                    raise BadInput(
                        f"line {node.lineno} imports {name}, a file that no hash follows: put all into one file"
                    )
    return tree
