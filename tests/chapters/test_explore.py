"""What the explorer shows: the records' own estimates, at their own places, and nothing that no record has."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support.explored import grid_study, record

from actlab.chapters import explore
from actlab.errors import UnknownName
from actlab.records import store
from actlab.records.repro import ArmResults
from actlab.widgets.explorer import as_json, catalogue


def test_runs_of_the_grid_are_one_study_with_a_scale() -> None:
    """A folder that is no run of the grid stands by itself."""
    made = grid_study()
    assert made.factors == {
        "model": ["charlm", "tinylstm"],
        "activation": ["relu", "swiglu"],
        "scale": ["lite", "quick"],
    }
    assert [s.name for s in explore.of_records({"repro-lite": [record()], "other": [record()], "empty": []})] == [
        "repro",
        "other",
    ]


def test_estimates_are_the_records_own() -> None:
    """Value, interval and n are those of the tables; single values are in the order of the pairs."""
    made = grid_study()
    choice = made.choose({"metric": "churn", "activation": ["swiglu"]})
    (arm,) = made.select(choice)
    results = ArmResults(record(activation="swiglu", pd=0.3))
    assert arm.estimates["churn"] == results.shown("churn")
    assert arm.singles["churn"] == [pair["churn"] for pair in results.record["reproducibility_metrics"]]
    assert arm.nudge == {}
    assert made.select(made.choose())[0].nudge["churn"] == 1e-6


def test_selection_keeps_every_level_along_the_axis_and_one_of_every_other() -> None:
    made = grid_study()
    assert [arm.at for arm in made.select(made.choose({"along": "scale", "activation": ["relu"]}))] == [
        {"model": "charlm", "activation": "relu", "scale": scale} for scale in ("lite", "quick")
    ]
    assert [arm.at["model"] for arm in made.select(made.choose({"activation": ["relu"]}))] == ["charlm", "tinylstm"]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ({"metric": "acuracy"}, "acuracy"),
        ({"along": "activation"}, "activation"),
        ({"activation": ["rleu"]}, "rleu"),
        ({"scale": "huge"}, "huge"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_unknown_choice_is_named(wanted: dict[str, object], name: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown .* '{name}'.* known are "):
        grid_study().choose(wanted)


def test_table_has_a_row_an_arm() -> None:
    """Trials and pairs stand in one column, the diverged trial among them as NaN."""
    made = grid_study()
    table = made.table(made.choose({"metric": "val_loss", "activation": ["relu"]}))
    assert list(table) == [
        "model",
        "activation",
        "scale",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "parameters",
        "singles",
    ]
    assert list(table["n"]) == [3, 2]
    assert table["singles"].iloc[1] == "2 2.1 nan"


def test_catalogue_is_strict_json_and_keeps_what_is_missing() -> None:
    """NaN becomes null; a text that would end the script element is made harmless."""
    made = grid_study()
    x = np.linspace(-1, 1, 3)
    whole = catalogue([made], {"relu": (x, x, x), "mish": (x, x, x)}, {"relu": {"note": "</script>"}, "swiglu": {}})
    text = as_json(whole)
    assert "</script" not in text
    back = json.loads(text)
    assert list(back["functions"]) == ["relu"]
    assert back["studies"]["repro"]["factors"]["scale"]["levels"] == ["lite", "quick"]
    arms = back["studies"]["repro"]["arms"]
    assert next(a for a in arms if a["at"]["model"] == "tinylstm")["singles"]["val_loss"] == [2.0, 2.1, None]


def test_levels_are_in_the_studies_order() -> None:
    assert explore.in_order({"0.1", "1e-4", "0.01"}) == ["1e-4", "0.01", "0.1"]
    assert explore.in_order({"lite", "1m", "33k", "116k"}) == ["33k", "116k", "1m", "lite"]
    assert explore.in_order({"swiglu", "zeta", "relu", "mish"}) == ["relu", "swiglu", "mish", "zeta"]


def test_studies_are_read_from_the_results_folder() -> None:
    """No folder, no study; an unknown one is an error."""
    assert explore.studies() == []
    store.save(store.path_of("repro-lite", "charlm-relu"), record())
    assert [s.name for s in explore.studies()] == ["repro"]
    with pytest.raises(UnknownName, match="unknown study 'repro-light': did you mean 'repro-lite'"):
        explore.studies(["repro-light"])
