"""Numbers of notebooks/explore.ipynb, of the pictures that its buttons open."""

import pandas as pd
from scipy.stats import gmean

import actlab
from actlab.book.checks import agrees, holds
from actlab.records.labels import in_points

ARM = ["model", "activation"]


def one_bit(study: str) -> pd.Series:
    """Geometric means of what one bit does, in %."""
    pairs = in_points(actlab.load(study, "all")[1])
    moved = pairs[pairs["second"].str.endswith("-nudge")]
    return moved.groupby(ARM)["total_variation"].agg(gmean)


def check_equal_loss() -> None:
    """Where the explorer opens: charlm at equal loss."""
    curves, along = actlab.load_curves("answer"), in_points(actlab.load_pairs("answer", of="along"))
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram")
    every = actlab.equal_loss(curves, along, exclude_above=bigram)
    found = every.query("model == 'charlm'").set_index("activation")
    agrees((len(found), {*found["n"]}), (5, {10}), "five activations beside ReLU, ten seeds")
    holds((found["p_holm"] >= 0.05).all(), "none of five activations could be told from ReLU")
    agrees(found.loc["smelu_1", "difference"], 1.5, "SmeLU-1 at equal loss, points", digits=1)
    agrees(found["difference"].idxmax(), "smelu_1", "comes closest")
    agrees(found.loc["smelu_1", ["p_holm", "loss"]].astype(float), [0.065, 2.063], "its p and the loss", digits=3)
    ended = actlab.load("answer")[0].query("model == 'charlm'").groupby("activation")["val_loss"].mean()
    agrees(ended.idxmax(), "smelu_1", "the worst of the six")
    agrees(ended.max(), 2.063, "ends there", digits=3)
    significant = every[every["p_holm"] < 0.05].groupby("model").size().to_dict()
    agrees(significant, {"convlm": 2, "nanotransformer": 3, "tinylstm": 1}, "significant differences")
    agrees(len(every), 30, "differences in six networks")
    means = actlab.at_equal_loss(curves, along, exclude_above=bigram).query("model == 'charlm' and left_out == ''")
    agrees([means["value"].min(), means["value"].max()], [18.7, 20.2], "of six activations, in %", digits=1)


def check_what_was_trained() -> None:
    """Sizes and rates."""
    rate = actlab.load("one-bit")[0].groupby("model")["learning_rate"].first()
    agrees([rate["convlm"], rate["charlm"]], [0.008, 0.002], "rates tuned for ReLU")
    agrees([rate.min(), rate.max(), len(rate)], [0.002, 0.016, 6], "in six networks")
    agrees({*actlab.load("corner")[0].query("model == 'convlm'")["learning_rate"]}, {0.008}, "rate of the corner")
    agrees({*actlab.load("extreme")[0]["learning_rate"]}, {0.0003}, "rate of the extreme activations")
    size = actlab.load("answer")[0].query("model == 'charlm'")["parameters"] / 1000
    agrees([size.min(), size.max()], [430, 430], "thousand parameters", digits=0)


def check_one_bit() -> None:
    """Beside another seed, and through training."""
    moved = one_bit("one-bit").unstack()
    seeds = in_points(actlab.load("one-bit")[1]).groupby(ARM)["total_variation"].mean().unstack()
    agrees(moved["relu"].agg(["min", "max"]), [8, 18], "one bit under ReLU, %", digits=0)
    agrees(seeds["relu"].agg(["min", "max"]), [18, 23], "another seed, %", digits=0)
    agrees(moved.loc["convlm", "relu"], 8.8, "one bit under ReLU in convlm, %", digits=1)
    agrees(moved["gelu"].drop("tinylstm").max(), 1.3, "one bit under GELU at most, %", digits=1)
    agrees(moved.loc["tinylstm", "gelu"], 19, "in tinylstm, %", digits=0)
    curves = actlab.load_curves("one-bit", "all").fillna({"variant": "none"})
    wide = curves.query("iteration == 500 and model == 'convlm'").pivot_table(
        "val_loss", ["activation", "seed"], "variant"
    )
    agrees({*curves.query("model == 'convlm'")["iteration"]}, {0, 250, 500}, "evaluations")
    apart = (wide["nudge"] - wide["none"]).abs().groupby("activation").mean()
    agrees(apart["relu"], 0.005, "convlm with ReLU is so far from itself (nats)", digits=3)
    holds(apart["gelu"] < 1e-6, "with GELU less than a millionth")


def check_a_rounded_corner() -> None:
    """convlm with ReLU's corner rounded by 0.3."""
    moved, trials = one_bit("corner")["convlm"], actlab.load("corner")[0].query("model == 'convlm'")
    agrees(moved["relu"], 8.8, "one bit under ReLU, %", digits=1)
    agrees(moved["smelu_0.3"], 0.0014, "rounded by 0.3, %", digits=4)
    each = in_points(actlab.load("corner", "all")[1]).query("model == 'convlm' and activation == 'smelu_0.3'")
    each = each[each["second"].str.endswith("-nudge")]["total_variation"]
    agrees([each.min(), len(each)], [0.0001, 5], "the least of five seeds, %", digits=4)
    agrees(each.max(), 0.010, "the most, %", digits=3)
    loss = trials.groupby("activation")["val_loss"].mean()
    holds(abs(loss["smelu_0.3"] - loss["relu"]) < 0.01, "the mean loss stays within 0.01 nats")


def check_extreme_activations() -> None:
    """charlm at a low rate."""
    moved = one_bit("extreme")["charlm"]
    agrees(moved[["relu", "step"]], [0.8, 0.9], "one bit under ReLU and a step, %", digits=1)
    rest = moved.drop(["relu", "step"])
    pairs = actlab.load("extreme", "all")[1]
    agrees({*pairs[pairs["second"].str.endswith("-nudge")].groupby(ARM).size()}, {1}, "pairs a mark")
    holds(len(rest) == 4 and rest.max() < 1e-4, "under four others less than 0.0001%")


def check_the_largest_difference() -> None:
    """SmeLU-1 in charlm, at the end of training."""
    trials, pairs = actlab.load("answer")
    apart = actlab.contrasts(in_points(pairs), "total_variation").set_index(ARM)
    significant = apart[apart["p_holm"] < 0.05]["difference"]
    agrees(significant.abs().idxmax(), ("charlm", "smelu_1"), "the largest")
    agrees(significant.abs().max(), 2.6, "points", digits=1)
    agrees(apart.loc[("charlm", "smelu_1"), ["low", "high"]].astype(float), [1.7, 3.5], "its interval", digits=1)
    loss = actlab.contrasts(trials, "val_loss").set_index(ARM)["difference"]
    agrees(loss["charlm", "smelu_1"], 0.13, "nats more", digits=2)
