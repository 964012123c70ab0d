"""The training loop of language models, on characters and on tokens: one trial, from its seed to its predictions.

It knows no names, files of records or studies.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from actlab.errors import BadInput
from actlab.models import LanguageModel
from actlab.trainers import checkpoint
from actlab.trainers.determinism import reproducible, weights_sha256
from actlab.trainers.evaluation import exact
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import derive


@dataclass
class Progress:
    """What a trial knows about itself so far; all of it goes through checkpoints and into the record."""

    iteration: int = 0
    """That of the last evaluation."""
    history: list[dict[str, float]] = field(default_factory=list)
    """One entry an evaluation: iteration, train_loss (mean over the batches since the last one, dropout on), val_loss,
    val_accuracy (%); on tokens also tokens and val_standard_error."""
    seconds: dict[str, float] = field(default_factory=lambda: {"training": 0.0, "evaluation": 0.0})
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When its training began; a resumed trial keeps the first moment."""


@dataclass(frozen=True)
class Trained:
    """The end of a training."""

    status: str
    """``done`` or ``diverged`` (a loss was not finite)."""
    progress: Progress
    weights_sha256: str
    averages: tuple[LanguageModel, ...] = ()
    """The model with each moving average of the weights that the recipe asks for."""

    @property
    def final(self) -> dict[str, float]:
        """The last evaluation."""
        return self.progress.history[-1]

    @property
    def best(self) -> dict[str, float]:
        """The evaluation with the lowest validation loss (the first of them; NaN is never lowest)."""
        return min(self.progress.history, key=lambda e: math.inf if math.isnan(e["val_loss"]) else e["val_loss"])


@dataclass
class Training:
    """What both kinds of training hand to the loop."""

    model: LanguageModel
    """Freshly initialised, on the recipe's device; (B, T) int64 -> logits (B, T, V). Changed in place."""
    optimizer: Optimizer
    """Over every parameter of the model. It is always given a closure. A rate in a group is the full one."""
    batch: Callable[[int], tuple[Tensor, Tensor]]
    """(inputs, targets) of a micro-batch by its number (from 0), both (B, T) int64."""
    measured: Callable[[LanguageModel, int], dict[str, float]]
    """An evaluation of the model at an iteration."""
    recipe: Recipe
    seed: int
    """Of the stream ``dropout``; model, optimizer and batches bring their own randomness."""
    also: tuple[int, ...] = ()
    """Further iterations at which to evaluate."""
    saved_at: Path | None = None
    """Checkpoint file, written at each evaluation and resumed from if it exists; the outcome is bit for bit that of an
    uninterrupted run."""
    on_progress: Callable[[int, float], None] | None = None
    """Called with (iteration, training loss) ten times a second."""
    on_evaluation: Callable[[int, nn.Module], None] | None = None
    """Called with (iteration, model) at every evaluation, before its checkpoint; it may change the model and must
    draw no random number."""

    def __post_init__(self) -> None:
        """``BadInput``: a weight that the optimizer does not have would silently stay as it is."""
        optimised = {p for settings in self.optimizer.param_groups for p in settings["params"]}
        if optimised != {p for p in self.model.parameters() if p.requires_grad}:
            raise BadInput("the optimizer has other weights than the model")
        self.rates = [settings["lr"] for settings in self.optimizer.param_groups]
        self.model.train()
        self.forward: Any = self.model
        if self.recipe.compiled and torch.device(self.recipe.device).type != "cpu":
            # one graph of kernels that a GPU replays takes a third of the time of launching them one by one; on a CPU
            # it takes longer to compile than it gains
            self.forward = torch.compile(self.model, mode="reduce-overhead")
        ways = [get_ema_multi_avg_fn(decay) for decay in self.recipe.decays]  # type: ignore[no-untyped-call]
        self.averages = tuple(AveragedModel(self.model, multi_avg_fn=way) for way in ways)

    def evaluated(self, iteration: int, loss_sum: float, progress: Progress) -> bool:
        """Add an evaluation to the history; whether its losses are finite. ``loss_sum``: over the steps since the last
        one."""
        steps = iteration - progress.iteration
        train_loss = loss_sum / steps if steps else math.nan
        values = self.measured(self.model, iteration)
        progress.iteration = iteration
        progress.history.append({"iteration": iteration, "train_loss": train_loss, **values})
        return math.isfinite(values["val_loss"]) and not (steps and not math.isfinite(train_loss))

    def step(self, iteration: int) -> Tensor:
        """One step of the optimizer at its scheduled rate; the loss before it."""
        for settings, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            settings["lr"] = rate * self.recipe.rate(iteration)
        each = self.recipe.micro_batches
        batches = [self.batch(iteration * each + number) for number in range(each)]
        optimizer: Any = self.optimizer  # whose stub has numbers for losses
        with torch.no_grad():  # of a user's own optimizer too
            loss: Tensor = optimizer.step(lambda: self.gradients(batches))
        for average in self.averages:
            average.update_parameters(self.model)
        return loss

    def gradients(self, batches: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Accumulate those of a step's micro-batches; their mean loss. bfloat16: autocast of the forward pass."""
        self.optimizer.zero_grad()
        torch.clear_autocast_cache()  # inside of a caller's own autocast it would keep the weights of the last step
        device = self.recipe.device
        total = torch.zeros((), device=device)
        for inputs, targets in batches:
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=self.recipe.dtype == "bfloat16"):
                logits = self.forward(inputs.to(device, non_blocking=True))
            correct = targets.to(device, non_blocking=True).flatten()
            loss = F.cross_entropy(logits.flatten(0, 1).float(), correct) / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        if self.recipe.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        return total


def train(training: Training) -> Trained:
    """The loop itself."""
    recipe, model, saved_at = training.recipe, training.model, training.saved_at
    saved = nn.ModuleList([model, *training.averages])  # in checkpoints
    status, clock = "done", time.perf_counter
    with reproducible(derive(training.seed, "dropout")):
        if recipe.compiled:
            torch.use_deterministic_algorithms(True)  # of the compiler, too
        progress = Progress()
        if saved_at is not None and saved_at.exists():
            progress = Progress(**checkpoint.load(saved_at, saved, training.optimizer))
        reported = since = clock()
        running = exact(torch.zeros((), device=recipe.device))
        for iteration in range(progress.iteration, recipe.iterations + 1):
            due = iteration % recipe.evaluate_every == 0 or iteration == recipe.iterations or iteration in training.also
            if due and (not progress.history or progress.iteration < iteration):
                loss_sum, now = running.item(), clock()  # the sum first: it waits for the device
                running.zero_()
                progress.seconds["training"] += now - since
                finite = training.evaluated(iteration, loss_sum, progress)
                since = clock()
                progress.seconds["evaluation"] += since - now
                if not finite:
                    status = "diverged"
                    break
                if training.on_evaluation is not None:
                    training.on_evaluation(iteration, model)
                if saved_at is not None and iteration < recipe.iterations:
                    checkpoint.save(saved_at, saved, training.optimizer, asdict(progress))
            if iteration == recipe.iterations:
                break
            loss = training.step(iteration)
            running += loss.to(running.device)
            if training.on_progress is not None and clock() - reported > 0.1:
                reported = clock()
                training.on_progress(iteration + 1, loss.item())
    averages: Any = tuple(average.module for average in training.averages)
    return Trained(status, progress, weights_sha256(model), averages)
