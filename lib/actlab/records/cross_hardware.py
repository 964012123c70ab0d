"""The same run on two kinds of processor, from records and replays: what rounding alone makes of a result.

Two kinds add the same numbers in another order, so that every sum may differ in its last digits; seed, data and
versions are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records import store
from actlab.records.settings import PROCESSOR
from actlab.records.store import Record, canonical

TRIAL = ["run", "label", "model", "activation", "scale"]
MEASURED = (
    *("trials", "kind", "prediction_windows", "snapshots", "ensembles", "varies", "fixed", "recipe", "perturbations"),
    *("evaluate_every", "device", "compiled"),
)
"""Settings that do not change a trial's training, or are taken apart."""


def training(record: Record, label: str) -> str:
    """What two records must share for a trial to be the same run: settings that train, and the seed of every random
    stream."""
    config, seed = record["config"], label.partition("-")[0]
    varies, fixed = config.get("varies", "all"), config.get("fixed")
    streams = ["all", seed] if varies == "all" or seed == str(fixed) else [varies, seed, fixed]
    own = {key: value for key, value in {**config["recipe"], **config}.items() if key not in MEASURED}
    return canonical([record["model_name"], record["activation"], own, streams])


def finished(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """(record, trial) of every trial that ended well, in records of trials."""
    found: list[tuple[Record, Record]] = []
    for record in records:
        if record["kind"] == "trials":
            found += [(record, trial) for trial in record["trials"] if trial["status"] == "done"]
    return found


def load_cross_hardware(studies: Sequence[str]) -> pd.DataFrame:
    """The trials of some studies that ran on two kinds of processor, in records or replays (``cross_hardware``).

    Raises:
        BadInput: there is none.
    """
    records: list[Record] = []
    replays: list[Record] = []
    for study in studies:
        records += [record for record in store.load_study(study) if record["kind"] == "trials"]
        replays += store.load_replays(study)
    table = cross_hardware(records, replays)
    if table.empty:
        missing = f"no run of {', '.join(studies)} has a record or replay on a second kind of processor yet"
        raise BadInput(f"{missing}: `actlab replay` on another kind makes them")
    return table


def cross_hardware(records: list[Record], replays: Iterable[Record]) -> pd.DataFrame:
    """A row a trial that was trained on two kinds of processor with the same versions, once in a record and once in
    another record or in a replay, in the order of models and activations: ``processors``, how far the two final
    validation losses lie ``apart``, and ``between_seeds`` the mean distance of two seeds of its arm (nats)."""
    arms = {(record["study"], record["arm"]): record for record in records}
    runs = [
        _run(record, record["provenance"], trial["label"], trial["final"]["val_loss"])
        for record, trial in finished(records)
    ]
    for replay in replays:
        record = arms.get((replay["study"], replay["arm"]))
        if record and "val_loss" in replay:
            runs.append(_run(record, replay["provenance"], replay["trial"], replay["val_loss"]["now"]))
    table = pd.DataFrame(runs, columns=[*TRIAL, "processor", "versions", "loss", "between_seeds"])
    table = table.drop_duplicates([*TRIAL, "processor", "versions"])  # the first run on each
    table["between_seeds"] = table.groupby(TRIAL)["between_seeds"].transform("first")
    both = table.merge(table, on=[*TRIAL, "versions", "between_seeds"], suffixes=("", "_other"))
    both = both[both["processor"] < both["processor_other"]]
    both["processors"] = list(zip(both["processor"], both["processor_other"], strict=True))
    both["apart"] = (both["loss"] - both["loss_other"]).abs()
    both["other"] = both["activation"] != "relu"  # relu comes first
    return both.sort_values(["model", "other", "activation", "scale", "label"], ignore_index=True)


def _run(record: Record, origin: Record, label: str, loss: float) -> tuple[Any, ...]:
    """A row of ``runs``: the trial, where it was trained, its final loss, and its arm's distance of seeds."""
    versions = canonical({key: value for key, value in origin["machine"].items() if key not in PROCESSOR})
    losses = [trial["final"]["val_loss"] for _, trial in finished([record])]
    seeds = float(np.mean([abs(a - b) for a, b in combinations(losses, 2)])) if len(losses) > 1 else nan
    who = (training(record, label), label, record["model_name"], record["activation"], record["config"]["scale"])
    return *who, str(origin["machine"]["processor"]), versions, loss, seeds
