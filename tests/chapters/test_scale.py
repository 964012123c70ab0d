"""Size and sensitivity: known shares, the decision rule's three outcomes, and what is missing says so."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import grids

from actlab.chapters import scale as figures
from actlab.records import scale as scale_records
from actlab.records.store import Record
from actlab.statistics.variance import block_share

SCALES = {"33k": 33_000, "116k": 116_000, "lite": 437_000}


def arm(scale: str, activation: str, losses: tuple[float, ...]) -> Record:
    """A record of the size."""
    record = grids.record("charlm", activation, losses)
    trials = [{**trial, "n_parameters": SCALES[scale]} for trial in record["trials"]]
    return {**record, "arm": f"{activation}-{scale}", "trials": trials, "config": {**record["config"], "scale": scale}}


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
    sizes = scale_records.read_sizes([*reversed(study(FALLING)), grids.baseline()])
    assert [scale_records.scale_of(grid) for grid in sizes.grids] == list(SCALES)
    assert [scale_records.parameters(grid) for grid in sizes.grids] == list(SCALES.values())
    assert sizes.activations == ("relu", "gelu")


def test_share_takes_the_shared_seeds_into_account() -> None:
    """A level that every arm has at a seed widens the interval; taken for independent (as before) it would have
    narrowed it."""
    grid = scale_records.read_sizes(study({"lite": 0.03})).grids[0]
    table = np.array([a.values("val_loss") for a in grid.arms.values()]).T
    assert scale_records.share(grid) == block_share(table, np.random.default_rng(0))
    moved = block_share(table + 0.1 * np.arange(3)[:, None], np.random.default_rng(0))
    assert moved.value < scale_records.share(grid).value


@pytest.mark.parametrize(
    ("effects", "outcome"),
    [(FALLING, "supported"), (RISING, "contradicted"), (dict.fromkeys(SCALES, 0.02), "undecided")],
)
def test_the_rule_has_three_outcomes(effects: dict[str, float], outcome: str) -> None:
    """As params/scale.yaml words them."""
    sizes = scale_records.read_sizes(study(effects))
    assert scale_records.verdict(sizes) == outcome
    assert f'"{outcome}"' in scale_records.sentences(sizes)["scale_rule"]


def test_two_sizes_make_no_trend() -> None:
    """A rank correlation of two points is always 1 or -1: the rule waits."""
    sizes = scale_records.read_sizes(study({"33k": 0.5, "116k": 0.0}))
    assert np.isnan(scale_records.trend(sizes))
    assert scale_records.verdict(sizes).startswith("waits for records: complete sizes: 2")


def test_an_incomplete_size_is_shown_but_not_judged() -> None:
    """With the largest size's gelu missing two complete sizes are left."""
    sizes = scale_records.read_sizes(study(FALLING)[:-1])
    assert scale_records.verdict(sizes).startswith("waits")
    assert scale_records.table(sizes).loc["lite", "activations recorded"] == "1 of 2"
    assert scale_records.differences(sizes).shape == (1, 2)


def test_differences_are_paired_and_adjusted() -> None:
    """The difference from relu is the effect; only sure ones carry a star."""
    frame = scale_records.differences(scale_records.read_sizes(study({"33k": 0.5, "lite": 0.0})))
    assert frame.loc["gelu minus relu", "33,000 parameters"].startswith("0.5000")
    assert frame.loc["gelu minus relu", "33,000 parameters"].endswith("*")
    assert not frame.loc["gelu minus relu", "437,000 parameters"].endswith("*")


def test_growth_is_a_difference_of_differences() -> None:
    """gelu less relu falls by 0.5 nats from the smallest to the largest size; one size has none."""
    sizes = scale_records.read_sizes(study(FALLING))
    assert scale_records.growth(sizes)["gelu"].value == pytest.approx(-0.5)
    assert (
        "33,000 to 437,000 parameters a difference of loss from relu moves by (nats, 95%) gelu -0.500"
        in scale_records.sentences(sizes)["scale_growth"]
    )
    assert scale_records.growth(scale_records.read_sizes(study({"lite": 0.5}))) == {}


def test_without_records_the_page_says_so() -> None:
    """No number is invented, and the figure has its place."""
    empty = scale_records.read_sizes([])
    assert scale_records.sentences(empty)["scale_extent"].startswith("No record yet")
    assert (
        list(scale_records.table(empty).index)
        == list(scale_records.differences(empty).index)
        == [scale_records.NO_RECORD]
    )
    figures.figure(empty).canvas.draw()


def test_the_figure_shows_every_size() -> None:
    """Three ticks a panel, one line an activation beside relu."""
    left, right = figures.figure(scale_records.read_sizes(study(FALLING))).axes
    assert (
        [label.get_text() for label in left.get_xticklabels()]
        == [label.get_text() for label in right.get_xticklabels()]
        == ["33k", "116k", "437k"]
    )
    assert len(left.containers) == len(right.containers) == 1
