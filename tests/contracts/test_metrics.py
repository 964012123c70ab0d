"""One list of properties over every prediction-difference metric."""

import torch

from actlab import metrics

LARGEST = {"total_variation": 1.0, "relative_pd": 2.0, "churn": 1.0, "jensen_shannon": 1.0, "label_pd": 2.0}
TRUTH = torch.arange(400) % 7
NAMES = sorted(LARGEST)


def predictions(seed, noise=0.3):
    """Two trials of one arm: both near one truth, each with noise of its own."""
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(3 * torch.eye(7)[TRUTH] + noise * torch.randn(400, 7, generator=generator), dim=1)


def measure(name, p, q):
    return metrics.label_pd(p, q, TRUTH) if name == "label_pd" else getattr(metrics, name)(p, q)


def test_identity(subtests):
    """A trial differs from itself by exactly 0."""
    for name in NAMES:
        with subtests.test(name=name):
            assert measure(name, predictions(0), predictions(0)) == 0.0


def test_symmetry(subtests):
    """Which trial comes first does not matter, to the last bit."""
    for name in NAMES:
        with subtests.test(name=name):
            p, q = predictions(0, 3.0), predictions(1, 3.0)
            assert measure(name, p, q) == measure(name, q, p) > 0


def test_range(subtests):
    """Values lie in [0, largest], and trials that noise moves further apart differ more."""
    for name in NAMES:
        with subtests.test(name=name):
            near, far = (measure(name, predictions(0, noise), predictions(1, noise)) for noise in (0.5, 4.0))
            assert 0 <= near < far <= LARGEST[name]
            assert isinstance(near, float)


def test_shuffling_one_side_raises_it(subtests):
    """Comparing predictions made on different inputs gives a larger number: the inputs must be aligned."""
    for name in NAMES:
        with subtests.test(name=name):
            p, q = predictions(0), predictions(1)
            order = torch.randperm(400, generator=torch.Generator().manual_seed(2))
            assert measure(name, p, q[order]) > 1.4 * measure(name, p, q)
