"""Numbers of notebooks/one-bit.ipynb. Means are geometric unless it says so."""

import numpy as np
import pandas as pd
from scipy import stats

from actlab import holds
from actlab.checks import agrees

FIVE = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm"]


def check_results(results: pd.DataFrame, two: pd.DataFrame, bit: pd.DataFrame, means: pd.DataFrame) -> None:
    """One bit, in percent of another seed."""
    table = results.loc[FIVE]
    agrees(table["relu"].agg(["min", "max"]), [40, 69], "ReLU in five architectures", digits=0)
    holds(45 < stats.gmean(table["relu"]) < 60, "about half of what another seed does")
    agrees(table["gelu"].drop("nanotransformer").max(), 0.5, "GELU in four", digits=1)
    agrees(table.loc["nanotransformer", "gelu"], 5, "GELU in nanotransformer", digits=0)
    agrees(results.loc["tinylstm"].agg(["min", "max"]), [64, 92], "tinylstm, every activation", digits=0)
    smooth = table.drop(columns="relu")
    agrees(smooth.drop("nanotransformer").max(axis=None), 2.4, "smooth ones in four", digits=1)
    agrees(smooth.loc["nanotransformer"].agg(["min", "max"]), [5, 17], "in nanotransformer", digits=0)
    agrees(set(bit.groupby(["model", "activation"])["seed"].nunique()), {5}, "five seeds")
    arm = ["model", "activation"]
    plain = 100 * bit.groupby(arm)["total_variation"].mean() / two.groupby(arm)["total_variation"].mean()
    gelu = plain.xs("gelu", level="activation")[["hybridlm", "nanotransformer", "tinylstm"]]
    agrees(gelu, [4, 23, 92], "arithmetic means under GELU", digits=0)
    spread = bit.query("model == 'nanotransformer' and activation == 'gelu'")["total_variation"]
    each = 100 * spread.sort_values() / means.loc[("nanotransformer", "gelu"), "another seed"]
    agrees([each.iloc[2], each.iloc[4]], [32, 42], "three of five runs of GELU there (%)", digits=0)
    agrees(each.iloc[0], 0.02, "the least (%)", digits=2)
    agrees(each.iloc[1], 3.5, "the second least (%)", digits=1)
    agrees(spread.min(), 0.00004, "GELU's least in nanotransformer", digits=5)
    agrees(spread.max(), 0.107, "GELU's most in nanotransformer", digits=3)


def check_rates(rates: pd.DataFrame) -> None:
    """Own rates and ReLU's."""
    times = rates["times smaller"]
    holds(times["nanotransformer"].min() > 2000, "thousands of times smaller in nanotransformer")
    agrees(1 / times["minigpt", "smelu_1"], 260, "times larger in minigpt", digits=-1)


def check_the_ladder(spread: pd.Series, in_five: pd.Series, churn: pd.DataFrame) -> None:
    """From one bit to another seed, with tinylstm and without it."""
    agrees(spread["one bit"], 1.8, "powers of ten after one bit", digits=1)
    agrees(10 ** spread["one bit"], 60, "a factor after one bit", digits=-1)
    agrees(10 ** in_five["one bit"], 84, "the same without tinylstm", digits=0)
    agrees(spread.drop("one bit").max(), 0.07, "powers of ten after anything larger", digits=2)
    agrees(10 ** spread.drop("one bit").max(), 1.2, "a factor after anything larger", digits=1)
    for of, least, most in (("all", 0.7, 15), ("all but tinylstm", 0.2, 14)):
        first, rest = 100 * churn[of].loc["one bit"], 100 * churn[of].drop("one bit")
        agrees([first.idxmin(), first.idxmax()], ["swiglu", "relu"], f"least and most churn, {of}")
        agrees(first.min(), least, f"churn after one bit, least, {of}", digits=1)
        agrees(first.max(), most, f"churn after one bit, most, {of}", digits=0)
        holds((rest.max(axis=1) - rest.min(axis=1)).max() < 3, f"after anything larger within 3 points, {of}")


def check_one_rate_for_all(means: pd.DataFrame) -> None:
    """By how much activations differ after one bit at ReLU's rate; the page of evidence says so."""
    apart = np.log10(means["one bit"]).unstack("activation").std(axis=1)
    for models, factor, digits in ((apart.index, 20, -1), (FIVE, 29, 0)):
        times = 10 ** (apart[models] ** 2).mean() ** 0.5
        agrees(times, factor, f"a factor in {len(models)} architectures", digits=digits)


def check_sizes(by_size: pd.DataFrame, steep: pd.DataFrame) -> None:
    """First changes of eight sizes."""
    ends = 10 ** by_size.xs("relu", level="activation")
    agrees([ends.min(axis=None), ends.max(axis=None)], [0.08, 0.12], "ReLU, any size", digits=2)
    agrees(steep.xs("relu", level="activation")["mean"], [0.001, 0.014], "ReLU's slopes, charlm and convlm", digits=3)
    smooth = steep.loc[(slice(None), ["gelu", "smelu_0.3"]), :]
    agrees(smooth["mean"].agg(["min", "max"]), [0.61, 0.78], "slopes of GELU and SmeLU-0.3", digits=2)
    agrees((10 ** smooth["mean"]).agg(["min", "max"]), [4, 6], "ten times larger does so much more", digits=0)
    agrees([smooth["low"].min(), smooth["high"].max()], [0.22, 1.01], "their intervals", digits=2)
    agrees(set(steep["count"]), {3}, "three seeds")
    tenth = by_size[0.1].groupby("model").agg(["min", "max"])
    agrees((10 ** (tenth["max"] - tenth["min"])).max(), 2.3, "four activations at a tenth of the norm", digits=1)


def check_growth(long: pd.DataFrame, later: pd.DataFrame, growth: pd.DataFrame, behind: pd.Series) -> None:
    """Along training."""
    agrees(long.iloc[0], [27, 43, 58, 72, 78], "percent of another seed, convlm", digits=0)
    tenth = later["nudge-10"].unstack()
    agrees(tenth.loc[["convlm", "charlm"], "relu"], [97, 98], "a bit at step 10, percent", digits=0)
    agrees(tenth.drop(columns="relu").min(axis=None), 1.6, "under smooth ones, least", digits=1)
    agrees(tenth.drop(columns="relu").max(axis=None), 66, "under smooth ones, most", digits=0)
    half = later["nudge-250"].unstack()
    agrees(half.loc[["convlm", "charlm"], "relu"], [51, 72], "a bit at half of training, percent", digits=0)
    smooth = half.drop(columns="relu")
    agrees(smooth.min(axis=None), 0.3, "under smooth ones, least", digits=1)
    agrees(smooth.max(axis=None), 35, "under smooth ones, most", digits=0)
    fits = growth.loc[("convlm", "gelu"), ["power: r2", "exponent: r2"]]
    agrees(fits, [0.994, 0.950], "fits for GELU in convlm", digits=3)
    holds(behind.min() > 2, "after 3,000 steps more than a hundred times closer")


def check_the_low_rate(
    grown: pd.DataFrame, extreme: pd.Series, share_of: pd.DataFrame, ensembles: pd.DataFrame, found: pd.DataFrame
) -> None:
    """What jumps at 0, and one stream at a time."""
    low = grown["low rate"]
    agrees(low[low > 0].to_dict(), {"relu": 5}, "under ReLU alone, in five of six")
    agrees(set(extreme.index[extreme > 1e-4]), {"relu", "step"}, "among the unusual ones")
    agrees(100 * share_of.mean(), [81, 75, 33], "weights, order, masks: percent of a seed", digits=0)
    less = -100 * (ensembles["difference"] / ensembles["reference"]).mean()
    agrees(less, 28, "an average of two runs, percent less", digits=0)
    alone = found[found["varies"] != "all"]
    sure = (alone["p_holm"] < 0.05).groupby(alone["scale"]).agg(["sum", "size"])
    agrees(sure.loc["lite"].tolist(), [12, 18], "significant in the two larger networks")
    agrees(sure.loc["quick", "sum"].item(), 0, "none in the smallest")


def check_the_plans(plan: pd.DataFrame, beside: pd.DataFrame, losses: pd.DataFrame) -> None:
    """Nineteen predictions."""
    words = ["held", "failed", "failed", "held", "failed"]  # one-bit, ladder
    words += ["held", "held", "failed", "held", "failed", "failed", "failed"]  # growth, growth-long
    words += ["failed", "undecided", "held", "held", "held"]  # rounding-tuned, sources, extreme
    words += ["held", "undecided"]  # perturbation-size
    agrees(plan["outcome"].tolist(), words, "outcomes")
    agrees(beside["significantly_below"].iloc[0].item(), 24, "significantly below another seed")
    counts = losses["outcome"].value_counts().to_dict()
    agrees(counts, {"undecided": 14, "higher": 3, "lower": 1}, "losses beside ReLU's, with a margin of 0.01 nats")
