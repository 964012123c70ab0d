"""What a record measures beside a trial's own results, measured again of a trial that was trained again: its pairs with
trials that are still in the cache, its evaluations at snapshots, its steps beside a leader. Trains nothing."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from torch import Tensor

from actlab.records import store
from actlab.records.blocks import blocks_of
from actlab.study.characters import CharacterTrial
from actlab.study.load_model import RecordedTrial
from actlab.study.measured_arm import MeasuredArm
from actlab.study.trial import Arm, Measures, Results


def measured_again(trial: RecordedTrial, after: Results, tensors: Mapping[str, Tensor]) -> dict[str, bool]:
    """What was measured -> whether it comes out as recorded."""
    record, found = trial.record, dict[str, bool]()
    for name, equal in _between(trial, _arm_again(trial, after, tensors)):
        found[name] = equal and found.get(name, True)
    if steps := _recorded_steps(record, trial.label):
        found["steps"] = store.canonical(steps) == store.canonical(_steps(after))
    there = {entry["iteration"]: entry for entry in after.get("history", ())}
    snapshots = [(block["iteration"], one) for block in record.get("trajectory", ()) for one in block.get("trials", ())]
    if own := [(at, one) for at, one in snapshots if one.get("label") == trial.label]:
        now = [{"label": trial.label, **there.get(at, {})} for at, _ in own]
        found["trajectory"] = store.canonical([one for _, one in own]) == store.canonical(now)
    return found


def not_compared(trial: RecordedTrial, beside: Collection[str]) -> list[str]:
    """What the record measures of a trial and is not among what was compared ``beside`` its own results: it needs
    weights that are not kept (at snapshots, of other trials), a user's own metrics, or is left out for its time."""
    record, label = trial.record, trial.label
    pairs = [pair for pair in record.get("reproducibility_metrics", ()) if label in pair["between"]]
    others = [other for pair in pairs for other in pair["between"] if other != label]
    left_out = [name for other in others if (name := f"the pair with {other}") not in beside]
    left_out += [*record.get("metrics", ())]
    left_out += [name for name in ("average", "ensembles") if record.get(name) and name not in beside]
    snapshots = record.get("trajectory", ())
    for name in ("pairs", "to_end", "as_published"):
        left_out += [f"trajectory.{name}"] * any(block.get(name) for block in snapshots)
    left_out += [name for name in ("equal_compute", "as_published") if record.get(name)]
    return left_out + ["training"] * ("training" in trial.results)


def _arm_again(trial: RecordedTrial, after: Results, tensors: Mapping[str, Tensor]) -> store.Record:
    """The record of the arm's trials whose predictions are at hand, the one that was trained again among them; empty
    where it left none."""
    record, name = trial.record, f"predictions/{trial.windows}"
    if name not in tensors:
        return {}
    done = [RecordedTrial(record, each["label"]) for each in record["trials"] if each["status"] == "done"]
    kept = {each: tensors if each.label == trial.label else each.kept() or {} for each in done}
    held = {own: left for each, left in kept.items() if name in left and isinstance(own := each.trial, CharacterTrial)}
    results = [after if each.label == trial.label else each.results for each in done if each.trial in held]
    sizes = tuple(map(int, record.get("ensembles", ()))) if len(held) == len(done) else ()
    asked = Measures(prediction_windows=trial.windows, ensembles=sizes)
    arm = Arm(record["study"], record["kind"], trial.id, tuple(held), {}, asked)
    return MeasuredArm(arm, results, lambda each, iteration: held[each]).record()


def _between(trial: RecordedTrial, now: store.Record) -> Iterator[tuple[str, bool]]:
    """(what was compared with the trial, alone or in an ensemble; whether it comes out as recorded)."""
    record, label = trial.record, trial.label
    for of in ("end", "average", "ensembles"):
        for before, again in zip(
            blocks_of(record, of), blocks_of(now | {"config": record["config"]}, of), strict=False
        ):
            there = {repr(pair["between"]): pair for pair in again["pairs"]}
            for pair in before["pairs"]:
                between = repr(pair["between"])
                if repr(label) in between and between in there:
                    name = of if of != "end" else f"the pair with {min({*pair['between']} - {label})}"
                    yield name, _equal(pair, there[between])


def _equal(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether all that is measured now and was then is recorded so: a record of before has no ``weight_distance``, and
    a user's own metrics need not be here."""
    both = recorded.keys() & now.keys()
    return all(store.canonical(recorded[name]) == store.canonical(now[name]) for name in both)


def _recorded_steps(record: store.Record, label: str) -> list[dict[str, Any]]:
    """A follower's rows, as they are recorded beside its leader."""
    pairs = [(step["iteration"], pair) for step in record.get("steps", ()) for pair in step["pairs"]]
    return [_row(at, pair) for at, pair in pairs if pair["between"][1] == label]


def _steps(after: Results) -> list[dict[str, Any]]:
    return [_row(row["iteration"], row) for row in after.get("steps", ())]


def _row(iteration: int, measured: Mapping[str, Any]) -> dict[str, Any]:
    about = ("iteration", "change", "between")
    return {"iteration": iteration} | {name: value for name, value in measured.items() if name not in about}
