"""The rows that a record gives to the tidy tables: of trials, of evaluations, of pairs of networks (at the end, during
training, of averaged weights, of ensembles, of published readings), and of networks that are no single run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from actlab.records.store import Record

Row = dict[str, Any]
ENDED = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")
"""What is measured of a trial at its end."""
EVALUATED = ("iteration", "train_loss", "val_loss", "val_accuracy")
"""What is measured of it during training."""


def change_of(label: str) -> Row:
    """Split a trial's name into its seed and, where it is a changed repetition, the change (key ``variant``)."""
    seed, _, change = label.partition("-")
    return {"seed": int(seed)} | ({"variant": change} if change else {})


def named(trial: Record) -> Row:
    """Name a trial by its label, its seed and its change."""
    return {"trial": trial["label"]} | change_of(trial["label"])


def trials(record: Record) -> Iterator[Row]:
    """Yield a row a training run; what one that is not done would have measured is empty."""
    for trial in record["trials"]:
        done = trial if trial["status"] == "done" else {}
        spent = trial.get("seconds", math.nan)
        final = done.get("final", done)
        results = {
            "status": trial["status"],
            "best_val_loss": done.get("best", {}).get("val_loss"),
            "train_accuracy": (done.get("training") or {}).get("val_accuracy"),
            "collapsed": trial.get("collapsed"),
            "parameters": trial.get("n_parameters", record.get("n_parameters")),
            "seconds": sum(spent.values()) if isinstance(spent, dict) else spent,
            "weights_sha256": trial.get("weights_sha256"),
        }
        yield named(trial) | {name: final.get(name) for name in ENDED} | results


def curves(record: Record) -> Iterator[Row]:
    """Yield a row an evaluation during training."""
    for trial in record["trials"]:
        for evaluation in trial.get("history", ()):
            yield named(trial) | {name: evaluation[name] for name in EVALUATED}


def averaged(record: Record) -> Iterator[Row]:
    """Yield a row a trial and decay: the losses of its averaged weights."""
    for trial in record["trials"]:
        if trial["status"] != "done":
            continue
        for decay, scores in _by_decay(record, trial.get("average")):
            yield named(trial) | {"decay": decay, "single_loss": trial["final"]["val_loss"]} | scores


def at_equal_compute(record: Record) -> Iterator[Row]:
    """Yield a row an ensemble of shorter trainings: its loss, and the mean loss of its members as single networks."""
    blocks = record.get("equal_compute", ())
    single: dict[str, float] = {}
    for block in blocks:
        if block["size"] == 1:
            single |= {network["of"][0]: network["loss"] for network in block["losses"]}
    for block in blocks:
        for ensemble in block["losses"]:
            members = {"size": block["size"], "iteration": block["iteration"], "members": tuple(ensemble["of"])}
            losses = [single.get(name, math.nan) for name in ensemble["of"]]
            yield members | {"val_loss": ensemble["loss"], "single_loss": sum(losses) / len(losses)}


def as_published(record: Record) -> Iterator[Row]:
    """Yield a row a trial: its losses as the audited code measures them."""
    for trial in record.get("as_published", {}).get("trials", ()):
        yield named(trial) | trial


def blocks_of(record: Record, of: str) -> list[Record]:
    """List the blocks that hold the ``pairs`` of one of ``tables.BLOCKS``, each with what tells it apart."""
    snapshots, recipe = record.get("trajectory", []), record["config"].get("recipe", {})
    end = record | {"iteration": recipe.get("iterations"), "pairs": record.get("reproducibility_metrics", [])}
    blocks = {
        "end": [end],
        "along": [*snapshots, end],
        "to_end": [block | {"pairs": block.get("to_end", [])} for block in snapshots],
        "published": [block | {"pairs": _read_as_published(block)} for block in (*snapshots, end)],
        "average": [{"decay": decay, "pairs": pairs} for decay, pairs in _by_decay(record, record.get("average"))],
        "ensembles": [{"size": int(size), "pairs": pairs} for size, pairs in record.get("ensembles", {}).items()],
    }
    return blocks[of] if of in blocks else record.get(of, [])  # equal_compute, steps


def _read_as_published(block: Record) -> list[Record]:
    read = block.get("as_published", {})
    return [*read.get("pairs", ()), *read.get("itself", ())]


def _by_decay(record: Record, average: Any) -> list[tuple[float, Any]]:
    """List (decay, what is recorded of averaged weights); of a single decay it stands in the recipe."""
    if not average:
        return []
    single = isinstance(average, list) or "val_loss" in average
    by_decay = {record["config"]["recipe"]["average"]: average} if single else average
    return [(float(decay), recorded) for decay, recorded in by_decay.items()]
