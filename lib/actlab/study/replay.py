"""Replay: train recorded trials again, compare the outcome bit for bit, and leave a history beside the record, which is
itself never changed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from actlab.errors import RecordError
from actlab.records import store
from actlab.study import provenance
from actlab.study.arms import NUDGE
from actlab.study.finish import bits_of, differing
from actlab.study.measure import Results
from actlab.study.pool import Report
from actlab.study.trial import kind_of, specification, train_again


@dataclass(frozen=True)
class Task:
    """One recorded trial to be trained again."""

    path: Path
    id: str
    """Of the arm."""
    study: str
    label: str
    seconds: float
    """What it took when it was recorded."""
    trial: Any
    """Its specification."""


@dataclass(frozen=True)
class Replay:
    """Outcome of one replay."""

    task: Task
    equal: bool
    """Whether all that was compared has the recorded bits."""
    wrong: bool
    """Whether the replay contradicts its promise: it raised, or its bits differ though machine, versions and the code
    that trains are the same."""
    sentence: str
    record: store.Record
    """What is kept of it."""


def task_of(path: Path, label: str | None = None) -> Task:
    """One trial of a record, the first unless ``label`` names another."""
    record = store.load(path)
    kind_of(record)
    label = label or record["trials"][0]["label"]
    return Task(
        path.resolve(),
        record["arm"],
        record["study"],
        label,
        seconds_of(_trial(record, label)),
        specification(record, label),
    )


def replay(path: Path, label: str | None = None, report: Report | None = None) -> Replay:
    """Train one trial of a record again (the first unless ``label`` names another), from nothing.

    The same bits are promised on the same kind of machine with the same versions and the same code; the sentence says
    what differs otherwise, and how far the outcome is from the recorded one: in loss, and in total variation where the
    recorded trial's predictions are still in the cache, each beside what one unit in the last place (where the arm's
    noise floor is recorded) and another seed do.

    Raises:
        ActlabError: no such trial, its data is not here or is other data, or it needs a device that is not here.
    """
    return replay_task(task_of(path, label), report)


def replay_task(task: Task, report: Report | None = None) -> Replay:
    """The same, of a task."""
    record = store.load(task.path)
    device = str(record["config"].get("recipe", {}).get("device", "cpu"))
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise RecordError(f"{task.id} was trained on {device}, which is not here")
    since = time.perf_counter()
    again = train_again(task.trial, record, report)
    seconds = time.perf_counter() - since
    before, after = _trial(record, task.label), again.results
    differs = differing(before, after)
    changed = _changed(record)
    failed = after["status"] == "failed"
    measured: dict[str, Any] = {}
    if not failed:
        measured = {
            "val_loss": {"recorded": _loss(before), "now": _loss(after)},
            "total_variation": again.distance() if differs else 0.0,
        }
    found = {
        "kind": "replay",
        "study": record["study"],
        "arm": record["arm"],
        "trial": task.label,
        "record_checksum": record["checksum"],
        "equal": not differs,
        "compared": sorted(bits_of(before)),
        "differs": differs,
        "changed": changed,
        **measured,
        "floor": _floor(record, task.path.parent) if differs else None,
        "seconds": seconds,
        "provenance": provenance.of_record(record["provenance"]["threads"], record["provenance"]["path"], {}),
    }
    wrong = failed or bool(differs and not changed)
    outcome = f"FAILED: {after['traceback'].strip().splitlines()[-1]}" if failed else _verdict(found, record)
    return Replay(task, not differs, wrong, f"{record['arm']} trial {task.label}: {outcome}", found)


def keep(outcome: Replay) -> Path:
    """Add a replay to the history of its record: a file of its own, never changed, in ``replays/ARM/`` beside the
    record (``store.replays``)."""
    moment = outcome.record["provenance"]["date"].replace(":", "").replace("-", "")[:15]
    name = f"{outcome.task.label}-{moment}-{store.checksum(outcome.record)[:8]}.json"
    return store.save(store.replays_of(outcome.task.path) / name, outcome.record)


def _trial(record: store.Record, label: str) -> Results:
    return next(trial for trial in record["trials"] if trial["label"] == label)


def seconds_of(trial: Results) -> float:
    """What a trial's training and evaluation took (a network of the image sweep: its share of the program)."""
    spent = trial.get("seconds", 0.0)
    return sum(spent.values()) if isinstance(spent, dict) else spent


def _loss(trial: Results) -> float:
    return trial["final"]["val_loss"] if "final" in trial else trial["val_loss"]


def _changed(record: store.Record) -> list[str]:
    """What a bit-for-bit comparison has to share and does not."""
    was, now = record["provenance"]["machine"], provenance.machine()
    changed = [f"{key} {was.get(key)} -> {value}" for key, value in now.items() if was.get(key) != value]
    same_code = record["provenance"]["trial_code_sha256"] == provenance.code()["trial_code_sha256"]
    return changed if same_code else [*changed, CODE]


CODE = "the code that trains"
APART = ("floor", "perturbed")
"""Kinds of records whose trials share seeds."""


def _floor(record: store.Record, folder: Path) -> dict[str, float] | None:
    """What one unit in the last place does to the arm's trials: the mean over those that were nudged, where a record of
    its noise floor has any."""
    apart = ("kind", "trials", "protocol", "ensembles", "snapshots")
    same = {name: value for name, value in record["config"].items() if name not in apart}
    for path in sorted(folder.glob("*.json")):
        other = store.load(path)
        if other.get("kind") not in APART or {n: v for n, v in other["config"].items() if n not in apart} != same:
            continue
        pairs = [pair for pair in other["reproducibility_metrics"] if pair["between"][1].endswith(f"-{NUDGE}")]
        if pairs:
            losses = [
                abs(_loss(_trial(other, a)) - _loss(_trial(other, b))) for a, b in (pair["between"] for pair in pairs)
            ]
            return {
                "total_variation": statistics.fmean(pair["total_variation"] for pair in pairs),
                "val_loss": statistics.fmean(losses),
                "n": float(len(pairs)),
            }
    return None


def _verdict(found: Mapping[str, Any], record: store.Record) -> str:
    changed = ", ".join(found["changed"])
    before, after = found["val_loss"]["recorded"], found["val_loss"]["now"]
    if found["equal"]:
        although = f", although this changed since: {changed}" if changed else ""
        return f"equal bit for bit (validation loss {after:.6f}){although}"
    loss = "; ".join([f"{abs(after - before):.1e} apart", *_beside("val_loss", found["floor"], _between_seeds(record))])
    far = "total variation not known, since the recorded predictions are not in the cache"
    if found["total_variation"] is not None:
        yardsticks = _beside(
            "total_variation", found["floor"], record.get("avg_total_variation") if _has_seeds(record) else None
        )
        far = "; ".join([f"total variation {found['total_variation']:.1e} from the recorded predictions", *yardsticks])
    why = f"what differs: {changed}" if changed else "processor, versions and code are the recorded ones"
    return f"NOT equal in {', '.join(found['differs'])}: validation loss {before:.6f} recorded, {after:.6f} now ({loss}); {far}; {why}"


def _beside(name: str, floor: Mapping[str, float] | None, seeds: float | None) -> list[str]:
    said = [f"one unit in the last place of one weight: {floor[name]:.1e}"] if floor else []
    return said if seeds is None else [*said, f"another seed: {seeds:.1e}"]


def _has_seeds(record: store.Record) -> bool:
    """Whether its trials differ by their seeds alone."""
    return record["kind"] not in APART


def _between_seeds(record: store.Record) -> float | None:
    """Mean absolute difference in loss between two trials of the arm."""
    losses = [_loss(trial) for trial in record["trials"] if trial["status"] == "done"]
    return (
        statistics.fmean(abs(a - b) for a, b in combinations(losses, 2))
        if _has_seeds(record) and len(losses) > 1
        else None
    )
