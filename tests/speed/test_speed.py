"""Every way trains and evaluates the same model; tables say what was measured."""

from __future__ import annotations

import pytest
from torch.optim import adam

from actlab.bench import growth, scaling, ways
from actlab.bench.__main__ import MEASUREMENTS, main
from actlab.study.params import Params

TINY = ways.Setting(dataset="pydoc", scale="quick", steps=2)


@pytest.mark.parametrize("name", ways.WAYS)
@pytest.mark.filterwarnings("ignore")
def test_every_way_trains_and_evaluates(name: str, toy: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training makes one optimizer step an iteration; evaluation makes none."""
    if name == "lightning":
        pytest.importorskip("lightning")
    steps, update = [], adam.adam
    monkeypatch.setattr(adam, "adam", lambda *args, **more: (steps.append(1), update(*args, **more)))  # hooks on steps are not called in ours
    works = ways.WAYS[name].make(TINY)
    groups = 2 if name.startswith("nanogpt") else 1  # matrices decay, vectors do not
    works["training"]()
    assert len(steps) == TINY.steps * groups
    works["evaluation"]()
    assert len(steps) == TINY.steps * groups


def test_the_table_multiplies_by_the_recipe() -> None:
    """500 iterations of 10 ms and 11 evaluations of 1 s make 16 s; the ratio to ours is taken in every round."""
    mine = {"training": [0.01, 0.01], "evaluation": [1.0, 1.0], "peak_mb": 400.0}
    slow = {"training": [0.02, 0.02], "evaluation": [10.0, 10.0], "peak_mb": 500.0}
    table = ways.table({"iterations": 500, "evaluations": 11, "ways": {"ours": mine, "reference": slow}})
    assert table.loc["ours", "trial, s"] == "16"
    assert table.loc["plain reference", "trial, s"] == "120"
    assert table.loc["plain reference", "trial, times ours"] == "7.50 [7.50, 7.50]"
    assert table.columns[0] == "trial, times ours"
    assert set(table.loc["ours"][:3]) == {"1"}


def test_exponents_of_a_power_law() -> None:
    """seconds = 3 level^1.7 in every round; the arithmetic grows with the square."""
    levels = {str(n): {"seconds": [3 * n**1.7] * 2, "gflop": float(n**2)} for n in (64, 128, 256)}
    assert growth.slopes(levels) == pytest.approx([1.7, 1.7])
    row = growth.table({"factors": {"width": levels}}).loc["width"]
    assert row["exponent"] == "1.70 [1.70, 1.70]"
    assert row["of its arithmetic"] == "2.00"


def test_comparisons_are_counted_in_pairs() -> None:
    """30 ms a pair: 2, 4 and 8 trials have 1, 6 and 28 pairs, and the time is proportional to their number."""
    trials = {str(n): {"seconds": [0.03 * n * (n - 1) / 2] * 2, "gflop": None} for n in (2, 4, 8)}
    measured = {"positions": 8192, "factors": {"trials": trials}}
    row = growth.table(measured).loc["pairs of trials, compared"]
    assert row["levels"] == "1, 6, 28"
    assert row["CPU ms"] == "30, 180, 840"
    assert row["exponent"] == "1.00 [1.00, 1.00]"
    assert "on 8,192 positions takes 30 to 30 ms where 1, 6, 28 pairs" in growth.sentences(measured)[0]
    assert growth.sentences({"factors": {}}) == []


def test_growth_measures_every_level(toy: Params) -> None:
    """All factors, one round."""
    found = growth.measure_all("pydoc", "quick", rounds=1, levels={"width": (12, 24), "depth": (1, 2), "context": (4, 8)}, positions=16)
    assert {factor: list(levels) for factor, levels in found["factors"].items()} == {
        "width": ["12", "24"],
        "depth": ["1", "2"],
        "context": ["4", "8"],
        "trials": ["2", "4", "8"],
    }
    assert found["factors"]["depth"]["2"]["gflop"] > found["factors"]["depth"]["1"]["gflop"]


MADE_UP = {
    "trials": {"in this process": 2, "Dask, 1": 2, "Dask, 2": 4},
    "seconds": {"in this process": [10.0, 10.0], "Dask, 1": [10.1, 10.1], "Dask, 2": [10.5, 10.5]},
    "startup_seconds": {"1": 5.0, "2": 6.0},
    "task_seconds": 0.003,
    "report_seconds": 0.001,
    "reports_every": 0.2,
    "load_before": 0.1,
}


def test_scaling_counts_trials_not_rounds() -> None:
    """Four trials in 10.5 s are 1.905 times two in 10 s."""
    table = scaling.table(MADE_UP)
    assert table.loc["Dask, 2", "times one process"] == "1.905 [1.905, 1.905]"
    assert table.loc["in this process", "trials an hour"] == "720"


def test_overhead_of_a_trial_of_thirty_seconds() -> None:
    """One task of 3 ms and 150 reports of 1 ms: 0.51%."""
    assert scaling.overhead(MADE_UP) == pytest.approx(0.153 / 30)
    assert scaling.overhead_table(MADE_UP).loc["of a trial of 30 s", ""] == "0.51%"


def test_work_reports_as_often_as_asked(toy: Params) -> None:
    """Training reports by the clock; the reports that are timed are all sent."""
    heard: list[int] = []
    usual = scaling.pool.REPORTS_EVERY
    assert scaling.work(scaling.Work(TINY, reports=7), lambda iteration, loss: heard.append(iteration)) >= 0
    assert heard[-7:] == list(range(7))
    assert usual == scaling.pool.REPORTS_EVERY


@pytest.mark.slow
def test_scaling_measures_three_ways() -> None:
    """At the quick size, one round."""
    found = scaling.measure_all(steps=1, rounds=1, trials=1, empty=5, dataset="pydoc", scale="quick")
    assert list(found["seconds"]) == ["in this process", "Dask, 1", "Dask, 2"]
    assert found["trials"]["Dask, 2"] == 2
    assert all(values[0] > 0 for values in found["seconds"].values())


def test_an_unknown_measurement_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is measured; exit code 2."""
    assert main(["growht"]) == 2
    said = capsys.readouterr().err
    assert "did you mean 'growth'?" in said
    assert all(name in said for name in MEASUREMENTS)
