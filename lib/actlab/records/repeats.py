"""Which trials of a study are the same training run as others: by weights, and by settings and seed on whatever
processor."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from actlab.records.store import Record, canonical

MEASURED = frozenset(
    ("trials", "kind", "prediction_windows", "snapshots", "ensembles", "varies", "fixed", "recipe", "perturbations")
)
"""Settings that do not change a trial's training, or are taken apart."""
NOT_TRAINING = frozenset(("evaluate_every", "device", "compiled"))
"""Of the recipe."""


def training(record: Record, label: str) -> str:
    """What two records must share for a trial to be the same run: settings that train, and the seed of every random
    stream."""
    config = record["config"]
    varies, seed = config.get("varies", "all"), label.partition("-")[0]
    streams = (
        ["all", seed] if varies == "all" or seed == str(config.get("fixed")) else [varies, seed, config.get("fixed")]
    )
    recipe = {key: value for key, value in config["recipe"].items() if key not in NOT_TRAINING}
    names = [record["model_name"], record["activation"]]
    return canonical([names, {key: value for key, value in config.items() if key not in MEASURED}, recipe, streams])


def trials_of(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """(record, trial) of every trial that ended well, in records of trials."""
    return [(r, t) for r in records if r["kind"] == "trials" for t in r["trials"] if t["status"] == "done"]


def repeated(records: Iterable[Record], others: Iterable[Record]) -> set[str]:
    """Of the trials of ``records``, the runs that ``others`` hold too (as ``training`` names them)."""
    return {training(r, t["label"]) for r, t in trials_of(records)} & {
        training(r, t["label"]) for r, t in trials_of(others)
    }


def repeats(record: Record, other: Record) -> bool:
    """Whether every trial of an arm that ended well is a run of another arm too."""
    mine = {training(r, t["label"]) for r, t in trials_of([record])}
    return bool(mine) and mine <= {training(r, t["label"]) for r, t in trials_of([other])}


def extent(records: list[Record], others: list[Record]) -> str:
    """How many trials a study has, how many of them differ, and how many repeat those of another study; nothing without
    trials."""
    found = trials_of(records)
    if not found:
        return ""
    different = len({trial["weights_sha256"] for _, trial in found if "weights_sha256" in trial})
    again = len(repeated(records, others)) if others else 0
    shared = (
        ""
        if different in (0, len(found))
        else f", {different} of them different ones (by their weights; arms share trials)"
    )
    said = f"The records hold {len(found)} trials{shared}"
    if not again:
        return said
    return (
        f"{said}; {again} have the settings and seeds of trials in results/{others[0]['study']} and repeat them, up to rounding: "
        "what both show is shown once, not replicated"
    )


def recorded_before(records: Iterable[Record], others: Iterable[Record], moment: datetime) -> list[tuple[str, str]]:
    """(model, activation) of the arms that repeat trials which other records held before a moment."""
    early = [r for r in others if r["kind"] == "trials" and datetime.fromisoformat(r["provenance"]["date"]) < moment]
    known = {training(r, t["label"]) for r, t in trials_of(early)}
    found = [(r["model_name"], r["activation"]) for r, t in trials_of(records) if training(r, t["label"]) in known]
    return list(dict.fromkeys(found))
