"""Stacked training: many small networks in one program, on the same batches. A slow reference stands in its test.

Networks of one seed and batch size see the same images in the same order, so one matrix product serves all first
layers, one all gradients of them, and one call of fused Adam a learning rate all weights.  The thin rest runs for all
seeds at once, and its forward and backward pass is written out below: at batch 8 calling an operation costs more than
its arithmetic.  No compiler is needed.

What bounds it at batch 8 is Adam (a square root and two divisions for every weight at every step), then the two
products. A network's bits do not depend on which others share the program (tested): no sum runs across networks, and
sizes are rounded up so that the size of the stack chooses no other kernel. It rests on the BLAS library adding each
column of a product in an order of its own, as MKL does from 2 columns on (Intel) or from 16 on (AMD, Zen 5).

Shapes: G seeds, R learning rates, N = G R copies, S networks, B images of K pixels, C classes, E hidden units in all, H
hidden units of the widest network, rounded up.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab.activations import Activation
from actlab.models.ffn import FFN

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's defaults (Kingma & Ba 2015, arXiv 1412.6980), as the reference study used them."""

COLUMNS, UNITS, RUN = 16, 16, 32
"""Columns of the first layer, hidden units of a network, and numbers in a row of activations are rounded up to these:
never a narrow product, and whole vector registers, since what is left over goes through scalar code that rounds
differently."""


class Block(NamedTuple):
    """Networks of one activation: their columns in the first layer (gates first, then values), their hidden units."""

    activation: Activation
    columns: slice
    units: slice


class Place(NamedTuple):
    """One network: its columns in the first layer, of the gate first, and its hidden units."""

    columns: list[slice]
    units: slice


class Layout(NamedTuple):
    """Where S networks lie in the weights of a stack."""

    blocks: list[Block]
    places: list[Place]
    """Of each network."""
    columns: int
    """Of all first layers together, rounded up."""
    height: int
    """H."""

    @property
    def units(self) -> int:
        """E."""
        return self.blocks[-1].units.stop

    def slots(self) -> Tensor:
        """(S, H): the hidden unit in each place of a network; E, a row of zeros, where the network is narrower."""
        found = torch.full((len(self.places), self.height), self.units)
        for row, (_, units) in zip(found, self.places, strict=True):
            row[: units.stop - units.start] = torch.arange(units.start, units.stop)
        return found


def laid_out(networks: Sequence[FFN]) -> Layout:
    """Networks of one activation side by side, gates before values."""
    blocks, places, column, unit = [], dict[int, Place](), 0, 0
    for activation in {network.activation.name: network.activation for network in networks}.values():
        mine = {i: network.width for i, network in enumerate(networks) if network.activation.name == activation.name}
        width = max(sum(mine.values()), 2)  # one unit alone would take another code path of GELU
        starts = [column, column + width] if activation.gated else [column]
        at = 0
        for index, own in mine.items():
            columns = [slice(start + at, start + at + own) for start in starts]
            places[index] = Place(columns, slice(unit + at, unit + at + own))
            at += own
        blocks.append(Block(activation, slice(column, starts[-1] + width), slice(unit, unit + width)))
        column, unit = starts[-1] + width, unit + width
    widest = max(network.width for network in networks)
    return Layout(blocks, [places[i] for i in sorted(places)], _round_up(column, COLUMNS), _round_up(widest, UNITS))


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


class Stack:
    """S networks from G seeds at R learning rates: ``step`` trains all of them on one batch a seed, in place, with Adam
    and cross-entropy.

    Args:
        networks: one list a seed, of the same networks in the same order, with activations without parameters of their
            own; freshly initialised; each starts once a learning rate, and is not changed.
        learning_rates: one a copy.
    """

    def __init__(self, networks: Sequence[Sequence[FFN]], learning_rates: Sequence[float]) -> None:
        kinds, self.learning_rates = networks[0], tuple(learning_rates)
        self.features, self.classes = kinds[0].w_in.shape[0], kinds[0].w_out.shape[1]
        self.layout = laid_out(kinds)
        self._acts = [block.activation.make() for block in self.layout.blocks]
        copies = len(networks), len(learning_rates)
        self.first = torch.zeros(*copies, self.features, self.layout.columns)  # (G, R, K, columns)
        self.last = torch.zeros(*copies, len(kinds), self.classes, self.layout.height)  # (G, R, S, C, H)
        for seed, same in enumerate(networks):
            self._start(seed, same)
        self._slots = self.layout.slots().flatten()  # (S H,): the unit in each place
        held = (self._slots < self.layout.units).nonzero().squeeze(1)
        self._places = torch.zeros(self.layout.units, dtype=torch.int64)  # (E,): the place of each unit
        self._places[self._slots[held]] = held
        # gradients of the first layers of one copy at a time: they stay in the cache
        self._gradients = torch.zeros_like(self.first[0, 0]), torch.zeros_like(self.last)
        self._adam = [self._moments(copy) for copy in product(*map(range, copies))]
        self._step = torch.zeros(())

    def _start(self, seed: int, networks: Sequence[FFN]) -> None:
        """The weights of one seed's networks, at every learning rate."""
        for index, (network, place) in enumerate(zip(networks, self.layout.places, strict=True)):
            firsts = [weight for weight in (network.w_gate, network.w_in) if weight is not None]
            for where, weight in zip(place.columns, firsts, strict=True):
                self.first[seed, :, :, where] = weight.detach()
            self.last[seed, :, index, :, : network.width] = network.w_out.detach().T

    def _moments(self, copy: tuple[int, ...]) -> tuple[list[Tensor], ...]:
        """What Adam works on in one copy: weights, gradients, first and second moments."""
        weights = [self.first[copy], self.last[copy]]
        first, last = self._gradients
        return weights, [first, last[copy]], *([torch.zeros_like(w) for w in weights] for _ in range(2))

    @torch.no_grad()
    def step(self, x: Tensor, labels: Tensor) -> Tensor:
        """One step of Adam on one batch a seed, x: (G, B, K), labels: (G, B) int64. Returns the losses before it:
        (G, R, S), mean nats an image."""
        seeds, rates, count, _, height = self.last.shape
        copies, batch = seeds * rates, x.shape[1]
        pre = [torch.bmm(images.expand(rates, -1, -1), first) for images, first in zip(x, self.first, strict=True)]
        leaves, units = self._units(torch.cat(pre), gradient=True)
        filled = self._fill(units, batch)  # (N S, H, B)
        last = self.last.view(copies * count, self.classes, height)
        scores = torch.bmm(last, filled)  # (N S, C, B)
        named = labels[:, None, None].expand(seeds, rates * count, 1, batch)
        losses = -scores.log_softmax(1).gather(1, named.reshape(copies * count, 1, batch)).mean(2)
        delta = scores.softmax(1)
        delta.view(seeds, -1, self.classes, batch).sub_(F.one_hot(labels, self.classes).transpose(1, 2)[:, None])
        delta.mul_(1 / batch)  # d loss / d logits
        torch.bmm(delta, filled.transpose(1, 2), out=self._gradients[1].view_as(last))
        back = (
            torch.bmm(last.transpose(1, 2), delta).view(copies, count * height, batch).index_select(1, self._places)
        )  # (N, E, B)
        self._update(x, self._through(leaves, units, back))
        return losses.view(seeds, rates, count)

    def _units(self, pre: Tensor, gradient: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Pre-activations (N, B, columns) -> each block's, as a leaf (N B, columns of the block), and its units (N B,
        units of the block).

        Columns lie contiguous in memory, so that a block is one flat stretch for the activation; N B is rounded up to
        whole registers.
        """
        columns = pre.permute(2, 0, 1).contiguous().flatten(1)  # (columns, N B)
        columns = F.pad(columns, (0, -columns.shape[1] % RUN))
        leaves = [columns[block.columns].T.requires_grad_(gradient) for block in self.layout.blocks]
        with torch.set_grad_enabled(gradient):
            return leaves, [act(leaf) for act, leaf in zip(self._acts, leaves, strict=True)]

    def _fill(self, units: list[Tensor], batch: int) -> Tensor:
        """Every network's hidden units in the first of H places of its own: (N S, H, B)."""
        seeds, rates, count, _, height = self.last.shape
        flat = torch.cat([*(u.T for u in units), units[0].new_zeros(1, len(units[0]))])  # (E + 1, N B and more)
        places = flat.index_select(0, self._slots)[:, : seeds * rates * batch]
        return places.view(count, height, -1, batch).permute(2, 0, 1, 3).reshape(-1, height, batch)

    def _through(self, leaves: list[Tensor], units: list[Tensor], back: Tensor) -> Tensor:
        """The gradient of the units (N, E, B) brought back to that of the pre-activations (N, B, columns)."""
        copies, _, batch = back.shape
        flat = F.pad(back.transpose(0, 1).reshape(-1, copies * batch), (0, -copies * batch % RUN))  # (E, N B and more)
        gradients = torch.autograd.grad(units, leaves, [flat[block.units].T for block in self.layout.blocks])
        padding = self.first.shape[-1] - self.layout.blocks[-1].columns.stop
        rows = torch.cat([*(g.T for g in gradients), flat.new_zeros(padding, flat.shape[1])])  # (columns, N B and more)
        return rows[:, : copies * batch].view(-1, copies, batch).permute(1, 2, 0).contiguous()

    def _update(self, x: Tensor, delta: Tensor) -> None:
        """Gradients of the first layers from those of their outputs, delta: (N, B, columns), and one step of Adam, a
        copy at a time.

        The fused operation is that of ``torch.optim.Adam(fused=True)``: one pass over weights, gradients and both
        moments.
        """
        self._step += 1
        copies = product(x.transpose(1, 2), self.learning_rates)
        for (images, rate), part, (weights, gradients, means, squares) in zip(copies, delta, self._adam, strict=True):
            torch.mm(images, part, out=gradients[0])
            torch._fused_adam_(
                weights,
                gradients,
                means,
                squares,
                [],
                [self._step] * len(weights),
                lr=rate,
                beta1=BETA_1,
                beta2=BETA_2,
                weight_decay=0.0,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )

    @torch.no_grad()
    def logits(self, x: Tensor) -> Tensor:
        """x: (n, K) -> (G, R, S, n, C)."""
        seeds, rates, count, _, height = self.last.shape
        _, units = self._units(torch.bmm(x.expand(seeds * rates, *x.shape), self.first.flatten(0, 1)), gradient=False)
        scores = torch.bmm(self.last.view(-1, self.classes, height), self._fill(units, len(x)))
        return scores.view(seeds, rates, count, self.classes, -1).transpose(3, 4)


def batches(n: int, batch_size: int, epochs: int, generators: Sequence[torch.Generator]) -> Iterator[Tensor]:
    """Places (G, B) of the images of each batch, one row a generator: every epoch a fresh permutation of all ``n``; its
    last batch may be smaller."""
    for _ in range(epochs):
        yield from torch.split(torch.stack([torch.randperm(n, generator=g) for g in generators]), batch_size, dim=1)


def train(
    stack: Stack,
    images: Tensor,
    labels: Tensor,
    batch_size: int,
    epochs: int,
    generators: Sequence[torch.Generator],
) -> Tensor:
    """Train every network of a seed on the same batches.

    Args:
        stack: changed in place.
        images: (n, K).
        labels: (n,) int64.
        batch_size: images in a batch.
        epochs: passes over the images.
        generators: the order of the images, one a seed.

    Returns:
        (G, R, S) float64: the mean loss over all steps, before each step's update; not finite where training diverged.
    """
    total, steps = torch.zeros((), dtype=torch.float64), 0
    # numbers below 1.2e-38 become 0: Adam's moments of pixels that are black for long decay into that range, where
    # arithmetic is far slower
    torch.set_flush_denormal(True)
    try:
        for places in batches(len(images), batch_size, epochs, generators):
            total = total + stack.step(images[places], labels[places])
            steps += 1
    finally:
        torch.set_flush_denormal(False)
    return total / steps


def evaluate(stack: Stack, images: Tensor, labels: Tensor, rows: int = 1000) -> dict[str, Tensor]:
    """Every network on (n, K) images, ``rows`` at a time.

    Returns:
        (G, R, S) float64 tensors: ``loss`` (nats), ``accuracy`` (%), ``largest_class_share`` (share of the predictions
        that name the most frequent predicted class: 1 says that the network has collapsed to one class).
    """
    loss, right, named = (torch.zeros((), dtype=torch.float64) for _ in range(3))
    classes = torch.arange(stack.classes)
    for x, y in zip(torch.split(images, rows), torch.split(labels, rows), strict=True):
        scores = stack.logits(x)  # (G, R, S, rows, C)
        target = y.expand(scores.shape[:4])
        loss = loss - scores.log_softmax(-1).gather(-1, target[..., None]).double().sum((-2, -1))
        predicted = scores.argmax(-1)
        right = right + (predicted == target).sum(-1)
        named = named + (predicted[..., None] == classes).sum(-2)  # (G, R, S, C)
    n = len(images)
    return {"loss": loss / n, "accuracy": 100 * right / n, "largest_class_share": named.amax(-1) / n}
