"""Replay: train recorded trials again, compare the outcome bit for bit, and leave a history beside the record, which is
itself never changed."""

import math
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from actlab import paths
from actlab.errors import ActlabError, check_name
from actlab.records import settings, store
from actlab.study.after.load_model import RecordedTrial
from actlab.study.cache import code_and_machine, train_afresh
from actlab.study.record import bits_of, differing, origin_of
from actlab.study.trial import Report, Task


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
    """List the trials of all records below ``results/``, or of one study; ``label`` keeps those of this name."""
    if study:
        check_name("study", study, store.studies(), paths.shown(paths.results()))
    records = chain.from_iterable(map(store.load_study, [study] if study else store.studies()))
    return [
        RecordedTrial(record, trial["label"])
        for record in filter(settings.kind_of, records)
        for trial in record["trials"]
        if label in (None, trial["label"])
    ]


def replay(trial: RecordedTrial, report: Report | None = None) -> Replay:
    """Train a recorded trial again, from nothing, and compare all that was measured on it.

    The same bits are promised on the same kind of machine with the same versions (of Python, and with it of its text)
    and the same code; the sentence says what has changed otherwise, or why the trial cannot be trained here.
    """
    try:
        trial.check_here()
        ((after, _),) = train_afresh(Task((trial.trial,)), report)
    except ActlabError as error:
        return Replay(f"{trial.name}: not replayed: {error}")
    record, before = trial.record, trial.results
    differs, changed = differing(before, after), changed_since(record)
    recorded, now = (float(results.get("final", results).get("val_loss", math.nan)) for results in (before, after))
    outcome: store.Record = {
        "kind": "replay",
        "study": record["study"],
        "arm": record["arm"],
        "trial": trial.label,
        "record_checksum": record["checksum"],
        "equal": not differs,
        "compared": sorted(bits_of(before)),
        "differs": differs,
        "changed": changed,
        "val_loss": {"recorded": recorded, "now": now},
        "provenance": origin_of({}),
    }
    verdict = f"NOT equal in {', '.join(differs)}" if differs else "equal bit for bit"
    losses = after.get("error", f"validation loss {recorded:.6f} recorded, {now:.6f} now")
    apart = f"changed since: {', '.join(changed)}" if changed else "everything else is as recorded"
    return Replay(f"{trial.name}: {verdict} ({losses}); {apart}", outcome, wrong=bool(differs and not changed))


def keep(outcome: store.Record) -> Path:
    """Add a replay to the history of its record: a file of its own, in ``results/STUDY/replays/ARM/``."""
    name = f"{outcome['trial']}-{outcome['provenance']['date'][:10]}-{store.checksum(outcome)[:8]}.json"
    return store.save(store.folder_of(outcome["study"]) / "replays" / outcome["arm"] / name, outcome)


def changed_since(record: store.Record) -> list[str]:
    """List what of this machine, its versions and the code that trains is not as recorded: ``torch 2.12 -> 2.13``."""
    origin, current = record["provenance"], code_and_machine()
    machine, other = origin["machine"], current["machine"]
    changed = [f"{key} {machine.get(key)} -> {now}" for key, now in other.items() if machine.get(key) != now]
    if origin["trial_code_sha256"] != current["trial_code_sha256"]:
        changed.append("the code that trains")
    return changed
