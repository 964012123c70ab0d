"""What a record holds beside its trials and their pairs at the end: pairs during training, of averaged weights, of
ensembles, of published readings, and the losses of networks that are no single run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from actlab.records.store import Record

Row = dict[str, Any]


def label_of(trial: Record) -> Row:
    """Its seed, its name and, where it is a changed repetition, the change (else empty)."""
    first, _, variant = trial["label"].partition("-")
    seed = trial.get("seed")
    changed = {"variant": variant} if variant else {}
    return {"seed": int(first) if seed is None else seed, "trial": trial["label"]} | changed


def blocks_of(record: Record, of: str) -> Iterable[Record]:
    """Lists of ``pairs``, each with what tells it apart, of one of ``tables.BLOCKS``."""
    during = record.get("trajectory", [])
    iterations = record["config"].get("recipe", {}).get("iterations") or 0
    end = record | {"iteration": iterations, "pairs": record.get("reproducibility_metrics", [])}
    if of == "end":
        return [end]
    if of == "along":
        return [*during, end]
    if of == "to_end":
        return [one | {"pairs": one.get("to_end", [])} for one in during]
    if of == "published":
        read = [(one, one.get("as_published", {})) for one in (*during, end)]
        return [one | {"pairs": both.get("pairs", []) + both.get("itself", [])} for one, both in read]
    if of == "average":
        return [{"decay": decay, "pairs": pairs} for decay, pairs in _by_decay(record, record.get("average"))]
    if of == "ensembles":
        return [{"size": int(size), "pairs": pairs} for size, pairs in record.get("ensembles", {}).items()]
    return record.get(of, [])  # equal_compute, steps


def _by_decay(record: Record, average: Any) -> list[tuple[float, Any]]:
    """(decay, what is recorded of averaged weights); of a single decay it stands in the recipe."""
    if not average:
        return []
    single = isinstance(average, list) or "val_loss" in average
    by_decay = {record["config"]["recipe"]["average"]: average} if single else average
    return [(float(decay), one) for decay, one in by_decay.items()]


def averaged(record: Record) -> Iterable[Row]:
    """A row a trial and decay: the losses of its averaged weights."""
    for trial in (trial for trial in record["trials"] if trial["status"] == "done"):
        for decay, scores in _by_decay(record, trial.get("average")):
            yield label_of(trial) | {"decay": decay, "single_loss": trial["final"]["val_loss"]} | scores


def at_equal_compute(record: Record) -> Iterable[Row]:
    """A row an ensemble of shorter trainings: its loss, and the mean loss of its members as single networks."""
    blocks = record.get("equal_compute", ())
    single = {one["of"][0]: one["loss"] for block in blocks if block["size"] == 1 for one in block["losses"]}
    for block in blocks:
        for one in block["losses"]:
            alone = [single.get(name, math.nan) for name in one["of"]]
            mean = math.nan if None in alone else sum(alone) / len(alone)
            about = {"size": block["size"], "iteration": block["iteration"], "members": tuple(one["of"])}
            yield about | {"val_loss": one["loss"], "single_loss": mean}


def as_published(record: Record) -> Iterable[Row]:
    """A row a trial: its losses as the audited code measures them."""
    for one in record.get("as_published", {}).get("trials", ()):
        yield label_of(one) | one
