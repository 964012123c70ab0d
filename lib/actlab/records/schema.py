"""Schema of records: the keys and types that readers rely on, by kind of record, checked before use, so that a record
of another shape is named with its field."""

from __future__ import annotations

import reprlib
from typing import Any

from actlab.errors import RecordError

Shape = type | dict[str, Any] | list[Any]
"""A type; key -> shape (further keys are allowed); or a list of one shape, for a list of any length. ``float`` takes
any number."""
LARGEST = 2**63
"""An integer beyond it is no number that a study records."""


def check(value: object, shape: Shape, where: str) -> None:
    """``RecordError`` with the place, what was expected and what was found, where ``value`` has not the shape."""
    if isinstance(shape, dict):
        _expect(isinstance(value, dict), "a mapping", value, where)
        assert isinstance(value, dict)
        for key, inner in shape.items():
            if key not in value:
                raise RecordError(f"{where} has no {key!r}")
            check(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        _expect(isinstance(value, list), "a list", value, where)
        assert isinstance(value, list)
        for place, item in enumerate(value):
            check(item, shape[0], f"{where}[{place}]")
    elif shape in (float, int):
        number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
        _expect(number or (shape is float and isinstance(value, float)), shape.__name__, value, where)
    else:
        _expect(isinstance(value, shape), shape.__name__, value, where)


def _expect(right: bool, expected: str, value: object, where: str) -> None:
    if not right:
        raise RecordError(f"{where}: expected {expected}, found {reprlib.repr(value)}")


def name_of(record: dict[str, Any]) -> str:
    """What to call a record in a message: its arm, or its kind."""
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"


PAIR_METRICS = ("total_variation", "relative_pd", "churn", "jensen_shannon", "label_pd")
"""Of every pair of trials of language models."""
FACTORS: dict[str, Any] = {"study": str, "arm": str, "model_name": str, "activation": str, "config": dict}
TRIAL: dict[str, Any] = {"label": str, "status": str}
TEXT: dict[str, Any] = {
    **FACTORS,
    "trials": [TRIAL],
    "reproducibility_metrics": [{"between": [str], **dict.fromkeys(PAIR_METRICS, float)}],
}
SWEPT = {"hidden": int, "epochs": int, "optimizer": str, "dataset": str, "learning_rate": float, "batch_size": int}
SCORES = ("val_accuracy", "test_accuracy", "val_loss")
FINAL = {"val_loss": float, "val_standard_error": float, "val_accuracy": float, "tokens": int}
SIZES = {"model_size": {"block_size": int}, "recipe": {"iterations": int}}
SHAPES: dict[str, dict[str, Any]] = {
    "trials": TEXT,
    "floor": TEXT,
    "perturbed": TEXT,
    "mnist": {**FACTORS, "network": str, "n_parameters": int, "config": SWEPT, "trials": [TRIAL | {"seed": int}]},
    "ablation": {
        **FACTORS,
        **dict.fromkeys(("optimizer", "symmetry"), str),
        "rate_factor": float,
        "n_parameters": int,
        "config": {"dataset": str, "scale": str, "batch_size": int, **SIZES},
        "provenance": {"data": {"vocab_size": int}},
        "trials": [TRIAL | {"seed": int}],
    },
}
"""Kind of record -> what every record of it has."""
DONE: dict[str, dict[str, Any]] = {
    "mnist": {"collapsed": bool, **dict.fromkeys(SCORES, float)},
    "ablation": {"final": FINAL},
}
"""Kind of record -> what a trial has that ended well; below, what one of language models has."""
DONE_TEXT: dict[str, Any] = {"final": {"val_loss": float, "val_accuracy": float}, "best": {"val_loss": float}}
EVALUATION: dict[str, Any] = {"iteration": float, "train_loss": float, "val_loss": float, "val_accuracy": float}


def check_record(record: dict[str, Any]) -> None:
    """``RecordError`` where a record of training runs has not the shape of its kind."""
    where = name_of(record)
    check(record, {"kind": str}, where)
    kind = record["kind"]
    check(record, SHAPES[kind], where)
    for place, trial in enumerate(record["trials"]):
        at = f"{where}.trials[{place}]"
        if trial["status"] == "done":
            check(trial, DONE.get(kind, DONE_TEXT), at)
        check(trial.get("n_parameters", 0), int, f"{at}.n_parameters")
        if SHAPES[kind] is TEXT:
            check(trial.get("history", []), [EVALUATION], f"{at}.history")
    for name in ("hidden", "learning_rate", "batch_size") if kind == "mnist" else ():
        if not record["config"][name] > 0:
            raise RecordError(f"{where}.config.{name}: expected a number above 0, found {record['config'][name]!r}")
    labels = [trial["label"] for trial in record["trials"]]
    if len(set(labels)) < len(labels):
        raise RecordError(f"{where}.trials names one trial twice: {reprlib.repr(labels)}")
    for place, pair in enumerate(record.get("reproducibility_metrics", [])):
        between = pair["between"]
        if len(between) != 2 or (kind == "trials" and not set(between) <= set(labels)):
            raise RecordError(
                f"{where}.reproducibility_metrics[{place}].between: expected two of its trials, found {between[:3]}"
            )
