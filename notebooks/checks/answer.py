"""Numbers of notebooks/answer.ipynb: activations at equal loss, averaging, falling rates, jitter."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees

Tests = dict[tuple[str, str], pd.DataFrame]
ARM = ["model", "activation"]
NETWORKS = ["two networks of half the steps", "three networks of a third"]


def check_the_course(bounds_along: pd.DataFrame, early_gelu: pd.DataFrame) -> None:
    """The bounds at higher losses, half of the way back and almost all of it."""
    for share, typed in ((0.5, [3.4, 5.5, 13.3]), (0.9, [4.2, 8.4, 15.2])):
        agrees(bounds_along.loc[["charlm", "nanotransformer", "tinylstm"], share], typed, f"{share} back", digits=1)
    agrees(bounds_along.drop("tinylstm")[0].max(), 2.8, "at the lowest common loss", digits=1)
    agrees(early_gelu.iloc[0], [6.6, 4.5, 8.8], "GELU in nanotransformer, early", digits=1)


def check_results(results: pd.DataFrame, at_loss: pd.DataFrame, at_end: pd.DataFrame) -> None:
    """Five activations beside ReLU, in six architectures."""
    agrees(results["two seeds differ"].mean(), 20, "two seeds differ, percent", digits=0)
    most = results["every change at most"]
    agrees(most.drop("tinylstm").max(), 2.8, "at most, in five architectures", digits=1)
    agrees(most["tinylstm"], 6.2, "at most, in the LSTM", digits=1)
    share = most / results["two seeds differ"]
    holds(share.drop("tinylstm").max() < 1 / 7, "not more than a seventh")
    holds(share["tinylstm"] < 1 / 3, "in the LSTM not more than a third")
    found = at_loss["outcome"].value_counts()
    agrees(found[["lower", "higher", "undecided"]], [3, 3, 24], "more, less, and not told", digits=0)
    agrees(at_end["outcome"].isin(["higher"]).sum(), 7, "agree less at the end", digits=0)
    holds("lower" not in set(at_end["outcome"]), "none agrees more at the end")
    surest = at_loss.loc[at_loss["p_holm"].idxmin()]
    agrees([surest["model"], surest["activation"]], ["convlm", "swiglu"], "the surest of all differences")
    agrees(100 * surest["difference"], 2.4, "SwiGLU in convlm, points", digits=1)


def check_means(means: pd.DataFrame, averages: pd.DataFrame, read: dict[str, pd.DataFrame]) -> None:
    """Over the architectures."""
    took = means.loc[("end", "relu, averaged weights"), "estimate"]
    agrees(-100 * took, 6.4, "averaging takes off, points", digits=1)
    last = read["end"].loc[""]["relu"].mean()
    agrees([100 * last, 100 * (last + took)], [20, 13], "averaging takes 20% to 13%", digits=0)
    agrees(100 * means.loc[("equal loss", "gelu"), "estimate"], 1.3, "GELU on average, points", digits=1)
    gelu = 100 * means.loc[("equal loss", "gelu"), ["low", "high"]].astype(float)
    agrees(gelu, [0.5, 2.0], "its interval", digits=1)
    alike = 100 * averages.loc[("seeds' own losses equal", "gelu"), ["estimate", "low", "high"]].astype(float)
    agrees(alike, [0.0, -0.4, 0.3], "GELU where the seeds' own losses are equal", digits=1)


def check_the_three_gains(gains: pd.DataFrame, lower_rate: pd.DataFrame, at_one_rate: pd.Series) -> None:
    """At tuned rates, and beside ReLU at the same rate."""
    outcome = gains.groupby("where")["outcome"].agg(list)
    agrees(outcome["fresh seeds"], ["lower"] * 3, "all three repeat on fresh seeds")
    agrees(outcome["ReLU at that rate"], ["undecided"] * 3, "beside ReLU at that rate none")
    agrees(outcome["26 more seeds"], ["equivalent", "undecided"], "with 26 more seeds none")
    more = gains[gains["where"] == "26 more seeds"].set_index("model")
    agrees(100 * more.loc["tinylstm", "difference"], -0.3, "in the LSTM with 26 more seeds, points", digits=1)
    back = gains[gains["where"] == "26 seeds, earlier"].set_index("model")
    agrees(back["outcome"][["nanotransformer", "tinylstm"]], ["undecided", "lower"], "earlier in the LSTM alone")
    agrees(100 * back.loc["tinylstm", "difference"], -1.8, "earlier in the LSTM, points", digits=1)
    agrees(100 * lower_rate["difference"].min(), -1.5, "ReLU at half its rate in the LSTM, points", digits=1)
    agrees(lower_rate["outcome"], ["undecided", "lower"], "ReLU at half its rate")
    agrees(at_one_rate["estimate"], 0.0, "smelu_1's mean at one rate", digits=3)


def check_elsewhere(elsewhere: dict[str, pd.DataFrame]) -> None:
    """On novels, and at ReLU's rate."""
    novels, rate = elsewhere["answer-novels"], elsewhere["answer-rate"]
    alike = novels["difference"] * novels["difference_main"] > 0
    agrees([len(novels), alike.sum()], [9, 8], "signs on the novels", digits=0)
    sure = novels["p_holm"] < 0.05
    agrees([sure.sum(), alike[sure].sum()], [2, 2], "significant there, with the same sign", digits=0)
    agrees([(rate["difference"] > 0).sum(), (rate["outcome"] == "higher").sum()], [9, 6], "at ReLU's rate", digits=0)
    agrees(rate["same_runs"].sum(), 5, "the same runs", digits=0)
    turned = rate[rate["difference"] * rate["difference_main"] < 0]
    agrees(
        [len(turned), turned["same_runs"].sum()],
        [2, 0],
        "opposite signs at ReLU's rate, and not the same runs",
        digits=0,
    )


def check_the_rate(rates: pd.DataFrame, tables: list[pd.DataFrame], at_the_end: pd.DataFrame) -> None:
    """A doubled rate against another activation, in points."""
    found = 100 * rates["estimate"].unstack("what")
    agrees(found.loc[("arms", "mean"), ["slope", "spread"]], [3.2, 1.2], "on average", digits=1)
    agrees(found.loc[("arms", "convlm"), ["slope", "spread"]], [0.5, 1.2], "in convlm", digits=1)
    agrees(found.loc[("single seeds", "mean"), ["slope", "spread"]], [1.6, 0.7], "of single seeds", digits=1)
    end = at_the_end.loc["mean"]
    agrees(100 * end["total_variation"][["slope", "spread"]], [2.6, 1.1], "at the end, points", digits=1)
    agrees(end["val_loss"][["slope", "spread"]], [0.028, 0.029], "final loss, nats", digits=3)
    last = tables[0].query("iteration == 750 and val_loss > 2.49")
    counts = last.groupby(["model", "activation"]).size()
    agrees(counts.to_dict(), {("hybridlm", "gelu"): 2, ("hybridlm", "swiglu"): 2}, "do not learn")
    holds((last["learning_rate"] == 0.008).all(), "at the highest rate")


def check_averaged_networks(calm: pd.DataFrame) -> None:
    """Differences that the jitter of the last step hides."""
    sure = calm.loc[calm["p_holm"] < 0.05, "difference"]
    agrees([len(calm), len(sure)], [30, 11], "significant between averaged networks", digits=0)
    agrees([(sure > 0).sum(), (sure < 0).sum()], [8, 3], "upwards and downwards", digits=0)
    most = calm.loc[calm["difference"].where(calm["p_holm"] < 0.05).idxmax()]
    agrees(most.name, ("nanotransformer", "gelu"), "the largest")
    agrees([100 * most["difference"], 10 * most["difference of loss"]], [5.3, 1.8], "points and nats", digits=1)
    agrees({name for _, name in sure[sure < 0].index}, {"smelu_05", "smelu_1"}, "the three downwards")
    agrees(200 * sure[sure < 0], [-1, -1, -1], "about half a point", digits=0)


def check_readings(told: pd.DataFrame) -> None:
    """Other ways to read the same runs."""
    agrees(told.loc["churn"].tolist(), [0, 0, 0], "in churn none differs significantly")
    holds(told[["agree more", "agree less"]].max(axis=None) <= 7, "no more than a handful")


def check_the_plans(plan: pd.DataFrame) -> None:
    """Sixteen predictions of ten plans, of which one has no run."""
    words = ["failed", "undecided", "held", "undecided", "held"]  # answer, answer-fresh
    words += ["undecided", "undecided", "failed"]  # answer-half, answer-double
    words += ["failed", "undecided", "held"]  # answer-same-rate
    words += ["held", "held", "held"]  # answer-novels, answer-rate, answer-decay
    words += ["not tested", "held"]  # answer-long, rate-or-activation
    agrees(plan["outcome"], words, "outcomes")
    agrees(plan.loc[plan["outcome"] == "not tested", "plan"].tolist(), ["answer-long"], "has no run")
    agrees(plan["outcome"].value_counts()[["held", "failed", "undecided"]].tolist(), [7, 3, 5], "of 15")
    agrees(plan["outcome"].iloc[0], "failed", "smooth activations agree more")


def check_limits(without: pd.DataFrame, trials: pd.DataFrame) -> None:
    """What the table of limits says."""
    agrees(100 * without["difference"].agg(["min", "max"]), [-2.9, 2.4], "without SwiGLU in the LSTM", digits=1)
    holds(trials["parameters"].between(2.5e5, 4.5e5).all(), "0.3 to 0.4 million parameters")
    steps = trials.groupby("model")["iterations"].first()
    agrees([steps.pop("tinylstm"), *set(steps)], [1500, 750], "steps", digits=0)
    agrees(set(trials.groupby(["model", "activation"])["seed"].nunique()), {10}, "ten seeds")


def check_remedies(remedies_made: pd.DataFrame, beside: dict[str, pd.DataFrame]) -> None:
    """Four remedies for ReLU, before and after."""
    table = remedies_made.loc[["averaged weights", *NETWORKS, "rate falling from step 1"]]
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


def check_the_falling_rate(falling_minus: Tests, tests: Tests, late: pd.Series) -> None:
    """A falling rate by itself, and under averaging."""
    alone = -100 * falling_minus["last weights", "total variation"]["difference"]
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
    loss = falling_minus["last weights", "loss"]["difference"]
    dear = {("minigpt", "relu"), ("minigpt", "swiglu"), ("tinylstm", "swiglu")}
    agrees(set(loss.index[loss > 0]), dear, "its loss rises")
    both = falling_minus["averaged weights", "total variation"]
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


def check_the_plans_of_averaging(
    remedy_plan: pd.DataFrame,
    gain: pd.Series,
    more: pd.DataFrame,
    against: pd.DataFrame,
    added: pd.DataFrame,
    best: float,
) -> None:
    """Nine predictions."""
    words = ["held", "undecided", "undecided", "held", "failed", "held"]
    words += ["held", "failed", "undecided"]  # each remedy at its own rate
    agrees(remedy_plan["outcome"].tolist(), words, "outcomes")
    agrees(100 * gain["estimate"], 1.2, "more than an ensemble of two, points", digits=1)
    one = more.loc[""]
    agrees(set(one.index[one < 0]), {"minigpt", "tinylstm"}, "where the ensemble takes off more")
    lstm = against.set_index("model").loc["tinylstm"]
    agrees([-100 * lstm["difference"], 100 * lstm["bound"]], [3.4, 6.2], "in the LSTM", digits=1)
    agrees((added["p_beyond_holm"] < 0.05).sum().item(), 10, "failed in ten of twelve")
    agrees(best, 0.997, "the best of the five averages")
