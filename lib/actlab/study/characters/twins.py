"""Twins: for each seed a leader and its followers, trained in lockstep (``trainers.twins``). A follower is a change of
its leader, named as ``design`` says."""

import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self, cast

import torch
from pydantic import model_validator
from torch import nn
from torch.optim import Optimizer

from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.optimizers.without_compiler import SGD, AdamW
from actlab.records import store
from actlab.study.characters.comparison import CharacterArm
from actlab.study.characters.study import CharacterStudy
from actlab.study.characters.trial import PLAIN, CharacterTrial
from actlab.study.fields import Axis
from actlab.study.study import with_axes
from actlab.study.trial import Outcome, Report, Results, Task, weights
from actlab.trainers import loop
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.evaluation import evaluate
from actlab.trainers.twins import LEADER, Design, Network, begin, train_together
from actlab.trainers.windows import RandomWindows

NOT_OF_TWINS = (
    *("schedule", "warmup", "clip", "average", "device", "compiled", "varies", "snapshots"),
    *("perturbations", "ensembles", "equal_compute", "training_windows"),
)
"""Fields of a study of characters that twins, trained at a constant rate on the processor, do not have."""

OF_FLOAT32 = ("", "bit", "second bit", "seed")
"""First changes that float32 holds."""
UNTRAINED = "untrained"
DESIGNS = {
    "own": Design(),
    "copied": Design(source=LEADER),
    "rescaled": Design(rescaled=True),
    "near": Design(source=LEADER, near=True),
    "elsewhere": Design(source=LEADER, near=False),
    "third": Design("second bit", source="own", beside=(LEADER, "own")),
    UNTRAINED: Design("", beside=()),
    "frozen": Design("", source=UNTRAINED),
    "frozen-bit": Design(source=UNTRAINED, beside=("frozen",)),
    "other": Design("seed"),
    "driven": Design("", source="other"),
    "driven-bit": Design(source="other", beside=("driven",)),
    "other-copied": Design("seed", source=LEADER),
}
"""The followers with a name of their own. ``untrained`` stays as it was initialised, and lends its masks."""


def design(name: str) -> Design:
    """Find the design of a follower; ``BadInput`` lists how one may be called.

    ``own``, ``copied``: one bit away, with its own slopes or the leader's; ``own-50``, ``copied-50``: until that step
    only; ``own-1e-9``, ``own-ulp``: with that first change; ``flip-50``: the leader, but for one gate in that step; or
    another name of ``DESIGNS``.
    """
    if name in DESIGNS:
        return DESIGNS[name]
    mode, _, ending = name.partition("-")
    if mode in ("own", "copied") and re.fullmatch(r"ulp|1e-\d{1,2}", ending):
        return replace(DESIGNS[mode], change=ending)
    if re.fullmatch(r"[1-9]\d*", ending):
        step = int(ending)
        if mode == "own":
            return Design(source=LEADER, copying=range(step, sys.maxsize))
        if mode == "copied":
            return Design(source=LEADER, copying=range(step))
        if mode == "flip":
            return Design("", flip=step)
    known = ["own-STEPS", "copied-STEPS", "own-1e-9", "copied-ulp", "flip-STEP", *DESIGNS]
    raise BadInput(f"a follower is called {', '.join(known)}, not {name!r}")


def with_sources(names: Iterable[str]) -> list[str]:
    """List these followers, and before each the networks whose slopes it uses or that it is compared with."""
    found: list[str] = []
    for name in names:
        made = design(name)
        found += [*with_sources(filter(None, (made.source, *made.beside))), name]
    return list(dict.fromkeys(found))


class TwinTrial(CharacterTrial):
    """A leader, or a follower beside it."""

    kind = "twins"
    optimizer: Literal["adamw", "adamw-eps", "sgd"] = "adamw"
    """What steps; adamw-eps: AdamW with epsilon 1e-4, so that tiny gradients make tiny steps."""
    betas: None = None
    """None: twins train with the optimizer's usual ones."""
    dtype: Literal["float32", "float64"] = "float32"
    """Of weights, forward and backward pass; evaluations stay in float32."""

    @classmethod
    def grouped(cls, trials: Sequence[Self]) -> list[tuple[Self, ...]]:
        """Put a leader and its followers together."""
        groups: dict[Self, list[Self]] = {}
        for trial in trials:
            groups.setdefault(trial.with_change(trial.seed), []).append(trial)
        return [tuple(group) for group in groups.values()]

    def stepped_by(self, net: nn.Module) -> Optimizer:
        """Make its optimizer, over a network."""
        parameters, rate = net.parameters(), self.learning_rate
        if self.optimizer == "sgd":
            return SGD(parameters, rate, momentum=0.9, nesterov=True)
        eps = 1e-4 if self.optimizer == "adamw-eps" else 1e-8
        return AdamW(parameters, rate, eps=eps, weight_decay=self.weight_decay, fused=True)

    def network_of(self, name: str, made: Design, source: Network | None) -> Network:
        """Make a network after its first change."""
        start = self.with_change(self.seed, "init" if made.change == "seed" else PLAIN)
        net = begin(start.fresh(), made.change, getattr(torch, self.dtype))
        return Network(name, net, made, source, None if name == UNTRAINED else self.stepped_by(net))

    def train(self, task: Task, place: Path | None, report: Report | None) -> list[Outcome]:
        """Train the task's trials beside their leader, to the end; it lasts minutes and leaves no checkpoint."""
        validation = self.validation_set()
        networks = {LEADER: self.network_of(LEADER, Design("", beside=()), None)}
        for name in with_sources(trial.change for trial in task.trials if trial.change):
            made = design(name)
            networks[name] = self.network_of(name, made, None if made.source is None else networks[made.source])
        batches = RandomWindows(self.text.train, self.size.block_size, self.recipe, self.seed)
        progress, since = loop.Progress(), time.perf_counter()
        lockstep = [*networks.values()], batches.batch, self.iterations, self.seed
        rows = list(train_together(*lockstep, validation, self.evaluate_every, report))
        progress.seconds["training"] = (time.perf_counter() - since) / len(networks)
        outcomes = []
        for trial in cast("tuple[Self, ...]", task.trials):
            net = networks[trial.change].net.float()
            final = {"iteration": self.iterations, **evaluate(net, validation)}
            status = "done" if math.isfinite(final["val_loss"]) else "diverged"
            end = loop.Trained(status, replace(progress, history=[final]), weights_sha256(net))
            results = {
                **trial.results_of(net, end),
                "variant": trial.change,
                "best": {"val_loss": final["val_loss"]},
                "history": [],
                "steps": [row for row in rows if row["change"] == trial.change],
            }
            outcomes.append((results, weights(net)))
        return outcomes


class TwinArm(CharacterArm):
    """An arm of leaders and their followers."""

    def measured(self, results: list[Results]) -> store.Record:
        """Measure as of characters, on each leader and its followers; ``steps`` holds what was measured along
        training."""
        ends, steps = [dict(trial) for trial in results], defaultdict[int, list[Results]](list)
        for end in ends:
            for row in end.pop("steps", ()):
                beside = "-".join(filter(None, (str(end["seed"]), row["beside"])))
                values = {name: value for name, value in row.items() if name not in ("iteration", "change", "beside")}
                steps[row["iteration"]].append({"between": [beside, end["label"]], **values})
        along = [{"iteration": at, "pairs": pairs} for at, pairs in sorted(steps.items())]
        return {**super().measured(ends), "steps": along}


@with_axes(activation=("relu", "gelu", "swish", "smelu_05", "smelu_1"))
class TwinStudy(CharacterStudy):
    """A study as of characters, with followers in place of noise floor and changes, on one core a seed."""

    trial = TwinTrial
    arm = TwinArm
    recorded = ("twins",)
    noise_floor: Literal[False] = False
    """None: the followers take its place."""
    followers: Axis[str] = ("own", "copied")
    """Networks beside the leader: how they start and whose slopes they use (``study.characters.twins.design``);
    rescaled: put back close to the leader every ten steps."""

    @model_validator(mode="after")
    def _trains_as_twins_do(self) -> Self:
        gated = [name for name in self.levels("activation") if ACTIVATIONS[name].gated]
        for name in NOT_OF_TWINS:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise BadInput(f"{name}: kind: twins trains without it, leave it out")
        for name in self.followers:
            made = design(name)
            if gated and made.source is not None:
                raise BadInput(
                    f"activation={gated[0]}: {name} copies slopes, and a product of two inputs has no single one: "
                    "choose the followers own or rescaled"
                )
            if (made.rescaled or made.change not in OF_FLOAT32) and self.levels("dtype") != ("float64",):
                raise BadInput(
                    f"followers: {name} differs from its leader by less than float32 holds; give dtype: float64"
                )
        return self

    def changes(self, kind: str) -> list[tuple[int, str]]:
        """List each seed's leader, then its followers."""
        return [(seed, change) for seed in self.seeds for change in (PLAIN, *self.followers)]


Study = TwinStudy
