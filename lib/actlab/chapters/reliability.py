"""What studies survive, a part of the page on running: the tests of faults and of bad input, and every replay of a
recorded run. No torch; injects no fault, trains nothing."""

from __future__ import annotations

import pandas as pd

from actlab import paths
from actlab.chapters.template import frame
from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.store import Record
from actlab.records.wording import small

STUDY = "reliability"
CODE = "the code that trains"
"""How a replay names a change of the code, among what changed since its record was made."""
PROCESSOR = "processor "
"""How the name of a change of the processor begins."""


def sentence(record: Record | None) -> str:
    """What faults and bad input did; says so where there is no record."""
    if record is None:
        return f"Faults: {NO_RECORD}"
    faults, lost = (sum(row[key] for row in record["faults"]) for key in ("times", "lost"))
    tried, errors = (sum(map(count, record["doors"].values())) for count in (lambda c: c["tried"], _tracebacks))
    return (
        f"Of {faults} faults that tests brought about (kills, full disks, damaged files) {lost or 'none'} lost a "
        f"result; of {tried:,} bad or odd inputs {errors or 'none'} ended in a traceback"
    )


def _tracebacks(counts: dict[str, int]) -> int:
    return counts["tried"] - counts["used"] - counts["refused"]


def faults(record: Record | None) -> pd.DataFrame:
    """One row a fault: how often it was brought about, what came of it, how many records were compared with those of an
    undisturbed run."""
    return frame(
        {
            row["fault"].replace("a record ", "a record: "): {
                "times": row["times"],
                "what came of it": row["outcome"].replace("`", "") + (f" ({row['note']})" if row.get("note") else ""),
                "records compared": row["compared"],
                "lost": row["lost"],
            }
            for row in (record["faults"] if record else ())
        }
    )


def doors(record: Record | None) -> pd.DataFrame:
    """One row a door: bad and odd inputs tried, how many could be used, how many were refused with a sentence, and what
    remains: tracebacks."""
    return frame(
        {
            door: {
                "inputs tried": f"{counts['tried']:,}",
                "used": f"{counts['used']:,}",
                "refused with a sentence": f"{counts['refused']:,}",
                "tracebacks": _tracebacks(counts),
            }
            for door, counts in sorted(record["doors"].items() if record else ())
        }
    )


def replays() -> list[Record]:
    """Every run that was trained again, of all studies."""
    return [r for path in sorted(paths.results().glob("*")) if path.is_dir() for r in store.load_replays(path.name)]


def on_another_processor(replay: Record) -> bool:
    """Whether it ran on another kind of processor than its record."""
    return any(change.startswith(PROCESSOR) for change in replay["changed"])


def cause(replay: Record) -> str:
    """What had changed since its record that bears most on the bits."""
    if on_another_processor(replay):
        return "the kind of processor: equal bits are not to be expected"
    if CODE in replay["changed"]:
        return CODE
    return "versions" if replay["changed"] else "nothing"


def by_cause(every: list[Record]) -> pd.DataFrame:
    """One row a cause: replays, those that gave the recorded bits, and how far the losses of the others were off."""
    rows = {}
    for name in sorted(set(map(cause, every))):
        mine = [replay for replay in every if cause(replay) == name]
        off = [abs(r["val_loss"]["now"] - r["val_loss"]["recorded"]) for r in mine if "val_loss" in r]
        rows[name] = {
            "replays": len(mine),
            "the recorded bits": sum(r["equal"] for r in mine),
            "largest difference of validation loss (nats)": small(max(off, default=0.0)),
        }
    return frame(rows)


def replayed(every: list[Record]) -> str:
    """How many runs that were trained again gave the recorded bits, where that is promised."""
    promised = [r["equal"] for r in every if not on_another_processor(r)]
    return f"On the recorded kind of processor {sum(promised)} of {len(promised)} replays gave the recorded bits"
