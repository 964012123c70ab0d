"""The training loop over token shards: any optimizer of the table, gradient accumulation, a schedule. It knows no
names, records or studies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab.data.tokens import TokenStream
from actlab.errors import BadInput, UnknownName
from actlab.models.layers import LanguageModel
from actlab.optimizers import check_complete
from actlab.optimizers.steps import step
from actlab.trainers import checkpoint
from actlab.trainers.distributed import ALONE, Group, without_exchange
from actlab.trainers.loop import DTYPES, Progress, autocast, reproducible, weights_sha256
from actlab.trainers.measure import measure
from actlab.trainers.streams import derive
from actlab.trainers.windows import Windows

SCHEDULES = ("constant", "cosine")


@dataclass(frozen=True)
class TokenRecipe:
    """How one trial is trained, but for its optimizer. A batch of a step is ``micro_batches`` batches of the stream."""

    iterations: int
    evaluate_every: int
    micro_batches: int = 1
    schedule: str = "constant"
    warmup: int = 0
    """Steps over which the rate rises linearly to its full value."""
    final_share: float = 0.1
    """Of the rate, at the end of the cosine."""
    device: str = "cpu"
    dtype: str = "float32"
    """``bfloat16``: autocast in forward and backward; weights, optimizer state, loss and every evaluation stay
    float32."""
    compiled: bool = False

    def __post_init__(self) -> None:
        for setting, value, least in (
            ("iterations", self.iterations, 1),
            ("evaluate_every", self.evaluate_every, 1),
            ("warmup", self.warmup, 0),
            ("micro_batches", self.micro_batches, 1),
        ):
            if value < least:
                raise BadInput(f"{setting} must be at least {least}, got {value}")
        for field, name, known in (("schedule", self.schedule, SCHEDULES), ("dtype", self.dtype, DTYPES)):
            if name not in known:
                raise UnknownName(field, name, known)

    def rate(self, iteration: int) -> float:
        """Share of the full learning rate at step ``iteration`` (from 0)."""
        if iteration < self.warmup:
            return (iteration + 1) / self.warmup
        if self.schedule == "constant":
            return 1.0
        done = (iteration - self.warmup) / max(1, self.iterations - self.warmup)
        return self.final_share + (1 - self.final_share) * 0.5 * (1 + math.cos(math.pi * done))


@dataclass(frozen=True)
class TokenTrial:
    """A finished trial. An entry of ``progress.history``: iteration, tokens, train_loss, val_loss, val_standard_error,
    val_accuracy."""

    status: str
    """``done`` or ``diverged`` (a loss was not finite)."""
    progress: Progress
    weights_sha256: str

    @property
    def final(self) -> dict[str, float]:
        """The last evaluation."""
        return self.progress.history[-1]

    @property
    def tokens_per_second(self) -> float:
        """Trained on, without evaluations."""
        seconds = self.progress.seconds["training"]
        return self.final["tokens"] / seconds if seconds else math.nan


def train_tokens(
    model: LanguageModel,
    optimizer: torch.optim.Optimizer,
    stream: TokenStream,
    validation: Windows,
    recipe: TokenRecipe,
    seed: int,
    *,
    saved_at: Path | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    group: Group = ALONE,
) -> TokenTrial:
    """Train ``model`` on the batches of ``stream`` and measure it on fixed windows.

    Args:
        model: freshly initialised and on ``recipe.device``; (B, T) int64 -> logits (B, T, V). Changed in place.
        optimizer: over every parameter of the model; it is always given a closure. A rate in a group is the full one.
        stream: fresh; its batch is a micro-batch.
        validation: all of the validation shard (``cover``), or a large fixed part of it (``spread``).
        recipe: iterations, accumulation, schedule, device.
        seed: of the stream ``dropout``; model, optimizer and stream bring their own randomness.
        saved_at: checkpoint file, written at each evaluation and resumed from if it exists; the outcome is bit for bit
        that of an uninterrupted run.
        on_progress: called with (iteration, last training loss) about ten times a second.
        group: the processes that train this trial together, each with its part of the stream's batches: up to rounding
        the losses of one process.
            Dropout must be off, for a checkpoint keeps one process's random stream.
    """
    check_complete(optimizer, model)
    if group.world > 1 and model.config.dropout:
        raise BadInput(f"a trial on {group.world} processes needs dropout 0, got {model.config.dropout}")
    validation = validation.to(recipe.device)
    rates = [group["lr"] for group in optimizer.param_groups]
    forward: Callable[[Tensor], Tensor] = torch.compile(model) if recipe.compiled else model
    learner = forward if group.world == 1 else group.wrapped(forward)  # type: ignore[arg-type]
    clock = _Clock()
    with reproducible(derive(seed, "dropout")):
        progress = _resume(saved_at, model, optimizer, stream)
        running, status = torch.zeros((), dtype=torch.float64, device=recipe.device), "done"
        for iteration in range(progress.iteration, recipe.iterations + 1):
            due = iteration % recipe.evaluate_every == 0 or iteration == recipe.iterations
            if due and (not progress.history or progress.history[-1]["iteration"] < iteration):
                clock.charge(progress, "training")
                _evaluate(progress, iteration, running.item(), forward, model, validation, recipe, stream)
                clock.charge(progress, "evaluation")
                running.zero_()
                if not _finite(progress):
                    status = "diverged"
                    break
                if saved_at is not None and group.leads and iteration < recipe.iterations:
                    checkpoint.save(saved_at, model, optimizer, {**asdict(progress), "cursor": stream.cursor})
            if iteration == recipe.iterations:
                break
            for settings, rate in zip(optimizer.param_groups, rates, strict=True):
                settings["lr"] = rate * recipe.rate(iteration)
            loss: Any = step(optimizer, _closure(learner, optimizer, stream, recipe, group))
            running += loss
            if on_progress is not None and clock.report():
                on_progress(iteration + 1, loss.item())
    return TokenTrial(status, progress, weights_sha256(model))


def _closure(
    forward: Callable[[Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    stream: TokenStream,
    recipe: TokenRecipe,
    group: Group,
) -> Callable[[], Tensor]:
    """Clears the gradients, accumulates those of the step's micro-batches, returns their mean loss over all
    processes."""
    batches = [stream.next_batch() for _ in range(recipe.micro_batches)]

    def closure() -> Tensor:
        optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=recipe.device)
        for number, (inputs, targets) in enumerate(batches, start=1):
            with nullcontext() if number == len(batches) else without_exchange(forward):
                with autocast(recipe):
                    logits = forward(inputs.to(recipe.device, non_blocking=True))
                correct = targets.to(recipe.device, non_blocking=True).flatten()
                loss = F.cross_entropy(logits.flatten(0, 1).float(), correct) / recipe.micro_batches
                loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return group.mean(total)

    return closure


def _evaluate(
    progress: Progress,
    iteration: int,
    running: float,
    forward: Callable[[Tensor], Tensor],
    model: LanguageModel,
    validation: Windows,
    recipe: TokenRecipe,
    stream: TokenStream,
) -> None:
    steps = iteration - (progress.history[-1]["iteration"] if progress.history else 0)
    measured = measure(forward, validation, recipe, model.config.vocab_size)
    progress.iteration = iteration
    progress.history.append(
        {
            "iteration": iteration,
            "tokens": iteration * recipe.micro_batches * stream.batch_size * stream.block_size,
            "train_loss": running / steps if steps else math.nan,
            "val_loss": measured.loss,
            "val_standard_error": measured.standard_error,
            "val_accuracy": measured.accuracy,
        }
    )


def _finite(progress: Progress) -> bool:
    last = progress.history[-1]
    return math.isfinite(last["val_loss"]) and (len(progress.history) == 1 or math.isfinite(last["train_loss"]))


def _resume(
    saved_at: Path | None, model: LanguageModel, optimizer: torch.optim.Optimizer, stream: TokenStream
) -> Progress:
    if saved_at is None or not saved_at.exists():
        return Progress()
    saved: dict[str, Any] = checkpoint.load(saved_at, model, optimizer)
    stream.cursor = saved.pop("cursor")
    return Progress(**saved)


class _Clock:
    """Charges the time since the last charge to a part of the run, and paces reports."""

    def __init__(self) -> None:
        self.since = self.reported = time.perf_counter()

    def charge(self, progress: Progress, part: str) -> None:
        now = time.perf_counter()
        progress.seconds[part] += now - self.since
        self.since = now

    def report(self) -> bool:
        if time.perf_counter() - self.reported < 0.1:
            return False
        self.reported = time.perf_counter()
        return True
