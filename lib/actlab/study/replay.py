"""Replay: train a recorded trial again and compare the outcome bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actlab import store
from actlab.errors import BadInput, RecordError
from actlab.study import provenance
from actlab.study.arms import LATER, VARIANTS, TrialSpec
from actlab.study.protocol import DEFECTS
from actlab.study.run import run_trial, windows_of
from actlab.training.loop import Recipe


@dataclass(frozen=True)
class Replay:
    """Outcome of one replay."""

    equal: bool
    """Whether every weight of the retrained model has the recorded bits."""
    sentence: str


def specification(record: store.Record, label: str) -> TrialSpec:
    """The recorded trial's specification; ``BadInput`` lists the labels if it has none of that name."""
    config = record["config"]
    if label not in config["trials"]:
        raise BadInput(f"{record['arm']} has no trial {label!r}: known are {', '.join(config['trials'])}")
    seed, _, variant = label.partition("-")
    if variant not in VARIANTS or "recipe" not in config:
        raise RecordError(f"{record['arm']}: trial {label!r} is not one that replay knows")
    names = ("model", "activation", "scale", "dataset", "gated_width", "prediction_windows")
    later: dict[str, Any] = {name: tuple(config[name]) if isinstance(config[name], list) else config[name] for name in LATER if name in config}
    defects = tuple(name for name in config.get("protocol", ()) if DEFECTS[name].trains)
    recipe = Recipe(**config["recipe"])
    return TrialSpec(**{name: config[name] for name in names}, seed=int(seed), variant=variant, recipe=recipe, defects=defects, **later)


def replay(path: Path, label: str | None = None) -> Replay:
    """Train one trial of a record again (the first unless ``label`` names another), from nothing.

    The same bits are promised on the same kind of processor with the same versions; the sentence says what differs otherwise.
    """
    record = store.load(path)
    label = label or record["config"]["trials"][0]
    spec = specification(record, label)
    corpus, _, frozen = windows_of(spec)
    data = record["provenance"]["data"]
    if (corpus.sha256, frozen.sha256) != (data["sha256"], data["evaluation_sha256"]):
        raise RecordError(f"{path} was made on other data: {data['name']} with sha256 {data['sha256']}, found {corpus.sha256}")
    before = next(t for t in record["trials"] if t["label"] == label)
    after = run_trial(spec, fresh=True)
    if after["status"] == "failed":
        raise RecordError(f"the replay of {label} failed:\n{after['traceback']}")
    equal = after["weights_sha256"] == before["weights_sha256"]
    return Replay(equal, f"{record['arm']} trial {label}: {_verdict(equal, record, before['final']['val_loss'], after['final']['val_loss'])}")


def _verdict(equal: bool, record: store.Record, before: float, after: float) -> str:
    if equal:
        return f"equal bit for bit (validation loss {after:.6f})"
    machine = record["provenance"]["machine"]
    differs = [f"{key} {machine.get(key)} -> {value}" for key, value in provenance.machine().items() if machine.get(key) != value]
    if record["provenance"]["trial_code_sha256"] != provenance.code()["trial_code_sha256"]:
        differs.append("the code that trains")
    why = f"; what differs: {', '.join(differs)}" if differs else "; processor, versions and code are the recorded ones"
    return f"NOT equal: validation loss {before:.6f} recorded, {after:.6f} now{why}"
