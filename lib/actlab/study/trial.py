"""The one path of a trial of any kind of study: cache, lock, checkpoint, training; the record of its arm.

A task is what trains at once: a trial, or a program of the image sweep, which holds many.
"""

import traceback
from pathlib import Path
from typing import Any

from filelock import FileLock

from actlab.errors import ActlabError
from actlab.files import mending
from actlab.plugins import sources
from actlab.records import store
from actlab.study import provenance
from actlab.study.kinds import kind_of
from actlab.study.kinds.kind import Kind, Outcome, Report, Results
from actlab.trainers import checkpoint, setup


def run_trial(task: Any, report: Report | None = None) -> Results:
    """Train one task, or take it from the cache; a started one goes on from its checkpoint. A failure of training is a
    status with its traceback, never raised.

    The process works on one thread: the bits of a result then depend on no core count.
    """
    path = kind_of(task).cached(task)
    saved_at = path.with_suffix(".checkpoint")
    path.parent.mkdir(parents=True, exist_ok=True)

    def from_cache_or_trained() -> Results:
        if path.exists():
            results = checkpoint.read_tensors(path)[1]
            snapshots = (path.with_suffix(f".{at}.safetensors") for at in getattr(task, "snapshots", ()))
            if all(map(Path.exists, snapshots)) or results["status"] == "diverged":
                return results
        results, tensors = train_afresh(task, report, saved_at)
        if results["status"] != "failed":
            checkpoint.write_tensors(path, tensors, results)
            saved_at.unlink(missing_ok=True)
        return results

    with FileLock(path.with_suffix(".lock")):
        return mending(from_cache_or_trained)


def train_afresh(task: Any, report: Report | None = None, saved_at: Path | None = None) -> Outcome:
    """Train one task without looking at the cache or leaving anything there. ``saved_at``: its checkpoint, gone on from
    if it exists."""
    setup.prepare()
    try:
        return kind_of(task).train(task, saved_at, report)
    except ActlabError:
        raise
    except Exception:  # recorded, so that the other trials of a study go on
        said = traceback.format_exc()
        return {"label": task.label, "seed": getattr(task, "seed", None), "status": "failed", "traceback": said}, {}


def record_of(kind: Kind, arm: Any, results: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended."""
    first = arm.trials[0]
    origin = provenance.of_record(path=kind.path(first), plan=arm.plan, data=kind.data(first))
    return {
        **kind.measure(arm, results),
        "config": arm.config,
        "study": arm.study,
        "arm": arm.id,
        "kind": arm.kind,
        "provenance": origin | sources((*first.parts, *arm.metrics)),
    }
