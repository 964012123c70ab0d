"""Twins: for each seed a leader and followers that start one bit away, trained in lockstep (``trainers.twins``).

A follower is a change of its leader, named by whose slopes it uses: ``own``, ``copied``, ``copied-50`` (in its first 50
steps), ``own-50``.
"""

import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from actlab import metrics
from actlab.models import SCALES, count_parameters
from actlab.records import store
from actlab.study import characters
from actlab.study.cache import tensors_of
from actlab.study.character_study import CharacterStudy, cells, firsts, make_arm
from actlab.study.character_trial import NUDGE, PLAIN, CharacterTrial, recipe_of, trial_of
from actlab.study.characters import compared_on, content, data, network, prepare, text_of, weights
from actlab.study.fields import Axis
from actlab.study.measure import mean
from actlab.study.study import with_axes
from actlab.study.trial import Arm, Measures, Outcome, Results, Task
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.twins import train_together

__all__ = ["Study", "compared_on", "content", "data", "network", "prepare"]
PATH = "loop"
Follower = Annotated[
    str, Field(pattern=r"^(own|copied)(-[1-9]\d{0,5})?$", examples=["own", "copied", "own-STEPS", "copied-STEPS"])
]


class TwinTrial(CharacterTrial):
    """A leader, or a follower beside it."""

    kind: ClassVar[str] = "twins"
    later: ClassVar[tuple[str, ...]] = ("betas",)
    optimizer: Literal["adamw", "adamw-eps", "sgd"] = "adamw"
    """What steps; adamw-eps: AdamW with epsilon 1e-4, so that tiny gradients make tiny steps."""
    betas: None = None
    """None: twins train with the optimizer's usual ones."""


@with_axes(activation=("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1"))
class TwinStudy(CharacterStudy):
    """As a study of characters, with followers in place of noise floor and perturbations, on one core a seed."""

    kind: ClassVar[str] = "twins"
    trial: ClassVar[type[TwinTrial]] = TwinTrial
    noise_floor: Literal[False] = False
    """None: the followers take its place."""
    followers: Axis[Follower] = ("own", "copied")
    """Networks beside the leader: whose slopes they use, and until or from which step."""


Study = TwinStudy


def plan(study: TwinStudy) -> list[Arm[CharacterTrial]]:
    """An arm a cell: each seed's leader, then its followers."""
    trials = [(seed, change) for seed in study.seeds for change in (PLAIN, *study.followers)]
    asked = Measures(prediction_windows=study.prediction_windows)
    return [make_arm(cell, first, "twins", trials, asked) for cell in cells(study) for first in firsts(cell)]


def load(record: store.Record, label: str) -> TwinTrial:
    """A recorded leader or follower."""
    return trial_of(TwinTrial, record, label)


def tasks(trials: Sequence[TwinTrial]) -> list[tuple[TwinTrial, ...]]:
    """A leader and its followers together."""
    groups: dict[TwinTrial, list[TwinTrial]] = {}
    for trial in trials:
        groups.setdefault(trial.with_change(trial.seed), []).append(trial)
    return [tuple(group) for group in groups.values()]


def train(task: Task[TwinTrial], place: Path | None, report: Callable[[int, float], None] | None) -> list[Outcome]:
    """The task's trials beside their leader, to the end; it lasts minutes and leaves no checkpoint."""
    leader = task.first.with_change(task.first.seed)
    recipe = recipe_of(leader)
    corpus, validation = text_of(leader)
    windows = task.measures.prediction_windows
    frozen = compared_on(leader, windows or 1)
    nudged = leader.with_change(leader.seed, NUDGE)
    followers = {trial.change: network(nudged) for trial in task.trials if trial.change}
    nets = {PLAIN: network(leader), **followers}
    started, since = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    block = SCALES[leader.scale].block_size
    rows = list(
        train_together(nets[PLAIN], followers, corpus.train, block, recipe, recipe.optimizer, leader.seed, report)
    )
    spent = {"training": (time.perf_counter() - since) / len(nets), "evaluation": 0.0}
    outcomes = []
    for trial in task.trials:
        net = nets[trial.change]
        final = {"iteration": recipe.iterations, **evaluate(net, validation, recipe)}
        results = {
            "label": trial.label,
            "seed": trial.seed,
            "variant": trial.change,
            "status": "done" if math.isfinite(final["val_loss"]) else "diverged",
            "final": final,
            "best": {"val_loss": final["val_loss"]},
            "history": [],
            "started": started,
            "seconds": spent,
            "n_parameters": count_parameters(net),
            "weights_sha256": weights_sha256(net),
            "steps": [row for row in rows if row["change"] == trial.change],
        }
        outcomes.append((results, {f"predictions/{windows}": predict(net, frozen, recipe), **weights(net)}))
    return outcomes


def measure(arm: Arm[TwinTrial], results: list[Results]) -> store.Record:
    """Means are over pairs of a leader and a follower; ``steps``: what was measured along training."""
    windows = arm.measures.prediction_windows
    targets = compared_on(arm.trials[0], windows).targets.flatten()
    status = {each["label"]: each["status"] for each in results}
    pairs: list[Results] = []
    steps: dict[int, list[Results]] = {}
    for trial, own in zip(arm.trials, results, strict=True):
        leader = trial.with_change(trial.seed)
        between = [leader.label, trial.label]
        if trial.change and status[leader.label] == status[trial.label] == "done":
            p, q = (tensors_of(each)[f"predictions/{windows}"] for each in (leader, trial))
            pairs.append({"between": between, **metrics.compare(p, q, targets)})
        for row in own.get("steps", ()):
            measured = {name: value for name, value in row.items() if name not in ("iteration", "change")}
            steps.setdefault(row["iteration"], []).append({"between": between, **measured})
    done = [trial for trial in results if trial["status"] == "done"]
    averages = ("relative_pd", "total_variation", "churn")
    return {
        "model_name": arm.trials[0].model,
        "activation": arm.trials[0].activation,
        **{f"avg_{name}": mean(pair[name] for pair in pairs) for name in averages},
        **{f"avg_{name}": mean(trial["final"][name] for trial in done) for name in ("val_loss", "val_accuracy")},
        "trials": [{name: value for name, value in each.items() if name != "steps"} for each in results],
        "reproducibility_metrics": pairs,
        "steps": [{"iteration": at, "pairs": found} for at, found in sorted(steps.items())],
    }


def seconds(task: Task[TwinTrial]) -> float:
    """What it takes here: as its trials would, each alone."""
    return len(task.trials) * characters.seconds(Task((task.first.with_change(task.first.seed),), task.measures))
