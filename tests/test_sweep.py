"""The sweep's records as a table."""

from __future__ import annotations

import pandas as pd
import pytest

from actlab import store
from actlab.errors import BadInput
from actlab.study.mnist import MnistParams
from actlab.study.mnist_run import run_mnist
from actlab.sweep import paired, table


@pytest.fixture
def trials() -> pd.DataFrame:
    values = {"study": "tiny", "hidden": [2, 4], "learning_rates": [1e-2], "batch_sizes": [64], "trials": 3}
    run_mnist(MnistParams.parse(values))
    return table(store.load_study("tiny"))


def test_one_row_a_trial(trials: pd.DataFrame) -> None:
    assert len(trials) == 3 * 2 * 3
    assert set(trials["network"]) == {"relu", "geglu_equal_width", "geglu_equal_parameters"}
    assert trials["val_accuracy"].between(0, 100).all()
    assert (trials[trials["network"] == "geglu_equal_parameters"]["width"] * 2 == trials[trials["network"] == "relu"]["hidden"].to_numpy()).all()


def test_pairs_share_seed_and_cell(trials: pd.DataFrame) -> None:
    both = paired(trials, "geglu_equal_width", "relu")
    assert len(both) == 2 * 3
    assert both["difference"].mean() == pytest.approx(both["geglu_equal_width"].mean() - both["relu"].mean())


def test_what_is_missing_is_said(trials: pd.DataFrame) -> None:
    with pytest.raises(BadInput, match="no trials of 'swish'; there are geglu_equal_parameters, "):
        paired(trials, "swish", "relu")
    with pytest.raises(BadInput, match=r"actlab run params/mnist-quick.yaml"):
        table([])
