"""The stacked program against a slow reference that trains one network alone, and what its bits may depend on."""

from itertools import product

import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from actlab.trainers.seeds import generator
from actlab.trainers.stacked import Stack, batches, evaluate, train

K, C = 48, 10
RATES = (1e-1, 1e-2, 1e-3, 1e38)
"""The last overflows."""
SHAPES = (("relu", 2), ("geglu", 2), ("geglu", 1), ("relu", 5), ("geglu", 5), ("gelu", 3), ("swiglu", 17))
TOLERANCE = 1e-5
"""Largest difference of a weight from the reference's after 100 steps at a rate of at most 1e-2 (weights are of size
0.1)."""


def images(n=400, features=K):
    """Sparse pixels, some of them black in every image, and labels that can be learned from them."""
    source = torch.Generator().manual_seed(1)
    labels = torch.randint(C, (n,), generator=source)
    prototypes = torch.rand(C, features, generator=source)
    pixels = (prototypes[labels] + 0.3 * torch.randn(n, features, generator=source)).clamp_(0, 1)
    pixels[:, : features // 8] = 0
    return pixels, labels


def alone(net, rate, pixels, labels, order):
    """The slow reference: autograd and ``torch.optim.Adam`` on one network, changed in place. Returns the loss before
    each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=rate, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for places in order:
        loss = nn.functional.cross_entropy(net(pixels[places]), labels[places])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def trained(shapes, rates, batch_size=8, features=K, seeds=(0,)):
    """A stack after 100 batches, and the mean losses."""
    pixels, labels = images(100 * batch_size, features)
    stack = Stack([[tiny.ffn(*shape, seed, features) for shape in shapes] for seed in seeds], rates)
    return stack, train(stack, pixels, labels, batch_size, 1, [generator(seed, "order") for seed in seeds])


def weights(stack, seed, rate, index):
    """Those of one network, named and shaped as in ``FFN``."""
    copy, (columns, units) = seed * stack.shape[1] + rate, stack.places[index]
    firsts = [stack.first[copy, :, where] for where in columns]
    last = stack.last[copy, index, :, : units.stop - units.start].T
    return dict(zip(("w_out", "w_in", "w_gate"), (last, *reversed(firsts)), strict=False))


@pytest.mark.parametrize("batch_size", [8, 64])
def test_agrees_with_one_network_alone(batch_size, subtests):
    stack, losses = trained(SHAPES, (1e-2, 1e-3), batch_size, seeds=(3, 0))
    pixels, labels = images(100 * batch_size)
    order = [places for (places,) in batches(len(pixels), batch_size, 1, [generator(0, "order")])]
    for (shape, sizes), (rate, value) in product(enumerate(SHAPES), enumerate(stack.learning_rates)):
        with subtests.test(sizes=sizes, rate=value):
            net = tiny.ffn(*sizes, features=K)
            reference = alone(net, value, pixels, labels, order)
            for name, weight in weights(stack, 1, rate, shape).items():
                torch.testing.assert_close(weight, net.get_parameter(name).detach(), rtol=0, atol=TOLERANCE)
            assert losses[1, rate, shape].item() == pytest.approx(sum(reference) / len(reference), abs=1e-5)
            scores = stack.logits(pixels[:20])[1, rate, shape]
            torch.testing.assert_close(scores, net(pixels[:20]).detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("features", "batch_size"),
    [(64, 8), (64, 64), pytest.param(784, 8, marks=pytest.mark.every), pytest.param(784, 64, marks=pytest.mark.every)],
)
def test_result_does_not_depend_on_the_other_networks(features, batch_size):
    """Bit for bit, nor on other seeds: no sum runs across networks, and no kernel is chosen by how many there are; a
    rate that overflows gives NaN in its own row only."""
    everything, losses = trained(SHAPES, RATES, batch_size, features, seeds=(5, 0, 3))
    assert losses.isfinite().all(dim=(0, 2)).tolist() == [True, True, True, False]
    for shape, rate in ((0, 1), (2, 0), (4, 2), (6, 1)):
        one, loss = trained(SHAPES[shape : shape + 1], RATES[rate : rate + 1], batch_size, features)
        for name, weight in weights(one, 0, 0, 0).items():
            assert torch.equal(weight, weights(everything, 1, rate, shape)[name])
        assert loss[0, 0, 0] == losses[1, rate, shape]


@given(n=st.integers(1, 50), batch_size=st.integers(1, 20), epochs=st.integers(1, 3))
def test_every_epoch_shows_every_image_once(n, batch_size, epochs):
    order = list(batches(n, batch_size, epochs, [generator(3, "order"), generator(4, "order")]))
    assert all(places.shape[1] <= batch_size for places in order)
    assert torch.cat(order, dim=1).sort(dim=1).values.tolist() == [sorted(list(range(n)) * epochs)] * 2


def test_evaluation_counts_every_image_once():
    """Against the plain definition; the last piece is smaller than the others."""
    stack, _ = trained(SHAPES, RATES)
    pixels, labels = images(250)
    measured = evaluate(stack, pixels, labels, rows=100)
    for shape, rate in ((0, 0), (4, 2)):
        scores = stack.logits(pixels)[0, rate, shape]
        predicted = scores.argmax(1)
        assert measured["loss"][0, rate, shape].item() == pytest.approx(
            nn.functional.cross_entropy(scores, labels).item(), rel=1e-5
        )
        assert measured["accuracy"][0, rate, shape].item() == 100 * (predicted == labels).sum().item() / len(labels)
        assert measured["largest_class_share"][0, rate, shape].item() == predicted.bincount().max().item() / len(labels)
