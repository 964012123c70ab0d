"""The training loop: one trial of one model, from its seed to its predictions. It knows no names, files of records or
studies."""

from __future__ import annotations

import hashlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from actlab.optimizers.steps import step
from actlab.trainers import checkpoint
from actlab.trainers.streams import derive, generator
from actlab.trainers.windows import SKIP, Windows, batch_starts

DTYPES = ("float32", "bfloat16")
EVALUATION_POSITIONS = {"cpu": 4096, "cuda": 131072}
"""Positions evaluated at once: what fits the cache of a CPU, what fills a GPU. Part of the bits of a result, so
fixed."""


class Placed(Protocol):
    """Where and in which type a recipe computes."""

    @property
    def device(self) -> str: ...  # noqa: D102
    @property
    def dtype(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Recipe:
    """How one trial is trained. AdamW without schedule or clipping, as the reference study."""

    iterations: int
    evaluate_every: int
    batch_size: int
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    device: str = "cpu"
    dtype: str = "float32"
    """``bfloat16``: autocast in forward and backward; weights, optimizer state, loss and every evaluation stay
    float32."""
    compiled: bool = False
    schedule: str = "constant"
    """Of the learning rate: ``constant``, or ``linear``, which falls in equal steps to 0 at the end."""
    average: float = 0.0
    """Decay of an exponential moving average of the weights, kept beside them; 0: none."""

    def rate(self, iteration: int) -> float:
        """Share of the learning rate at step ``iteration`` (from 0)."""
        return 1.0 if self.schedule == "constant" else 1 - iteration / self.iterations


@dataclass
class Progress:
    """What a trial knows about itself so far; all of it goes through checkpoints and into the record."""

    iteration: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    """One entry an evaluation: iteration, train_loss (mean over the batches since the last one, dropout on), val_loss,
    val_accuracy (%)."""
    seconds: dict[str, float] = field(default_factory=lambda: {"training": 0.0, "evaluation": 0.0})
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When its training began; a resumed trial keeps the first moment."""


@dataclass(frozen=True)
class Trial:
    """A finished trial. ``probabilities`` is (N, V) float32 on the CPU, in the order of the frozen evaluation
    windows."""

    status: str
    """``done`` or ``diverged`` (a loss was not finite)."""
    progress: Progress
    probabilities: Tensor
    weights_sha256: str
    average: nn.Module | None = None
    """The model with the moving average of the weights, where the recipe asks for one."""

    @property
    def final(self) -> dict[str, float]:
        """The last evaluation."""
        return self.progress.history[-1]

    @property
    def best(self) -> dict[str, float]:
        """The evaluation with the lowest validation loss (the first of them; NaN is never lowest)."""
        return min(
            self.progress.history, key=lambda entry: math.inf if math.isnan(entry["val_loss"]) else entry["val_loss"]
        )


def train(
    model: nn.Module,
    text: Tensor,
    validation: Windows,
    frozen: Windows,
    recipe: Recipe,
    seed: int,
    *,
    dropout_seed: int | None = None,
    also: tuple[int, ...] = (),
    saved_at: Path | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    on_evaluation: Callable[[int, nn.Module], None] | None = None,
) -> Trial:
    """Train ``model`` on random windows of ``text`` and measure it on fixed ones.

    Args:
        model: freshly initialised; (B, T) int64 -> logits (B, T, V). Changed in place.
        text: (n,) character numbers of the training split.
        validation: windows over the whole validation split, for loss and accuracy.
        frozen: the windows that predictions are compared on.
        recipe: iterations, batch size, optimizer settings, device.
        seed: makes the streams ``order`` and ``dropout`` (``init`` made the model).
        dropout_seed: makes ``dropout`` instead, where one stream is to vary without the other.
        also: further iterations at which to evaluate.
        saved_at: checkpoint file, written at each evaluation and resumed from if it exists; the outcome is bit for bit
        that of an uninterrupted run.
        on_progress: called with (iteration, last training loss) about ten times a second.
        on_evaluation: called with (iteration, model) at every evaluation; it may read the model, and must draw no
        random number.
    """
    block_size = validation.inputs.shape[1]
    starts = batch_starts(len(text), block_size, recipe.batch_size, recipe.iterations, generator(seed, "order")).to(
        recipe.device
    )
    text, validation, frozen, model = (
        text.to(recipe.device),
        validation.to(recipe.device),
        frozen.to(recipe.device),
        model.to(recipe.device).train(),
    )
    span = torch.arange(block_size + 1, device=recipe.device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
    )
    forward = torch.compile(model) if recipe.compiled else model
    average = _average_of(model, recipe.average) if recipe.average else None
    held = model if average is None else nn.ModuleDict({"model": model, "average": average})
    with reproducible(derive(seed if dropout_seed is None else dropout_seed, "dropout")):
        progress = Progress()
        if saved_at is not None and saved_at.exists():
            progress = Progress(**checkpoint.load(saved_at, held, optimizer))
        last_report = since = time.perf_counter()
        running = torch.zeros((), dtype=torch.float64, device=recipe.device)
        status = "done"
        for iteration in range(progress.iteration, recipe.iterations + 1):
            due = iteration % recipe.evaluate_every == 0 or iteration == recipe.iterations or iteration in also
            if due and (not progress.history or progress.history[-1]["iteration"] < iteration):
                batches = iteration - (progress.history[-1]["iteration"] if progress.history else 0)
                train_loss = running.item() / batches if batches else math.nan
                running.zero_()
                now = time.perf_counter()
                progress.seconds["training"] += now - since
                loss, accuracy = evaluate(forward, validation, recipe)
                since = time.perf_counter()
                progress.seconds["evaluation"] += since - now
                progress.iteration = iteration
                progress.history.append(
                    {"iteration": iteration, "train_loss": train_loss, "val_loss": loss, "val_accuracy": accuracy}
                )
                if not math.isfinite(loss) or (batches and not math.isfinite(train_loss)):
                    status = "diverged"
                    break
                if on_evaluation is not None:
                    on_evaluation(iteration, model)
                if saved_at is not None and iteration < recipe.iterations:
                    checkpoint.save(saved_at, held, optimizer, asdict(progress))
            if iteration == recipe.iterations:
                break
            windows = text[starts[iteration][:, None] + span].long()  # (B, T + 1)
            with autocast(recipe):
                logits = forward(windows[:, :-1])
            loss_tensor = F.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())
            optimizer.zero_grad(set_to_none=True)
            loss_tensor.backward()  # type: ignore[no-untyped-call]
            for group in optimizer.param_groups:
                group["lr"] = recipe.learning_rate * recipe.rate(iteration)
            step(optimizer)
            if average is not None:
                average.update_parameters(model)
            running += loss_tensor.detach()
            if on_progress is not None and time.perf_counter() - last_report > 0.1:
                last_report = time.perf_counter()
                on_progress(iteration + 1, loss_tensor.item())
        now = time.perf_counter()
        probabilities = predict(forward, frozen, recipe)
        progress.seconds["evaluation"] += time.perf_counter() - now
    return Trial(status, progress, probabilities, weights_sha256(model), average)


def _average_of(model: nn.Module, decay: float) -> AveragedModel:
    """A copy whose weights follow the model's: average <- decay * average + (1 - decay) * weights after every step."""
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))  # type: ignore[no-untyped-call]


def evaluate(model: Callable[[Tensor], Tensor], windows: Windows, recipe: Recipe) -> tuple[float, float]:
    """(mean cross-entropy in nats, accuracy in %) over every counted position of ``windows``."""
    loss = torch.zeros((), dtype=torch.float64, device=recipe.device)
    right = torch.zeros((), dtype=torch.int64, device=recipe.device)
    for logits, targets in logits_of(model, windows, recipe):
        loss += F.cross_entropy(logits, targets, ignore_index=SKIP, reduction="sum").double()
        right += (logits.argmax(dim=1) == targets).sum()
    return (loss / windows.positions).item(), 100 * right.item() / windows.positions


def predict(model: Callable[[Tensor], Tensor], windows: Windows, recipe: Recipe) -> Tensor:
    """Probabilities at every position of ``windows``: (W * T, V) float32 on the CPU."""
    return torch.cat([torch.softmax(logits, dim=1).cpu() for logits, _ in logits_of(model, windows, recipe)])


def logits_of(
    model: Callable[[Tensor], Tensor], windows: Windows, recipe: Placed, positions: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Float32 logits (n, V) and targets (n,) of successive batches of about ``positions`` positions, in evaluation
    mode, without autocast."""
    rows = max(1, (positions or EVALUATION_POSITIONS[torch.device(recipe.device).type]) // windows.inputs.shape[1])
    module = model if isinstance(model, nn.Module) else None
    was_training = module is not None and module.training
    if module is not None:
        module.eval()
    with torch.inference_mode():
        for inputs, targets in zip(torch.split(windows.inputs, rows), torch.split(windows.targets, rows), strict=True):
            yield model(inputs).flatten(0, 1), targets.flatten()
    if module is not None:
        module.train(was_training)


def autocast(recipe: Placed) -> AbstractContextManager[Any]:
    """bfloat16 autocast of training where the recipe asks for it."""
    if recipe.dtype == "float32":
        return nullcontext()
    return torch.autocast(torch.device(recipe.device).type, dtype=torch.bfloat16)


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Global streams seeded (dropout reads them), deterministic algorithms on; the caller's state comes back at the
    end."""
    was, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    fills = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS refuses to be deterministic
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        _deterministic(True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # costs time, changes no result
        try:
            yield
        finally:
            _deterministic(was, warned)
            torch.utils.deterministic.fill_uninitialized_memory = fills  # type: ignore[attr-defined]


def _deterministic(mode: bool, warn_only: bool = False) -> None:
    """``torch.use_deterministic_algorithms``, which would load ``torch._inductor`` (2 s) only to tell it too."""
    if "torch._inductor.config" in sys.modules:
        torch.use_deterministic_algorithms(mode, warn_only=warn_only)
    else:
        torch._C._set_deterministic_algorithms(mode, warn_only=warn_only)


def weights_sha256(model: nn.Module) -> str:
    """Of every parameter's and buffer's name and bytes: equal if and only if two models are equal bit for bit."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def nudge(model: nn.Module) -> None:
    """Move one weight, the first of the last matrix, by one unit in the last place: the smallest change of a model that
    there is."""
    weight = [p for p in model.parameters() if p.dim() > 1][-1]
    with torch.no_grad():
        first = weight.view(-1)[:1]
        first.copy_(torch.nextafter(first, torch.full_like(first, math.inf)))
