"""From a record back to its trial and its model: what it needs to be trained here; weights from the cache, from the
study's folder `weights`, or trained again."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from actlab.errors import BadInput, RecordError
from actlab.models import LanguageModel
from actlab.records import store
from actlab.records.find import find
from actlab.study import provenance
from actlab.study.kinds import kind_of
from actlab.study.kinds.kind import Report, Results
from actlab.study.plugins.identity import find_part
from actlab.study.progress import why
from actlab.study.trial import run_trial
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256

PROCESSOR = ("processor", "capability", "generation")
"""What of a machine decides how sums are rounded."""


def load_model(record: Path | str | store.Record, seed: int | str | None = None, anyway: bool = False) -> LanguageModel:
    """The model of a recorded trial, in evaluation mode: with the weights of which the record keeps the hash, from the
    cache or trained again; or with those that the study's folder ``weights`` keeps, with a warning where they were
    trained on another kind of processor.

    Args:
        record: a record of language models or of an ablation: its name (``repro-lite/charlm-gelu``), its file, or what
            is in it.
        seed: of the trial; the first one unless given. A label (``"42-nudge"``) names a changed repetition.
        anyway: train it again also where that gives other weights than recorded, with a warning.

    Raises:
        BadInput: no such trial (the message lists the labels), one that is not done, or a kind of record that keeps no
            weights.
        RecordError: trained again here it has, or would have, other weights than recorded.
    """
    content = record if isinstance(record, dict) else store.load(find(record))
    model, note = kept_model(content, seed, anyway)
    if note:
        logging.getLogger("actlab").warning("%s", note)
    return model


def kept_model(
    record: store.Record, seed: int | str | None = None, anyway: bool = False, report: Report | None = None
) -> tuple[LanguageModel, str]:
    """As ``load_model``; a note whose weights these are, where they are not the recorded ones, bit for bit. ``report``
    hears of a training."""
    if (kind := kind_of(record)).name == "mnist":
        raise BadInput(f"{record['arm']}: a record of kind {record['kind']!r} keeps no weights")
    label = record["trials"][0]["label"] if seed is None else str(seed)
    task, name = specification(record, label), f"{record['study']}/{record['arm']} trial {label}"
    recorded = results_of(record, label)
    if recorded["status"] != "done":
        raise BadInput(f"{record['arm']} trial {label} is {recorded['status']}: it left no model")
    check_data(task, record)
    wanted, path = recorded["weights_sha256"], weights_file(record, label)
    origin = record["provenance"] if kind.cached(task, record["provenance"]).exists() else None
    if origin is None and path.exists():
        tensors, about = checkpoint.read_tensors(path)
        if weights_sha256(model := kind.trained(task, tensors)) != about["weights_sha256"]:
            raise RecordError(f"{path} does not hold the weights that it names")
        return model, "" if about["weights_sha256"] == wanted else f"{name}: {about['note']}"
    if origin is None:
        check_here(record, task)
        if not anyway and (other := other_processor(record)):
            raise RecordError(f"{name} {other}; it takes about {seconds_of(recorded):.0f} s to train again: {WAY_OUT}")
        if failed := why(run_trial(task, report)):
            raise RecordError(f"trained again it failed: {failed}")
    model = kind.trained(task, kind.tensors(task, origin=origin))
    if (now := weights_sha256(model)) == wanted:
        return model, ""
    warning = f"{name}: trained again here it has other weights ({now[:12]}) than the record says ({wanted[:12]})"
    if anyway:
        return model, warning
    raise RecordError(f"{warning}; `actlab replay` tells what differs: machine, versions or the code that trains")


WAY_OUT = "--anyway (load_model(..., anyway=True)) does so and marks the result"


def weights_file(record: store.Record, label: str) -> Path:
    """Where a study keeps the weights of a trial beside its records, if it does."""
    return store.folder_of(record["study"]) / "weights" / f"{record['arm']}-{label}.safetensors"


def other_processor(record: store.Record) -> str:
    """What to say where this machine rounds otherwise than the one that made the record; nothing where it has the same
    kind of processor (old records do not tell its generation)."""
    was, here = record["provenance"]["machine"], provenance.machine()
    if all(was.get(key) in (None, here[key]) for key in PROCESSOR):
        return ""
    then, now = (" ".join(str(machine[key]) for key in PROCESSOR if machine.get(key)) for machine in (was, here))
    return f"was trained on {then}; here is {now}, on which training gives other bits"


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
