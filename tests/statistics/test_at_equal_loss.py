"""Equal loss over tidy tables: arms along one curve, and what cannot be read. ``records/test_answer_recomputed`` has
committed records again in NumPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import actlab
from actlab.errors import BadInput, UnknownName

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
    assert found["status"].to_dict() == {"gelu": "ok", "still": "excluded"}
    assert found.loc["gelu", "loss"] == pytest.approx(2.5, abs=0.02)
    assert found.loc["gelu", "p_holm"] == pytest.approx(min(1, 2 * found.loc["gelu", "p"]))
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
    twice = pd.concat([curves.assign(dataset="a"), curves.assign(dataset="b")])
    with pytest.raises(BadInput, match=r"several of charlm, relu: .*columns that differ: dataset$"):
        actlab.equal_loss(twice, pairs)
    with pytest.raises(UnknownName, match="did you mean 'relu'"):
        actlab.equal_loss(curves, pairs, reference="rleu")
