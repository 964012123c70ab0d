"""Numbers of notebooks/remedies.ipynb."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees

Tests = dict[tuple[str, str], pd.DataFrame]
ARM = ["model", "activation"]
NETWORKS = ["two networks of half the steps", "three networks of a third"]


def check_results(results: pd.DataFrame, beside: dict[str, pd.DataFrame]) -> None:
    """Four remedies for ReLU, before and after."""
    table = results.loc[["averaged weights", *NETWORKS, "rate falling from step 1"]]
    agrees(table["before"], [19.8, 19.8, 19.8, 19.3], "before", digits=1)
    agrees(table["after"], [13.4, 14.6, 11.5, 13.8], "after", digits=1)
    agrees(table["loss"], [-0.028, 0.088, 0.183, -0.014], "change of the loss", digits=3)
    agrees(table["architectures"].tolist(), [6, 6, 6, 2], "architectures")
    agrees(table["seeds"].tolist(), [10, 10, 10, 5], "seeds")
    moved = (table["change"] - table["equal loss"]).abs()
    holds(moved.max() < 0.7, "read at equal loss the changes are nearly the same")
    holds(table["high"].max() < -2.6, "half the rate and another architecture change less than any remedy")
    best = table["change"].where(table["loss"] <= 0)[["averaged weights", *NETWORKS]].idxmin()
    agrees(best, "averaged weights", "does most of those that do not raise the loss")
    agrees([*table.index[:3][table["loss"].iloc[:3] <= 0]], ["averaged weights"], "alone of the first three")
    agrees([0.99**749, 0.999**749], [0.0, 0.47], "share of the first weights in the average", digits=2)
    averaged = beside["averaged weights"].query("left_out == ''").set_index("model")
    agrees(averaged.index[averaged["loss"] > 0].tolist(), ["minigpt"], "the loss rises in one architecture")
    holds(averaged["extrapolated"].mean() > 0.5, "mostly an extrapolation")


def check_the_choices(choices: pd.DataFrame, late: pd.Series, with_both: pd.Series) -> None:
    """Rate and weights together, on fresh seeds."""
    apart, loss = choices["two seeds differ by"].to_numpy(), choices["loss"].to_numpy()
    agrees(apart, [19.93, 13.38, 14.83, 13.78], "last and averaged weights, constant and falling", digits=2)
    agrees(1 - apart[1] / apart[0], 0.33, "a third", digits=2)
    averaged = choices.iloc[1][["change", "low", "high"]]
    agrees(averaged, [-6.6, -6.7, -6.4], "averaging, points and interval", digits=1)
    agrees([apart[0] - apart[1], -100 * late["estimate"], apart[2] - apart[3]], [6.55, 5.10, 1.05], "points", digits=2)
    agrees([loss[1] - loss[0], loss[3] - loss[2]], [-0.027, 0.009], "nats by averaging", digits=3)
    agrees(
        [100 * with_both[name] for name in ("estimate", "low", "high")],
        [0.4, 0.2, 0.6],
        "both minus averaging",
        digits=1,
    )


def check_costs(costs: pd.DataFrame) -> None:
    """Over all activations."""
    agrees(costs.sum().tolist(), [29, 5], "the loss falls in 29 of 36 and rises in five")
    agrees(costs.index[costs["rises"] > 0].tolist(), ["minigpt"], "all of them minigpt")


def check_bounds(bounds: pd.Series) -> None:
    """What another activation may change at most."""
    agrees([100 * bounds.drop("tinylstm").max(), 100 * bounds["tinylstm"]], [2.8, 6.2], "points", digits=1)


def check_half_the_rate(half: pd.Series, typical: pd.Series) -> None:
    """Beside another architecture."""
    agrees(100 * half["estimate"], -1.1, "half the rate, points", digits=1)
    agrees(100 * 2**0.5 * typical.std(), 2.6, "two architectures differ by, points", digits=1)


def check_the_planned_test(tests: Tests) -> None:
    """On fresh seeds."""
    constant, falls = (tests[name, "total_variation"].set_index("model") for name in ("remedies", "remedies-cooldown"))
    off = -100 * constant["difference"]
    agrees(off.drop("tinylstm").agg(["min", "max"]), [5.7, 10.1], "points at a constant rate", digits=1)
    agrees(off["tinylstm"], [3.4, 3.4], "in the LSTM", digits=1)
    holds((constant["p_holm"] < 0.05).all() and len(constant) == 12, "significant in all twelve")
    adds = -100 * falls["difference"]
    agrees(adds.drop("tinylstm").agg(["min", "max"]), [0.9, 1.9], "points where the rate falls", digits=1)
    agrees(adds["tinylstm"], [0.1, 0.2], "in the LSTM where the rate falls", digits=1)
    holds((constant["high"] < 0).all(), "each interval lies below 0")
    loss, late = (tests[name, "loss"] for name in ("remedies", "remedies-cooldown"))
    agrees(loss.loc[loss["difference"] > 0, "model"].unique().tolist(), ["minigpt"], "the loss falls, minigpt excepted")
    agrees((late["difference"] > 0).sum().item(), 11, "where the rate falls the loss rises in 11 of 12")
    agrees(loss["high"].max(), 0.026, "in minigpt the interval goes up to", digits=3)
    holds((tests["remedies", "churn"]["high"] < 0).all(), "churn falls in all twelve")


def check_the_rate(rates: Tests, tests: Tests, late: pd.Series) -> None:
    """A falling rate by itself, and under averaging."""
    alone = -100 * rates["last weights", "total variation"]["difference"]
    agrees(alone.agg(["min", "max"]), [2.6, 7.3], "points that a falling rate takes off", digits=1)
    averaging = -100 * tests["remedies", "total_variation"].set_index(ARM)["difference"]
    relu = [table.xs("relu", level="activation").mean() for table in (alone, averaging)]
    agrees(relu, [5.1, 6.6], "ReLU: falling rate, averaging", digits=1)
    agrees(
        100 * tests["remedies-cooldown", "total_variation"].query("activation == 'relu'")["reference"].mean(),
        15,
        "two seeds differ in, where the rate falls",
        digits=0,
    )
    agrees([-100 * late["estimate"], late["n"]], [5.1, 10], "in the picture", digits=1)
    loss = rates["last weights", "loss"]["difference"]
    dear = {("minigpt", "relu"), ("minigpt", "swiglu"), ("tinylstm", "swiglu")}
    agrees(set(loss.index[loss > 0]), dear, "its loss rises")
    both = rates["averaged weights", "total variation"]
    agrees(((both["p_holm"] < 0.05) & (both["difference"] > 0)).sum().item(), 9, "averaged networks agree less in nine")


def check_decays(decays: dict[str, dict[str, pd.DataFrame]]) -> None:
    """Shorter and longer averages."""
    apart, loss = decays["remedies"]["total variation"][0.97], decays["remedies"]["loss"][0.97]
    agrees(-100 * apart.agg(["max", "min"]), [3.0, 8.5], "decay 0.97, points", digits=1)
    agrees([-100 * apart.mean(), len(apart)], [5.4, 12], "decay 0.97, points on average", digits=1)
    agrees((loss < 0).sum().item(), 12, "decay 0.97: the loss falls in all twelve")
    whole = decays["remedies"]["loss"][0.99]
    agrees((whole < 0).sum().item(), 10, "decay 0.99: the loss falls in ten")
    agrees(whole[whole > 0].agg(["min", "max"]), [0.009, 0.016], "and rises in minigpt, nats", digits=3)
    late = decays["remedies-cooldown"]
    agrees(-100 * late["total variation"][0.997].min(), 3.6, "decay 0.997, points at most", digits=1)
    agrees(late["loss"][0.997].agg(["min", "max"]), [0.012, 0.220], "decay 0.997, nats", digits=3)
    closer = late["total variation"].mean() < -0.0095
    holds((late["loss"].mean()[closer] > 0).all(), "what takes off a point where the rate falls raises the loss")


def check_jitter(share: pd.DataFrame, taken: pd.DataFrame, learned: pd.Series) -> None:
    """A run and itself some steps earlier."""
    agrees(100 * share["estimate"].agg(["min", "max"]), [60, 81], "ten steps, percent of a seed", digits=0)
    agrees(100 * share.loc[("convlm", "relu"), ["value", "reference"]], [13.6, 21.2], "convlm", digits=1)
    agrees([learned.abs().max(), (learned > 0).sum()], [0.007, 3], "the mean loss changes by, and rises in", digits=3)
    agrees(100 * taken[0.9].agg(["min", "max"]), [47, 59], "an average over ten steps, percent of the gain", digits=0)
    agrees(100 * taken[0.97].agg(["min", "max"]), [77, 84], "over 33 steps", digits=0)


def check_own_rates(own_rates: pd.DataFrame, own_tests: dict[str, pd.DataFrame]) -> None:
    """Each remedy at the rate that suits it."""
    for model, rate in (("convlm", 0.004), ("nanotransformer", 0.002)):
        agrees(set(own_rates.loc[model, "rate"]), {rate}, f"the best rate in {model}")
    found = {name: 100 * table["estimate"].astype(float) for name, table in own_tests.items()}
    agrees(found["averaged - single"], [-5.9, -9.9], "averaging", digits=1)
    agrees(found["falling - averaged"], [1.4, 2.7], "a falling rate against averaging", digits=1)
    agrees(found["two networks - averaged"], [0.4, 4.5], "two networks against averaging", digits=1)
    loss = own_rates["loss"]
    holds((loss["averaged"] < loss["single"]).all(), "the loss falls")
    behind = loss.loc["nanotransformer", "averaged"] - loss.loc["nanotransformer", "falling"]
    agrees(behind, 0.017, "the falling rate's loss is lower in nanotransformer", digits=3)


def check_the_plan(
    plan: pd.DataFrame, gain: pd.Series, more: pd.DataFrame, against: pd.DataFrame, added: pd.DataFrame, best: float
) -> None:
    """Nine predictions."""
    words = ["held", "undecided", "undecided", "held", "failed", "held"]
    words += ["held", "failed", "undecided"]  # each remedy at its own rate
    agrees(plan["outcome"].tolist(), words, "outcomes")
    agrees(100 * gain["estimate"], 1.2, "more than an ensemble of two, points", digits=1)
    one = more.loc[""]
    agrees(set(one.index[one < 0]), {"minigpt", "tinylstm"}, "where the ensemble takes off more")
    lstm = against.set_index("model").loc["tinylstm"]
    agrees([-100 * lstm["difference"], 100 * lstm["bound"]], [3.4, 6.2], "in the LSTM", digits=1)
    agrees((added["p_beyond_holm"] < 0.05).sum().item(), 10, "failed in ten of twelve")
    agrees(best, 0.997, "the best of the five averages")
