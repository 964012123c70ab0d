"""What a record measures beside a trial's own results, measured again of a trial that was trained again: its pairs with
trials that are still in the cache, its evaluations at snapshots, its steps beside a leader. Trains nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from actlab.records import store
from actlab.study.load_model import RecordedTrial
from actlab.study.trial import Arm, Measures, Results, Trial

Row = tuple[tuple[Any, ...], Results]
"""Where a row of a record stands, and whom it is about; the row itself."""


def measured_again(trial: RecordedTrial, after: Results, tensors: Mapping[str, Tensor]) -> tuple[dict[str, bool], str]:
    """(what was measured -> whether it comes out as recorded; the names of what was not compared: it needs weights that
    are not kept, a user's own metrics, or is left out for its time)."""
    label, record = trial.label, trial.record
    now = dict(rows_of(_arm_again(trial, after, tensors), label))
    found, left_out = dict[str, bool](), list[str]()
    for place, row in rows_of(record, label):
        name = _name(place, row, label)
        if place in now:
            found[name] = _equal(row, now[place]) and found.get(name, True)
        else:
            left_out.append(name)
    left_out += record.get("metrics", ())
    if "training" in trial.results:
        left_out.append("training")
    return found, ", ".join(dict.fromkeys(left_out))


def rows_of(node: Any, label: str, *place: Any) -> Iterator[Row]:
    """Every row in a part of a record that names a trial, but for the trial's own results."""
    if isinstance(node, list):
        for each in node:
            yield from rows_of(each, label, *place)
    elif isinstance(node, dict):
        about = repr([node.get(name) for name in ("between", "of", "label")])
        if repr(label) in about:
            yield (*place, about), node
        step = [node["iteration"]] if "iteration" in node else []
        for name, inner in node.items():
            if (*place, name) != ("trials",):
                yield from rows_of(inner, label, *place, *step, name)


def _name(place: tuple[Any, ...], row: Results, label: str) -> str:
    """What a row is called in a sentence."""
    if place[0] == "reproducibility_metrics":
        return f"the pair with {min({*row['between']} - {label})}"
    return f"trajectory.{place[2]}" if place[0] == "trajectory" else str(place[0])


def _arm_again(trial: RecordedTrial, after: Results, tensors: Mapping[str, Tensor]) -> store.Record:
    """The record of the arm's trials whose weights are at hand, the one that was trained again among them; with its
    evaluations, where the record may have snapshots."""
    record, along = trial.record, after.get("history", ())
    if not tensors:
        return {}
    held: dict[Trial, Mapping[str, Tensor]] = {}
    results = []
    for recorded in record["trials"]:
        each = RecordedTrial(record, recorded["label"])
        left = tensors if each.label == trial.label else each.kept()
        if recorded["status"] == "done" and left is not None:
            held[each.trial] = left
            results.append(after if each.label == trial.label else recorded)
    if not held:
        return {}
    asked = Measures(prediction_windows=trial.windows, ensembles=tuple(map(int, record.get("ensembles", ()))))
    arm = Arm(record["study"], record["kind"], trial.id, tuple(held), {}, asked)
    snapshots = [{"iteration": each["iteration"], "trials": [{"label": trial.label, **each}]} for each in along]
    return trial.trial.measure(arm, results, lambda each, iteration: held[each]) | {"trajectory": snapshots}


def _equal(recorded: Results, now: Results) -> bool:
    """Whether all that is measured now and was then is recorded so: a record of before has no ``weight_distance``, and
    a user's own metrics need not be here."""
    both = recorded.keys() & now.keys()
    return all(store.canonical(recorded[name]) == store.canonical(now[name]) for name in both)
