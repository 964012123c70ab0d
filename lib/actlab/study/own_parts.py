"""A user's own parts: `register_activation`, `_model`, `_text`, `_metric`, and the hashes by which results know them.

A part that is not built in enters ids and cache keys by the hash of its source: of the whole plug-in file, or in a
session of the function or class and all that it refers to (``identity.fingerprint``); a text by that of its characters.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actlab import metrics
from actlab.activations import ACTIVATIONS, Activation
from actlab.data import text as texts
from actlab.errors import BadInput, Table
from actlab.models import MODELS, LanguageModel, Model
from actlab.study.source_hash import fingerprint

Parts = tuple[tuple[str, str], ...]
"""(kind, sha256) of the parts that are not built in, sorted."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
RESERVED = {
    *("between", "blocks", "label_pd", "coded_pd", "val_loss", "val_accuracy", "best_val_loss"),
    *("relative_pd", "churn_win", "churn_loss", "churn_neutral"),
}
"""What pairs and trials of a record call their own numbers."""
TABLES: dict[str, Table[Any]] = {
    "activation": ACTIVATIONS,
    "model": MODELS,
    "dataset": texts.TEXTS,
    "metric": metrics.ROWS,
}
SESSION = "this session"


@dataclass(frozen=True)
class PluginFile:
    """A plug-in file as it was read: the same text goes to every worker, whatever happens to the file."""

    name: str
    """Its path, as it was given."""
    place: Path
    """Where it lay when it was read."""
    text: str


@dataclass(frozen=True)
class Part:
    """One of a user's own parts."""

    kind: str
    name: str
    thing: Any
    """The class or function that it was registered with."""
    file: PluginFile | None
    """Where it comes from; ``None``: from the running session only."""
    hash: str
    about: Mapping[str, str]
    """What a reader is told of it: ``label`` and ``note`` of a metric."""


PARTS: dict[tuple[str, str], Part] = {}
"""By (kind, name)."""
RUNNING: list[PluginFile] = []
"""The plug-in file that is being run, if one is (``plugins.execute``)."""


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
    before, origin = PARTS.get((kind, name)), file.name if file else SESSION
    if before and (other := before.file.name if before.file else SESSION) != origin:
        raise BadInput(f"{what} is already registered by {other}: choose another name")
    if file and kind != "metric":  # a metric trains nothing: a change elsewhere in the file is not its own
        hashed = sha256(file.text.encode()).hexdigest()
    elif kind == "dataset":
        hashed = ""  # ``data.text`` hashes its characters
    else:
        hashed = fingerprint(thing, what)
    TABLES[kind].add(name, row)
    PARTS[kind, name] = Part(kind, name, thing, file, hashed, about)


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
    try:
        module: object = row.make(features=4)
    except Exception as error:
        raise BadInput(f"{what} needs a class or function that makes an nn.Module without arguments: {error}") from None
    if not isinstance(module, nn.Module):
        made = type(module).__name__
        raise BadInput(f"{what} needs a class or function that makes an nn.Module, this one makes {made}")
    size = 8 if gated else 4
    with torch.no_grad():
        shape = module(torch.linspace(-2, 2, 6 * size).view(2, 3, size)).shape
    if shape != (2, 3, 4):
        hint = " (one that halves its input needs gated=True)" if shape == (2, 3, 2) else ""
        raise BadInput(f"{what} must map (2, 3, {size}) to (2, 3, 4), but gives {tuple(shape)}{hint}")
    learned = ", ".join(key for key, _ in module.named_parameters())
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
    _add("dataset", name, function, functools.cache(function), note=description)


@_also_as_decorator
def register_metric(name: str, function: Any, *, label: str = "", note: str = "") -> None:
    """Add a metric, which enters every pair of the records written from now on, and the tables; also as a decorator.

    Args:
        name: as for an activation.
        function: of two (N, V) tensors of probabilities of the same N inputs; gives (N,), one value an input.
        label: with unit and range, as tables and axes have it; the name unless given.
        note: what it means, and which direction is better.
    """
    if name in RESERVED:
        raise BadInput(f"the metric {name!r} would hide a number that records hold already: choose another name")
    found = function(*(torch.linspace(-1, end, 3 * 64).sin().view(3, 64).softmax(1) for end in (1, 20)))
    shape = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
    if shape != (3,):
        raise BadInput(f"the metric {name!r} must give (3,) for two (3, 64) tensors, one value an input, not {shape}")
    _add("metric", name, function, function, label=label or name, note=note)


def parts_in(place: Path) -> list[Part]:
    """The parts that the plug-in file at a place has registered."""
    return [part for part in PARTS.values() if part.file and part.file.place == place]


def hash_of(kind: str, name: str) -> str:
    """The sha256 of a part's source (of a text: of its characters); empty for a built-in one.

    Raises:
        BadInput: a part of this session that has changed since it was registered, or that nobody registered.
    """
    if kind == "dataset":
        return texts.own_sha256(name)
    if name not in TABLES[kind] or name in TABLES[kind].built_in:
        return ""
    what = f"the {kind} {name!r}"
    if (own := PARTS.get((kind, name))) is None:
        raise BadInput(f"{what} was put into its table by hand: use actlab.register_{kind}")
    if own.file is None and fingerprint(own.thing, what) != own.hash:
        raise BadInput(
            f"{what}, or something that it refers to, has changed since it was registered: register it again"
        )
    return own.hash


def of_session(hashes: Collection[str]) -> list[str]:
    """The parts with these hashes that only this session knows, so that no other process can make them."""
    own = [key for key, part in PARTS.items() if part.file is None]
    return [f"{kind} {name!r}" for kind, name in own if hash_of(kind, name) in hashes]


def parts_of(**named: str) -> Parts:
    """What is not built in among parts named by their kind, ``activation="mine"``, each with its hash."""
    return tuple(sorted((kind, found) for kind, name in named.items() if (found := hash_of(kind, name))))


def check_parts(planned: Parts, **named: str) -> None:
    """``BadInput`` unless the named parts are still those that were planned (or recorded)."""
    for kind, name in named.items():
        was = dict(planned).get(kind, "")
        if was and kind != "dataset" and name not in TABLES[kind]:
            raise BadInput(
                f"the {kind} {name!r} is not known here: load its plug-in file (--plugin; actlab.load_plugins), or "
                "use workers=1 where it is a part of your session"
            )
        if was != (found := hash_of(kind, name)):
            before, here = (f"hash {each[:10]}" if each else "built in" for each in (was, found))
            raise BadInput(f"the {kind} {name!r} is not the one that was planned ({before}), but another ({here})")


def own_metrics(files: Iterable[str]) -> Parts:
    """A user's own metrics for a study that names these plug-in files, and those of the session: (name, sha256)."""
    wanted = {None, *(Path(file).expanduser().resolve() for file in files)}
    names = [n for (kind, n), p in PARTS.items() if kind == "metric" and (p.file and p.file.place) in wanted]
    return tuple(sorted((name, hash_of("metric", name)) for name in names))


def said_of(metrics: Parts) -> dict[str, Any]:
    """For a record: ``metrics``, name -> label and note, where there are own ones."""
    found = {name: dict(PARTS["metric", name].about) for name, _ in metrics}
    return {"metrics": found} if found else {}


def sources(parts: Parts) -> dict[str, Any]:
    """For a record's provenance: ``plugins``, file (or part of the session) -> sha256 and source, if own parts are
    used."""
    found, used = {}, {hashed for _, hashed in parts}
    for part in PARTS.values():
        if part.hash in used:
            where = part.file.name if part.file else f"session: {part.kind} {part.name}"
            found[where] = {"sha256": part.hash, "source": part.file.text if part.file else _source(part.thing)}
    return {"plugins": found} if found else {}


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing[0] if isinstance(thing, tuple) else thing)
    except (OSError, TypeError):
        return repr(thing)
