"""What the explorer shows: the records' own values, at their own places, and nothing that no record has."""

import math

import grids
import numpy as np
import pandas as pd
import pytest
from explored import catalogue, made_up

from actlab import paths
from actlab.explorer import catalogue as explore
from actlab.explorer import numbers
from actlab.records import tables
from actlab.records.settings import in_order
from actlab.statistics.contrasts import means
from actlab.statistics.estimate import log_limits


def test_studies_go_by_names_in_words_in_the_menus_order():
    """A folder without a name in words keeps its own and comes last; one with nothing to explore is left out."""
    found = explore.of_records({"own": [grids.record()], "scale": made_up(), "empty": [grids.baseline()]})["studies"]
    assert [study["title"] for study in found.values()] == ["Does size matter? Four sizes of charlm (scale)", "own"]
    assert {file.stem for file in (paths.ROOT / "params").glob("*.yaml")} <= {*explore.TITLES}


def test_differences_grow_as_the_arms():
    """Of eight levels and fewer, each with each."""
    places = [{"network": name, "epochs": str(n)} for n in range(120) for name in "ab"]
    small, *large = (len(explore._pairs(places[:arms], "network")) for arms in (16, 80, 160, 240))
    assert small == 2 * (8 + 2 * 28)
    assert large[2] - large[1] == large[1] - large[0]


def test_values_are_the_records_own():
    """Single values in the order of the pairs; what a diverged trial has not is missing; a perturbation stands with its
    arm."""
    study = catalogue()["studies"]["repro-lite"]
    assert [study["options"][name] for name in ("model", "activation")] == [["charlm", "tinylstm"], ["relu", "swiglu"]]
    assert [*study["arms"]] == ["charlm/relu", "charlm/swiglu", "tinylstm/relu"]
    (_, churn, _), (moved, never, _) = (study["found"][moment]["churn"] for moment in ("end", "one bit"))
    pairs = made_up()[1]["reproducibility_metrics"]
    n, *wanted = means(tables.of_records([made_up()[1]])[1], "churn")[["n", "estimate", "low", "high"]].iloc[0]
    assert churn == pytest.approx([*(100 * np.array([wanted[0], *log_limits(*wanted)])), n], rel=1e-4)
    singles = study["singles"]["end"]
    assert singles["churn"][1] == pytest.approx([100 * pair["churn"] for pair in pairs])
    assert singles["val_loss"][2] == [2.0, 2.1, None]
    assert study["arms"]["tinylstm/relu"]["ended"] == " (44: diverged)"
    assert moved == [1e-4, None, None, 1]
    assert never is None


def test_one_bits_effects_have_a_geometric_mean():
    """They spread over powers of ten; the interval is that of their logarithms, and an exact 0 leaves none."""
    value, low, high, n = numbers._geometric([1e-6, 1e-4, 1e-2])
    assert (value, low * high, n) == pytest.approx((1e-4, 1e-8, 3))
    assert math.log10(high / value) == pytest.approx(4.3027 * 2 / 3**0.5, rel=1e-4)
    zero, *limits, n = numbers._geometric([0.0, 1e-4])
    assert (zero, n) == (0, 2)
    assert np.isnan(limits).all()


def test_differences_are_paired_by_the_seeds_that_both_have():
    """Trials that all shift by the same amount differ by it exactly, however much they scatter; a seed or a finished
    trial of one arm alone counts in no difference."""
    relu = grids.record(losses=(1.0, 5.0, 9.0, 7.0), pd=0.1, status={3: "diverged"})
    gelu = grids.record(activation="gelu", losses=(5.5, 9.5, 7.5, 2.0), pd=0.32, first=43)
    study = explore.of_records({"own": [relu, gelu]})["studies"]["own"]
    assert study["pairs"] == {"charlm/relu": {"charlm/gelu": 0}, "charlm/gelu": {"charlm/relu": 1}}
    for metric, wanted in (("val_loss", [-0.5, 0.0, 2]), ("churn", [-20.0, None, 2])):
        minus, turned = study["differences"]["end"][metric]
        assert minus[:3] == wanted
        assert len(turned) == 1, "its p alone: the rest is minus the other"
    assert study["arms"]["charlm/relu"]["ended"] == " (45: diverged)"


def test_training_is_followed_at_every_snapshot_and_at_the_end():
    """Means over the seeds, the last of which is the end's."""
    study = catalogue()["studies"]["sources"]
    place = next(arm["place"] for arm in study["arms"].values() if arm["setting"] == "varies=all")
    along = pd.DataFrame(study["along"][place], dtype=float).set_index("iteration")
    assert [*along["total_variation"].dropna().index] == [50, 100, 200, 350, 500]
    for metric in ("val_loss", "total_variation"):
        assert along[metric].iloc[-1] == pytest.approx(study["found"]["end"][metric][place][0], rel=2e-4)


def test_twelve_own_parts_look_different():
    """Colours and marks."""
    names = [f"mine_{i}" for i in range(12)]
    own = [grids.record(activation=name, parts={"activation": f"{i:08x}"}) for i, name in enumerate(names)]
    styles = explore.of_records({"own": own})["studies"]["own"]["styles"]
    assert len({style["colour"] for style in styles.values()}) == 12
    assert len({style["shape"] for style in styles.values()}) == 12


def test_a_corners_half_width_is_in_its_name():
    half = {"relu": "0", "smelu_05": "0.5", "smelu_1": "1", "smelu_0.003": "0.003", "gelu": None}
    assert {name: explore.corner(name) for name in half} == half


def test_studies_are_read_from_the_results_folder():
    """No folder, no study; or those that are named."""
    assert explore.studies()["studies"] == {}
    grids.save(grids.record(), study="repro-lite")
    assert list(explore.studies()["studies"]) == list(explore.studies(["repro-lite"])["studies"]) == ["repro-lite"]


def test_levels_are_in_the_studies_order():
    assert in_order({"0.1", "1e-4", "0.01"}) == ["1e-4", "0.01", "0.1"]
    assert in_order({"lite", "1m", "33k", "116k"}) == ["33k", "116k", "1m", "lite"]
    assert in_order({"swiglu", "zeta", "relu", "mish"}) == ["relu", "swiglu", "mish", "zeta"]
