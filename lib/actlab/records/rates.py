"""The learning rates that a recorded study has chosen, by the rule that its records or its params file carry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from actlab import paths
from actlab.files import read_yaml
from actlab.records import settings, store
from actlab.statistics.tuning import Losses, Rule, mean_loss, step

FIELDS = {"trials": "learning_rate", "ablation": "rate_factor"}
"""Kind of record -> the field that is chosen."""
NOT_OTHER = {*FIELDS.values(), "seed"}
"""Settings in which the trials of one choice differ."""


@dataclass(frozen=True)
class Choice:
    """What a tuning says of one model and activation, or of one optimizer, symmetry and activation."""

    cell: dict[str, Any]
    record: store.Record
    """The first of its arms."""
    field: str
    losses: Losses
    rate: float | None
    """Chosen; none as long as trials are missing, or where all of them diverged."""
    loss: float | None
    """Mean over the seeds at the chosen rate."""


def rule_of(study: str, records: Iterable[store.Record]) -> Rule | None:
    """Read the rule of a study that chooses rates: that of its records; else, since the first records hold none, of the
    params file of its name."""
    rules = [record["provenance"].get("tuning") for record in records]
    file = paths.params_file(study)
    if not any(rules) and file.is_file():
        rules.append(read_yaml(file).get("tuning"))
    return next((Rule(**rule) for rule in rules if rule), None)


def choices(study: str) -> list[Choice]:
    """List what was chosen in every cell of a study that chooses rates; nothing for any other study. Trials of one cell
    that differ in another setting too are several tunings, each with a choice of its own."""
    records = [record for record in store.load_study(study) if record["kind"] in FIELDS]
    rule = rule_of(study, records) if records else None
    if rule is None:
        return []
    return [_choice(tuning, rule) for tuning in settings.grouped(records, settled)]


def final_loss(trial: store.Record) -> float:
    """Return the loss at the end of a recorded trial, in nats; infinite where it diverged."""
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def settled(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an arm, with its place in the study, but for what its tuning varies."""
    values = settings.settings_of(record) | settings.cell_of(record)
    return {name: value for name, value in values.items() if name not in NOT_OTHER}


def _choice(records: list[store.Record], rule: Rule) -> Choice:
    first, losses = records[0], dict[tuple[float, int], float]()
    field = FIELDS[first["kind"]]
    for record in records:
        rate = (settings.settings_of(record) | settings.cell_of(record))[field]
        for trial in record["trials"]:
            seed = int(trial["label"].partition("-")[0])
            losses[float(rate), seed] = final_loss(trial)
    _, rate = step(losses, rule)
    loss = None if rate is None else mean_loss(losses, rate, rule)
    cell = {name: level for name, level in settings.cell_of(first).items() if name not in NOT_OTHER}
    return Choice(cell, first, field, losses, rate, loss)
