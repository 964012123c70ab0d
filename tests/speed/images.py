"""Seconds per trial of the image sweep, one thread: PyTorch Lightning, a plain PyTorch loop, the stacked program.

Measured on some steps of an epoch and extrapolated to 55,000 images.  The ways take turns in short pieces and the
smallest CPU time of a piece counts, so that other work on the machine disturbs all of them alike and little.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from tests.speed import lightning_way, timing
from torch.nn import functional as F

from actlab.activations import find_activation
from actlab.data.images import CLASSES, load_images
from actlab.models.ffn import FFN, equal_parameters, equal_width
from actlab.trainers.stacked import Stack, denormals_flushed
from actlab.trainers.streams import init_streams

HIDDEN, RATES, EPOCH = (2, 4, 8, 16), (1e-1, 1e-2, 1e-3, 1e-4), 55_000

Piece = Callable[[], None]
"""Trains some steps."""


def network(activation, width, features, seed=0):
    """A freshly initialised network of the sweep."""
    net = FFN(features, width, CLASSES, find_activation(activation))
    net.initialise(init_streams(seed))
    return net


def shapes(features):
    """(activation, width) of the twelve networks of the sweep; the equal ones are one training."""
    rows = [("relu", h) for h in HIDDEN] + [
        ("geglu", width(features, h, CLASSES)) for width in (equal_width, equal_parameters) for h in HIDDEN
    ]
    return list(dict.fromkeys(rows))


def plain(pixels, labels, batch_size, activation="relu", hidden=8):
    """A PyTorch loop over one network with fused Adam, tensors in memory."""
    net = network(activation, hidden, pixels.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)

    def piece():
        for places in torch.split(torch.randperm(len(labels)), batch_size):
            loss = F.cross_entropy(net(pixels[places]), labels[places])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return piece


def stacked(pixels, labels, batch_size):
    """Every network of the sweep at every learning rate, in one program."""
    stack = Stack([network(*shape, pixels.shape[1]) for shape in shapes(pixels.shape[1])], RATES)

    def piece():
        with denormals_flushed():
            for places in torch.split(torch.randperm(len(labels)), batch_size):
                stack.step(pixels.index_select(0, places), labels[places])

    return piece


def lightning(pixels, labels, batch_size, activation="relu", hidden=8):
    """One network under ``lightning.Trainer``, with a data loader over tensors in memory."""
    net = lightning_way.module(network(activation, hidden, pixels.shape[1]), partial(torch.optim.Adam, lr=1e-3))
    dataset = torch.utils.data.TensorDataset(pixels, labels)

    def piece():
        loader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)
        lightning_way.quietly(lambda trainer: trainer.fit(net, loader))

    return piece


WAYS = {"lightning": lightning, "plain": plain, "stacked": stacked}


def measure_all(steps=800, rounds=3, batch_sizes=(8, 64), ways=tuple(WAYS)):
    """One row a way and batch size: seconds a trial (an epoch), and how many times the stacked one's.

    A stacked step trains 36 networks (9 distinct shapes at 4 learning rates; the sweep counts 48, since equal shapes
    have two names).
    """
    torch.set_num_threads(1)
    train = load_images("mnist").train
    trainings = {"stacked": len(shapes(train.pixels.shape[1])) * len(RATES)}
    rows = []
    for batch_size in batch_sizes:
        n = steps * batch_size
        pieces = {way: WAYS[way](train.pixels[:n], train.labels[:n], batch_size) for way in ways}
        samples = timing.alternate(pieces, rounds, clock=time.process_time)
        seconds = {way: min(found) * EPOCH / n / trainings.get(way, 1) for way, found in samples.items()}
        rows += [
            {
                "batch_size": batch_size,
                "way": way,
                "seconds_a_trial": spent,
                "times_stacked": spent / seconds["stacked"] if "stacked" in seconds else None,
            }
            for way, spent in seconds.items()
        ]
    return {"rows": rows}
