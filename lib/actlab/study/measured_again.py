"""What a record measures beside a trial's own results, measured again of a trial that was trained again: its pairs with
trials that are still in the cache, its evaluations at snapshots, its steps beside a leader. Trains nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from actlab import metrics
from actlab.records import store
from actlab.records.blocks import blocks_of
from actlab.study.load_model import RecordedTrial
from actlab.study.measure import ensembles
from actlab.study.trial import Results

Kept = Mapping[str, Mapping[str, Tensor]]
"""Label -> weights and predictions."""


def measured_again(trial: RecordedTrial, after: Results, tensors: Mapping[str, Tensor]) -> dict[str, bool]:
    """What was measured -> whether it comes out as recorded."""
    record = trial.record
    kept = _at_hand(trial, tensors)
    found = {f"the pair with {label}": equal for label, equal in _pairs(trial, kept)}
    averages = list(_averages(trial, kept))
    ensembled = list(_ensembles(trial, kept))
    for name, equal in (("average", averages), ("ensembles", ensembled)):
        if equal:
            found[name] = all(equal)
    if steps := _recorded_steps(record, trial.label):
        found["steps"] = store.canonical(steps) == store.canonical(_steps(after))
    there = {entry["iteration"]: entry for entry in after.get("history", ())}
    snapshots = [(block["iteration"], one) for block in record.get("trajectory", ()) for one in block.get("trials", ())]
    if own := [(at, one) for at, one in snapshots if one.get("label") == trial.label]:
        now = [{"label": trial.label, **there.get(at, {})} for at, _ in own]
        found["trajectory"] = store.canonical([one for _, one in own]) == store.canonical(now)
    return found


def _at_hand(trial: RecordedTrial, tensors: Mapping[str, Tensor]) -> Kept:
    """The trial as it is now, and the others of its record as they are kept, with predictions on its windows."""
    record = trial.record
    done = [each["label"] for each in record["trials"] if each["status"] == "done"]
    every = {label: tensors if label == trial.label else RecordedTrial(record, label).kept() for label in done}
    return {label: found for label, found in every.items() if found and _predictions(trial) in found}


def _predictions(trial: RecordedTrial, decay: float | None = None) -> str:
    """Name of a trial's predictions, or of those of averaged weights."""
    name = f"predictions/{trial.windows}"
    return name if decay is None else f"average/{decay}/{name}"


def _pairs(trial: RecordedTrial, kept: Kept) -> Iterator[tuple[str, bool]]:
    """(label of another trial, whether their pair comes out as recorded)."""
    own = trial.trial
    for pair in trial.record.get("reproducibility_metrics", ()):
        if trial.label not in pair["between"] or not {*pair["between"]} <= {*kept}:
            continue
        (label,) = {*pair["between"]} - {trial.label}
        first, second = (kept[each][_predictions(trial)].to(own.place) for each in pair["between"])
        targets = own.compared_on(trial.windows).targets.flatten().to(own.place)
        yield label, _equal(pair, metrics.compare(first, second, targets))


def _averages(trial: RecordedTrial, kept: Kept) -> Iterator[bool]:
    """Whether each pair of averaged weights comes out as recorded."""
    for block in blocks_of(trial.record, "average"):
        key = _predictions(trial, block["decay"])
        for pair in block["pairs"]:
            if trial.label in pair["between"] and all(key in kept.get(label, ()) for label in pair["between"]):
                first, second = (kept[label][key].to(trial.trial.place) for label in pair["between"])
                yield _equal(pair, metrics.row_means(first, second))


def _ensembles(trial: RecordedTrial, kept: Kept) -> Iterator[bool]:
    """Whether the ensembles of each size come out as recorded, where all trials are at hand."""
    done = [each["label"] for each in trial.record["trials"] if each["status"] == "done"]
    if done != [*kept]:
        return
    predictions = {label: tensors[_predictions(trial)].to(trial.trial.place) for label, tensors in kept.items()}
    for size, recorded in trial.record.get("ensembles", {}).items():
        now = ensembles(predictions, int(size))
        yield len(now) == len(recorded) and all(map(_equal, recorded, now))


def _equal(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether all that is measured now is recorded so; a user's own metrics, which need not be here, are not."""
    return all(store.canonical(recorded.get(name)) == store.canonical(value) for name, value in now.items())


def _recorded_steps(record: store.Record, label: str) -> list[dict[str, Any]]:
    """A follower's rows, as they are recorded beside its leader."""
    pairs = [(step["iteration"], pair) for step in record.get("steps", ()) for pair in step["pairs"]]
    return [_row(at, pair) for at, pair in pairs if pair["between"][1] == label]


def _steps(after: Results) -> list[dict[str, Any]]:
    return [_row(row["iteration"], row) for row in after.get("steps", ())]


def _row(iteration: int, measured: Mapping[str, Any]) -> dict[str, Any]:
    about = ("iteration", "change", "between")
    return {"iteration": iteration} | {name: value for name, value in measured.items() if name not in about}
