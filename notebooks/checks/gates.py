"""Numbers of notebooks/gates.ipynb."""

import numpy as np
import pandas as pd

from actlab.checks import agrees, holds


def check_what_was_trained(runs: pd.DataFrame, cut: pd.DataFrame) -> None:
    """Sizes, rates, steps, seeds."""
    agrees((runs["parameters"] / 1e6).agg(["min", "max"]), [0.28, 0.43], "million parameters", digits=2)
    agrees(runs["learning_rate"].agg(["min", "max"]), [0.002, 0.016], "learning rates", digits=3)
    agrees(({*runs["iterations"]}, {*cut["n"]}), ({500}, {5}), "steps and seeds")


def check_the_ends(table: pd.DataFrame, pairs: pd.DataFrame, beside: pd.DataFrame) -> None:
    """Geometric means over seeds."""
    five = table.drop("tinylstm")
    agrees(table["own, %"].agg(["min", "max"]), [6.5, 16.2], "own masks (%)", digits=1)
    agrees([five["times"].idxmin(), five["times"].idxmax()], ["minigpt", "convlm"], "gain least and most")
    times = table["times"]
    agrees(times["convlm"], 140_000, "times closer", digits=-4)
    agrees(times["charlm"], 1_700, "times closer in charlm", digits=-2)
    agrees(times[["hybridlm", "nanotransformer"]], [430, 310], "times closer", digits=-1)
    agrees(times["minigpt"], 29, "times closer in minigpt", digits=0)
    holds(table.loc["minigpt", "at least"] < 1, "which may be chance")
    agrees(five.drop("minigpt")["at least"].min(), 15.7, "in four of the five at least", digits=1)
    limits = ["times", "at least", "at most"]
    agrees(table.loc["tinylstm", limits], [0.89, 0.77, 1.03], "tinylstm", digits=2)
    agrees(table.loc["convlm", "at least"], 86_000, "at least so many times in convlm", digits=-3)
    holds(91 <= table.loc["charlm", "at least"] < 92, "at least in charlm")
    agrees(table.loc["charlm", "at most"], 31_000, "at most in charlm", digits=-3)
    rest = five.drop(["convlm", "charlm"])
    holds((rest["times"] < 1000).all() and (rest["at most"] > 1000).all(), "the other three: less on average")
    copied = pairs[(pairs["variant"] == "copied") & (pairs["model"] == "charlm")]["total_variation"]
    agrees(100 * copied.min(), 0.0004, "least in charlm (%)", digits=4)
    agrees(100 * copied.max(), 0.15, "most in charlm (%)", digits=2)
    own, masks_copied = beside["weights, own"], beside["weights, copied"]
    agrees(own[["convlm", "tinylstm"]], [27, 263], "distance of the weights, own masks", digits=0)
    agrees(own["charlm"], 15.5, "own masks in charlm", digits=1)
    agrees(masks_copied["tinylstm"], 234, "copied masks in tinylstm", digits=0)
    agrees(masks_copied["charlm"], 0.018, "copied masks in charlm", digits=3)
    agrees(masks_copied["convlm"], 0.00025, "copied masks in convlm", digits=5)


def check_gelu(table: pd.DataFrame, spread: pd.DataFrame) -> None:
    """What is left beside what one bit does under GELU."""
    quotient = table["copied / GELU"].drop("tinylstm")
    agrees(quotient["minigpt"], 27, "times more in minigpt", digits=0)
    agrees(1 / quotient["nanotransformer"], 24, "times less in nanotransformer", digits=0)
    agrees([quotient.idxmax(), quotient.idxmin()], ["minigpt", "nanotransformer"], "which are the most")
    three = quotient[["charlm", "convlm", "hybridlm"]]
    holds(three.between(1 / 5, 5).all(), "within a factor of five in three")
    agrees((quotient < 1).sum(), 3, "networks in which copying leaves less")
    seeds = 100 * spread.loc["nanotransformer"]
    agrees(seeds["min"], 0.004, "GELU's least in nanotransformer (%)", digits=3)
    agrees(seeds["max"], 11, "GELU's most in nanotransformer (%)", digits=0)


def check_the_first_jump(both: pd.DataFrame, share: float, first: pd.DataFrame, crossing: pd.DataFrame) -> None:
    """One step, in most seeds."""
    agrees((len(both), round(share * len(both))), (25, 22), "seeds in which the two steps are one")
    late = both["jumps"] - both["crosses"]
    agrees([late.min(), late.max()], [0, 2], "steps between the two")
    five = crossing.drop("tinylstm")
    agrees([five["times"].min(), five["times"].max()], [6, 504], "how much further apart the gradients are", digits=0)
    before = five["a step before, %"].sort_values()
    agrees({*before.index[-3:].get_level_values("model")}, {"hybridlm"}, "where gradients have grown before")
    holds(before.iloc[-4] < 0.00005, "before it gradients differ by less (%)")
    agrees(crossing.loc["tinylstm", "a step before, %"].max(), 0.015, "in the LSTM by up to (%)", digits=3)
    rises = (five["copied, %"] / five["a step before, %"]).nlargest(5)  # the two networks have differed by rounding alone
    agrees([rises.iloc[3], rises.iloc[0]], [15, 88], "times that copied gradients rise in four seeds", digits=0)
    holds(rises.iloc[4] < 6, "and in no other so much")
    agrees([before.iloc[-3], before.iloc[-1]], [0.0002, 0.0005], "in three seeds of hybridlm (%)", digits=4)
    lstm = first.loc["tinylstm", "crosses"]
    agrees([lstm.min(), lstm.max()], [13, 18], "first crossing in the LSTM")


def check_the_sides(along: pd.DataFrame, first: pd.DataFrame, late: pd.DataFrame) -> None:
    """How many inputs cross."""
    five = first.drop("tinylstm")["crosses"]
    steps = [(*cell, step) for cell, step in five.items()]
    share = 1e6 * along["sides_apart"].loc[steps, "own"]
    agrees(share.max(), 3, "inputs of a million that cross first, at most", digits=0)
    mean = late["own"].loc["convlm"]
    agrees(mean.loc[[100, 500]], [1.5, 10.1], "share that has crossed after 100 and 500 steps (%)", digits=1)


def check_without_a_crossing(apart: pd.DataFrame, crossing: pd.DataFrame) -> None:
    """The copying networks along training."""
    most = crossing["most of copied, %"]
    holds(0.0012 < most["convlm"].max() < 0.0013, "the most in convlm (%)")
    start = np.log10(apart["copied"].loc["convlm"]).groupby("iteration").mean()
    holds(start[10] - start[1] > 1, "where it rises within ten steps")
    holds(start.loc[10:].max() - start[10] < 0.7, "and not much after them")
    four = most.drop(["convlm", "tinylstm"])
    agrees(((four > 0.1).sum(), len(four)), (16, 20), "seeds that pass a thousandth")
    far = sorted(most["minigpt"])[2:]
    agrees([far[0], far[-1]], [61, 101], "three seeds of minigpt (%)", digits=0)
    three = most["minigpt"].nlargest(3).index
    end = 100 * apart.loc["minigpt"].groupby("seed").last()
    agrees(sorted(end.loc[three, "copied"])[::2], [12, 32], "the same three at the end (%)", digits=0)
    agrees(sorted(end.loc[three, "own"])[::2], [50, 80], "with own masks (%)", digits=0)
    holds((apart["copied"].loc["tinylstm"].groupby("seed").max() > 0.5).all(), "the LSTM parts with either mask")


def check_other_optimizers(other: pd.DataFrame, closer: pd.DataFrame) -> None:
    """AdamW with another eps, and SGD; convlm, three seeds each."""
    agrees(closer.loc["gates-eps", ["times", "at least"]], [223_000, 189_000], "times closer, eps 1e-4", digits=-3)
    sgd = other.loc["gates-sgd"]
    agrees(sgd["own, %"].agg(["min", "max"]), [1, 7], "own masks, SGD (%)", digits=0)
    agrees(sorted(sgd["times"])[1:], [1_300, 4_900], "times closer in two seeds", digits=-2)
    agrees(min(sgd["times"]), 3.5, "times closer in the third", digits=1)
    agrees(other.groupby(level="study").size(), [3, 3], "seeds")


def check_when(timed: pd.DataFrame, losses: pd.DataFrame) -> None:
    """Copied for a part of the steps, in percent."""
    when = timed["convlm"]
    agrees(when["copied"], 0.00005, "copied from the start", digits=5)
    agrees(when["own-10"], 0.017, "copied from step 10 on", digits=3)
    agrees(when[["own-150", "copied-150", "own"]], [1.6, 5.6, 8.7], "for a part of the steps, and never", digits=1)
    holds(when[["copied", "own-10", "own-50", "own-150", "own"]].is_monotonic_increasing, "the later, the less")
    other = timed["nanotransformer"]
    agrees(other[["own-10", "own-50"]], [17, 28], "copied from steps 10 and 50 on in nanotransformer", digits=0)
    agrees(other["own"], 16, "never copied there", digits=0)
    early = timed.loc[["copied-10", "copied-50"]] / timed.loc["own"]
    holds((early > 0.9).all(axis=None), "copying at first does not help")
    agrees(losses.loc[["own-10", "own-50", "own"], "nanotransformer"], [2.10, 2.26, 1.97], "losses", digits=2)
    agrees(sorted(timed), ["convlm", "nanotransformer"], "what is recorded")


def check_the_tangent(straight: pd.DataFrame) -> None:
    """Curvature."""
    times = straight["times"].loc["nanotransformer", "gelu"]
    agrees([times.min(), times.max()], [0.56, 1.21], "times smaller with the tangent", digits=2)
    agrees(len(times), 3, "seeds")
    convlm = straight["times"].loc["convlm"].groupby("activation").agg(["min", "max"])
    gelu = straight["times"].loc["convlm", "gelu"].sort_values()
    agrees([1 / gelu.iloc[0], *gelu.iloc[1:]], [2.4, 2.6, 2.7], "times larger, smaller, smaller in convlm", digits=1)
    agrees(convlm.loc["smelu_0.3"], [4, 9], "times smaller in convlm", digits=0)


def check_the_verdicts(plan: pd.DataFrame) -> None:
    """By the rules of the plans."""
    agrees([*plan.index], ["gates"] * 3 + ["gates-eps", "gates-sgd", "gates-until", "gates-smooth"], "plans")
    said = ["undecided", "held", "held", "held", "undecided", "undecided", "failed"]
    agrees([*plan["outcome"]], said, "what the rules say")
