"""The learning rates that a recorded study has chosen, by the rule that its records or its params file carry."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from actlab import paths
from actlab.errors import RecordError
from actlab.files import parse_yaml, read_text
from actlab.records import settings, store
from actlab.records.schema import check_tuning
from actlab.statistics.tuning import Losses, Rule, step

FIELDS = {"trials": "learning_rate", "ablation": "rate_factor"}
"""Kind of record -> the field that is chosen."""
NOT_OTHER = {*FIELDS.values(), "seed"}
"""Settings in which the trials of one choice differ."""


@dataclass(frozen=True)
class Choice:
    """What a tuning says of one model and activation, or of one optimizer, symmetry and activation."""

    cell: dict[str, Any]
    arms: list[str]
    field: str
    losses: Losses
    rate: float | None
    """Chosen; none as long as trials are missing, or where all of them diverged."""
    settings: dict[str, Any]
    """What its trials share (``settings.settings_of``), and under ``source`` the version of an own activation."""

    @property
    def loss(self) -> float | None:
        """Average the loss over the seeds, at the chosen rate."""
        losses = [loss for (rate, _), loss in self.losses.items() if rate == self.rate]
        return statistics.fmean(losses) if losses else None


def rule_of(study: str, records: Iterable[store.Record]) -> Rule | None:
    """Read the rule of a study that chooses rates: that of its records, else of the params file of its name.

    Raises:
        BadInput: that file tells none that can be read.
    """
    for record in records:
        if rule := record["provenance"].get("tuning"):
            return check_tuning(rule, str(record["arm"]))
    file = paths.params_file(study)
    if not file.is_file():
        return None
    values = parse_yaml(read_text(file), paths.shown(file))
    rule = values.get("tuning") if isinstance(values, dict) else None
    return check_tuning(rule, f"{paths.shown(file)}, tuning") if rule else None


def choices(study: str) -> list[Choice]:
    """List what was chosen in every cell of a study that chooses rates; nothing for any other study. Trials of one cell
    that differ in another setting too are several tunings, each with a choice of its own."""
    records = [record for record in store.load_study(study) if record["kind"] in FIELDS]
    rule = rule_of(study, records) if records else None
    if rule is None:
        return []
    tunings = settings.grouped(records, lambda record: (_cell(record), settled(record)))
    return [_choice(tuning, rule) for tuning in tunings]


def settled(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an arm but for what its tuning varies (``Choice.settings``)."""
    source = record["config"].get("parts", {}).get("activation", "")
    values = settings.settings_of(record) | {"source": source[:8]}
    return {name: value for name, value in values.items() if name not in NOT_OTHER}


def _cell(record: store.Record) -> dict[str, Any]:
    return {name: level for name, level in settings.cell_of(record).items() if name not in NOT_OTHER}


def _choice(records: list[store.Record], rule: Rule) -> Choice:
    first, losses = records[0], dict[tuple[float, int], float]()
    field = FIELDS[first["kind"]]
    for record in records:
        rate = (settings.settings_of(record) | settings.cell_of(record)).get(field)
        if not isinstance(rate, float | int):
            raise RecordError(f"{record['arm']} tells no {field}, of which its study chooses one")
        for trial in record["trials"]:
            seed = int(trial["label"].partition("-")[0])
            losses[float(rate), seed] = float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf
    arms = [record["arm"] for record in records]
    _, rate = step(losses, rule)
    return Choice(_cell(first), arms, field, losses, rate, settled(first))
