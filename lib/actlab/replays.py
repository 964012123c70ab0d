"""The histories of replays as a table: how many recorded trials were trained again, and with what outcome. Reads files; trains nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from actlab import paths, store
from actlab.store import Record
from actlab.wording import bullets

CODE = "the code that trains"
"""How a replay names a change of the code, among what changed since its record was made."""


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
        """Replays that were equal bit for bit or not, where machine, versions or code had ``changed`` since the record was made, or had not."""
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
    """One row a study, and their sum: trials recorded and trained again; replays equal bit for bit (also after a change of code), and not equal."""
    histories = list(histories)
    everything = History("all", sum(h.trials for h in histories), tuple(r for h in histories for r in h.replays))
    rows = {}
    for h in [*histories, everything]:
        rows[h.study] = {
            "trials recorded": f"{h.trials:,}",
            "trained again": str(h.trained_again),
            "replays": str(len(h.replays)),
            "equal bit for bit": str(h.count(equal=True)),
            "although the code changed": str(sum(r["equal"] and CODE in r["changed"] for r in h.replays)),
            "not equal, something changed": str(h.count(equal=False, changed=True)),
            "not equal, nothing changed": str(h.count(equal=False, changed=False)),
            "last": max((r["provenance"]["date"][:10] for r in h.replays), default="none yet"),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def sentences(histories: Iterable[History]) -> Any:
    """What the table says, and how far the replays were off that were not equal."""
    replays = [replay for history in histories for replay in history.replays]
    if not replays:
        return bullets(["no recorded trial has been trained again yet"])
    equal = sum(r["equal"] for r in replays)
    machines = {r["provenance"]["machine"]["processor"] for r in replays}
    texts = [f"{equal} of {len(replays)} replays gave the recorded bits, on {len(machines)} kind{'s' if len(machines) > 1 else ''} of processor"]
    for r in replays:
        if not r["equal"]:
            apart = f"{abs(r['val_loss']['now'] - r['val_loss']['recorded']):.1e} nats" if "val_loss" in r else "it failed"
            texts.append(f"{r['arm']} trial {r['trial']}: {apart}; changed since: {', '.join(r['changed']) or 'nothing'}")
    return bullets(texts)
