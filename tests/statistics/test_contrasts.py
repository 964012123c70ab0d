"""The one comparison: known answers from SciPy and by hand, what it does with missing and diverged runs, and what must
not change it."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import actlab
from actlab.errors import BadInput

VALUES = ["n", "reference", "estimate", "difference", "low", "high", "se", "df", "p", "p_holm"]


def runs(levels, model="charlm"):
    """A table of runs from level -> values; seeds 42, ..."""
    rows = [(model, level, 42 + i, value) for level, values in levels.items() for i, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["model", "activation", "seed", "loss"])


def pairs(levels, model="charlm"):
    """A table of pairs from level -> symmetric matrix."""
    rows = [
        (model, level, str(i), str(j), matrix[i, j])
        for level, matrix in levels.items()
        for i, j in itertools.combinations(range(len(matrix)), 2)
    ]
    return pd.DataFrame(rows, columns=["model", "activation", "first", "second", "pd"])


def symmetric(generator, size=5):
    half = np.triu(generator.uniform(0.1, 0.3, (size, size)), 1)
    return half + half.T


def test_over_runs_it_is_the_paired_t_test_of_scipy():
    """Difference, interval and p; Holm of three p-values by hand."""
    generator = np.random.default_rng(0)
    values = {name: generator.normal(50, 1, 6) for name in ("relu", "gelu", "swish", "elu")}
    found = actlab.contrasts(runs(values), "loss")
    p = []
    for row in found.itertuples():
        test = stats.ttest_rel(values[row.activation], values["relu"])
        interval = test.confidence_interval(0.95)
        assert (row.low, row.high, row.p) == pytest.approx((interval.low, interval.high, test.pvalue), rel=1e-9)
        assert (row.reference, row.estimate) == pytest.approx((values["relu"].mean(), values[row.activation].mean()))
        assert (row.n, row.df, row.status) == (6, 5, "ok")
        p.append(test.pvalue)
    first, second, third = sorted(p)
    by_hand = [min(1, 3 * first), min(1, max(3 * first, 2 * second)), min(1, max(3 * first, 2 * second, third))]
    assert sorted(found["p_holm"]) == pytest.approx(by_hand)


matrices = st.integers(0, 2**32 - 1).map(np.random.default_rng).map(lambda g: (symmetric(g), symmetric(g)))


@given(matrices, st.randoms(use_true_random=False), st.floats(-10, 10))
def test_what_changes_a_contrast_and_what_does_not(both, random, constant):
    """A swap of the reference flips the sign; the order of rows and a constant change nothing; nor does the order in
    which a pair names its runs."""
    table = pairs(dict(zip(("relu", "gelu"), both, strict=True)))
    table = pd.concat([table, table.assign(model="convlm", pd=table["pd"] ** 2)])
    found = actlab.contrasts(table, "pd").set_index("model")[VALUES]
    swapped = actlab.contrasts(table, "pd", reference="gelu").set_index("model")
    flipped = swapped.assign(
        difference=-swapped["difference"], low=-swapped["high"], high=-swapped["low"],
        reference=swapped["estimate"], estimate=swapped["reference"],
    )  # fmt: skip
    pd.testing.assert_frame_equal(flipped[VALUES], found)
    order = random.sample(range(len(table)), len(table))
    turned = table.iloc[order].rename(columns={"first": "second", "second": "first"})
    again = actlab.contrasts(turned, "pd").set_index("model").loc[found.index]
    pd.testing.assert_frame_equal(again[VALUES], found)
    moved = actlab.contrasts(table.assign(pd=table["pd"] + constant), "pd").set_index("model")
    same = ["n", "difference", "low", "high", "se", "p"]
    pd.testing.assert_frame_equal(moved[same], found[same], rtol=1e-6, atol=1e-9)


def test_a_user_compares_what_they_computed():
    """A logarithm of a column; another factor and reference; no group."""
    table = runs({"relu": [1.0, 2.0, 4.0], "gelu": [2.0, 4.0, 8.0]}).assign(log=lambda t: np.log(t["loss"]))
    found = actlab.contrasts(table, "log", by=[])
    assert found["difference"].tolist() == pytest.approx([np.log(2)])
    by_seed = actlab.contrasts(table.assign(seed=table["activation"], run=table["seed"]), "loss", ["model"], "run", 42)
    assert by_seed["run"].tolist() == [43, 44]


def test_missing_too_few_and_diverged_are_told():
    """None of them has a p-value; what is recorded counts in the family, what is planned counts too."""
    nan = np.nan
    table = pd.concat(
        [
            runs({"relu": [1.0, 2.0, 3.0], "gelu": [1.1, 2.3, 3.1], "swish": [9.0, nan, nan], "elu": [nan] * 3}),
            runs({"relu": [1.0], "gelu": [1.5]}, model="convlm"),
        ]
    )
    found = actlab.contrasts(table, "loss").set_index(["model", "activation"])
    words = {cell: row["status"] for cell, row in found.iterrows()}
    assert words == {
        ("charlm", "gelu"): "ok",
        ("charlm", "swish"): "diverged",
        ("charlm", "elu"): "diverged",
        ("convlm", "gelu"): "too few",
        ("convlm", "swish"): "missing",
        ("convlm", "elu"): "missing",
    }
    assert found["p"].notna().tolist() == found["p_holm"].notna().tolist() == [True] + [False] * 5
    one = found.loc[("charlm", "gelu")]
    assert one["p_holm"] == pytest.approx(min(1, 4 * one["p"]))
    assert found.loc[("charlm", "swish"), ["n", "difference"]].tolist() == [1, 8.0]
    ten = actlab.contrasts(table, "loss", planned=10)
    assert ten["p_holm"][0] == pytest.approx(min(1, 10 * one["p"]))
    cells = [("charlm", "gelu"), ("tinylstm", "gelu"), ("tinylstm", "swish")]
    listed = actlab.contrasts(table, "loss", planned=cells)
    assert listed["status"].tolist() == ["ok", "missing", "missing"]
    assert listed["p_holm"][0] == pytest.approx(min(1, 3 * one["p"]))


def test_runs_of_other_seeds_are_compared_by_welch():
    """As SciPy has it; no p between constant arms; without it they cannot be compared."""
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=4), generator.normal(1, 3, size=7)
    table = pd.concat([runs({"relu": a}), runs({"gelu": b}).assign(seed=range(100, 107))])
    found = actlab.contrasts(table, "loss", unpaired=True).iloc[0]
    expected = stats.ttest_ind(b, a, equal_var=False)
    assert found[["difference", "p", "n"]].tolist() == pytest.approx([b.mean() - a.mean(), expected.pvalue, 11])
    assert found[["low", "high"]].tolist() == pytest.approx([*expected.confidence_interval()])
    assert (found["df"], found["difference"] / found["se"]) == pytest.approx((expected.df, expected.statistic))
    assert (found["status"], actlab.contrasts(table, "loss")["status"].item()) == ("unpaired", "too few")
    constant = table.assign(loss=(table["activation"] == "gelu").astype(float))
    found = actlab.contrasts(constant, "loss", unpaired=True).iloc[0]
    assert (found["difference"], found["status"], np.isnan(found["p"])) == (1.0, "no spread", True)


def test_families_are_apart():
    """Each value of the family's column is adjusted on its own."""
    values = {"relu": [1.0, 2.0, 3.0, 4.5], "gelu": [1.1, 2.3, 3.1, 4.7], "swish": [1.0, 2.2, 3.4, 4.4]}
    table = pd.concat([runs(values, model) for model in ("charlm", "convlm")])
    apart = actlab.contrasts(table, "loss", family="model")
    alone = actlab.contrasts(runs(values), "loss")
    assert apart["p_holm"].tolist() == [*alone["p_holm"]] * 2
    assert "p_holm" not in actlab.contrasts(table, "loss", correction=None)


def test_equivalence_is_two_one_sided_tests_of_scipy():
    """Within a wide margin, not within a narrow one; the larger of the two one-sided p-values; outcomes in words."""
    generator = np.random.default_rng(1)
    relu = generator.normal(0, 1, 8)
    levels = {"relu": relu, "near": relu + generator.normal(0, 0.01, 8), "far": relu + generator.normal(1, 0.1, 8)}
    found = actlab.contrasts(runs(levels), "loss", margin=0.05).set_index("activation")
    d = levels["near"] - relu
    sides = (
        stats.ttest_1samp(d, -0.05, alternative="greater").pvalue,
        stats.ttest_1samp(d, 0.05, alternative="less").pvalue,
    )
    assert found.loc["near", "p_equivalent"] == pytest.approx(max(sides), rel=1e-6)
    assert found["outcome"].tolist() == ["equivalent", "higher"]
    assert set(actlab.contrasts(runs(levels), "loss", margin=1e-9)["outcome"]) == {"undecided", "higher"}
    assert actlab.contrasts(runs(levels), "loss", reference="far", margin=0.05)["outcome"].tolist() == ["lower"] * 2


def test_a_bound_holds_for_all():
    """max |d| + t(0.95) se by hand; none where one comparison has no interval."""
    table = runs({"relu": [0.0, 0.0, 0.0], "gelu": [1.0, 2.0, 3.0], "swish": [-1.0, -1.1, -1.2]})
    reach = stats.t.ppf(0.95, 2) * 1 / np.sqrt(3)
    assert actlab.bound(actlab.contrasts(table, "loss")) == pytest.approx(2 + reach)
    assert np.isnan(actlab.bound(actlab.contrasts(pd.concat([table, runs({"elu": [1.0]})]), "loss")))


def test_ensembles_leave_a_member_out_of_both_arms():
    """Pairs of ensembles beside pairs of single runs: the jackknife by hand."""
    single = pairs({"relu": symmetric(np.random.default_rng(0), 4)}).assign(size=1)
    double = pd.DataFrame(
        {"model": "charlm", "activation": "relu", "first": [("0", "1"), ("0", "2")], "second": [("2", "3"), ("1", "3")]}
    ).assign(pd=[0.1, 0.14], size=2)
    found = actlab.contrasts(pd.concat([single, double]), "pd", ["model"], "size", 1).iloc[0]
    assert (found["n"], found["status"]) == (4, "too few")  # without any run no pair of two ensembles of two is left
    assert found["difference"] == pytest.approx(0.12 - single["pd"].mean())


TABLE = runs({"relu": [1.0, 2.0, 3.0], "gelu": [1.1, 2.3, 3.1]})
TWICE = pd.concat([TABLE.assign(varies="all"), TABLE.assign(varies="init")])


@pytest.mark.parametrize(
    ("message", "table", "how"),
    [
        ("unknown column 'los': did you mean 'loss'", TABLE, {"metric": "los"}),
        ("unknown level of activation 'rleu': did you mean 'relu'", TABLE, {"reference": "rleu"}),
        (r"several of charlm, relu: add a column to by.*columns that differ: varies$", TWICE, {}),
        ("unknown correction 'bonferroni'", TABLE, {"correction": "bonferroni"}),
        ("expected a row a run", TABLE.rename(columns={"seed": "first"}), {"unpaired": True}),  # 26% false alarms
    ],
)
def test_what_cannot_be_compared_is_refused(message, table, how):
    """Unknown names with a hint, several rows of a run, pairs without their runs."""
    with pytest.raises(BadInput, match=message):
        actlab.contrasts(table, **{"metric": "loss"} | how)
    assert len(actlab.contrasts(TWICE, "loss", by=["model", "varies"])) == 2


def test_runs_that_all_agree_have_no_interval_and_no_p():
    """An accuracy in steps, whose differences tie: five runs that agree show no certainty. Rounding is no spread."""
    right = np.array([33.3, 66.7, 100 / 3, 41.7, 58.3])
    table = runs({"relu": right, "gelu": right + 1.0, "elu": right, "swish": right + np.array([1, 1, 1, 1, 2])})
    found = actlab.contrasts(table, "loss", margin=0.5).set_index("activation")
    assert found["status"].tolist() == ["no spread", "no spread", "ok"]
    assert found["difference"].tolist() == pytest.approx([1.0, 0.0, 1.2])
    assert found.loc[["gelu", "elu"], ["low", "high", "p", "p_holm", "p_equivalent"]].isna().all(axis=None)
    assert found.loc["gelu", "outcome"] == "undecided"
    assert found.loc["swish", "p_holm"] == pytest.approx(3 * found.loc["swish", "p"]), "the others count"
    assert np.isnan(actlab.bound(found))
    same = actlab.means(runs({"relu": [50.0] * 4}), "loss").iloc[0]
    assert (same["estimate"], same["se"], np.isnan(same["low"])) == (50.0, 0.0, True)


def test_a_margin_with_one_level_compares_nothing():
    """A study that has grown to one activation only: no row, as without a margin."""
    alone = pd.DataFrame({"model": "m", "activation": "relu", "seed": [1, 2, 3], "val_loss": [1.0, 2.0, 3.0]})
    assert actlab.contrasts(alone, "val_loss", margin=0.5).empty
    assert actlab.contrasts(alone.iloc[:0], "val_loss", margin=0.5).empty
