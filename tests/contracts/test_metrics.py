"""One list of properties over every prediction-difference metric."""

import torch

from actlab import metrics

LARGEST = {"total_variation": 1.0, "relative_pd": 2.0, "churn": 1.0, "jensen_shannon": 1.0, "label_pd": 2.0}
TRUTH = torch.arange(400) % 7


def predictions(seed, noise=0.3):
    """Two trials of one arm: both near one truth, each with noise of its own."""
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(3 * torch.eye(7)[TRUTH] + noise * torch.randn(400, 7, generator=generator), dim=1)


def measure(name, p, q):
    return metrics.label_pd(p, q, TRUTH) if name == "label_pd" else getattr(metrics, name)(p, q)


def test_every_metric(subtests):
    """A trial differs from itself by exactly 0; which trial comes first does not matter, to the last bit; values lie in
    [0, largest]; trials that noise moves further apart differ more, and so do predictions made on different inputs."""
    order = torch.randperm(400, generator=torch.Generator().manual_seed(2))
    for name, largest in LARGEST.items():
        with subtests.test(name=name):
            p, near, far = predictions(0), predictions(1), predictions(1, 4.0)
            assert measure(name, p, p) == 0.0
            assert measure(name, p, far) == measure(name, far, p) <= largest
            assert 0 <= measure(name, p, near) < measure(name, p, far)
            assert measure(name, p, near[order]) > 1.4 * measure(name, p, near)
            assert isinstance(measure(name, p, near), float)
