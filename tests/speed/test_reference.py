"""The reference loop computes the same function as ours, slowly; a measurement reports what it measured."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.support import tiny

from actlab import store
from actlab.bench import language, records, reference
from actlab.models import MODELS, build_model


def test_naive_models_compute_the_same_function(subtests: pytest.Subtests) -> None:
    """Head-by-head attention, PyTorch's own, and the stacked LSTM agree with ours, logits and gradients."""
    for name in MODELS:
        for activation in ["gelu", "swiglu"]:
            for attention in [reference.NaiveAttention, reference.TorchAttention]:
                with subtests.test(attention=attention.__name__, activation=activation, name=name):
                    ours = build_model(name, tiny.CONFIG, activation).double().eval()
                    plain = reference.naive(ours, attention).double().eval()
                    tokens = tiny.tokens()
                    ours(tokens).square().sum().backward()
                    plain(tokens).square().sum().backward()
                    torch.testing.assert_close(plain(tokens), ours(tokens))
                    first = sum(p.grad.square().sum() for p in ours.parameters())
                    second = sum(p.grad.square().sum() for p in plain.parameters())
                    torch.testing.assert_close(second, first)


def test_reference_dropout_is_on_in_training() -> None:
    """The plain copy drops as often as ours: two training passes differ."""
    plain = reference.naive(tiny.model("charlm")).train()
    assert not torch.equal(plain(tiny.tokens()), plain(tiny.tokens()))


@pytest.mark.slow
def test_a_measurement_has_both_peers(measured: dict[str, Any]) -> None:
    """The row has both parts for both peers, a ratio of the trial's seconds, and the peak memory of either process."""
    (row,) = measured["models"]
    assert row["ratio"] == pytest.approx(row["trial_seconds"]["reference"] / row["trial_seconds"]["ours"])
    assert all(row[part][who] > 0 for part in ("training", "evaluation", "peak_mb") for who in ("ours", "reference"))
    assert list(language.table(measured).index) == ["charlm"]
    assert language.table(measured).columns[0] == "times faster"


def test_records_keep_the_newest() -> None:
    """A measurement is a record; the notebook shows the newest of its name."""
    assert records.newest("language") is None
    records.save("language", {"matmul_gflops": 1.0})
    found = records.newest("language")
    assert found is not None
    assert found["measured"] == {"matmul_gflops": 1.0}
    assert records.measure_or_load("language", False, None) == found
    assert "1 GFLOP/s" in str(records.origin(found))


def test_gpu_rows_are_computed_from_records() -> None:
    """None says so; one shows the median of its trials."""
    assert "no record yet" in str(records.on_gpu())
    trials = [{"status": "done", "seconds": {"training": t, "evaluation": 1.0}} for t in (9.0, 19.0, 29.0)]
    machine = {"machine": {"gpu": "a GPU"}}
    store.save(store.path_of("one", "arm"), {"arm": "arm", "config": {"recipe": {"device": "cuda"}}, "trials": trials, "provenance": machine})
    assert records.on_gpu().loc["one, arm"].tolist() == ["a GPU", "20"]
