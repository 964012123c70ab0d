"""Stacked training: many small networks in one program, on the same batches. A slow reference stands in its test.

Networks of one seed and batch size see the same images in the same order, so one matrix product serves all first
layers, one all gradients of them, and one call of fused Adam a learning rate all weights.  The forward and backward
pass of the thin rest is written out below: at batch 8 it would cost autograd more than the arithmetic.  No compiler is
needed.

What bounds it at batch 8 is Adam (a square root and two divisions for every weight at every step), then the two
products. A network's bits do not depend on which others share the program (tested): no sum runs across networks, and
sizes are rounded up so that the size of the stack chooses no other kernel. It rests on the BLAS library adding each
column of a product in an order of its own, as MKL does from 2 columns on (Intel) or from 16 on (AMD, Zen 5).

Shapes: R learning rates, S networks, B images of K pixels, C classes, E hidden units in all, H hidden units of the
widest network, rounded up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


class _Block(NamedTuple):
    """Networks of one activation: their columns in the first layer (gates first, then values), their hidden units."""

    activation: Activation
    columns: slice
    units: slice


class _Place(NamedTuple):
    """One network: its columns in the first layer, of the gate first, and its hidden units."""

    columns: list[slice]
    units: slice


def _laid_out(networks: Sequence[FFN]) -> tuple[list[_Block], list[_Place]]:
    """The blocks, and the place of each network."""
    blocks, places, column, unit = [], {}, 0, 0
    for activation in {network.activation.name: network.activation for network in networks}.values():
        mine = {i: network.width for i, network in enumerate(networks) if network.activation.name == activation.name}
        width = max(sum(mine.values()), 2)  # one unit alone would take another code path of GELU
        starts = [column, column + width] if activation.gated else [column]
        at = 0
        for index, own in mine.items():
            columns = [slice(start + at, start + at + own) for start in starts]
            places[index] = _Place(columns, slice(unit + at, unit + at + own))
            at += own
        blocks.append(_Block(activation, slice(column, starts[-1] + width), slice(unit, unit + width)))
        column, unit = starts[-1] + width, unit + width
    return blocks, [places[index] for index in range(len(networks))]


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


class Stack:
    """S networks at R learning rates: ``step`` trains all of them on one batch, in place, with Adam and cross-entropy.

    Args:
        networks: of the same sizes of input and output, with activations without parameters of their own; freshly
            initialised; each starts once a learning rate, and is not changed.
        learning_rates: one a copy.
    """

    def __init__(self, networks: Sequence[FFN], learning_rates: Sequence[float]) -> None:
        self.learning_rates = tuple(learning_rates)
        self.features, self.classes = networks[0].w_in.shape[0], networks[0].w_out.shape[1]
        self._blocks, self._networks = _laid_out(networks)
        self._acts = [block.activation.make() for block in self._blocks]
        rates, count, units = len(learning_rates), len(networks), self._blocks[-1].units.stop
        columns = _round_up(self._blocks[-1].columns.stop, COLUMNS)
        height = _round_up(max(network.width for network in networks), UNITS)
        self.first = torch.zeros(rates, self.features, columns)  # (R, K, columns)
        self.last = torch.zeros(rates, count, self.classes, height)  # (R, S, C, H)
        self._slots = torch.full((count, height), units)  # the unit in each place of a network; `units`: a row of zeros
        self._places = torch.zeros(units, dtype=torch.int64)
        for index, (network, place) in enumerate(zip(networks, self._networks, strict=True)):
            firsts = [network.w_in] if network.w_gate is None else [network.w_gate, network.w_in]
            for where, weight in zip(place.columns, firsts, strict=True):
                self.first[:, :, where] = weight.detach()
            self.last[:, index, :, : network.width] = network.w_out.detach().T
            self._slots[index, : network.width] = torch.arange(place.units.start, place.units.stop)
            self._places[place.units] = index * height + torch.arange(network.width)
        weights = (self.first, self.last)
        # gradients of the first layers of one learning rate at a time: they stay in the cache
        self._gradients = torch.zeros_like(self.first[0]), torch.zeros_like(self.last)
        moments = [[torch.zeros_like(w) for w in weights] for _ in range(2)]
        first, last = self._gradients
        self._adam = [
            ([w[r] for w in weights], [first, last[r]], *([m[r] for m in tensors] for tensors in moments))
            for r in range(rates)
        ]
        self._step = torch.zeros(())

    def weights(self, index: int, rate: int) -> dict[str, Tensor]:
        """Copies of the parameters of one network at one learning rate, named and shaped as in ``FFN``."""
        columns, units = self._networks[index]
        names = ("w_gate", "w_in") if len(columns) == 2 else ("w_in",)
        firsts = {name: self.first[rate, :, where].clone() for name, where in zip(names, columns, strict=True)}
        return {**firsts, "w_out": self.last[rate, index, :, : units.stop - units.start].T.clone()}

    @torch.no_grad()
    def step(self, x: Tensor, labels: Tensor) -> Tensor:
        """One step of Adam on the batch x: (B, K), labels: (B,) int64. Returns the losses before it: (R, S), mean nats
        an image."""
        rates, count, _, height = self.last.shape
        batch = len(x)
        images = x.expand(rates, batch, self.features)
        leaves, units = self._units(torch.bmm(images, self.first), gradient=True)
        filled = self._fill(units, batch)  # (R S, H, B)
        last = self.last.view(rates * count, self.classes, height)
        scores = torch.bmm(last, filled)  # (R S, C, B)
        losses = -scores.log_softmax(1).gather(1, labels.expand(rates * count, 1, batch)).mean(2)
        delta = scores.softmax(1).sub_(F.one_hot(labels, self.classes).T).mul_(1 / batch)  # d loss / d logits
        torch.bmm(delta, filled.transpose(1, 2), out=self._gradients[1].view_as(last))
        back = (
            torch.bmm(last.transpose(1, 2), delta).view(rates, count * height, batch).index_select(1, self._places)
        )  # (R, E, B)
        self._update(x, self._through(leaves, units, back))
        return losses.view(rates, count)

    def _units(self, pre: Tensor, gradient: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Pre-activations (R, B, columns) -> each block's, as a leaf (R B, columns of the block), and its units (R B,
        units of the block).

        Columns lie contiguous in memory, so that a block is one flat stretch for the activation; R B is rounded up to
        whole registers.
        """
        columns = pre.permute(2, 0, 1).contiguous().flatten(1)  # (columns, R B)
        columns = F.pad(columns, (0, -columns.shape[1] % RUN))
        leaves = [columns[block.columns].T.requires_grad_(gradient) for block in self._blocks]
        with torch.set_grad_enabled(gradient):
            return leaves, [act(leaf) for act, leaf in zip(self._acts, leaves, strict=True)]

    def _fill(self, units: list[Tensor], batch: int) -> Tensor:
        """Every network's hidden units in the first of H places of its own: (R S, H, B)."""
        rates, count, _, height = self.last.shape
        flat = torch.cat([*(u.T for u in units), units[0].new_zeros(1, len(units[0]))])  # (E + 1, R B and more)
        places = flat.index_select(0, self._slots.flatten())[:, : rates * batch].view(count, height, rates, batch)
        return places.permute(2, 0, 1, 3).reshape(rates * count, height, -1)

    def _through(self, leaves: list[Tensor], units: list[Tensor], back: Tensor) -> Tensor:
        """The gradient of the units (R, E, B) brought back to that of the pre-activations (R, B, columns)."""
        rates, _, batch = back.shape
        flat = F.pad(back.transpose(0, 1).reshape(-1, rates * batch), (0, -rates * batch % RUN))  # (E, R B and more)
        gradients = torch.autograd.grad(units, leaves, [flat[block.units].T for block in self._blocks])
        padding = self.first.shape[2] - self._blocks[-1].columns.stop
        rows = torch.cat([*(g.T for g in gradients), flat.new_zeros(padding, flat.shape[1])])  # (columns, R B and more)
        return rows[:, : rates * batch].view(-1, rates, batch).permute(1, 2, 0).contiguous()

    def _update(self, x: Tensor, delta: Tensor) -> None:
        """Gradients of the first layers from those of their outputs, delta: (R, B, columns), and one step of Adam, a
        learning rate at a time.

        The fused operation is that of ``torch.optim.Adam(fused=True)``: one pass over weights, gradients and both
        moments.
        """
        self._step += 1
        for rate, part, (weights, gradients, means, squares) in zip(
            self.learning_rates, delta, self._adam, strict=True
        ):
            torch.mm(x.T, part, out=gradients[0])
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
        """x: (N, K) -> (R, S, N, C)."""
        rates, count, _, height = self.last.shape
        _, units = self._units(torch.bmm(x.expand(rates, *x.shape), self.first), gradient=False)
        scores = torch.bmm(self.last.view(rates * count, self.classes, height), self._fill(units, len(x)))
        return scores.view(rates, count, self.classes, -1).transpose(2, 3)


def batches(n: int, batch_size: int, epochs: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Places of the images of each batch: every epoch a fresh permutation of all ``n``; its last batch may be
    smaller."""
    for _ in range(epochs):
        yield from torch.split(torch.randperm(n, generator=generator), batch_size)


def train(
    stack: Stack,
    images: Tensor,
    labels: Tensor,
    batch_size: int,
    epochs: int,
    generator: torch.Generator,
) -> Tensor:
    """Train every network of the stack on the same batches.

    Args:
        stack: changed in place.
        images: (n, K).
        labels: (n,) int64.
        batch_size: images in a batch.
        epochs: passes over the images.
        generator: the order of the images.

    Returns:
        (R, S) float64: the mean loss over all steps, before each step's update; not finite where training diverged.
    """
    total, steps = torch.zeros((), dtype=torch.float64), 0
    with denormals_flushed():
        for places in batches(len(images), batch_size, epochs, generator):
            total = total + stack.step(images.index_select(0, places), labels[places])
            steps += 1
    return total / steps


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Numbers below 1.2e-38 become 0: Adam's moments of pixels that are black for long decay into that range, where
    arithmetic is far slower."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def evaluate(stack: Stack, images: Tensor, labels: Tensor, rows: int = 1000) -> dict[str, Tensor]:
    """Every network on (n, K) images, ``rows`` at a time.

    Returns:
        (R, S) float64 tensors: ``loss`` (nats), ``accuracy`` (%), ``largest_class_share`` (share of the predictions
        that name the most frequent predicted class: 1 says that the network has collapsed to one class).
    """
    loss, right, named = (torch.zeros((), dtype=torch.float64) for _ in range(3))
    classes = torch.arange(stack.classes)
    for x, y in zip(torch.split(images, rows), torch.split(labels, rows), strict=True):
        scores = stack.logits(x)  # (R, S, N, C)
        target = y.expand(scores.shape[:3])
        loss = loss - scores.log_softmax(-1).gather(-1, target[..., None]).double().sum((-2, -1))
        predicted = scores.argmax(-1)
        right = right + (predicted == target).sum(-1)
        named = named + (predicted[..., None] == classes).sum(-2)  # (R, S, C)
    n = len(images)
    return {"loss": loss / n, "accuracy": 100 * right / n, "largest_class_share": named.amax(-1) / n}
