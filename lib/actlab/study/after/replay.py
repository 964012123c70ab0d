"""Replay: train recorded trials again, compare the outcome bit for bit, and leave a history beside the record, which is
itself never changed."""

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.data.fetch import no_download
from actlab.errors import ActlabError, check_name
from actlab.records import settings, store
from actlab.study import provenance
from actlab.study.after.load_model import RecordedTrial, trial_of
from actlab.study.cache import train_afresh
from actlab.study.record import bits_of, differing
from actlab.study.run import Ended, Started, Training, Watch, unwatched
from actlab.study.trial import Report, Task
from actlab.study.workers.pool import run_tasks


@dataclass(frozen=True)
class Replay:
    """The outcome of one replay."""

    sentence: str
    record: store.Record | None = None
    """What is kept of it; ``None`` where the trial cannot be trained here."""
    wrong: bool = False
    """Whether it contradicts what replay promises: it raised, or its bits differ though machine, versions, text and
    the code that trains are the same."""


def recorded_trials(study: str = "", label: str | None = None) -> list[RecordedTrial]:
    """List every trial that replay knows, of all records below ``results/`` or of one study, in the order of the files;
    ``label`` keeps those of this name."""
    if study:
        check_name("study", study, store.studies(), paths.shown(paths.results()))
    records = [record for name in ([study] if study else store.studies()) for record in store.load_study(name)]
    trials = [(record, each["label"]) for record in records if settings.kind_of(record) for each in record["trials"]]
    return [RecordedTrial(record, each) for record, each in trials if label in (None, each)]


def sample(trials: Sequence[RecordedTrial], size: int, seed: int = 0) -> list[RecordedTrial]:
    """Draw so many of the trials that can be trained here."""

    def trains_here(trial: RecordedTrial) -> bool:
        with no_download(), suppress(ActlabError):
            trial.check_here()
            return True
        return False

    return [*islice(filter(trains_here, random.Random(seed).sample(trials, len(trials))), size)]


def replay_all(
    trials: Sequence[RecordedTrial], workers: int = 1, watch: Watch = unwatched, keeps: bool = False
) -> Iterator[Replay]:
    """Replay trials through the pool, and yield each as it ends; ``keeps``: its history written beside the record, so
    that an interruption loses only those under way."""
    watch(Started(len(trials)))

    def report(trial: RecordedTrial, iteration: int, loss: float) -> None:
        watch(Training(trial.id, trial.label, trial.trial.length, iteration, loss))

    for trial, outcome in run_tasks(replay, trials, workers, report):
        if keeps and outcome.record is not None:
            keep(outcome.record)
        watch(Ended(trial.id, trial.label))
        yield outcome


def replay(trial: RecordedTrial, report: Report | None = None) -> Replay:
    """Train a recorded trial again, from nothing, and compare all that was measured on it.

    The same bits are promised on the same kind of machine with the same versions (of Python, and with it of its text)
    and the same code; the sentence says what has changed otherwise, or why the trial cannot be trained here.
    """
    since, record, before = time.perf_counter(), trial.record, trial.results
    try:
        trial.check_here()
        ((after, _),) = train_afresh(Task((trial.trial,)), report)
    except ActlabError as error:
        return Replay(f"{trial.name}: not replayed: {error}")
    differs, changed = differing(before, after), changed_since(record)
    losses = {"recorded": loss_of(before), "now": loss_of(after)}
    outcome: store.Record = {
        **{"kind": "replay", "study": record["study"], "arm": trial.id, "trial": trial.label},
        **{"record_checksum": record["checksum"], "equal": not differs, "compared": sorted(bits_of(before))},
        **{"differs": differs, "changed": changed, "val_loss": losses, "seconds": time.perf_counter() - since},
        "provenance": provenance.of_record(record["provenance"]["path"], {}),
    }
    same = "processor, Python, packages, text and code are as recorded"
    apart = f"changed since: {', '.join(changed)}" if changed else same
    sentence = f"equal bit for bit (validation loss {losses['now']:.6f})"
    if differs:
        both = f"validation loss {losses['recorded']:.6f} recorded, {losses['now']:.6f} now"
        sentence = f"NOT equal in {', '.join(differs)}: {after.get('error', both)}"
    return Replay(f"{trial.name}: {sentence}; {apart}", outcome, wrong=bool(differs and not changed))


def repeats_here() -> str:
    """Say in one line whether this machine repeats the bits of a recorded run of seconds (`params/bits.yaml`)."""
    record = next((paths.SHIPPED.with_name("results") / "bits").glob("charlm-*.json"))
    outcome = replay(trial_of(store.load(record)))
    if outcome.record is None:
        return f"whether this machine repeats the recorded bits is not known: {outcome.sentence}"
    loss, changed = outcome.record["val_loss"], ", ".join(outcome.record["changed"])
    apart = f"no, its loss differs by {abs(loss['now'] - loss['recorded']):.1e} nats; what differs: {changed}"
    return f"this machine repeats the recorded bits: {'yes' if outcome.record['equal'] else apart}"


def keep(outcome: store.Record) -> Path:
    """Add a replay to the history of its record: a file of its own, never changed, in
    ``results/STUDY/replays/ARM/``."""
    moment = outcome["provenance"]["date"].replace(":", "").replace("-", "")[:15]
    name = f"{outcome['trial']}-{moment}-{store.checksum(outcome)[:8]}.json"
    beside = paths.results() / outcome["study"] / f"{outcome['arm']}.json"
    return store.save(store.replays_of(beside) / name, outcome)


def loss_of(trial: Mapping[str, Any]) -> float:
    """Return the last validation loss of a trial of any kind."""
    return float(trial.get("final", trial).get("val_loss", math.nan))


def changed_since(record: store.Record) -> list[str]:
    """List what of this machine, its versions and the code that trains is not as recorded: ``torch 2.12 -> 2.13``."""
    was, here = record["provenance"], provenance.here()
    then, now = was["machine"], here["machine"]
    changed = [f"{key} {then.get(key)} -> {now.get(key)}" for key in then | now if then.get(key) != now.get(key)]
    if was["trial_code_sha256"] != here["trial_code_sha256"]:
        changed.append("the code that trains")
    return changed
