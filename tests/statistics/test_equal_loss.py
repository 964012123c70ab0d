"""Equal loss: arms along one curve, what cannot be read, known answers, and a simulation with known truth.
``records/test_answer_recomputed`` has committed records again in NumPy."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import actlab
from actlab.statistics.equal_loss import Curves, at_level
from actlab.statistics.samples import Sample

STEPS = (0, 100, 200, 300)


def made(speeds, slope=0.2, shift=None, seeds=5, model="charlm"):
    """(curves, pairs): arms at their own speeds, whose metric is a line of the loss plus a shift; seeds differ by a
    constant loss and a constant metric."""
    random = np.random.default_rng(0)
    luck, apart = random.normal(0, 0.01, seeds), random.normal(0, 0.002, seeds)
    curves, pairs = [], []
    for level, speed in speeds.items():
        for step in STEPS:
            loss = 4.0 - speed * step / 100
            arm = {"model": model, "activation": level, "iteration": step}
            curves += [arm | {"trial": str(i), "val_loss": loss + luck[i]} for i in range(seeds)]
            value = 1 - slope * loss + (shift or {}).get(level, 0)
            pairs += [
                arm | {"first": str(i), "second": str(j), "total_variation": value + apart[i] + apart[j]}
                for i in range(seeds)
                for j in range(i)
            ]
    return pd.DataFrame(curves), pd.DataFrame(pairs)


def test_arms_along_one_line_do_not_differ_and_a_shift_is_found():
    """The slowest arm ends at 3.4 nats, where all are read; a shift comes out as it went in, however fast."""
    tables = made({"relu": 0.2, "gelu": 0.5, "swish": 0.9}, shift={"swish": 0.03})
    found = actlab.equal_loss(*tables, margin=0.01).set_index("activation")
    assert found["loss"].tolist() == pytest.approx([3.4, 3.4], abs=0.02)
    assert found["difference"].tolist() == pytest.approx([0, 0.03], abs=1e-9)
    assert found["n"].tolist() == [5, 5]
    earlier = actlab.equal_loss(*tables, share=0.5)
    assert earlier["loss"].tolist() == pytest.approx([3.7, 3.7], abs=0.02)


def test_seeds_of_equal_losses_are_read_by_an_analysis_of_covariance():
    """SciPy's line through each arm's pairs at the last evaluation; arms that differ only because their seeds' losses
    scatter more do not differ any more."""
    random, (i, j) = np.random.default_rng(3), np.triu_indices(6, 1)
    curves, pairs, expected = [], [], []
    for level, scatter in (("relu", 0.05), ("wide", 0.2)):
        luck = random.normal(0, scatter, 6)
        apart = np.abs(luck[i] - luck[j])
        value = 0.1 + 0.4 * apart + random.normal(0, 0.001, len(i))
        expected.append(stats.linregress(apart, value).intercept)
        for step, losses in ((0, np.full(6, 3.0)), (1, 2 + luck - luck.mean())):
            arm = {"model": "charlm", "activation": level, "iteration": step}
            curves += [arm | {"trial": str(k), "val_loss": loss} for k, loss in enumerate(losses)]
            pairs += [arm | {"first": str(a), "second": str(b), "tv": v} for a, b, v in zip(i, j, value, strict=True)]
    tables = pd.DataFrame(curves), pd.DataFrame(pairs)
    plain, found = (actlab.at_equal_loss(*tables, "tv", equal_seeds=same).query("left_out == ''") for same in (0, 1))
    assert found["value"].tolist() == pytest.approx(expected)
    assert np.ptp(found["value"]) < 0.004 < 0.03 < np.ptp(plain["value"])


def test_the_values_left_out_make_any_jackknife():
    """The difference of two arms from ``at_equal_loss`` is that of ``equal_loss``; across groups all use the runs that
    every arm has."""
    curves, pairs = made({"relu": 0.2, "gelu": 0.5}, shift={"gelu": 0.01})
    more = [table.assign(model="convlm") for table in made({"relu": 0.3, "gelu": 0.5}, seeds=4)]
    tables = pd.concat([curves, more[0]]), pd.concat([pairs, more[1]])
    for across, n in ((False, 5), (True, 4)):
        read = actlab.at_equal_loss(*tables, across=across)
        wide = read[read["model"] == "charlm"].pivot(index="left_out", columns="activation", values="value")
        found = actlab.jackknife(wide["gelu"] - wide["relu"])
        assert (found["n"], found["estimate"]) == (n, pytest.approx(0.01))
    direct = actlab.equal_loss(curves, pairs).iloc[0]
    alone = actlab.at_equal_loss(curves, pairs).pivot(index="left_out", columns="activation", values="value")
    assert actlab.jackknife(alone["gelu"] - alone["relu"])["se"] == pytest.approx(direct["se"], abs=1e-12)


def test_what_is_left_out_is_told():
    """Above the bound: excluded, and it sets no level; not recorded: missing; one that diverged leaves the others; an
    arm that begins below the level has no value."""
    curves, pairs = made({"relu": 0.5, "gelu": 0.6, "still": 0.0})
    found = actlab.equal_loss(curves, pairs, exclude_above=3.5, planned=2).set_index("activation")
    assert found["status"].to_dict() == {"gelu": "no spread", "still": "excluded"}  # one function of the loss
    assert found.loc["gelu", "loss"] == pytest.approx(2.5, abs=0.02)
    other = pd.concat([curves, curves[curves["activation"] == "relu"].assign(model="convlm")])
    both = pd.concat([pairs, pairs[pairs["activation"] == "relu"].assign(model="convlm")])
    words = actlab.equal_loss(other, both).set_index(["model", "activation"])["status"]
    assert words["convlm"].tolist() == ["missing", "missing"]
    ended = curves[~((curves["trial"] == "0") & (curves["iteration"] > 100) & (curves["activation"] == "gelu"))]
    assert actlab.equal_loss(ended, pairs, exclude_above=3.5)["n"].tolist() == [4, 0]
    lost = curves[(curves["activation"] != "gelu") | (curves["iteration"] < 200) | (curves["trial"] < "2")]
    assert actlab.equal_loss(lost, pairs, exclude_above=3.5)["status"].tolist() == ["diverged", "excluded"]
    begun = curves.assign(val_loss=curves["val_loss"] - 2 * (curves["activation"] == "gelu"))
    assert actlab.equal_loss(begun, pairs, exclude_above=3.5)["status"].tolist() == ["not read", "excluded"]


def curves_of(losses, pairs):
    """Of (runs, E) losses and (pairs, E) values, in the order of the runs and their pairs."""
    runs = [str(i) for i in range(len(losses))]
    of_runs, of_pairs = ([*map(frozenset, combinations(runs, size))] for size in (1, 2))
    return Curves(Sample(losses, of_runs), Sample(pairs, of_pairs))


def arm(losses, values, trials=3):
    """Trials without any scatter: every trial has these losses, every pair these values, one an evaluation."""
    pairs = np.ones((math.comb(trials, 2), 1)) * values
    return curves_of(np.ones((trials, 1)) * losses, pairs)


SLOW_AND_FAST = [arm([3.0, 2.6, 2.2], [0.1, 0.2, 0.3]), arm([3.0, 2.4, 2.0], [0.1, 0.3, 0.5])]
BUMPY_AND_LOW = [arm([3.0, 2.5], [0.1, 0.2]), arm([3.0, 2.0, 2.5, 1.0], [0.1, 0.3, 0, 0]), arm([2.4, 2.0], [0.1, 0.3])]


@pytest.mark.parametrize(
    ("arms", "share", "level", "values"),
    [
        (SLOW_AND_FAST, 0, 2.2, [0.3, 0.4]),  # half-way from fast's 2.4 to its 2.0, where its metric is half-way too
        (SLOW_AND_FAST, 0.25, 2.4, [0.25, 0.3]),  # a quarter of the way up to 3.0
        (BUMPY_AND_LOW, 0, 2.5, [0.2, 0.2, math.nan]),  # where it first comes down; not where it begins below
    ],
)
def test_arms_are_read_where_the_slowest_one_ends(arms, share, level, values):
    found, levels = at_level(arms, list("012"), share)
    np.testing.assert_allclose(levels, level)
    np.testing.assert_allclose(found, [values] * 4)


def drawn(generator, speed, shift):
    """The difference of two arms whose metric is one U-shaped function of the loss (as in charlm), ``shift`` apart; the
    other is faster."""
    times, shared = np.linspace(1, 10, 8), generator.normal(0, [[0.02], [0.004]], (2, 5))
    arms = []
    i, j = np.triu_indices(5, 1)
    for rate, apart in ((1.0, 0.0), (speed, shift)):
        own = shared + generator.normal(0, [[0.02], [0.004]], (2, 5))
        losses = 1.8 + 1.4 * np.exp(-rate * times / 5)[:, None] + own[0] + generator.normal(0, 0.005, (8, 5))
        noise = generator.normal(0, 0.002, (8, len(i)))
        pairs = 0.08 + 0.08 * ((losses[:, i] + losses[:, j]) / 2 - 2.5) ** 2 + apart + own[1, i] + own[1, j] + noise
        arms.append(curves_of(losses.T, pairs.T))
    return actlab.jackknife(np.diff(at_level(arms, list("01234"))[0]).ravel())


def test_equal_curves_at_different_speeds_are_told_apart_no_more_often_than_said():
    """Known truth: false alarms are 5% at most within 3 standard errors; a true difference lies in its interval in 95%
    of the draws."""
    repeats, generator = 300, np.random.default_rng(4)
    limit = 3 * math.sqrt(0.05 * 0.95 / repeats)
    same, other = ([drawn(generator, 1.4, shift) for _ in range(repeats)] for shift in (0.0, 0.02))
    assert np.mean([e["p"] < 0.05 for e in same]) < 0.05 + limit
    assert np.mean([e["low"] <= 0.02 <= e["high"] for e in other]) > 0.95 - limit
    assert np.mean([e["estimate"] for e in same]) == pytest.approx(0, abs=4 * 0.005 / math.sqrt(repeats))
    assert np.mean([e["p"] < 0.05 for e in other]) > 0.6


def test_a_run_counts_where_it_has_a_loss_and_pairs():
    """Curves of six runs beside pairs of three are three runs, with the interval of three."""
    curves, pairs = made({"relu": 0.2, "gelu": 0.5}, seeds=6)
    few = pairs[pairs["first"].isin(list("012")) & pairs["second"].isin(list("012"))]
    own = curves[curves["trial"].isin(list("012"))]
    pd.testing.assert_frame_equal(actlab.equal_loss(curves, few), actlab.equal_loss(own, few))
    assert actlab.equal_loss(curves, few)["n"].tolist() == [3]


def test_a_pair_without_a_value_at_an_evaluation_is_left_out():
    """As everywhere; its runs stay with their other pairs."""
    curves, pairs = made({"relu": 0.2, "gelu": 0.5})
    one = (pairs["first"] == "1") & (pairs["second"] == "0")
    holed = pairs.assign(total_variation=pairs["total_variation"].mask(one & (pairs["iteration"] == 100)))
    pd.testing.assert_frame_equal(actlab.equal_loss(curves, holed), actlab.equal_loss(curves, pairs[~one]))
    assert actlab.equal_loss(curves, holed)["n"].tolist() == [5]
