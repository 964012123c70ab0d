"""Numbers of notebooks/gates.ipynb."""

import numpy as np
import pandas as pd
from scipy import stats

from actlab.book.checks import agrees, holds


def check_the_ends(table: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """Geometric means over seeds."""
    agrees({*table["seeds"]}, {5}, "five seeds")
    five = table.drop("tinylstm")
    agrees(100 * five["own"].agg(["min", "max"]), [6.5, 16.0], "own sides (%)", digits=1)
    agrees([five["times"].idxmin(), five["times"].idxmax()], ["minigpt", "convlm"], "gain least and most")
    times = table["times"]
    agrees(times["convlm"], 140_000, "times closer", digits=-4)
    agrees(times["charlm"], 1_700, "times closer in charlm", digits=-2)
    agrees(times[["hybridlm", "nanotransformer"]], [430, 310], "times closer", digits=-1)
    agrees(times["minigpt"], 29, "times closer in minigpt", digits=0)
    agrees(table.loc["minigpt", "at least"], 0.8, "at least in minigpt", digits=1)
    agrees(table.loc["minigpt", "at most"], 1_010, "at most in minigpt", digits=-1)
    agrees(five.drop("minigpt")["at least"].min(), 16, "in four of the five at least", digits=0)
    limits = ["times", "at least", "at most"]
    agrees(table.loc["tinylstm", limits], [0.89, 0.77, 1.03], "tinylstm", digits=2)
    agrees(table.loc["convlm", "at least"], 86_000, "at least so many times in convlm", digits=-3)
    agrees(table.loc["charlm", "at least"], 92, "at least in charlm", digits=0)
    agrees(table.loc["charlm", "at most"], 31_000, "at most in charlm", digits=-3)
    rest = five.drop(["convlm", "charlm"])
    holds((rest["times"] < 1000).all() and (rest["at most"] > 1000).all(), "the other three: less on average")
    copied = pairs[(pairs["variant"] == "copied") & (pairs["model"] == "charlm")]["total_variation"]
    agrees(1e6 * copied.min(), 4, "least in charlm", digits=0)
    agrees(copied.max(), 0.0015, "most in charlm", digits=4)
    own, sides_copied = table["weights, own"], table["weights, copied"]
    agrees(own[["convlm", "tinylstm"]], [27, 263], "distance of the weights, own sides", digits=0)
    agrees(own["charlm"], 15.5, "own sides in charlm", digits=1)
    agrees(sides_copied["tinylstm"], 234, "copied sides in tinylstm", digits=0)
    agrees(sides_copied["charlm"], 0.018, "copied sides in charlm", digits=3)
    agrees(sides_copied["convlm"], 0.00025, "copied sides in convlm", digits=5)


def check_gelu(table: pd.DataFrame) -> None:
    """What is left beside what one bit does under GELU."""
    apart = np.exp(np.log(table["copied"] / table["gelu"]).abs()).drop("tinylstm")
    agrees(apart.agg(["min", "max"]), [2, 27], "factor between the two columns", digits=0)
    both = table.drop("tinylstm")[["copied", "gelu"]]
    holds(4 < np.log10(both.max().max() / both.min().min()) < 5, "they span four powers of ten")
    holds(table.loc["tinylstm", "gelu"] > 0.1, "the LSTM gains nothing by GELU")


def check_the_first_jump(both: pd.DataFrame, share: float, apart: pd.DataFrame, along: pd.DataFrame) -> None:
    """One step, in most seeds."""
    agrees((len(both), round(share * len(both))), (25, 22), "seeds in which the two steps are one")
    late = both["the gradient jumps"] - both["a side differs"]
    agrees([late.min(), late.max()], [0, 2], "steps between the two")
    at_once = both[late == 0]
    steps = [(model, seed, step) for (model, seed), step in at_once["the gradient jumps"].items()]
    at = apart.loc[steps]
    ratio = at["own"] / at["copied"]
    agrees([ratio.min(), ratio.max()], [10, 504], "how much further apart the gradients are there", digits=0)
    sides = along["sides_apart"]
    before = [(model, seed, step - 1) for model, seed, step in steps if step]
    agrees(1e6 * apart.loc[before, "own"].max(), 5, "before it gradients differ by five millionths at most", digits=0)
    agrees(1e6 * sides.loc[steps, "own"].max(), 3, "sides that differ there, of a million", digits=0)
    mean = 100 * sides["own"].loc["convlm"].groupby("iteration").mean()
    agrees(mean.loc[[99, 499]], [1.5, 10.1], "share of sides that differ after 100 and 500 steps (%)", digits=1)


def check_without_a_change_of_sides(apart: pd.DataFrame) -> None:
    """The copying networks along training."""
    level = np.log10(apart).groupby(["model", "iteration"]).mean()
    copied = level["copied"].unstack("model")
    holds(copied["convlm"].loc[100:].max() < -5, "in convlm nothing grows")
    grown = level[level > -3].stack().dropna().reset_index("iteration").groupby(level=[0, 1])["iteration"].min().unstack()
    five = grown.drop("tinylstm")
    late = five["copied"].dropna().sort_values()
    agrees([*late.index], ["nanotransformer", "charlm", "minigpt", "hybridlm"], "which differ when")
    agrees(late.iloc[[0, 3]], [180, 390], "steps until gradients differ by a thousandth", digits=0)
    agrees(five["own"].agg(["min", "max"]), [6, 27], "the same with own sides", digits=0)


def check_other_optimizers(other: pd.DataFrame) -> None:
    """AdamW with another eps, and SGD; convlm, three seeds each."""
    times = other["times"]
    logs = np.log10(times.loc["gates-eps"])
    mean, reach = logs.mean(), stats.t.ppf(0.975, 2) * logs.sem()
    limits = [10**mean, 10 ** (mean - reach), 10 ** (mean + reach)]
    agrees(limits, [220_000, 190_000, 260_000], "times closer, AdamW with eps 1e-4", digits=-4)
    sgd = other.loc["gates-sgd"]
    agrees(100 * sgd["own"].agg(["min", "max"]), [1, 7], "own sides, SGD (%)", digits=0)
    agrees(sorted(sgd["times"])[1:], [1_300, 4_900], "times closer in two seeds", digits=-2)
    agrees(min(sgd["times"]), 3.5, "times closer in the third", digits=1)


def check_the_verdicts(verdicts: pd.Series) -> None:
    """By the rules of the plan."""
    agrees([*verdicts], ["undecided", "held", "held"], "what the rules say")


def check_when(timed: pd.DataFrame, losses: pd.DataFrame) -> None:
    """Copied for a part of the steps, in percent."""
    when = 100 * timed["convlm"]
    agrees(when["copied"], 0.00005, "copied from the start", digits=5)
    agrees(when["own-10"], 0.017, "copied from step 10 on", digits=3)
    agrees(when[["own-150", "own"]], [1.6, 8.7], "copied from step 150 on, and never", digits=1)
    holds(when[["copied", "own-10", "own-50", "own-150", "own"]].is_monotonic_increasing, "the later, the less")
    other = 100 * timed["nanotransformer"]
    agrees(other[["own-10", "own-50"]], [17, 28], "copied from steps 10 and 50 on in nanotransformer", digits=0)
    agrees(other["own"], 16, "never copied there", digits=0)
    early = timed.loc[["copied-10", "copied-50"]] / timed.loc["own"]
    holds((early > 0.9).all(axis=None), "copying at first does not help")
    agrees(losses.loc[["own-50", "own"], "nanotransformer"], [2.26, 1.97], "losses", digits=2)
    agrees(sorted(timed), ["convlm", "nanotransformer"], "what is recorded")


def check_the_tangent(straight: pd.DataFrame, more: pd.DataFrame) -> None:
    """Curvature, and the verdicts of both plans."""
    times = straight["times"].loc["nanotransformer", "gelu"]
    agrees([times.min(), times.max()], [0.56, 1.21], "times smaller with the tangent", digits=2)
    agrees(len(times), 3, "seeds")
    convlm = straight["times"].loc["convlm"].groupby("activation").agg(["min", "max"])
    agrees(convlm.loc["gelu"], [0.42, 2.71], "times smaller in convlm", digits=2)
    agrees(convlm.loc["smelu_0.3"], [4, 9], "times smaller in convlm", digits=0)
    agrees([*more["outcome"]], ["undecided", "failed"], "outcomes")
