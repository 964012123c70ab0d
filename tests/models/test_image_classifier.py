"""The image classifiers: formulas, counts, initialisation, and that the activation reaches the network."""

import pytest
import tiny
import torch
from tiny import ffn as network
from torch.nn import functional as F

from actlab.models import count_parameters
from actlab.models.image_classifier import count, width_of

K, C = 784, 10


def test_plain_and_gated_formula():
    plain, gated = network("relu"), network("geglu")
    x = tiny.normal(7, K).float()
    torch.testing.assert_close(plain(x), torch.relu(x @ plain.w_in) @ plain.w_out)
    torch.testing.assert_close(gated(x), (F.gelu(x @ gated.w_gate) * (x @ gated.w_in)) @ gated.w_out)


@pytest.mark.parametrize("hidden", [2, 4, 8, 16])
def test_published_counts(hidden):
    """784h + 10h against 2 x 784h + 10h: 1.987 times the parameters at equal width, within 1% at equal parameters."""
    sizes = {"relu": hidden, "geglu": hidden, "swiglu": width_of("swiglu_equal_parameters", K, hidden, C)}
    plain, wide, fair = (count_parameters(network(name, size)) for name, size in sizes.items())
    assert plain == count(K, hidden, C, gated=False) == 794 * hidden
    assert wide == count(K, hidden, C, gated=True) == pytest.approx(1.987 * plain, rel=1e-3)
    assert fair == pytest.approx(plain, rel=0.01)


def test_one_seed_gives_plain_and_gated_networks_the_same_matrices():
    """The paired design."""
    plain, gated = network("relu"), network("geglu")
    assert torch.equal(plain.w_in, gated.w_in)
    assert torch.equal(plain.w_out, gated.w_out)
    assert not torch.equal(gated.w_in, gated.w_gate)
    assert not torch.equal(plain.w_in, network("relu", seed=1).w_in)
