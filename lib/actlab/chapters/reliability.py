"""What studies survive: the outcome of the tests of faults and of bad input, and every replay of a recorded trial. No
torch; injects no fault, trains nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from actlab import paths
from actlab.chapters.template import frame
from actlab.records import store
from actlab.records.store import Record
from actlab.records.wording import bullets, moment

STUDY = "reliability"
COMMAND = "pytest tests/faults tests/fuzz --hypothesis-profile=many --reliability"
"""Writes a record, if every test has passed."""


def newest() -> Record | None:
    """The last record; ``None`` where there is none."""
    return max(store.load_study(STUDY), key=lambda record: str(record["provenance"]["date"]), default=None)


def faults(record: Record | None) -> pd.DataFrame:
    """One row a fault: how often it was brought about, what came of it, how many records were compared with those of an
    undisturbed run."""
    if record is None:
        return frame({})
    rows = {
        _plain(row["fault"]): {
            "times": row["times"],
            "what came of it": _plain(row["outcome"]) + (f" ({row['note']})" if row.get("note") else ""),
            "records compared": row["compared"],
            "lost": row["lost"],
            "seconds": f"{row['seconds']:.1f}",
        }
        for row in record["faults"]
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _plain(text: str) -> str:
    """Without marks of Markdown, which a table does not render, and with a damage set apart from what was damaged."""
    apart = re.sub(r"^a record (?=cut|edited|empty|other bytes|a list)", "a record: ", text.replace("`", ""))
    return re.sub(
        r": a list$", ": a list in its place", re.sub(r": other bytes$", ": overwritten with other bytes", apart)
    )


def doors(record: Record | None) -> pd.DataFrame:
    """One row a door: bad and odd inputs tried, how many could be used, how many were refused with a sentence, and what
    remains: tracebacks."""
    if record is None:
        return frame({})
    rows = {
        door: {
            "inputs tried": f"{counts['tried']:,}",
            "used": f"{counts['used']:,}",
            "refused with a sentence": f"{counts['refused']:,}",
            "tracebacks": _tracebacks(counts),
        }
        for door, counts in sorted(record["doors"].items())
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("door")


def _tracebacks(counts: dict[str, int]) -> int:
    return counts["tried"] - counts["used"] - counts["refused"]


def totals(record: Record | None) -> pd.DataFrame:
    """The sums of both tables, and where and when they were measured."""
    if record is None:
        return frame({})
    made, tried = record["provenance"], record["doors"].values()
    rows: dict[str, Any] = {
        "kinds of faults": len(record["faults"]),
        "faults": sum(row["times"] for row in record["faults"]),
        "records compared with an undisturbed run's": sum(row["compared"] for row in record["faults"]),
        "results lost": sum(row["lost"] for row in record["faults"]),
        "bad or odd inputs": f"{sum(counts['tried'] for counts in tried):,}",
        "tracebacks": sum(map(_tracebacks, tried)),
        "seconds": f"{record['seconds']:.0f}",
        "processor": made["machine"]["processor"],
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10] + (" (changed)" if made["git_dirty"] else ""),
    }
    return pd.DataFrame({"": rows})


# --- replays ---------------------------------------------------------------------------------------------------------

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


def histories() -> list[History]:
    """One a study with trials, by name."""
    studies = sorted(path.name for path in paths.results().glob("*") if path.is_dir())
    trials = {study: sum(len(record.get("trials", [])) for record in store.load_study(study)) for study in studies}
    return [History(study, count, tuple(store.load_replays(study))) for study, count in trials.items() if count]


def replays_table(found: Iterable[History]) -> pd.DataFrame:
    """One row a study, and their sum: trials recorded and trained again; replays equal bit for bit (also after a change
    of code), and not equal.

    Replays are the equal ones and those that are not: a trial may have several.
    """
    found = list(found)
    everything = History("all", sum(h.trials for h in found), tuple(r for h in found for r in h.replays))
    rows = {}
    for h in [*found, everything]:
        differ = [r for r in h.replays if not r["equal"]]
        rows[h.study] = {
            "trials recorded": f"{h.trials:,}",
            "trained again": str(len({(r["arm"], r["trial"]) for r in h.replays})),
            "equal bit for bit": str(len(h.replays) - len(differ)),
            "although the code changed": str(sum(r["equal"] and CODE in r["changed"] for r in h.replays)),
            "not equal, something changed": str(sum(bool(r["changed"]) for r in differ)),
            "not equal, nothing changed": str(sum(not r["changed"] for r in differ)),
            "last": max((r["provenance"]["date"][:10] for r in h.replays), default="none yet"),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def replays_listed(found: Iterable[History]) -> Any:
    """What the table says by what had changed, how far the replays were off that were not equal, and each that breaks
    the promise."""
    replays = [replay for history in found for replay in history.replays]
    if not replays:
        return bullets(["no recorded trial has been trained again yet"])
    machines = {r["provenance"]["machine"]["processor"] for r in replays}
    kinds = f"on {len(machines)} kind{'s' if len(machines) > 1 else ''} of processor"
    causes = {said: part for said, part in _causes(replays).items() if part or said == NOTHING}
    texts = [
        f"Replays of recorded trials: {len(replays)}, {kinds}",
        *(f"{said}: {_equal(part)}" for said, part in causes.items()),
    ]
    differ = [r for r in replays if not r["equal"]]
    if apart := [_apart(r) for r in differ if r["changed"] and "val_loss" in r]:
        texts.append(
            f"{len(apart)} replays after a change ended {min(apart):.1e} to {max(apart):.1e} nats from the recorded "
            "validation loss"
        )
    return bullets([*texts, *(_one(r) for r in differ if not r["changed"] or "val_loss" not in r)])


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
