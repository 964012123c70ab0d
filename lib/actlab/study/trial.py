"""The one path of a trial of any kind of study: cache, lock, checkpoint, training, and back from a record to its model.

A task is what trains at once: a trial, or a program of the image sweep, which holds many.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from torch import Tensor

from actlab import metrics, paths
from actlab.errors import ActlabError, BadInput, RecordError
from actlab.files import mending
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study import provenance
from actlab.study.kinds import kind_of
from actlab.study.kinds.kind import Kind
from actlab.study.kinds.measure import Results
from actlab.study.plugins.identity import sources
from actlab.study.workers.worker import Report
from actlab.trainers import checkpoint, setup
from actlab.trainers.evaluation import predict
from actlab.trainers.windows import Windows

HASHES = ("sha256", "evaluation_sha256", "validation_sha256", "train", "validation", "test")
"""What identifies the data of a record."""
AT_ONCE = 64
"""Windows whose predictions are held at once."""


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


def recorded_trial(record: store.Record, label: str) -> Results:
    """What a record says of its trial of that label."""
    return next(trial for trial in record["trials"] if trial["label"] == label)


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


def far_apart(task: Any, record: store.Record, tensors: Mapping[str, Tensor]) -> float | None:
    """Mean total variation between a recorded trial's predictions and those of its weights trained again, on the inputs
    on which the study compares trials. Records hold no predictions: ``None`` where the recorded trial itself is not in
    the cache any more."""
    path = cached(task, record["provenance"])
    if not tensors or not path.exists():
        return None
    kept, ended = checkpoint.read_tensors(path, nameless=True)
    if ended["weights_sha256"] != recorded_trial(record, task.label)["weights_sha256"]:
        return None
    models = [with_weights(task, found).to(task.recipe.device) for found in (kept, tensors)]
    windows, rows = kind_of(task).compared_on(task).to(task.recipe.device), []
    for some in zip(torch.split(windows.inputs, AT_ONCE), torch.split(windows.targets, AT_ONCE), strict=True):
        rows.append(metrics.total_variation_rows(*(predict(net, Windows(*some), task.recipe) for net in models)))
    return torch.cat(rows).double().mean().item()


def check_data(task: Any, record: store.Record) -> None:
    """``RecordError`` where the record was made on other data than is here."""
    data = record["provenance"]["data"]
    for name, value in kind_of(task).data(task).items():
        if name in HASHES and data.get(name) != value:
            raise RecordError(
                f"{record['arm']} was made on other data: {data['name']} with {name} {data.get(name)}, found {value}"
            )


def specification(record: store.Record, label: str) -> Any:
    """The recorded trial's specification; ``BadInput`` lists the labels if it has none of that name."""
    labels = [trial["label"] for trial in record.get("trials", [])]
    if label not in labels:
        raise BadInput(f"{record.get('arm', 'the record')} has no trial {label!r}: known are {', '.join(labels)}")
    return kind_of(record).task_of(record, label)
