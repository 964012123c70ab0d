"""The page on larger models: known shares, the rule's three outcomes, growth."""

import grids
import numpy as np
import pytest

from actlab.chapters import report

SCALES = {"33k": 33_000, "116k": 116_000, "lite": 437_000}


def arm(size, activation, losses):
    """A record of the size."""
    record = grids.record("charlm", activation, losses, scale=size)
    for trial in record["trials"]:
        trial["n_parameters"] = SCALES[size]
    return record | {"arm": f"{activation}-{size}"}


def study(effects, *more):
    """relu and gelu at each size; gelu's loss lies ``effect`` away from relu's; ``more``: further seeds of gelu."""
    seeds = np.array([-0.01, 0.0, 0.01])
    noise = {"relu": seeds, "gelu": np.append(seeds[[1, 0, 2]], more)}
    return [
        arm(s, a, tuple(2.0 + effect * (a == "gelu") + noise[a]))
        for s, effect in effects.items()
        for a in ("relu", "gelu")
    ]


FALLING, RISING = {"33k": 0.5, "116k": 0.05, "lite": 0.0}, {"33k": 0.0, "116k": 0.05, "lite": 0.5}


@pytest.mark.parametrize(
    ("effects", "outcome"),
    [(FALLING, "supported"), (RISING, "contradicted"), (dict.fromkeys(SCALES, 0.02), "undecided")],
)
def test_the_rule_has_three_outcomes(effects, outcome):
    """As params/scale.yaml words them."""
    grid = report.read(study(effects))
    assert report.verdict(grid) == outcome


def test_two_complete_sizes_make_no_trend():
    """A rank correlation of two points is always 1 or -1: the rule waits; an incomplete size is shown, not judged."""
    two, incomplete = report.read(study({"33k": 0.5, "116k": 0.0})), report.read(study(FALLING)[:-1])
    assert np.isnan(report.trend(two))
    assert all(report.verdict(grid).startswith("waits for records: complete sizes: 2") for grid in (two, incomplete))


@pytest.mark.parametrize(("sign", "effects", "moved"), [(1, RISING, 0.5), (-1, RISING, 0.5), (1, FALLING, -0.5)])
def test_growth_is_a_difference_of_differences(sign, effects, moved):
    """Away from relu's loss counts as growth on either side of it; one size has none."""
    last = {"lite": effects["lite"] + 0.001}
    grid = report.read(study({name: sign * effect for name, effect in (effects | last).items()}))
    assert report.growth(grid)["gelu"].value == pytest.approx(moved, abs=0.002)
    assert report.growth(report.read(study({"lite": 0.5}))) == {}


def test_sizes_are_compared_over_the_seeds_that_all_arms_have():
    """gelu has a fourth seed, far off, at both sizes: growth and share are those of the three that relu has too."""
    own, more = (report.read(records) for records in (study(RISING), study(RISING, 7.0)))
    assert report.growth(more) == report.growth(own)
    assert report.shares(more) == report.shares(own)
