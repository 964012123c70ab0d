"""A study's results as two tidy pandas tables: ``trials``, one row a training run, and ``pairs``, one row a pair of
runs of one arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from actlab import paths
from actlab.errors import BadInput
from actlab.records import schema, store
from actlab.records.defects import IGNORED
from actlab.records.settings import CELLS, cell_of, differing, kind_of, named, settings_of
from actlab.records.store import Record

COLUMNS: dict[str, tuple[str, str]] = {
    "study": ("name", "folder below results/"),
    "record": ("name", "the arm's file without .json: its factors and the hash of its settings"),
    "kind": (
        "name",
        "trials: language models; floor, perturbed: their changed repetitions; mnist: image sweep; ablation: "
        "optimizers",
    ),
    "setting": (
        "text",
        "what tells the arm from others of the same factors, such as iterations=6; empty where nothing does",
    ),
    "model": ("name", "architecture"),
    "network": ("name", "image sweep: activation and width rule"),
    "optimizer": ("name", "optimizer"),
    "symmetry": ("name", "ablation: random vectors in attention"),
    "activation": ("name", "activation that was asked for"),
    "activation_used": (
        "name",
        "activation that the network had: relu where the published defect ignored the one asked for",
    ),
    "hidden": ("units", "image sweep: hidden units of the plain network"),
    "learning_rate": ("1", "of the optimizer"),
    "rate_factor": ("1", "ablation: multiple of the optimizer's published learning rate"),
    "batch_size": ("windows, sequences or images", "in one optimizer step"),
    "scale": ("name", "size of the model"),
    "dataset": ("name", "data set"),
    "iterations": ("steps", "optimizer steps of a trial"),
    "epochs": ("1", "image sweep: passes over the training images"),
    "gated_width": ("name", "matched: gated arms have the plain arms' parameter count; doubled: as published"),
    "protocol": ("text", "corrected, or the published defects that were on"),
    "varies": ("name", "random streams that the seed feeds"),
    "seed": ("1", "of the trial"),
    "trial": ("name", "label within the arm: the seed, with a variant where it is a changed repetition"),
    "status": ("name", "done, diverged or failed; what a trial that is not done would have measured is empty"),
    "train_loss": ("nats", "at the end; lower is better"),
    "val_loss": ("nats", "per character, token or image of the whole validation split at the end; lower is better"),
    "best_val_loss": ("nats", "lowest evaluation during training; lower is better"),
    "val_accuracy": ("%", "at the end; higher is better"),
    "test_loss": ("nats", "image sweep; lower is better"),
    "test_accuracy": ("%", "image sweep; higher is better"),
    "collapsed": ("true or false", "image sweep: one class for every validation image"),
    "parameters": ("1", "trainable parameters"),
    "seconds": ("s", "training and evaluation; of the image sweep the trial's share of its program"),
    "weights_sha256": ("hash", "of the trained weights"),
    "first": ("name", "pair: the first trial"),
    "second": ("name", "pair: the second trial"),
    "total_variation": (
        "0 to 1",
        "half the L1 distance of two predictions on the same inputs, mean over positions; lower is more reproducible",
    ),
    "relative_pd": ("0 to 2", "mean of 2|p - q| / (p + q) over all characters; lower is more reproducible"),
    "churn": ("share of positions", "where the most probable character differs; lower is more reproducible"),
    "jensen_shannon": ("bits", "Jensen-Shannon divergence, 0 to 1; lower is more reproducible"),
    "label_pd": ("0 to 2", "2|p - q| / (p + q) at the character that came; lower is more reproducible"),
    "churn_win": ("share of positions", "where only the second is right"),
    "churn_loss": ("share of positions", "where only the first is right"),
    "churn_neutral": ("share of positions", "where both are wrong and differ"),
}
"""Column -> (unit, meaning), in the tables' order; a study's own metrics are further columns of ``pairs``, by their
names."""
SERIES = {"mnist": "network"}
"""Kind of record -> the factor whose levels a study compares; the activation where it is not listed."""


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
    trials = pd.DataFrame([row for record, arm in arms for row in _trials(record, arm)])
    pairs = pd.DataFrame([row for record, arm in arms for row in _pairs(record, arm)])
    return _ordered(trials), _ordered(pairs)


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Columns as in ``COLUMNS``, the empty ones left out, but for the setting."""
    known = [name for name in COLUMNS if name in table and (name == "setting" or table[name].notna().any())]
    return table[[*known, *(name for name in table if name not in COLUMNS)]].reset_index(drop=True)


def _arm(record: Record, setting: str) -> dict[str, Any]:
    schema.check_record(record)
    own = settings_of(record)
    about = {
        "study": record["study"],
        "record": record["arm"],
        "kind": record["kind"],
        "setting": setting,
        **cell_of(record),
    }
    names = (
        "learning_rate",
        "batch_size",
        "scale",
        "dataset",
        "iterations",
        "epochs",
        "gated_width",
        "varies",
        "optimizer",
    )
    about = {name: own[name] for name in names if name in own} | about
    if record["kind"] == "ablation":
        about["learning_rate"] = record["config"].get("optimizer_settings", {}).get("lr")
    protocol = own["protocol"]
    return about | {
        "model": record["model_name"],
        "activation": record["activation"],
        "activation_used": used(record),
        "protocol": protocol if isinstance(protocol, str) else " + ".join(protocol) or "corrected",
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


def factors(kind: str) -> tuple[tuple[str, ...], str]:
    """(the factors that make a study's groups, the factor whose levels it compares within them) of a kind of record."""
    series = SERIES.get(kind, "activation")
    return tuple(name for name in CELLS[kind] if name != series), series
