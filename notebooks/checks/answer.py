"""Numbers of notebooks/answer.ipynb."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees


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
    alike = averages.loc[("seeds' own losses equal", "gelu"), "estimate"]
    agrees(alike, 0.0, "GELU where the seeds' own losses are equal", digits=3)


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
