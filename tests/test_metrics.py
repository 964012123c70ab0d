"""Prediction-difference metrics: against NumPy and SciPy, known answers, and the inequalities that tie them
together."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import rel_entr
from tiny import normal

from actlab import metrics
from actlab.errors import BadInput
from actlab_audit.defects import coded_pd

WEIGHTS = st.sampled_from([0.0, 1.0]) | st.floats(1e-6, 1.0)


@st.composite
def pairs(draw):
    """Two float64 probability tensors (N, V) of one shape, zeros and ties among their entries."""
    shape = 2, draw(st.integers(1, 8)), draw(st.integers(2, 6))
    weights = draw(hnp.arrays(float, shape, elements=WEIGHTS))
    weights += weights.sum(-1, keepdims=True) == 0  # no row of zeros
    return tuple(torch.from_numpy(weights / weights.sum(-1, keepdims=True)))


def softmax(seed, rows=200, classes=9):
    return torch.softmax(normal(rows, classes, seed=seed), dim=1)


def relative(p, q):
    """2 |p - q| / (p + q), one element at a time; 0 where both are 0."""
    terms = [2 * abs(a - b) / (a + b) if a + b > 0 else 0.0 for a, b in zip(p.ravel(), q.ravel(), strict=True)]
    return sum(terms) / len(terms)


@given(pair=pairs())
def test_against_numpy(pair):
    """Each metric equals its definition written with NumPy and SciPy; mean|p - q| / (mean p + mean q), the reference
    study's, is mean TV where rows sum to 1."""
    p, q = map(np.asarray, pair)
    assert metrics.total_variation(*pair) == pytest.approx(np.mean(0.5 * np.abs(p - q).sum(1)), abs=1e-12)
    assert metrics.relative_pd(*pair) == pytest.approx(relative(p, q), abs=1e-12)
    assert metrics.churn(*pair) == np.mean(p.argmax(1) != q.argmax(1))
    divergence = sum(rel_entr(each, (p + q) / 2) for each in (p, q)).sum(1) / 2  # SciPy's own takes roots of -1e-17
    assert metrics.jensen_shannon(*pair) == pytest.approx(divergence.mean() / np.log(2), abs=1e-9)
    assert coded_pd(*pair) == pytest.approx(metrics.total_variation(*pair), abs=1e-12), "the reference study's code"


@given(pair=pairs())
def test_every_metric(pair):
    """A trial differs from itself by exactly 0; which trial comes first does not matter, to the last bit; values lie in
    [0, largest], as plain floats."""
    p, q = pair
    for name, largest in {"total_variation": 1, "relative_pd": 2, "churn": 1, "jensen_shannon": 1}.items():
        measure = getattr(metrics, name)
        assert measure(p, p) == 0.0
        assert 0 <= measure(p, q) == measure(q, p) <= largest + 1e-12
        assert isinstance(measure(p, q), float)


@pytest.mark.parametrize("name", metrics.ROWS)
def test_shuffled_inputs_raise_every_metric(name):
    """Two near predictions, then one side's rows moved by one."""
    p, noise = softmax(0), softmax(1)
    q = 0.9 * p + 0.1 * noise
    near, shuffled = (getattr(metrics, name)(p, other) for other in (q, q.roll(1, 0)))
    assert near < shuffled


@given(pair=pairs(), data=st.data())
def test_metrics_with_labels(pair, data):
    """Win + loss + neutral = churn; win - loss = accuracy of the second minus the first; exchanging the two exchanges
    win and loss. label_pd looks at the true label only: its definition, one row at a time."""
    p, q = pair
    truth = torch.tensor([data.draw(st.integers(0, p.shape[1] - 1)) for _ in p])
    win, loss, neutral = split = metrics.churn_split(p, q, truth)
    assert min(split) >= 0
    assert sum(split) == pytest.approx(metrics.churn(p, q), abs=1e-12)
    accuracies = [(t.argmax(1) == truth).double().mean().item() for t in (p, q)]
    assert win - loss == pytest.approx(accuracies[1] - accuracies[0], abs=1e-12)
    assert metrics.churn_split(q, p, truth) == (loss, win, neutral)
    of_truth = (np.take_along_axis(t.numpy(), truth.numpy()[:, None], 1) for t in pair)
    assert metrics.label_pd(p, q, truth) == pytest.approx(relative(*of_truth), abs=1e-12)


def test_nan_stays_nan():
    """A NaN prediction gives a NaN distance, never a number."""
    p, q = softmax(0), softmax(1)
    p[3] = math.nan
    assert all(map(math.isnan, metrics.compare(p, q, np.zeros(200)).values()))


def test_inputs_that_do_not_fit_are_refused():
    """Different shapes, vectors and empty tensors, with both shapes; targets that are no classes, one an input."""
    p = softmax(0, 4, 3)
    for bad in (p[1:], p[:, 1:], p[0], p[:0]):
        with pytest.raises(BadInput, match=r"one shape \(N, V\), got \(4, 3\) and"):
            metrics.row_means(p, bad)
    with pytest.raises(BadInput, match=r"expected 4 targets, one for each input, got shape \(3,\)"):
        metrics.churn_split(p, p, np.zeros(3))
    with pytest.raises(BadInput, match=r"whole numbers from 0 to 2, got 0\.5"):
        metrics.label_pd(p, p, [0, 0.5, 3, 2])


def test_compare_takes_arrays_of_any_framework():
    """NumPy arrays and lists give what tensors give, also labels with an index of their own and whole numbers; the
    metrics of the true label only where it is known."""
    p, q, truth = softmax(0, 50, 4), softmax(1, 50, 4), torch.arange(50) % 4
    found = metrics.compare(p, q, truth)
    assert metrics.compare(p.numpy(), q.tolist(), pd.Series(truth, range(9, 59))) == found
    assert not metrics.compare(torch.eye(2).long(), np.eye(2))["churn"]
    assert {name: found[name] for name in metrics.ROWS.built_in} == metrics.compare(p, q)


def test_compare_refuses_what_is_no_distribution():
    """Logits, percent and logarithms are told with the row, its sum and its minimum."""
    p = softmax(0, 4, 3)
    for wrong, said in ((100 * p, "the sum 100 "), (p.log(), "the minimum -")):
        with pytest.raises(BadInput, match=f"but row 0 of the second model has .*{said}"):
            metrics.compare(p, wrong.numpy())
    with pytest.raises(BadInput, match="softmax of logits is missing"):
        metrics.total_variation(p, p.log())


def test_jensen_shannon_of_nearly_equal_predictions_is_no_rounding_noise():
    """In float32 as in float64 to a tenth, where p and q differ by a millionth and the divergence is about 1e-13."""
    p = torch.softmax(3 * normal(500, 65).float(), dim=1)
    q = p * torch.exp(1e-6 * normal(500, 65, seed=1).float())
    assert 0 < metrics.jensen_shannon(p, q) == pytest.approx(metrics.jensen_shannon(p.double(), q.double()), rel=0.1)


def test_means_over_blocks_are_the_metrics():
    """Over more inputs than one block holds."""
    p, q = softmax(0, 5000).float(), softmax(1, 5000).float()
    values = metrics.row_means(p, q)
    assert values == pytest.approx({name: getattr(metrics, name)(p, q) for name in values}, abs=1e-7)


def test_tables_in_another_order_are_refused():
    """The same predictions, with the rows of one table turned round, are not 0 apart by their places."""
    table = pd.DataFrame(softmax(0, 5).numpy())
    with pytest.raises(BadInput, match="align them first"):
        metrics.compare(table, table.iloc[::-1])
    assert metrics.total_variation(table, table) == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_double(dtype):
    """Two certain predictions that disagree are one bit apart, whatever holds them."""
    p = torch.eye(2)
    found = metrics.compare(p.to(dtype), p.flip(0).to(dtype))
    assert found == pytest.approx({"total_variation": 1, "relative_pd": 2, "churn": 1, "jensen_shannon": 1}, abs=1e-12)
