"""The one path of a trial of any kind of study: cache, lock, checkpoint, training; its model; the record of its arm.

A task is what trains at once: a trial, or a program of the image sweep, which holds many.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from torch import Tensor

from actlab import paths
from actlab.errors import ActlabError
from actlab.files import mending
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study import provenance
from actlab.study.kinds import kind_of
from actlab.study.kinds.kind import Kind
from actlab.study.kinds.measure import Results
from actlab.study.plugins.identity import sources
from actlab.study.workers.pool import Report
from actlab.trainers import checkpoint, setup


def cached(task: Any, origin: Mapping[str, Any] | None = None) -> Path:
    """The file in which a task ends: its results, predictions and weights. ``origin``: a record's provenance, for the
    trial as it was trained then, by that code on that machine."""
    name, about = kind_of(task).known_by(task)
    origin = origin or provenance.here()
    about = {**about, "code": origin["trial_code_sha256"], "machine": origin["machine"]}
    return paths.cache() / kind_of(task).folder / f"{name}-{store.digest(about)[:16]}.safetensors"


def run_trial(task: Any, report: Report | None = None) -> Results:
    """Train one task, or take it from the cache; a started one goes on from its checkpoint. A failure of training is a
    status with its traceback, never raised.

    The process works on one thread (two where the trial's variant says so): the bits of a result then depend on no core
    count.
    """
    path = cached(task)
    saved_at = path.with_suffix(".checkpoint")
    path.parent.mkdir(parents=True, exist_ok=True)

    def from_cache_or_trained() -> Results:
        if path.exists():
            return checkpoint.read_tensors(path)[1]
        results, tensors = train_afresh(task, report, saved_at)
        if results["status"] != "failed":
            checkpoint.write_tensors(path, tensors, results)
            saved_at.unlink(missing_ok=True)
        return results

    with FileLock(path.with_suffix(".lock")):
        return mending(from_cache_or_trained)


def train_afresh(
    task: Any, report: Report | None = None, saved_at: Path | None = None
) -> tuple[Results, dict[str, Tensor]]:
    """Train one task without looking at the cache or leaving anything there: its results; its predictions and weights.
    ``saved_at``: its checkpoint, gone on from if it exists."""
    setup.prepare()
    try:
        return kind_of(task).train(task, saved_at, report)
    except ActlabError:
        raise
    except Exception:  # recorded, so that the other trials of a study go on
        said = traceback.format_exc()
        return {"label": task.label, "seed": getattr(task, "seed", None), "status": "failed", "traceback": said}, {}


def tensors_of(task: Any, iteration: int | None = None, origin: Mapping[str, Any] | None = None) -> dict[str, Tensor]:
    """Predictions and weights of a finished trial; ``iteration``: as they were at one of its ``snapshots``; ``origin``:
    as for ``cached``."""
    path = cached(task, origin)
    place = path if iteration is None else path.with_suffix(f".{iteration}.safetensors")
    return checkpoint.read_tensors(place, nameless=origin is not None)[0]


def trained_model(task: Any, iteration: int | None = None, origin: Mapping[str, Any] | None = None) -> LanguageModel:
    """The model of a finished trial, in evaluation mode; as for ``tensors_of``."""
    return with_weights(task, tensors_of(task, iteration, origin))


def with_weights(task: Any, tensors: Mapping[str, Tensor]) -> LanguageModel:
    """A trial's model in evaluation mode, with the weights among these tensors."""
    model: LanguageModel = kind_of(task).model(task)
    model.load_state_dict(
        {name.removeprefix("weights/"): t for name, t in tensors.items() if name.startswith("weights/")}
    )
    return model.eval()


def record_of(kind: Kind, arm: Any, results: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended."""
    first = arm.trials[0]
    origin = provenance.of_record(path=kind.path(first), plan=arm.plan, data=kind.data(first))
    return {
        **kind.measure(arm, results, tensors_of, trained_model),
        "config": arm.config,
        "study": arm.study,
        "arm": arm.id,
        "kind": arm.kind,
        "provenance": origin | sources((*first.parts, *arm.metrics)),
    }
