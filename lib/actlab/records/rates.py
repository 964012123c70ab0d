"""The learning rates that a recorded study has chosen, by the rule that its records or its params file carry."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from actlab import paths
from actlab.errors import BadInput, RecordError
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


def rule_of(study: str, records: Iterable[store.Record]) -> Rule | None:
    """The rule of a study that chooses rates: that of its records, else of the params file of its name.

    Raises:
        BadInput: that file tells none that can be read.
    """
    for record in records:
        if told := record["provenance"].get("tuning"):
            return check_tuning(told, str(record["arm"]))
    file = paths.params_file(study)
    if not file.is_file():
        return None
    values = parse_yaml(read_text(file, "params file"), paths.shown(file))
    told = values.get("tuning") if isinstance(values, dict) else None
    return check_tuning(told, f"{paths.shown(file)}, tuning") if told else None


def choices(study: str) -> list[Choice]:
    """Of every cell of a study that chooses rates; empty for any other study.

    Raises:
        BadInput: its trials of one cell differ in another setting too: they are several tunings.
    """
    records = [record for record in store.load_study(study) if record["kind"] in FIELDS]
    if not records or (rule := rule_of(study, records)) is None:
        return []
    cells: dict[str, list[store.Record]] = {}
    for record in records:
        cells.setdefault(repr(_cell(record)), []).append(record)
    return [_choice(study, own, rule) for own in cells.values()]


def _cell(record: store.Record) -> dict[str, Any]:
    return {name: level for name, level in settings.cell_of(record).items() if name not in NOT_OTHER}


def _choice(study: str, records: list[store.Record], rule: Rule) -> Choice:
    cell, field = _cell(records[0]), FIELDS[records[0]["kind"]]
    losses: dict[tuple[float, int], float] = {}
    others = set[str]()
    for record in records:
        settled = settings.settings_of(record)
        others.add(repr({name: value for name, value in settled.items() if name not in NOT_OTHER}))
        told = {**record["config"].get("recipe", {}), **record["config"], **record}
        if not isinstance(rate := told.get(field), float | int):
            raise RecordError(f"{record['arm']} tells no {field}, of which its study chooses one")
        for trial in record["trials"]:
            ended = trial["status"] == "done"
            losses[float(rate), int(trial["seed"])] = float(trial["final"]["val_loss"]) if ended else math.inf
    if len(others) > 1:
        named = " ".join(map(str, cell.values()))
        raise BadInput(f"{store.where(study)} tunes {named} under several settings: give each tuning its own study")
    return Choice(cell, [record["arm"] for record in records], field, losses, step(losses, rule)[1])
