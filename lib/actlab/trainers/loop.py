"""The training loop of language models, on characters and on tokens: one trial, from its seed to its predictions.

It knows no names, files of records or studies.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from actlab.data.tokens import TokenStream
from actlab.models.layers import LanguageModel
from actlab.optimizers import check_complete
from actlab.optimizers.steps import step
from actlab.trainers import checkpoint
from actlab.trainers.determinism import reproducible, weights_sha256
from actlab.trainers.evaluation import evaluate, exact, measure, predict
from actlab.trainers.recipes import BaseRecipe, Recipe, TokenRecipe
from actlab.trainers.replayed import Batches, Replayed
from actlab.trainers.seeds import derive, generator
from actlab.trainers.windows import Windows, batch_starts


@dataclass
class Progress:
    """What a trial knows about itself so far; all of it goes through checkpoints and into the record."""

    iteration: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    """One entry an evaluation: iteration, train_loss (mean over the batches since the last one, dropout on), val_loss,
    val_accuracy (%); on tokens also tokens and val_standard_error."""
    seconds: dict[str, float] = field(default_factory=lambda: {"training": 0.0, "evaluation": 0.0})
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When its training began; a resumed trial keeps the first moment."""


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    status: str
    """``done`` or ``diverged`` (a loss was not finite)."""
    progress: Progress
    weights_sha256: str
    probabilities: Tensor
    """(N, V) float32 on the CPU, in the order of the frozen windows; (0,) where there are none."""
    averages: tuple[nn.Module, ...] = ()
    """The model with each moving average of the weights that the recipe asks for."""

    @property
    def final(self) -> dict[str, float]:
        """The last evaluation."""
        return self.progress.history[-1]

    @property
    def best(self) -> dict[str, float]:
        """The evaluation with the lowest validation loss (the first of them; NaN is never lowest)."""
        return min(self.progress.history, key=lambda e: math.inf if math.isnan(e["val_loss"]) else e["val_loss"])


def train(
    model: nn.Module,
    text: Tensor,
    validation: Windows,
    frozen: Windows,
    recipe: Recipe,
    seed: int,
    *,
    optimizer: Optimizer | None = None,
    dropout_seed: int | None = None,
    **options: Any,
) -> Trial:
    """Train ``model`` on random windows of ``text`` and measure it on fixed ones.

    Args:
        model: freshly initialised; (B, T) int64 -> logits (B, T, V). Changed in place.
        text: (n,) character numbers of the training split.
        validation: windows over the whole validation split, for loss and accuracy.
        frozen: the windows that predictions are compared on.
        recipe: iterations, batch size, optimizer settings, device.
        seed: makes the streams ``order`` and ``dropout`` (``init`` made the model).
        optimizer: over every parameter of the model, which is on its device already; AdamW unless given. It is always
            given a closure. A rate in a group is the full one.
        dropout_seed: makes ``dropout`` instead, where one stream is to vary without the other.
        options: the fields of ``Training`` from ``also`` on.

    Raises:
        BadInput: a parameter that the optimizer does not have.
    """
    block_size, device = validation.inputs.shape[1], recipe.device
    starts = batch_starts(len(text), block_size, recipe.batch_size, recipe.iterations, generator(seed, "order"))
    starts, text, validation, frozen = starts.to(device), text.to(device), validation.to(device), frozen.to(device)
    span = torch.arange(block_size + 1, device=device)
    model = model.to(device).train()
    if optimizer is None:
        rate, decay = recipe.learning_rate, recipe.weight_decay
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=decay, fused=True)
    check_complete(optimizer, model)
    averages = [AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay)) for decay in recipe.decays]  # type: ignore[no-untyped-call]

    def batches(iteration: int) -> Batches:
        windows = text[starts[iteration][:, None] + span].long()  # (B, T + 1)
        return [(windows[:, :-1], windows[:, 1:])]

    def measured(forward: nn.Module, iteration: int) -> dict[str, float]:
        return evaluate(forward, validation, recipe)

    dropout_seed = seed if dropout_seed is None else dropout_seed
    return Training(model, optimizer, batches, measured, recipe, dropout_seed, frozen, averages, **options).run()


def train_tokens(
    model: LanguageModel,
    optimizer: Optimizer,
    stream: TokenStream,
    validation: Windows,
    recipe: TokenRecipe,
    seed: int,
    **options: Any,
) -> Trial:
    """Train ``model`` on the batches of ``stream`` and measure it on fixed windows.

    Args:
        model: freshly initialised and on ``recipe.device``; (B, T) int64 -> logits (B, T, V). Changed in place.
        optimizer: over every parameter of the model; it is always given a closure. A rate in a group is the full one.
        stream: its batch is a micro-batch.
        validation: all of the validation shard (``cover``), or a large fixed part of it (``spread``).
        recipe: iterations, accumulation, schedule, device.
        seed: of the stream ``dropout``; model, optimizer and stream bring their own randomness.
        options: as of ``train``.

    Raises:
        BadInput: a parameter that the optimizer does not have.
    """
    check_complete(optimizer, model)
    validation, each = validation.to(recipe.device), recipe.micro_batches

    def batches(iteration: int) -> Batches:
        return [stream.batch(iteration * each + number) for number in range(each)]

    def measured(forward: nn.Module, iteration: int) -> dict[str, float]:
        tokens = iteration * each * stream.batch_size * stream.block_size
        return {"tokens": tokens, **measure(forward, validation, recipe, model.config.vocab_size)}

    return Training(model, optimizer, batches, measured, recipe, seed, **options).run()


@dataclass(frozen=True)
class Training:
    """What both kinds of training hand to the loop, and the loop itself."""

    model: nn.Module
    optimizer: Optimizer
    batches: Callable[[int], Batches]
    """The micro-batches of a step."""
    measured: Callable[[nn.Module, int], dict[str, float]]
    """An evaluation of the model at an iteration."""
    recipe: BaseRecipe
    dropout_seed: int
    frozen: Windows | None = None
    averages: Sequence[AveragedModel] = ()
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
    replayed: bool = False
    """Replay a GPU's kernels of a step: for models that do the same at each."""

    @property
    def saved(self) -> nn.Module:
        """What checkpoints hold: the model and its averages."""
        return nn.ModuleList([self.model, *self.averages]) if self.averages else self.model

    def evaluated(self, forward: nn.Module, iteration: int, loss_sum: float, progress: Progress) -> bool:
        """Add an evaluation to the history; whether its losses are finite. ``loss_sum``: over the steps since the last
        one."""
        steps = iteration - (progress.history[-1]["iteration"] if progress.history else 0)
        train_loss = loss_sum / steps if steps else math.nan
        values = self.measured(forward, iteration)
        progress.iteration = iteration
        progress.history.append({"iteration": iteration, "train_loss": train_loss, **values})
        return math.isfinite(values["val_loss"]) and not (steps and not math.isfinite(train_loss))

    def step(self, gradients: Callable[[Batches], Tensor], iteration: int, rates: list[float]) -> Tensor:
        """One step of the optimizer at its scheduled rate; the loss before it."""
        for settings, rate in zip(self.optimizer.param_groups, rates, strict=True):
            settings["lr"] = rate * self.recipe.rate(iteration)
        batches = self.batches(iteration)
        loss = step(self.optimizer, lambda: gradients(batches))
        for average in self.averages:
            average.update_parameters(self.model)
        return loss

    def gradients(self, forward: nn.Module, batches: Batches) -> Tensor:
        """Accumulate those of a step's micro-batches; their mean loss. bfloat16: autocast of the forward pass."""
        self.optimizer.zero_grad(set_to_none=True)
        device = self.recipe.device
        total = torch.zeros((), device=device)
        for inputs, targets in batches:
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=self.recipe.dtype == "bfloat16"):
                logits = forward(inputs.to(device, non_blocking=True))
            correct = targets.to(device, non_blocking=True).flatten()
            loss = F.cross_entropy(logits.flatten(0, 1).float(), correct) / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        if self.recipe.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        return total

    def compiled(self) -> tuple[Any, Any]:
        """The model as it trains and as it is measured. A GPU replays the kernels of a step as one graph, which takes a
        third of the time of launching them one by one; measuring, with other shapes, it does as it is."""
        if torch.device(self.recipe.device).type == "cpu":
            forward = torch.compile(self.model)
            return forward, forward
        return torch.compile(self.model, mode="reduce-overhead"), self.model

    def run(self) -> Trial:
        """The loop itself."""
        recipe, model, saved, saved_at = self.recipe, self.model, self.saved, self.saved_at
        forward, measured = self.compiled() if recipe.compiled else (model, model)
        gradients: Callable[[Batches], Tensor] = partial(self.gradients, forward)
        if self.replayed and recipe.device.startswith("cuda") and not recipe.compiled:
            gradients = Replayed(gradients)
        rates = [settings["lr"] for settings in self.optimizer.param_groups]
        status, probabilities, clock = "done", torch.empty(0), time.perf_counter
        with reproducible(derive(self.dropout_seed, "dropout")):
            progress = Progress()
            if saved_at is not None and saved_at.exists():
                progress = Progress(**checkpoint.load(saved_at, saved, self.optimizer))
            reported = since = clock()
            running = exact(torch.zeros((), device=recipe.device))
            for iteration in range(progress.iteration, recipe.iterations + 1):
                due = iteration % recipe.evaluate_every == 0 or iteration == recipe.iterations or iteration in self.also
                if due and (not progress.history or progress.history[-1]["iteration"] < iteration):
                    loss_sum, now = running.item(), clock()  # the sum first: it waits for the device
                    running.zero_()
                    progress.seconds["training"] += now - since
                    finite = self.evaluated(measured, iteration, loss_sum, progress)
                    since = clock()
                    progress.seconds["evaluation"] += since - now
                    if not finite:
                        status = "diverged"
                        break
                    if self.on_evaluation is not None:
                        self.on_evaluation(iteration, model)
                    if saved_at is not None and iteration < recipe.iterations:
                        checkpoint.save(saved_at, saved, self.optimizer, asdict(progress))
                if iteration == recipe.iterations:
                    break
                loss = self.step(gradients, iteration, rates)
                running += loss.to(running.device)
                if self.on_progress is not None and clock() - reported > 0.1:
                    reported = clock()
                    self.on_progress(iteration + 1, loss.item())
            if self.frozen is not None:
                now = clock()
                probabilities = predict(measured, self.frozen, recipe)
                progress.seconds["evaluation"] += clock() - now
        return Trial(status, progress, weights_sha256(model), probabilities, tuple(self.averages))
