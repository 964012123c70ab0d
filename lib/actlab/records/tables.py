"""A study's results as two tidy pandas tables: ``trials``, one row a training run, and ``pairs``, one row a pair of
runs of one arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from actlab import paths
from actlab.errors import BadInput
from actlab.files import read_yaml
from actlab.records import store
from actlab.records.defects import IGNORED
from actlab.records.settings import cell_of, differing, kind_of, named, place, settings_of, text
from actlab.records.store import Record

COLUMNS: dict[str, tuple[str, str]] = read_yaml(Path(__file__).with_name("columns.yaml"))
"""Column -> (unit, meaning), in the tables' order; a study's own metrics are further columns of ``pairs``, by their
names."""


def load(study: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(trials, pairs) of a recorded study of any kind; ``COLUMNS`` says what each column means, and those that the
    study leaves empty are left out.

    Where an arm has grown, its larger record counts.

    Raises:
        BadInput: no such study, or one without trials; the message lists those that have some.
    """
    return of_records(load_records(study))


def load_records(study: str) -> list[Record]:
    """A study's records, of which some have trials."""
    records = store.load_study(study) if Path(study).name == study else []  # a path would lead out of the results
    if not any(kind_of(record) for record in records):
        raise BadInput(
            f"results/{study} has no records with trials: studies that have are {', '.join(studies()) or 'none'}"
        )
    return records


def studies() -> list[str]:
    """Folders below results/ whose records hold trials."""
    return sorted(
        f.name for f in paths.results().glob("*") if any(kind_of(store.load(path)) for path in f.glob("*.json"))
    )


def of_records(records: Iterable[Record]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of some records of one study."""
    found = [record for record in records if kind_of(record)]
    names = differing(found)
    arms = [(record, _arm(record, named(record, names))) for record in found]
    trials, pairs = (
        _ordered(pd.DataFrame([row for record, arm in arms for row in rows(record, arm)])) for rows in (_trials, _pairs)
    )
    return trials, pairs


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Columns as in ``COLUMNS``, the empty ones left out, but for the setting."""
    known = [name for name in COLUMNS if name in table and (name == "setting" or table[name].notna().any())]
    return table[[*known, *(name for name in table if name not in COLUMNS)]]


def _arm(record: Record, setting: str) -> dict[str, Any]:
    own, optimizer = settings_of(record), record["config"].get("optimizer_settings", {})
    return {
        **{name: own[name] for name in COLUMNS if name in own and name != "seed"},
        **cell_of(record),
        **({"learning_rate": optimizer.get("lr")} if record["kind"] == "ablation" else {}),
        "study": record["study"],
        "record": record["arm"],
        "kind": record["kind"],
        "setting": setting,
        "model": record["model_name"],
        "activation": record["activation"],
        "activation_used": used(record),
        "protocol": text(own["protocol"], "protocol"),
    }


def used(record: Record) -> str:
    """The activation that an arm's network had: relu where the published defect ignored the one asked for."""
    ignored = IGNORED in settings_of(record)["protocol"] and cell_of(record).get("activation") is not None
    return "relu" if ignored else str(record["activation"])


def _trials(record: Record, arm: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for trial in record["trials"]:
        done = trial["status"] == "done"
        final = trial.get("final", trial) if done else {}
        names = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")
        spent = trial.get("seconds", math.nan)
        yield (
            arm
            | {name: final[name] for name in names if name in final}
            | {
                "seed": int(trial.get("seed", trial["label"].partition("-")[0])),
                "trial": trial["label"],
                "status": trial["status"],
                "best_val_loss": trial["best"]["val_loss"] if done and "best" in trial else None,
                "collapsed": trial.get("collapsed"),
                "parameters": trial.get("n_parameters", record.get("n_parameters")),
                "seconds": sum(spent.values()) if isinstance(spent, dict) else spent,
                "weights_sha256": trial.get("weights_sha256"),
            }
        )


def _pairs(record: Record, arm: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for pair in record.get("reproducibility_metrics", []):
        values = {
            name: value
            for name, value in pair.items()
            if name not in ("between", "blocks") and isinstance(value, float | int)
        }
        yield arm | {"first": pair["between"][0], "second": pair["between"][1]} | values


def trials_of(records: Iterable[Record], kind: str) -> pd.DataFrame:
    """The table of trials of the records of one kind, with every column also where there are none."""
    trials, _ = of_records(record for record in records if record.get("kind") == kind)
    return trials.reindex(columns=list(COLUMNS))


def levels(trials: pd.DataFrame, factor: str) -> list[Any]:
    """The values of a factor that are recorded, in the study's order (numbers rising)."""
    return sorted(trials[factor].unique().tolist(), key=place)


def by_seed(trials: pd.DataFrame, factors: Sequence[str], metric: str) -> pd.DataFrame:
    """A column a cell of some factors, a row a seed: a metric of the trials; NaN for one that diverged or is not
    recorded."""
    return trials.pivot(index="seed", columns=list(factors), values=metric).astype(float)
