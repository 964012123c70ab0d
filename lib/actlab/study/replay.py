"""Replay: train recorded trials again, compare the outcome bit for bit, and leave a history beside the record, which is
itself never changed."""

import logging
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from actlab import metrics, paths
from actlab.data.fetch import no_download
from actlab.errors import ActlabError, RecordError, check_name
from actlab.records import settings, store
from actlab.study import provenance
from actlab.study.arm import means
from actlab.study.cache import train_afresh
from actlab.study.load_model import RecordedTrial, told_of
from actlab.study.progress import Ended, Started, Watch, seconds_of, unwatched, why
from actlab.study.record import bits_of, differing
from actlab.study.trial import Report, Task
from actlab.study.workers.pool import run_tasks
from actlab.trainers.evaluation import predict

SAME = ("model", "activation", "scale", "dataset", "gated_width", "protocol", "recipe")
"""Settings that an arm shares with its noise floor."""


@dataclass(frozen=True)
class Replay:
    """Outcome of one replay."""

    sentence: str
    record: store.Record | None = None
    """What is kept of it; ``None`` where the trial cannot be trained here: its data is not here, say."""
    wrong: bool = False
    """Whether it contradicts what replay promises: it raised, or its bits differ though machine, versions and the code
    that trains are the same."""


def recorded_trials(study: str = "", label: str | None = None) -> list[RecordedTrial]:
    """Every trial that replay knows, of all records below ``results/`` or of one study, in the order of the files;
    ``label``: with this label."""
    if study:
        check_name("study", study, store.studies(), paths.shown(paths.results()))
    found: list[RecordedTrial] = []
    for name in [study] if study else store.studies():
        for path in sorted(store.folder_of(name).glob(paths.RECORDS)):
            try:
                record = store.load(path)
            except RecordError as error:  # one bad record does not stop the others
                logging.getLogger("actlab").warning("passed over: %s", error)
                continue
            trials = record["trials"] if settings.kind_of(record) else []
            found += [RecordedTrial(record, each["label"]) for each in trials if label in (None, each["label"])]
    return found


def sample(trials: Sequence[RecordedTrial], seed: int = 0, minutes: float = math.inf) -> list[RecordedTrial]:
    """The trials in random order, the studies taking turns so that none is left out of the first for its size.

    ``minutes`` leaves out trials whose recorded training took longer: the sample then says nothing about those.
    """
    drawn = [trial for trial in trials if seconds_of(trial.results) <= 60 * minutes]
    random.Random(seed).shuffle(drawn)
    turns: dict[str, list[RecordedTrial]] = {}
    for trial in drawn:
        turns.setdefault(trial.record["study"], []).append(trial)
    return [trial for turn in zip_longest(*turns.values()) for trial in turn if trial]


def possible(trials: Sequence[RecordedTrial], size: int | None = None) -> tuple[list[RecordedTrial], list[str]]:
    """(the first ``size`` trials that can be trained here, all of them unless given; a sentence for each reason for
    which those before the last of them cannot)."""
    trainable: list[RecordedTrial] = []
    reasons = Counter[str]()
    for trial in trials:
        if len(trainable) == size:
            break
        try:
            with no_download():
                trial.check_here()
            trainable.append(trial)
        except ActlabError as error:
            reasons[str(error).replace(trial.id, "it")] += 1
    return trainable, [f"skipped {count} trials that cannot be trained here: {why}" for why, count in reasons.items()]


def replay_all(
    trials: Sequence[RecordedTrial], workers: int = 1, watch: Watch = unwatched, keeps: bool = False
) -> Iterator[Replay]:
    """Replay trials through the pool, and yield each as it ends; ``keeps``: its history written beside the record, so
    that an interruption loses only those under way."""
    provenance.code()  # before anything can change the files that this process has loaded
    if trials:
        watch(Started(len(trials)))
    for trial, outcome in run_tasks(replay, trials, workers, partial(told_of, watch)):
        if keeps and outcome.record is not None:
            keep(outcome.record)
        watch(Ended(trial.id, trial.label))
        yield outcome


def replay(trial: RecordedTrial, report: Report | None = None) -> Replay:
    """Train a recorded trial again, from nothing.

    The same bits are promised on the same kind of machine with the same versions and the same code; the sentence says
    what differs otherwise, and how far the outcome is from the recorded one: in loss, and in total variation where the
    recorded trial's weights are still in the cache, beside the arm's noise floor where that is recorded; and what
    of the record was not compared, by name. Or why it cannot be trained here: its data is not here or is other data, or
    it needs a device that is not here.
    """
    since, record, before = time.perf_counter(), trial.record, trial.results
    try:
        trial.check_here()
        ((after, tensors),) = train_afresh(Task((trial.trial,)), report)
    except ActlabError as error:
        return Replay(f"{trial.name}: not replayed: {error}")
    seconds = time.perf_counter() - since
    differs = [*differing(before, after), *_wrong_means(record)]
    changed = _changed(record)
    outcome: store.Record = {
        "kind": "replay",
        "study": record["study"],
        "arm": trial.id,
        "trial": trial.label,
        "record_checksum": record["checksum"],
        "equal": not differs,
        "compared": [*sorted(bits_of(before)), "means"],
        "differs": differs,
        "changed": changed,
        "seconds": seconds,
        "provenance": provenance.of_record(record["provenance"]["path"], {}),
    }
    if after["status"] == "failed":
        return Replay(f"{trial.name}: FAILED: {why(after)}", outcome, wrong=True)
    outcome["val_loss"] = {"recorded": _loss(before), "now": _loss(after)}
    outcome["total_variation"] = far_apart(trial, tensors) if differs else 0.0
    return Replay(f"{trial.name}: {_verdict(outcome, record)}", outcome, wrong=bool(differs and not changed))


def keep(outcome: store.Record) -> Path:
    """Add a replay to the history of its record: a file of its own, never changed, in the project's
    ``results/STUDY/replays/ARM/``, which is beside the record where this is the project's."""
    moment = outcome["provenance"]["date"].replace(":", "").replace("-", "")[:15]
    name = f"{outcome['trial']}-{moment}-{store.checksum(outcome)[:8]}.json"
    beside = paths.results() / outcome["study"] / f"{outcome['arm']}.json"
    return store.save(store.replays_of(beside) / name, outcome)


def far_apart(trial: RecordedTrial, tensors: Mapping[str, Tensor]) -> float | None:
    """Mean total variation between the predictions of a recorded trial's weights and of those trained again, on the
    inputs on which the study compares trials; ``None`` where it is not in the cache any more, or none are compared."""
    kept, planned = trial.kept(), trial.trial
    if not (kept and tensors and trial.windows):
        return None
    frozen = planned.compared_on(trial.windows)
    before, after = (predict(planned.trained(each).to(planned.place), frozen) for each in (kept, tensors))
    return metrics.total_variation(before, after)


def _wrong_means(record: store.Record) -> list[str]:
    """Names of a record's means that are not those of its own trials and pairs."""
    names = [name.removeprefix("avg_") for name in record if name.startswith("avg_")]
    now = means(names, record["trials"], record.get("reproducibility_metrics", ()))
    return [name for name in now if not np.isclose(record[name], now[name], rtol=1e-9, atol=0, equal_nan=True)]


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial.get("final", trial).get("val_loss", math.nan))


def _changed(record: store.Record) -> list[str]:
    """What a bit-for-bit comparison has to share and does not."""
    was, here = record["provenance"], provenance.here()
    then, now = was["machine"], here["machine"]
    changed = [f"{key} {then.get(key)} -> {now.get(key)}" for key in then | now if then.get(key) != now.get(key)]
    if was["trial_code_sha256"] != here["trial_code_sha256"]:
        changed.append("the code that trains")
    return changed


def _verdict(outcome: store.Record, record: store.Record) -> str:
    changed = ", ".join(outcome["changed"])
    before, after = outcome["val_loss"]["recorded"], outcome["val_loss"]["now"]
    if outcome["equal"]:
        although = f", although this changed since: {changed}" if changed else ""
        return f"equal bit for bit (validation loss {after:.6f}){although}"
    far = "total variation not known, since the recorded weights are not in the cache"
    if (apart := outcome["total_variation"]) is not None:
        far = f"total variation {apart:.1e} from the recorded predictions{_floor(record)}"
    reason = f"what differs: {changed}" if changed else "processor, versions and code are as recorded"
    return (
        f"NOT equal in {', '.join(outcome['differs'])}: validation loss {before:.6f} recorded, {after:.6f} now "
        f"({abs(after - before):.1e} apart); {far}; {reason}"
    )


def _floor(record: store.Record) -> str:
    """What a 1-ULP perturbation does to the replayed arm; nothing where that is not recorded."""
    own = [record["config"].get(name) for name in SAME]
    moved: list[float] = []
    for floor in store.load_study(record["study"]):
        if floor["kind"] == "floor" and [floor["config"].get(name) for name in SAME] == own:
            pairs = floor["reproducibility_metrics"]
            moved += [pair["total_variation"] for pair in pairs if pair["between"][1].endswith("-nudge")]
    return f" (one weight moved by one unit in the last place: {moved[0]:.1e})" if moved else ""
