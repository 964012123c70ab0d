"""Size and sensitivity: known shares, the decision rule's three outcomes, and what is missing says so."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import grids

from actlab.chapters import scale
from actlab.records.store import Record
from actlab.statistics.variance import block_share

SCALES = {"33k": 33_000, "116k": 116_000, "lite": 437_000}


def arm(size: str, activation: str, losses: tuple[float, ...]) -> Record:
    """A record of the size."""
    record = grids.record("charlm", activation, losses)
    trials = [{**trial, "n_parameters": SCALES[size]} for trial in record["trials"]]
    return {**record, "arm": f"{activation}-{size}", "trials": trials, "config": {**record["config"], "scale": size}}


def study(effects: dict[str, float], spread: float = 0.01) -> list[Record]:
    """relu and gelu at each size; gelu's loss lies ``effect`` away from relu's, seeds ``spread`` apart."""
    seeds = np.array([-spread, 0.0, spread])
    noise = {"relu": seeds, "gelu": seeds[[1, 0, 2]]}
    return [
        arm(s, a, tuple(2.0 + effect * (a == "gelu") + noise[a]))
        for s, effect in effects.items()
        for a in ("relu", "gelu")
    ]


FALLING, RISING = {"33k": 0.5, "116k": 0.05, "lite": 0.0}, {"33k": 0.0, "116k": 0.05, "lite": 0.5}


def test_sizes_come_smallest_first_with_their_counts() -> None:
    """Whatever the order of the records."""
    grid = scale.read([*reversed(study(FALLING)), grids.baseline()])
    assert scale.sizes(grid) == {f"charlm, scale={name}": size for name, size in SCALES.items()}
    assert grid.activations == ("relu", "gelu")


def test_share_takes_the_shared_seeds_into_account() -> None:
    """A level that every arm has at a seed widens the interval; taken for independent (as before) it would have
    narrowed it."""
    grid = scale.read(study({"lite": 0.03}))
    table = np.array([a.values("val_loss") for a in grid.arms.values()]).T
    assert scale.share(grid, "charlm") == block_share(table, np.random.default_rng(0))
    moved = block_share(table + 0.1 * np.arange(3)[:, None], np.random.default_rng(0))
    assert moved.value < scale.share(grid, "charlm").value


@pytest.mark.parametrize(
    ("effects", "outcome"),
    [(FALLING, "supported"), (RISING, "contradicted"), (dict.fromkeys(SCALES, 0.02), "undecided")],
)
def test_the_rule_has_three_outcomes(effects: dict[str, float], outcome: str) -> None:
    """As params/scale.yaml words them."""
    grid = scale.read(study(effects))
    assert scale.verdict(grid) == outcome
    assert f'"{outcome}"' in scale.sentences(grid)["scale_rule"]


def test_two_complete_sizes_make_no_trend() -> None:
    """A rank correlation of two points is always 1 or -1: the rule waits; an incomplete size is shown, not judged."""
    two, incomplete = scale.read(study({"33k": 0.5, "116k": 0.0})), scale.read(study(FALLING)[:-1])
    assert np.isnan(scale.trend(two))
    assert all(scale.verdict(grid).startswith("waits for records: complete sizes: 2") for grid in (two, incomplete))
    assert scale.table(incomplete).loc["lite", "activations recorded"] == "1 of 2"
    assert scale.differences(incomplete).shape == (1, 2)


def test_differences_are_paired_and_adjusted() -> None:
    """The difference from relu is the effect; only significant ones carry a star."""
    frame = scale.differences(scale.read(study({"33k": 0.5, "lite": 0.0})))
    small, large = frame.loc["gelu minus relu", ["33,000 parameters", "437,000 parameters"]]
    assert small.startswith("0.5000")
    assert (small[-1], large[-1]) == ("*", "]")


def test_growth_is_a_difference_of_differences() -> None:
    """gelu minus relu falls by 0.5 nats from the smallest to the largest size; one size has none."""
    grid = scale.read(study(FALLING))
    assert scale.growth(grid)["gelu"].value == pytest.approx(-0.5)
    said = scale.sentences(grid)["scale_growth"]
    assert "33,000 to 437,000 parameters a difference of loss from relu moves by (nats, 95%) gelu -0.500" in said
    assert scale.growth(scale.read(study({"lite": 0.5}))) == {}


def test_without_records_the_page_says_so() -> None:
    """No number is invented, and the figure has its place."""
    empty = scale.read([])
    assert scale.sentences(empty)["scale_extent"].startswith("No record yet")
    assert all("no record yet" in str(table(empty)) for table in (scale.table, scale.differences))
    scale.figure(empty).canvas.draw()


def test_the_figure_shows_every_size() -> None:
    """Three ticks a panel, one line an activation beside relu."""
    left, right = scale.figure(scale.read(study(FALLING))).axes
    ticks = [[label.get_text() for label in axes.get_xticklabels()] for axes in (left, right)]
    assert ticks == [["33k", "116k", "437k"]] * 2
    assert len(left.containers) == len(right.containers) == 1
