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
from itertools import accumulate, product
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.models.image_classifier import FFN

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's defaults (Kingma & Ba 2015, arXiv 1412.6980), as the reference study used them."""

COLUMNS, UNITS, RUN = 16, 16, 32
"""Columns of the first layer, hidden units of a network, and numbers in a row of activations are rounded up to these:
never a narrow product, and whole vector registers, since what is left over goes through scalar code that rounds
differently."""


class Block(NamedTuple):
    """Networks of one activation: their columns in the first layer (gates first, then values), their hidden units."""

    act: nn.Module
    columns: slice
    units: slice


Places = dict[int, tuple[list[slice], slice]]
"""Of each network by its number: its columns in the first layer, of the gate first, and its hidden units."""


def laid_out(networks: Sequence[FFN]) -> tuple[list[Block], Places]:
    """Find where S networks lie in the weights of a stack: those of one activation side by side, gates before values,
    in the order in which their activations come."""
    blocks, places, column, unit = [], {}, 0, 0
    for activation in dict.fromkeys(network.activation for network in networks):
        widths = {i: network.width for i, network in enumerate(networks) if network.activation == activation}
        width = max(sum(widths.values()), 2)  # one unit alone would take another code path of GELU
        starts = [column, column + width] if activation.gated else [column]
        for (index, own), end in zip(widths.items(), accumulate(widths.values()), strict=True):
            columns = [slice(start + end - own, start + end) for start in starts]
            places[index] = columns, slice(unit + end - own, unit + end)
        blocks.append(Block(activation.make(), slice(column, starts[-1] + width), slice(unit, unit + width)))
        column, unit = starts[-1] + width, unit + width
    return blocks, places


class Stack:
    """S networks from G seeds at R learning rates: ``step`` trains all of them on one batch a seed, in place, with Adam
    and cross-entropy.

    Args:
        networks: one list a seed, of the same networks in the same order, with activations without parameters of their
            own; freshly initialised; each starts once a learning rate, and is not changed.
        learning_rates: one a copy.
    """

    def __init__(self, networks: Sequence[Sequence[FFN]], learning_rates: Sequence[float]) -> None:
        kinds = networks[0]
        self.blocks, self.places = laid_out(kinds)
        self.learning_rates = tuple(learning_rates)
        self.shape = len(networks), len(learning_rates), len(kinds)  # G, R, S
        features, self.classes = kinds[0].w_in.shape[0], kinds[0].w_out.shape[1]
        end, widest = self.blocks[-1], max(network.width for network in kinds)
        columns, self.height = end.columns.stop + -end.columns.stop % COLUMNS, widest + -widest % UNITS
        first = torch.zeros(*self.shape[:2], features, columns)  # (G, R, K, columns)
        last = torch.zeros(*self.shape, self.classes, self.height)  # (G, R, S, C, H)
        # (S H,): the unit in each place of every network; E, a row of zeros, where the network is narrower
        self._unit_in_place = torch.full((len(kinds) * self.height,), end.units.stop)
        self._place_of_unit = torch.zeros(end.units.stop, dtype=torch.int64)  # (E,): the place of each unit
        for index, (places, units) in self.places.items():
            held = torch.arange(units.start, units.stop)
            self._place_of_unit[units] = held - units.start + index * self.height
            self._unit_in_place[self._place_of_unit[units]] = held
            for seed, network in enumerate(each[index] for each in networks):
                gate_and_value = [weight for weight in (network.w_gate, network.w_in) if weight is not None]
                for where, weight in zip(places, gate_and_value, strict=True):
                    first[seed, :, :, where] = weight.detach()
                last[seed, :, index, :, : network.width] = network.w_out.detach().T
        self.first, self.last = first.flatten(0, 1), last.flatten(0, 1)  # (N, K, columns), (N, S, C, H)
        # gradients of the first layers of one copy at a time: they stay in the cache
        self._gradients = torch.zeros_like(self.first[0]), torch.zeros_like(self.last)
        self._adam = [
            ([*weights], [self._gradients[0], gradient], *([*map(torch.zeros_like, weights)] for _ in range(2)))
            for *weights, gradient in zip(self.first, self.last, self._gradients[1], strict=True)
        ]
        self._step = torch.zeros(())

    @torch.no_grad()
    def step(self, x: Tensor, labels: Tensor) -> Tensor:
        """One step of Adam on one batch a seed, x: (G, B, K), labels: (G, B) int64. Returns the losses before it:
        (G, R, S), mean nats an image."""
        _, rates, count = self.shape
        batch, labels = x.shape[1], labels.repeat_interleave(rates * count, 0)  # (N S, B)
        pairs = zip(x, torch.split(self.first, rates), strict=True)
        pre = [torch.bmm(images.expand(rates, -1, -1), first) for images, first in pairs]
        leaves, units = self._units(torch.cat(pre), gradient=True)
        filled = self._fill(units, batch)  # (N S, H, B)
        last = self.last.flatten(0, 1)
        scores = torch.bmm(last, filled)  # (N S, C, B)
        losses = F.cross_entropy(scores, labels, reduction="none").mean(1)
        delta = (scores.softmax(1) - F.one_hot(labels, self.classes).mT) * (1 / batch)  # d loss / d logits
        torch.bmm(delta, filled.mT, out=self._gradients[1].view_as(last))
        back = torch.bmm(last.mT, delta).view(len(self.first), -1, batch)  # (N, S H, B)
        self._update(x, self._through(leaves, units, back.index_select(1, self._place_of_unit)))
        return losses.view(self.shape)

    def _units(self, pre: Tensor, gradient: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Pre-activations (N, B, columns) -> each block's, as a leaf (N B, columns of the block), and its units (N B,
        units of the block).

        Columns lie contiguous in memory, so that a block is one flat stretch for the activation; N B is rounded up to
        whole registers.
        """
        columns = pre.permute(2, 0, 1).contiguous().flatten(1)  # (columns, N B)
        columns = F.pad(columns, (0, -columns.shape[1] % RUN))
        leaves = [columns[block.columns].T.requires_grad_(gradient) for block in self.blocks]
        with torch.set_grad_enabled(gradient):
            return leaves, [block.act(leaf) for block, leaf in zip(self.blocks, leaves, strict=True)]

    def _fill(self, units: list[Tensor], batch: int) -> Tensor:
        """Every network's hidden units in the first of H places of its own: (N S, H, B)."""
        flat = torch.cat([*(u.T for u in units), units[0].new_zeros(1, len(units[0]))])  # (E + 1, N B and more)
        places = flat.index_select(0, self._unit_in_place)[:, : len(self.first) * batch]
        return places.view(-1, self.height, len(self.first), batch).permute(2, 0, 1, 3).flatten(0, 1)

    def _through(self, leaves: list[Tensor], units: list[Tensor], back: Tensor) -> Tensor:
        """The gradient of the units (N, E, B) brought back to that of the pre-activations (N, B, columns)."""
        copies, _, batch = back.shape
        flat = F.pad(back.transpose(0, 1).flatten(1), (0, -copies * batch % RUN))  # (E, N B and more)
        gradients = torch.autograd.grad(units, leaves, [flat[block.units].T for block in self.blocks])
        rows = torch.cat([gradient.T for gradient in gradients])[:, : copies * batch].view(-1, copies, batch)
        return F.pad(rows.permute(1, 2, 0), (0, self.first.shape[-1] - len(rows))).contiguous()

    def _update(self, x: Tensor, delta: Tensor) -> None:
        """Gradients of the first layers from those of their outputs, delta: (N, B, columns), and one step of Adam, a
        copy at a time.

        The fused operation is that of ``torch.optim.Adam(fused=True)``: one pass over weights, gradients and both
        moments.
        """
        self._step += 1
        copies = product(x.mT, self.learning_rates)
        for (images, rate), part, (weights, gradients, means, squares) in zip(copies, delta, self._adam, strict=True):
            torch.mm(images, part, out=gradients[0])
            torch._fused_adam_(
                weights,
                gradients,
                means,
                squares,
                [],
                [self._step] * 2,
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
        _, units = self._units(torch.bmm(x.expand(len(self.first), *x.shape), self.first), gradient=False)
        return torch.bmm(self.last.flatten(0, 1), self._fill(units, len(x))).view(*self.shape, self.classes, -1).mT


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
    loss, right, named = torch.zeros(3, dtype=torch.float64)
    for x, y in zip(torch.split(images, rows), torch.split(labels, rows), strict=True):
        scores = stack.logits(x)  # (G, R, S, rows, C)
        predicted, target = scores.argmax(-1), y.expand(scores.shape[:-1])
        loss = loss - scores.log_softmax(-1).gather(-1, target[..., None]).double().sum((-2, -1))
        right = right + (predicted == target).sum(-1)
        named = named + F.one_hot(predicted, stack.classes).sum(-2)  # (G, R, S, C)
    n = len(images)
    return {"loss": loss / n, "accuracy": 100 * right / n, "largest_class_share": named.amax(-1) / n}
