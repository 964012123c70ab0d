"""Seconds per trial of the image sweep, one thread: PyTorch Lightning, a plain PyTorch loop, the stacked program.

Measured on some steps of an epoch and extrapolated to 55,000 images.  The ways take turns in short pieces and the
smallest CPU time of a piece counts, so that other work on the machine disturbs all of them alike and little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from tests.speed import lightning_way
from torch import Tensor
from torch.nn import functional as F

from actlab.activations import find_activation
from actlab.data.images import CLASSES, load_images
from actlab.models.ffn import FFN, equal_parameters, equal_width
from actlab.trainers.stacked import Stack, denormals_flushed
from actlab.trainers.streams import init_streams

HIDDEN, RATES, EPOCH = (2, 4, 8, 16), (1e-1, 1e-2, 1e-3, 1e-4), 55_000

Piece = Callable[[], int]
"""Trains some steps and returns how many."""


def network(activation: str, width: int, features: int, seed: int = 0) -> FFN:
    """A freshly initialised network of the sweep."""
    net = FFN(features, width, CLASSES, find_activation(activation))
    net.initialise(init_streams(seed))
    return net


def shapes(features: int) -> list[tuple[str, int]]:
    """(activation, width) of the twelve networks of the sweep; the equal ones are one training."""
    rows = [("relu", h) for h in HIDDEN] + [
        ("geglu", width(features, h, CLASSES)) for width in (equal_width, equal_parameters) for h in HIDDEN
    ]
    return list(dict.fromkeys(rows))


def plain(pixels: Tensor, labels: Tensor, batch_size: int, activation: str = "relu", hidden: int = 8) -> Piece:
    """A PyTorch loop over one network with fused Adam, tensors in memory."""
    net = network(activation, hidden, pixels.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)

    def piece() -> int:
        for places in (order := torch.split(torch.randperm(len(labels)), batch_size)):
            loss = F.cross_entropy(net(pixels[places]), labels[places])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return len(order)

    return piece


def stacked(pixels: Tensor, labels: Tensor, batch_size: int) -> Piece:
    """Every network of the sweep at every learning rate, in one program."""
    stack = Stack([network(*shape, pixels.shape[1]) for shape in shapes(pixels.shape[1])], RATES)

    def piece() -> int:
        with denormals_flushed():
            for places in (order := torch.split(torch.randperm(len(labels)), batch_size)):
                stack.step(pixels.index_select(0, places), labels[places])
        return len(order)

    return piece


def lightning(pixels: Tensor, labels: Tensor, batch_size: int, activation: str = "relu", hidden: int = 8) -> Piece:
    """One network under ``lightning.Trainer``, with a data loader over tensors in memory."""
    net = lightning_way.module(network(activation, hidden, pixels.shape[1]), partial(torch.optim.Adam, lr=1e-3))
    dataset = torch.utils.data.TensorDataset(pixels, labels)

    def piece() -> int:
        loader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)
        lightning_way.quietly(lambda trainer: trainer.fit(net, loader))
        return len(loader)

    return piece


WAYS: dict[str, Callable[[Tensor, Tensor, int], Piece]] = {"lightning": lightning, "plain": plain, "stacked": stacked}


def measure(
    steps: int = 800, rounds: int = 3, batch_sizes: tuple[int, ...] = (8, 64), ways: tuple[str, ...] = tuple(WAYS)
) -> list[dict[str, Any]]:
    """One row a way and batch size: microseconds and trainings a step, seconds a trial (an epoch), and how many times
    the stacked one's.

    A stacked step trains 36 networks (9 distinct shapes at 4 learning rates; the sweep counts 48, since equal shapes
    have two names).
    """
    torch.set_num_threads(1)
    train = load_images("mnist").train
    rows = []
    for batch_size in batch_sizes:
        n = steps * batch_size
        pieces = {way: WAYS[way](train.pixels[:n], train.labels[:n], batch_size) for way in ways}
        best = _take_turns(pieces, rounds)
        trainings = {"stacked": len(shapes(train.pixels.shape[1])) * len(RATES)}
        seconds = {way: step * EPOCH / batch_size / trainings.get(way, 1) for way, step in best.items()}
        rows += [
            {
                "batch_size": batch_size,
                "way": way,
                "microseconds_a_step": 1e6 * best[way],
                "trainings_a_step": trainings.get(way, 1),
                "seconds_a_trial": seconds[way],
                "times_stacked": seconds[way] / seconds["stacked"] if "stacked" in seconds else None,
            }
            for way in ways
        ]
    return rows


def _take_turns(pieces: dict[str, Piece], rounds: int) -> dict[str, float]:
    """Smallest CPU seconds a step of each way; the first round warms up."""
    best = dict.fromkeys(pieces, float("inf"))
    for turn in range(rounds + 1):
        for way, piece in pieces.items():
            since = time.process_time()
            steps = piece()
            if turn:
                best[way] = min(best[way], (time.process_time() - since) / steps)
    return best


def measure_all(steps: int = 800, rounds: int = 3) -> dict[str, Any]:
    """Every way at both batch sizes, for the record."""
    return {"rows": measure(steps, rounds)}
