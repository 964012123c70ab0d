"""A study of twins: for each seed a leader and followers that start one bit away, trained in lockstep
(``trainers.twins``).

A follower is named by whose slopes it uses: ``own``, ``copied``, ``copied-50`` (in its first 50 steps), ``own-50``.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import nn

from actlab import metrics
from actlab.models import SCALES, count_parameters
from actlab.records import store
from actlab.study.arms import NUDGE, Arm, TrialSpec, arms_of
from actlab.study.kinds.characters import Characters, dataset_of, windows_of
from actlab.study.kinds.kind import Outcome, Report, Results
from actlab.study.kinds.measure import mean
from actlab.study.params.field_types import Grid, Several
from actlab.study.params.language import Params
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.recipes import Recipe
from actlab.trainers.twins import train_together

Follower = Annotated[str, Field(pattern=r"^(own|copied)(-[1-9]\d{0,5})?$")]


class TwinParams(Params):
    """As a study of characters, with followers in place of noise floor and perturbations, on one core a seed."""

    grid: ClassVar[tuple[str, ...]] = (*Params.grid, "optimizer")
    noise_floor: Literal[False] = False
    followers: Several[Follower] = ("own", "copied")
    """Networks beside the leader: whose slopes they use, and until or from which step."""
    optimizer: Grid[Literal["adamw", "adamw-eps", "sgd"]] = "adamw"


class TwinArm(Arm):
    """The trials of an arm: each seed's leader, then its followers."""


@dataclass(frozen=True)
class Lockstep:
    """What trains together: a leader, and its followers by their names."""

    leader: TrialSpec
    followers: tuple[str, ...]

    @property
    def recipe(self) -> Recipe:
        """Of all of them."""
        return self.leader.recipe

    @property
    def label(self) -> str:
        """Of the leader."""
        return self.leader.label

    @property
    def seed(self) -> int:
        """Of all of them."""
        return self.leader.seed

    @property
    def labels(self) -> list[str]:
        """Of the leader and the followers."""
        return [self.label, *(f"{self.label}-{name}" for name in self.followers)]

    @property
    def parts(self) -> Any:
        """A user's own."""
        return self.leader.parts


def lockstep_of(trials: Sequence[TrialSpec], seed: int) -> Lockstep:
    """The leader of a seed, with its followers among an arm's trials."""
    leader, *followers = [spec for spec in trials if spec.seed == seed]
    return Lockstep(leader, tuple(spec.variant for spec in followers))


class Twins(Characters):
    """Leaders and followers; pairs are a leader and each of its followers."""

    name, folder, params = "twins", "twins", TwinParams
    parts, records = (TwinArm, Lockstep), ("twins",)

    def plan(self, params: Any) -> list[Any]:
        """The plain arms of the study, with followers beside each seed."""
        arms = []
        for arm in arms_of(params.replace(noise_floor=False, perturbations=())):
            trials = tuple(replace(spec, variant=name) for spec in arm.trials for name in ("", *params.followers))
            same = {each.name: getattr(arm, each.name) for each in fields(arm)}
            arms.append(TwinArm(**same | {"kind": "twins", "trials": trials}))
        return arms

    def tasks(self, params: Any, arms: Sequence[TwinArm]) -> Mapping[Any, Sequence[Any]]:
        """Arm -> what trains together for each of its seeds."""
        return {arm: [lockstep_of(arm.trials, seed) for seed in _seeds(arm)] for arm in arms}

    def size(self, task: Lockstep) -> int:  # noqa: D102
        return len(task.labels)

    def own(self, arm: Any, task: Lockstep, results: Results) -> list[Results]:  # noqa: D102
        if results["status"] == "failed":
            return [{**results, "label": label, "seed": task.seed} for label in task.labels]
        return [results["trials"][label] for label in task.labels]

    def known_by(self, task: Lockstep) -> tuple[str, dict[str, Any]]:  # type: ignore[override]  # noqa: D102
        name, about = super().known_by(task.leader)
        return name, {**about, "followers": list(task.followers)}

    def train(self, task: Lockstep, saved_at: Path | None, report: Report | None) -> Outcome:  # type: ignore[override]
        """All of them to the end; it lasts minutes and leaves no checkpoint."""
        leader, recipe = task.leader, task.recipe
        corpus, validation, frozen = windows_of(leader)
        nets: dict[str, nn.Module] = {"": self.model(leader)}
        for name in task.followers:
            nets[name] = self.model(replace(leader, variant=NUDGE))
        started, since = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        rows = list(
            train_together(
                nets[""],
                {name: nets[name] for name in task.followers},
                corpus.train,
                SCALES[leader.scale].block_size,
                recipe,
                recipe.optimizer,
                leader.seed,
                report,
            )
        )
        spent = {"training": (time.perf_counter() - since) / len(nets), "evaluation": 0.0}
        trials, tensors = {}, {}
        for name, label in zip(nets, task.labels, strict=True):
            net = nets[name]
            final = {"iteration": recipe.iterations, **evaluate(net, validation, recipe)}
            finite = torch.isfinite(torch.tensor(final["val_loss"])).item()
            trials[label] = {
                "label": label,
                "seed": leader.seed,
                "variant": name,
                "status": "done" if finite else "diverged",
                "final": final,
                "best": {"val_loss": final["val_loss"]},
                "history": [],
                "started": started,
                "seconds": spent,
                "n_parameters": count_parameters(net),
                "weights_sha256": weights_sha256(net),
            }
            tensors[f"probabilities/{label}"] = predict(net, frozen, recipe)
        return {"status": "done", "trials": trials, "steps": rows}, tensors

    def measure(self, arm: Arm, results: list[Results]) -> store.Record:
        """Means are over pairs of a leader and a follower; ``steps``: what was measured along training."""
        frozen = windows_of(arm.trials[0])[2]
        finished = {trial["label"] for trial in results if trial["status"] == "done"}
        targets = frozen.targets.flatten()
        pairs: list[Results] = []
        steps: dict[int, list[Results]] = {}
        for seed in _seeds(arm):
            task = lockstep_of(arm.trials, seed)
            tensors, ended = checkpoint.read_tensors(self.cached(task))
            first, *others = task.labels
            for other in others if first in finished else ():
                if other not in finished:
                    continue
                p, q = (tensors[f"probabilities/{label}"] for label in (first, other))
                pairs.append({"between": [first, other], **metrics.compare(p, q, targets)})
            for row in ended["steps"]:
                measured = {name: value for name, value in row.items() if name not in ("iteration", "change")}
                between = [first, f"{first}-{row['change']}"]
                steps.setdefault(row["iteration"], []).append({"between": between, **measured})
        done = [trial for trial in results if trial["status"] == "done"]
        averages = ("relative_pd", "total_variation", "churn")
        return {
            "model_name": arm.model,
            "activation": arm.activation,
            **{f"avg_{name}": mean(pair[name] for pair in pairs) for name in averages},
            **{f"avg_{name}": mean(t["final"][name] for t in done) for name in ("val_loss", "val_accuracy")},
            "trials": results,
            "reproducibility_metrics": pairs,
            "steps": [{"iteration": at, "pairs": found} for at, found in sorted(steps.items())],
        }

    def task_of(self, record: store.Record, label: str) -> Any:
        """What trains a recorded leader, or a follower beside its leader."""
        leader, _, name = label.partition("-")
        config = record["config"]
        spec = TrialSpec.from_config(
            config,
            seed=int(leader),
            variant="",
            recipe=Recipe(**config["recipe"]),
            dataset=dataset_of(record),
            defects=(),
        )
        return Lockstep(spec, (name,) if name else ())


def _seeds(arm: Arm) -> list[int]:
    return list(dict.fromkeys(spec.seed for spec in arm.trials))
