"""`actlab measure`: take-home as one command, for arrays of predictions of any framework."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from tiny import typed

import actlab
from actlab import metrics
from actlab.cli.measured import measured
from actlab.statistics.estimate import log_limits


@pytest.fixture
def runs(tmp_path):
    """Logits of four runs on 50 inputs of 5 classes, as files; their labels."""
    draw = np.random.default_rng(1)
    common, truth = draw.normal(size=(50, 5)), draw.integers(5, size=50)
    logits = [common + 0.3 * draw.normal(size=(50, 5)) for _ in range(4)]
    paths = [tmp_path / f"run-{i}.npy" for i in range(4)]
    for path, values in zip(paths, logits, strict=True):
        np.save(path, values)
    np.save(tmp_path / "y.npy", truth)
    return paths, logits, truth


def test_arrays_are_measured_as_by_the_functions(runs, tmp_path, capsys):
    """Every metric of pairs with its interval over runs, loss and accuracy of the runs; probabilities give the same as
    their logits."""
    paths, logits, truth = runs
    assert typed("measure", *paths, "--labels", tmp_path / "y.npy", "--logits") == 0
    assert not capsys.readouterr().err
    of_logits = measured(paths, tmp_path / "y.npy", True, []).set_index("metric")
    arrays = [softmax(values, axis=1) for values in logits]
    rows = [
        {"arm": "", "first": a, "second": b} | metrics.compare(arrays[a], arrays[b], truth)
        for a in range(4)
        for b in range(a + 1, 4)
    ]
    (wanted,) = actlab.means(pd.DataFrame(rows), "total_variation", "arm").itertuples()
    low, high = log_limits(wanted.estimate, wanted.low, wanted.high)
    found = of_logits.loc["total_variation"]
    assert found["n"] == 4
    assert found[["estimate", "low", "high"]].tolist() == pytest.approx([wanted.estimate, low, high])
    right = [100 * (values.argmax(1) == truth).mean() for values in arrays]
    assert of_logits.loc["accuracy", "estimate"] == pytest.approx(np.mean(right))
    loss = [-np.log(values[range(50), truth]).mean() for values in arrays]
    assert of_logits.loc["loss", "estimate"] == pytest.approx(np.mean(loss))
    for path, values in zip(paths, arrays, strict=True):
        np.save(path, values)
    of_probabilities = measured(paths, tmp_path / "y.npy", False, []).set_index("metric")
    pd.testing.assert_frame_equal(of_logits, of_probabilities)
    assert typed("measure", *paths, "--logits") == 0
    said = capsys.readouterr()
    assert said.err.count("are probabilities: leave out --logits") == 4
    assert "of pairs are symmetric on a logarithmic scale" in said.out


def test_what_is_no_distribution_is_refused(runs, tmp_path, capsys):
    """Logits without their flag, one run, other shapes, no array, pickled objects: a line, and code 2. Two runs have no
    interval, and are told so."""
    paths, _, _ = runs
    np.save(tmp_path / "short.npy", np.full((3, 5), 0.2))
    np.save(tmp_path / "flat.npy", np.ones(5))
    np.save(tmp_path / "nan.npy", np.full((50, 5), np.nan))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    said = {
        (*paths,): "expected probabilities, rows of numbers from 0 that sum to 1",
        (paths[0],): "expected two runs or more",
        (paths[0], paths[0]): "each once",
        (paths[0], tmp_path / "short.npy", "--logits"): "one shape (N, V)",
        (paths[0], tmp_path / "nan.npy"): "expected finite numbers",
        (paths[0], tmp_path / "objects.npy"): "cannot be read as an array of numbers",
        (*paths, "--logits", "--labels", tmp_path / "flat.npy"): "expected 50 targets",
    }
    for words, wanted in said.items():
        assert typed("measure", *words) == 2
        assert wanted in " ".join(capsys.readouterr().err.split())
    assert typed("measure", *paths[:2], "--logits") == 0
    assert "two runs give one pair and no interval" in capsys.readouterr().out


def test_an_infinite_loss_is_infinite(runs, tmp_path):
    """Where a run gives a true class the probability 0; every other number is there."""
    paths, _, truth = runs
    np.save(paths[0], np.eye(5)[(truth + (np.arange(50) == 7)) % 5])
    for path in paths[1:3]:
        np.save(path, np.full((50, 5), 0.2))
    rows = measured(paths[:3], tmp_path / "y.npy", False, []).set_index("metric")
    assert (rows.loc["loss", "estimate"], rows.loc["loss", ["low", "high"]].isna().all()) == (np.inf, True)
    assert rows.loc["accuracy", "estimate"] == pytest.approx(100 * (0.98 + 2 * (truth == 0).mean()) / 3)
