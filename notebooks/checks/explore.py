"""Numbers of notebooks/explore.ipynb: its charts' tables, and what was trained for them."""

import pandas as pd

import actlab
from actlab.checks import agrees, holds


def check_equal_loss(equal: pd.DataFrame, curves: pd.DataFrame, along: pd.DataFrame, bigram: float) -> None:
    """The first chart, and its tests."""
    means = equal.query("model == 'charlm' and earlier == 0")["estimate"]
    agrees([means.min(), means.max()], [18.7, 20.2], "six activations at equal loss, points", digits=1)
    every = actlab.equal_loss(curves, along, exclude_above=bigram)
    charlm = every.query("model == 'charlm'").set_index("activation")
    agrees((len(charlm), {*charlm["n"]}), (5, {10}), "five activations beside ReLU, ten seeds")
    holds((charlm["p_holm"] >= 0.05).all(), "none of five activations differs significantly from ReLU")
    agrees(charlm["difference"].idxmax(), "smelu_1", "comes closest")
    agrees(charlm.loc["smelu_1", "difference"], 1.5, "SmeLU-1 at equal loss, points", digits=1)
    agrees(charlm.loc["smelu_1", "p_holm"], 0.065, "its p", digits=3)
    significant = every[every["p_holm"] < 0.05].groupby("model").size().to_dict()
    agrees(significant, {"convlm": 2, "nanotransformer": 3, "tinylstm": 1}, "significant differences")
    agrees(len(every), 30, "differences in six networks")
    ended = actlab.load("answer")[0].query("model == 'charlm'")
    agrees(ended.groupby("activation")["val_loss"].mean().idxmax(), "smelu_1", "the worst of the six")
    agrees(ended["parameters"].mean() / 1000, 430, "thousand parameters", digits=0)


def check_one_bit(bit: pd.DataFrame) -> None:
    """Beside another seed."""
    moved = bit.pivot(index=["activation", "model"], columns="change", values="gmean")["one bit"].unstack()
    four, others = ["charlm", "convlm", "hybridlm", "minigpt"], moved.drop("ReLU")
    agrees(moved.loc["ReLU", four].agg(["min", "max"]), [7.7, 10.4], "one bit under ReLU, points", digits=1)
    agrees(others[four].max(axis=None), 0.5, "at most under the other three, points", digits=1)
    agrees(moved.loc["ReLU", ["nanotransformer", "tinylstm"]], [16, 18], "in the other two, points", digits=0)
    agrees(others["nanotransformer"].agg(["min", "max"]), [1.3, 4.2], "in nanotransformer, points", digits=1)
    agrees(others["tinylstm"].agg(["min", "max"]), [15, 19], "in tinylstm, points", digits=0)
    trials = actlab.load("one-bit")[0]
    agrees(({*trials["iterations"]}, trials["seed"].nunique()), ({500}, 5), "steps and seeds")


def check_a_rounded_corner(means: pd.Series) -> None:
    """convlm with ReLU's corner rounded by 0.3."""
    agrees(means["convlm", 0.0], 8.8, "one bit under ReLU, points", digits=1)
    agrees(means["convlm", 0.3], 0.0014, "rounded by 0.3, points", digits=4)
    less = (means.xs(0.0, level="beta") / means.xs(0.3, level="beta")).sort_values()
    agrees([means["nanotransformer", 0.3], less["nanotransformer"] / 100], [0.54, 0.30], "30 times less", digits=2)
    holds((less.drop("nanotransformer") > 2000).all() and len(less) == 3, "thousands of times less in two of three")
    loss = actlab.load("corner")[0].query("model == 'convlm'").groupby("activation")["val_loss"].mean()
    holds(abs(loss["smelu_0.3"] - loss["relu"]) < 0.01, "the mean loss stays within 0.01 nats")


def check_the_rates(best: pd.DataFrame) -> None:
    """Chosen for each activation."""
    several = best.groupby("model")["learning_rate"].nunique()
    agrees(several.index[several == 1].tolist(), ["hybridlm"], "one rate for all six in hybridlm")
    agrees(len(several), 6, "networks")
