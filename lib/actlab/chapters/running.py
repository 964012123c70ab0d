"""The page on running, extending and trusting: its answer, the quick study of this machine, and every table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from actlab.chapters import performance, reliability
from actlab.chapters.template import folded, frame
from actlab.figures.style import NO_RECORD
from actlab.records import repro, store
from actlab.records.wording import bullets, with_interval


def answer() -> Any:
    """What a run costs, what a study survives, whether it repeats: a sentence each, for a notebook."""
    return bullets(
        [
            performance.sentence(),
            reliability.sentence(performance.newest(None, reliability.STUDY)),
            reliability.replayed(reliability.replays()),
        ]
    )


def table(study: str) -> pd.DataFrame:
    """One row an activation of a study of one model: its loss and how far its seeds differ."""
    rows = {
        arm.activation: {
            "validation loss (nats)": with_interval(arm.shown("val_loss"), 3),
            "total variation between seeds": with_interval(arm.shown("total_variation"), 3),
            "runs": len(arm.done),
        }
        for arm in repro.read(store.load_study(study)).arms.values()
    }
    return frame(rows)


def extent(study: str) -> Any:
    """How large a study is, how long it took, and on which processor; the command where it was not trained."""
    arms = list(repro.read(store.load_study(study)).arms.values())
    if not arms:
        return bullets([f"{NO_RECORD} on this machine: `actlab run params/{study}.yaml`"])
    runs = [trial for arm in arms for trial in arm.record["trials"]]
    seconds = sum(sum(trial["seconds"].values()) for trial in runs if "seconds" in trial)
    processor = arms[0].record["provenance"]["machine"]["processor"]
    return bullets([f"{len(runs)} runs of {len(arms)} activations took {seconds:.0f} s of one core ({processor})"])


def tables() -> Any:
    """Every table, folded."""
    record = performance.newest(None, reliability.STUDY)
    trust = {"Faults": reliability.faults(record), "Bad and odd input": reliability.doors(record)}
    return folded(performance.tables(faults=record) | trust)
