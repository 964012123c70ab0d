"""The last step of an arm: its record, made of its trials and written once, with where it comes from; a record that
grows keeps the bits of its trials; failures are kept apart."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from actlab import paths
from actlab.errors import RecordError
from actlab.files import write_text
from actlab.plugins import sources
from actlab.records import store
from actlab.records.schema import check_record
from actlab.records.settings import without_trials
from actlab.records.strict import in_json, with_numbers
from actlab.study.arm import Arm
from actlab.study.cache import ONE_TRIAL, code, machine
from actlab.study.trial import Results
from actlab.trainers import setup

NO_BITS = ("seconds", "started", "tokens_per_second", "training", "traceback")


def recorded(arm: Arm) -> store.Record | None:
    """Load the arm's record, if it has one."""
    path = store.path_of(arm.study, arm.id)
    return store.load_once(path) if path.exists() else None


def bits_of(trial: Results) -> Results:
    """Return what has to come out the same: everything that was measured but times, and what the arm measures on it
    later."""
    return {name: value for name, value in trial.items() if name not in NO_BITS}


def differing(trial: Results, other: Results) -> list[str]:
    """Name the bits of ``trial`` that ``other`` does not have."""
    bits = bits_of(trial).items()
    return sorted(name for name, value in bits if store.canonical(other.get(name)) != store.canonical(value))


@cache
def _settings_in(file: Path) -> str:
    """The hash of the settings that a record shares with other sizes of its arm. A sweep of rates has hundreds of
    records of one name, and each trial is compared with those of its settings."""
    return store.digest(without_trials(store.load(file)["config"]))


def check_growth(arm: Arm, trial: Results) -> None:
    """Raise ``RecordError`` where a trial of the arm has other bits than in a smaller record: its settings, fewer
    trials.

    An arm that has grown takes its trials from the cache, or trains them again: predictions, which its new pairs need,
    are in no record. Either way they are held to the recorded bits.
    """
    settings = store.digest(without_trials(arm.config))
    for file in store.folder_of(arm.study).glob(f"{arm.id.rpartition('-')[0]}-*.json"):
        if trial["status"] == "failed" or _settings_in(file) != settings:
            continue
        for before in store.load(file)["trials"]:
            if before["label"] == trial["label"] and (differs := differing(before, trial)):
                raise RecordError(
                    f"{arm.id}: trial {trial['label']} comes out differently here than {store.where(arm.study)} has it "
                    f"({', '.join(differs)}): a study grows "
                    "only where its trials keep their bits, on the same kind of machine with the same versions and "
                    "training code; grow it there, or give the larger one a name of its own: --set study=NAME"
                )


def origin_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return what a record says of its origin: now, this code and machine, its data."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    floats = f"{torch.get_default_dtype()}, products in {torch.get_float32_matmul_precision()} precision"  # of plug-ins
    return {"date": date, **code(), "machine": machine(), "floats": floats, "threads": 1, "data": data}


def record_of(arm: Arm, results: list[Results]) -> store.Record:
    """Make the record of an arm whose trials have all ended."""
    first = arm.trials[0]
    with ONE_TRIAL:  # a network that is made draws from the stream of another thread's training
        setup.prepare()  # on one thread, whoever measures
        measured = arm.measured(results)
    return {
        **measured,
        "config": dict(arm.config),
        "study": arm.study,
        "arm": arm.id,
        "kind": arm.kind,
        "provenance": {
            **origin_of(first.data(arm.measures.prediction_windows)),
            **arm.decided,
            **sources((*first.parts, *arm.measures.metrics)),
        },
    }


def failure_of(arm: Arm) -> Path:
    """Return where an arm's failed trials leave their tracebacks: ``results/<study>/failed/<arm>-<hash>.json``, which
    no reader takes for a record."""
    path = store.path_of(arm.study, arm.id)
    return path.parent / "failed" / path.name


def finish(arm: Arm, record: store.Record) -> store.Record:
    """Write an arm's record and return it as it reads back; where another run of the study has written it meanwhile,
    that one.

    One with a failed trial goes to ``failure_of(arm)`` instead, until the arm, run again, has its record.

    Raises:
        RecordError: the record there holds another result.
    """
    text = in_json(record, indent=1) + "\n"
    plain: store.Record = with_numbers(json.loads(text))
    if any(trial["status"] == "failed" for trial in record["trials"]):
        write_text(failure_of(arm), text)
        return plain
    check_record(plain)  # what no reader would read is never written
    lock = paths.cache() / "arms" / f"{arm.study}-{arm.id}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        existing = recorded(arm)
        if existing is not None and not any(map(differing, existing["trials"], plain["trials"])):
            return existing
        store.save(store.path_of(arm.study, arm.id), record)  # another result there is never replaced
    failure_of(arm).unlink(missing_ok=True)
    return plain
