"""One trial of a record: its specification, its results, and what it needs to be trained here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from actlab.errors import BadInput, RecordError
from actlab.records import store
from actlab.study.kinds import kind_of
from actlab.study.kinds.measure import Results
from actlab.study.plugins.identity import find_part

HASHES = ("sha256", "evaluation_sha256", "validation_sha256", "train", "validation", "test")
"""What identifies the data of a record."""


def specification(record: store.Record, label: str) -> Any:
    """The recorded trial's specification; ``BadInput`` lists the labels if it has none of that name."""
    labels = [trial["label"] for trial in record.get("trials", [])]
    if label not in labels:
        raise BadInput(f"{record.get('arm', 'the record')} has no trial {label!r}: known are {', '.join(labels)}")
    return kind_of(record).task_of(record, label)


def results_of(record: store.Record, label: str) -> Results:
    """What a record says of its trial of that label."""
    return next(trial for trial in record["trials"] if trial["label"] == label)


def seconds_of(trial: Mapping[str, Any]) -> float:
    """What it took; a network of the image sweep: its share of the program."""
    spent = trial.get("seconds", 0.0)
    return sum(spent.values()) if isinstance(spent, dict) else spent


def check_here(record: store.Record, task: Any) -> None:
    """``ActlabError`` where the recorded trial cannot be trained here at all: no GPU, one process in place of several,
    own parts that are not loaded, other data or none."""
    device = str(record["config"].get("recipe", {}).get("device", "cpu"))
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise RecordError(f"{record['arm']} was trained on {device}, which is not here")
    if (processes := record["provenance"].get("processes", 1)) > 1:
        raise RecordError(f"{record['arm']} was trained by {processes} processes together: one process has other bits")
    named = {"activation": record["activation"], "model": record["model_name"]}
    for kind, planned in record["config"].get("parts", {}).items():
        if kind in named:
            find_part(kind, named[kind], planned)
    check_data(task, record)


def check_data(task: Any, record: store.Record) -> None:
    """``RecordError`` where the record was made on other data than is here."""
    data = record["provenance"]["data"]
    for name, value in kind_of(task).data(task).items():
        if name in HASHES and data.get(name) != value:
            raise RecordError(
                f"{record['arm']} was made on other data: {data['name']} with {name} {data.get(name)}, found {value}"
            )
