"""The histories of replays as a table: how many recorded trials were trained again, and with what outcome. Reads files;
trains nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from actlab import paths
from actlab.records import store
from actlab.records.store import Record
from actlab.wording import bullets

CODE = "the code that trains"
"""How a replay names a change of the code, among what changed since its record was made."""
NOTHING = "With nothing changed"
PROCESSOR = "processor "
"""How the name of a change of the processor begins."""


@dataclass(frozen=True)
class History:
    """What is recorded of a study's trials and of their replays."""

    study: str
    trials: int
    """Recorded."""
    replays: tuple[Record, ...]

    @property
    def trained_again(self) -> int:
        """Trials with a replay at least; a trial may have several."""
        return len({(replay["arm"], replay["trial"]) for replay in self.replays})

    def count(self, equal: bool, changed: bool | None = None) -> int:
        """Replays that were equal bit for bit or not, where machine, versions or code had ``changed`` since the record
        was made, or had not."""
        return sum(r["equal"] is equal and changed in (None, bool(r["changed"])) for r in self.replays)


def read() -> list[History]:
    """One a study with trials, by name."""
    found = []
    for folder in sorted(path.name for path in paths.results().glob("*") if path.is_dir()):
        trials = sum(len(record.get("trials", [])) for record in store.load_study(folder))
        if trials:
            found.append(History(folder, trials, tuple(store.load_replays(folder))))
    return found


def table(histories: Iterable[History]) -> pd.DataFrame:
    """One row a study, and their sum: trials recorded and trained again; replays equal bit for bit (also after a change
    of code), and not equal.

    Replays are the equal ones and those that are not: a trial may have several.
    """
    histories = list(histories)
    everything = History("all", sum(h.trials for h in histories), tuple(r for h in histories for r in h.replays))
    rows = {}
    for h in [*histories, everything]:
        rows[h.study] = {
            "trials recorded": f"{h.trials:,}",
            "trained again": str(h.trained_again),
            "equal bit for bit": str(h.count(equal=True)),
            "although the code changed": str(sum(r["equal"] and CODE in r["changed"] for r in h.replays)),
            "not equal, something changed": str(h.count(equal=False, changed=True)),
            "not equal, nothing changed": str(h.count(equal=False, changed=False)),
            "last": max((r["provenance"]["date"][:10] for r in h.replays), default="none yet"),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def sentences(histories: Iterable[History]) -> Any:
    """What the table says by what had changed, how far the replays were off that were not equal, and each that breaks
    the promise."""
    replays = [replay for history in histories for replay in history.replays]
    if not replays:
        return bullets(["no recorded trial has been trained again yet"])
    machines = {r["provenance"]["machine"]["processor"] for r in replays}
    kinds = f"on {len(machines)} kind{'s' if len(machines) > 1 else ''} of processor"
    causes = {said: part for said, part in _causes(replays).items() if part or said == NOTHING}
    texts = [
        f"Replays of recorded trials: {len(replays)}, {kinds}",
        *(f"{said}: {_equal(part)}" for said, part in causes.items()),
    ]
    apart = [_apart(r) for r in replays if not r["equal"] and r["changed"] and "val_loss" in r]
    if apart:
        texts.append(
            f"{len(apart)} replays after a change ended {min(apart):.1e} to {max(apart):.1e} nats from the recorded validation loss"
        )
    return bullets(
        [*texts, *(_one(r) for r in replays if not r["equal"] and (not r["changed"] or "val_loss" not in r))]
    )


def _causes(replays: list[Record]) -> dict[str, list[Record]]:
    """The replays by what had changed since their record; every replay is in one part."""
    processor, same = _parted(replays, on_another_processor)
    code, unchanged = _parted(same, lambda r: CODE in r["changed"])
    other, unchanged = _parted(unchanged, lambda r: bool(r["changed"]))
    return {
        NOTHING: unchanged,
        "On the recorded kind of processor, after a change of the code": code,
        "On the recorded kind of processor, with other versions": other,
        "On another kind of processor, where equal bits are not to be expected": processor,
    }


def on_another_processor(replay: Record) -> bool:
    """Whether it ran on another kind of processor than its record."""
    return any(change.startswith(PROCESSOR) for change in replay["changed"])


def _parted(replays: list[Record], test: Callable[[Record], bool]) -> tuple[list[Record], list[Record]]:
    return [r for r in replays if test(r)], [r for r in replays if not test(r)]


def _equal(replays: list[Record]) -> str:
    return f"{sum(r['equal'] for r in replays)} of {len(replays)} gave the recorded bits" if replays else "none yet"


def _apart(replay: Record) -> float:
    """Between the recorded and the new validation loss, in nats."""
    return float(abs(replay["val_loss"]["now"] - replay["val_loss"]["recorded"]))


def _one(replay: Record) -> str:
    far = f"{_apart(replay):.1e} nats" if "val_loss" in replay else "it failed"
    return f"{replay['arm']} trial {replay['trial']}: {far}; changed since: {', '.join(replay['changed']) or 'nothing'}"
