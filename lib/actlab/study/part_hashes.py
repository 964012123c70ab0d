"""Hashes of a user's own parts, by which results know them; `own_parts.py` registers the parts.

A part that is not built in enters ids and cache keys by the hash of its source: of the whole plug-in file, or in a
session of the function or class and all that it refers to (``fingerprint.fingerprint``); a text by that of its
characters.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actlab import metrics
from actlab.activations import ACTIVATIONS
from actlab.data import text as texts
from actlab.errors import BadInput, Table
from actlab.models import MODELS
from actlab.study.fingerprint import WAY_OUT, fingerprint

Parts = tuple[tuple[str, str], ...]
"""(kind, sha256) of the parts that are not built in, sorted."""
TABLES: dict[str, Table[Any]] = {
    "activation": ACTIVATIONS,
    "model": MODELS,
    "dataset": texts.TEXTS,
    "metric": metrics.ROWS,
}


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

    @property
    def origin(self) -> str:
        """The file, or the session, that registered it."""
        return self.file.name if self.file else "this session"


PARTS: dict[tuple[str, str], Part] = {}
"""By (kind, name)."""


def parts_in(place: Path) -> list[Part]:
    """The parts that the plug-in file at a place has registered."""
    return [part for part in PARTS.values() if part.file and part.file.place == place]


def plugin_files() -> list[PluginFile]:
    """The plug-in files that are loaded, in their order."""
    return list(dict.fromkeys(part.file for part in PARTS.values() if part.file))


def hash_of(kind: str, name: str) -> str:
    """The sha256 of a part's source (of a text: of its characters); empty for a built-in one.

    Raises:
        BadInput: a part of this session that has changed since it was registered.
    """
    if kind == "dataset":
        return texts.own_sha256(name)
    if name not in TABLES[kind] or (kind, name) not in PARTS:
        return ""
    own, what = PARTS[kind, name], f"the {kind} {name!r}"
    if own.file is None and fingerprint(own.thing, what) != own.hash:
        raise BadInput(
            f"{what}, or something that it refers to, has changed since it was registered: register it again"
        )
    return own.hash


def check_for_workers(hashes: Collection[str]) -> None:
    """``BadInput`` where one of the parts with these hashes is known to this session only, so that no other process can
    make it."""
    for (kind, name), part in PARTS.items():
        if part.file is None and hash_of(kind, name) in hashes:
            raise BadInput(
                f"the {kind} {name!r} is known to this session only, which workers cannot see: {WAY_OUT}, or use "
                "workers=1"
            )


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
    """For a record's provenance: ``plugins``, file (or part of the session) -> sha256, source and formulas, if own
    parts are used."""
    used = {hashed for _, hashed in parts}
    found: dict[str, Any] = {}
    for part in PARTS.values():
        if part.hash in used:
            where = part.file.name if part.file else f"session: {part.kind} {part.name}"
            source = part.file.text if part.file else _source(part.thing)
            known = found.setdefault(where, {"sha256": part.hash, "source": source})
            if formula := part.about.get("formula"):
                known.setdefault("formulas", {})[part.name] = formula
    return {"plugins": found} if found else {}


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing[0] if isinstance(thing, tuple) else thing)
    except (OSError, TypeError):
        return repr(thing)
