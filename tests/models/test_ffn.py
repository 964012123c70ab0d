"""The image classifiers: formulas, counts, initialisation, and that the activation reaches the network."""

import math

import pytest
import torch
from torch.nn import functional as F

from actlab.activations import ACTIVATIONS
from actlab.errors import UnknownName
from actlab.models.ffn import FFN, INITS, count, equal_parameters, equal_width
from actlab.trainers.streams import init_streams

K, C = 784, 10


def network(activation, width=8, seed=0, init="published", pixel_power=1.0):
    net = FFN(K, width, C, ACTIVATIONS[activation])
    net.initialise(init_streams(seed), init, pixel_power)
    return net


def images(n=2000, pixel_power=1.0):
    return torch.randn(n, K, generator=torch.Generator().manual_seed(5)) * math.sqrt(pixel_power)


def test_plain_and_gated_formula():
    plain, gated, x = network("relu"), network("geglu"), images(7)
    torch.testing.assert_close(plain(x), torch.relu(x @ plain.w_in) @ plain.w_out)
    torch.testing.assert_close(gated(x), (F.gelu(x @ gated.w_gate) * (x @ gated.w_in)) @ gated.w_out)


def test_published_counts(subtests):
    """784h + 10h against 2 x 784h + 10h: 1.987 times the parameters at equal width, within 1% at equal parameters."""
    for hidden in [2, 4, 8, 16]:
        with subtests.test(hidden=hidden):
            plain = sum(p.numel() for p in network("relu", hidden).parameters())
            wide = sum(p.numel() for p in network("geglu", equal_width(K, hidden, C)).parameters())
            fair = sum(p.numel() for p in network("geglu", equal_parameters(K, hidden, C)).parameters())
            assert plain == count(K, hidden, C, gated=False) == 794 * hidden
            assert wide == count(K, hidden, C, gated=True)
            assert wide / plain == pytest.approx(1.987, abs=1e-3)
            assert fair / plain == pytest.approx(1, abs=0.01)


def test_one_seed_gives_plain_and_gated_networks_the_same_matrices():
    """The paired design."""
    plain, gated = network("relu"), network("geglu")
    assert torch.equal(plain.w_in, gated.w_in)
    assert torch.equal(plain.w_out, gated.w_out)
    assert not torch.equal(gated.w_in, gated.w_gate)
    assert not torch.equal(plain.w_in, network("relu", seed=1).w_in)


def test_variance_init_gives_every_arm_the_same_scale(subtests):
    """Pre-activations and logits of variance 1, whatever the activation; the published start differs by two orders of
    magnitude."""
    dark = {"relu", "geglu"}  # these also for pixels of a tenth of the power
    for activation in [name for name in ACTIVATIONS if name != "random_prelu"]:
        for pixel_power in (1.0, 0.1) if activation in dark else (1.0,):
            with subtests.test(pixel_power=pixel_power, activation=activation):
                x = images(500, pixel_power)
                nets = [network(activation, 256, seed, "variance", pixel_power) for seed in range(6)]
                assert (x @ nets[0].w_in).var().item() == pytest.approx(1, rel=0.1)
                assert sum(net(x).var().item() for net in nets) / len(nets) == pytest.approx(1, rel=0.25)


def test_unknown_init_is_said():
    with pytest.raises(UnknownName, match=r"unknown init 'xavier'.*published, variance"):
        network("relu", init="xavier")
    assert INITS == ("published", "variance")
