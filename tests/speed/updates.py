"""What an update costs: ECD, SOAP and SGDM over fused AdamW, in one run, and the bytes that each keeps for a
parameter."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import torch
from tests.speed import timing
from torch.nn import functional as F

from actlab.activations import find_activation
from actlab.models.gpt2 import GPT2, GPT2_SCALES, GPT2Config, build_gpt2
from actlab.optimizers import OPTIMIZERS, build_optimizer
from actlab.optimizers.soap import preconditioned_sides
from actlab.trainers.streams import generator

SMALL = replace(GPT2_SCALES["mini"], n_layer=2)
"""Two layers of the mini scale: SOAP's overhead lies in the width of a layer, not in their number."""
SOAP_MAX_DIM = 2048
"""As in the mini study: the vocabulary side of the embedding keeps the identity."""
BATCH = 8


def measure(config: GPT2Config, names: tuple[str, ...], steps: int, rounds: int) -> dict[str, Any]:
    """CPU milliseconds of an update on one thread, in alternating rounds of ``steps`` updates (SOAP refreshes its bases
    at every tenth), and of the forward and backward pass of ``BATCH`` sequences that gave the gradients. CPU time, so
    that other work on the machine counts little.
    """
    model = build_gpt2(config, "gelu", generator_for=lambda name: generator(0, name))
    tokens = torch.randint(config.vocab_size, (BATCH, config.block_size + 1), generator=generator(0, "tokens"))

    def learn() -> None:
        model.zero_grad()
        F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()  # type: ignore[no-untyped-call]

    learn()
    loss = torch.tensor(11.0)
    works: dict[str, Callable[[], object]] = {}
    states: dict[str, torch.optim.Optimizer] = {}
    for name in names:
        copies = [torch.nn.Parameter(p.detach().clone()) for p in model.parameters()]
        for copy, p in zip(copies, model.parameters(), strict=True):
            copy.grad = p.grad
        settings = {"max_precondition_dim": SOAP_MAX_DIM} if name == "soap" else {}
        optimizer = build_optimizer(name, copies, generator(0, "optimizer"), **settings)
        works[name] = partial(optimizer.step, lambda: loss)
        states[name] = optimizer
    samples = timing.alternate(works, rounds, steps, time.process_time)
    times = {name: median(values) for name, values in samples.items()}
    count = sum(p.numel() for p in model.parameters())
    rows = [
        {
            "optimizer": n,
            "cpu_ms": 1e3 * times[n],
            "times_adamw": times[n] / times["adamw"],
            "bytes": held(states[n]) / count,
        }
        for n in names
    ]
    return {
        "parameters": count,
        "learning_cpu_ms": 1e3 * median(timing.seconds(learn, clock=time.process_time) for _ in range(rounds)),
        "rows": rows,
    }


def held(optimizer: torch.optim.Optimizer) -> int:
    """Bytes of an optimizer's state, without a few scalars."""
    return sum(
        t.nbytes for s in optimizer.state.values() for t in s.values() if isinstance(t, torch.Tensor) and t.dim()
    )


def state_bytes(scale: str = "124m") -> dict[str, float]:
    """Optimizer -> bytes of state a parameter at a scale, with the published settings (float32)."""
    with torch.device("meta"):
        shapes = [p.shape for p in GPT2(GPT2_SCALES[scale], find_activation("gelu")).parameters()]
    count = sum(shape.numel() for shape in shapes)
    squares = sum(side**2 for shape in shapes for side in preconditioned_sides(shape, 10_000).values())
    return {"ecd": 4, "adamw": 8, "sgdm": 4, "soap": 8 + 8 * squares / count}


def measure_all(rounds: int = 5, steps: int = 10, large: str = "124m") -> dict[str, Any]:
    """All four at ``SMALL``; those without matrices of eigenvectors also at a large scale, context 64 (the update does
    not depend on it)."""
    with timing.one_thread():
        short = replace(GPT2_SCALES[large], block_size=64)
        small, big = (
            measure(SMALL, tuple(OPTIMIZERS), steps, rounds),
            measure(short, ("ecd", "adamw", "sgdm"), 2, rounds),
        )
        return {"small": small, "large": big, "large_scale": large, "state_bytes": state_bytes(large)}
