"""What an update costs: ECD, SOAP and SGDM over fused AdamW, in one run, and the bytes that each keeps for a
parameter."""

import time
from dataclasses import replace
from functools import partial
from statistics import median

import torch
from tests.speed import timing
from torch.nn import functional as F

from actlab.activations import find_activation
from actlab.models.gpt2 import GPT2, GPT2_SCALES, build_gpt2
from actlab.optimizers import OPTIMIZERS, build_optimizer
from actlab.optimizers.soap import preconditioned_sides
from actlab.trainers.streams import generator

SMALL = replace(GPT2_SCALES["mini"], n_layer=2)
"""Two layers of the mini scale: SOAP's overhead lies in the width of a layer, not in their number."""
SOAP_MAX_DIM = 2048
"""As in the mini study: the vocabulary side of the embedding keeps the identity."""
BATCH = 8


def measure(config, names, steps, rounds):
    """CPU milliseconds of an update on one thread, in alternating rounds of ``steps`` updates (SOAP refreshes its bases
    at every tenth), and of the forward and backward pass of ``BATCH`` sequences that gave the gradients. CPU time, so
    that other work on the machine counts little.
    """
    model = build_gpt2(config, "gelu", generator_for=lambda name: generator(0, name))
    tokens = torch.randint(config.vocab_size, (BATCH, config.block_size + 1), generator=generator(0, "tokens"))

    def learn():
        model.zero_grad()
        F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()

    learn()
    loss = torch.tensor(11.0)
    works = {}
    for name in names:
        copies = [torch.nn.Parameter(p.detach().clone()) for p in model.parameters()]
        for copy, p in zip(copies, model.parameters(), strict=True):
            copy.grad = p.grad
        settings = {"max_precondition_dim": SOAP_MAX_DIM} if name == "soap" else {}
        optimizer = build_optimizer(name, copies, generator(0, "optimizer"), **settings)
        works[name] = partial(optimizer.step, lambda: loss)
    samples = timing.alternate(works, rounds, steps, time.process_time)
    times = {name: median(values) for name, values in samples.items()}
    count = sum(p.numel() for p in model.parameters())
    rows = [
        {
            "optimizer": n,
            "cpu_ms": 1e3 * times[n],
            "times_adamw": times[n] / times["adamw"],
        }
        for n in names
    ]
    return {
        "parameters": count,
        "learning_cpu_ms": 1e3 * median(timing.seconds(learn, clock=time.process_time) for _ in range(rounds)),
        "rows": rows,
    }


def state_bytes(scale="124m"):
    """Optimizer -> bytes of state a parameter at a scale, with the published settings (float32)."""
    with torch.device("meta"):
        shapes = [p.shape for p in GPT2(GPT2_SCALES[scale], find_activation("gelu")).parameters()]
    count = sum(shape.numel() for shape in shapes)
    squares = sum(side**2 for shape in shapes for side in preconditioned_sides(shape, 10_000).values())
    return {"ecd": 4, "adamw": 8, "sgdm": 4, "soap": 8 + 8 * squares / count}


def measure_all(rounds=5, steps=10, large="124m"):
    """All four at ``SMALL``; those without matrices of eigenvectors also at a large scale, context 64 (the update does
    not depend on it)."""
    torch.set_num_threads(1)
    short = replace(GPT2_SCALES[large], block_size=64)
    return {
        "small": measure(SMALL, tuple(OPTIMIZERS), steps, rounds),
        "large": measure(short, ("ecd", "adamw", "sgdm"), 2, rounds),
        "large_scale": large,
        "state_bytes": state_bytes(large),
    }
