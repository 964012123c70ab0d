"""Numbers of notebooks/phase.ipynb."""

import numpy as np
import pandas as pd

from actlab.checks import agrees, holds

BOTH = ["charlm", "nanotransformer"]
"""The architectures whose smooth networks jump."""


def check_what_is_recorded(runs: pd.DataFrame, pairs: pd.DataFrame, again: pd.Series, whole: pd.Index) -> None:
    """Three seeds everywhere."""
    agrees(sorted(whole), ["charlm", "convlm", "nanotransformer"], "architectures of which all is recorded")
    arms = pairs.groupby(["warm-up", "model", "activation", "learning_rate"])["seed"].nunique()
    agrees(set(arms), {3}, "three seeds")
    agrees((runs["parameters"] / 1e6).agg(["min", "max"]), [0.31, 0.43], "million parameters", digits=2)
    agrees({*runs["iterations"]}, {300}, "steps")
    agrees((len(again), again.max()), (36, 0.0), "unchanged repetitions on a GPU, and their largest difference")


def check_the_levels(level: pd.DataFrame, quiet: float, found: pd.DataFrame) -> None:
    """What one bit does at a rate: geometric means."""
    example = found.query("`warm-up` == 0 and model == 'charlm' and activation == 'gelu' and learning_rate == 0.002")
    agrees(100 * 10 ** example["max"].item(), 0.04, "its worst of three seeds (%)", digits=2)
    gelu = 100 * 10 ** level.loc[(0, "charlm", "gelu"), [0.002, 0.004]]
    agrees(gelu.iloc[0], 0.003, "GELU in charlm at 0.002 (%)", digits=3)
    agrees(gelu.iloc[1], 10, "GELU in charlm at 0.004 (%)", digits=0)
    relu = 100 * 10 ** level.xs("relu", level="activation").stack()
    agrees(relu.max(), 20, "ReLU's most (%)", digits=0)
    agrees(relu.min(), 0.7, "ReLU's least (%)", digits=1)
    agrees(relu[(0, "charlm")][[0.002, 0.004]], [8, 11], "ReLU in charlm (%)", digits=0)
    gelu = level.xs(("convlm", "gelu"), level=["model", "activation"])
    holds((10 ** gelu.max(axis=None)) < quiet, "GELU in convlm is quiet at all six rates")


def check_the_jumps(jumps: pd.DataFrame, steep: pd.DataFrame) -> None:
    """Largest rise between neighbouring rates."""
    times = steep["times"].loc[0].drop("relu", level="activation")
    agrees(times[BOTH].drop(("charlm", "smelu_0.3")), [3300, 4300, 4500, 1400, 200], "in times", digits=-2)
    agrees(times[("charlm", "smelu_0.3")], 1030, "SmeLU-0.3 in charlm", digits=-1)
    agrees(times["convlm"], [20, 42, 48], "in convlm", digits=0)
    agrees(steep.loc[(0, "convlm", "gelu"), "to a rate of"], 0.064, "GELU's in convlm is at the edge", digits=3)
    single = steep.loc[0].drop("relu", level="activation").loc[BOTH]
    agrees(single["least"].min(), 9, "single seeds, least", digits=0)
    agrees(single["most"].max(), 85_000, "single seeds, most", digits=-3)
    holds((steep["least"] <= steep["times"]).all() and (steep["times"] <= steep["most"]).all(), "seeds lie around it")
    dry = jumps.loc[0]
    worse = steep.loc[0].drop("relu", level="activation")["loss"][BOTH].sort_values()
    agrees([*worse.iloc[[0, 1, -1]]], [0.02, 0.08, 0.23], "nats worse at the jump", digits=2)
    smooth = dry.drop("relu", level="activation")["jump"]
    agrees(smooth[BOTH].agg(["min", "max"]), [2.3, 3.7], "smooth ones without a warm-up", digits=1)
    agrees(10 ** smooth[BOTH].min(), 200, "a factor of", digits=-1)
    agrees(10 ** smooth[BOTH].max(), 4500, "to a factor of", digits=-2)
    agrees(steep.loc[0].loc["convlm", "most"].max(), 900, "in convlm, most of one seed", digits=-2)
    agrees(steep.loc[0].xs("relu", level="activation")["most"].max(), 6, "under ReLU, most of one seed", digits=0)
    relu = dry.xs("relu", level="activation")["jump"]
    agrees(relu[[*BOTH, "convlm"]], [0.7, 0.4, 0.2], "ReLU's", digits=1)
    agrees(10 ** relu.max(), 5.4, "ReLU's as a factor", digits=1)
    agrees(smooth["charlm"], [3.52, 3.63, 3.01], "GELU, SwiGLU, SmeLU 0.3 in charlm", digits=2)
    agrees(smooth["nanotransformer"], [3.65, 3.16, 2.30], "the same in nanotransformer", digits=2)
    agrees(smooth["convlm"], [1.3, 1.6, 1.7], "the same in convlm", digits=1)
    agrees(10 ** smooth["convlm"].max(), 50, "as a factor, at most", digits=-1)


def check_slopes_and_warm_up(slopes: pd.Series, after: pd.DataFrame, moved: pd.Series) -> None:
    """ReLU's slope, and where the jump goes."""
    agrees(slopes[0][["charlm", "nanotransformer", "convlm"]], [0.78, 0.38, 0.23], "no warm-up", digits=2)
    agrees(slopes[50][["charlm", "nanotransformer", "convlm"]], [0.79, 0.39, 0.33], "warm-up", digits=2)
    times = after["times smaller there"]
    agrees(times.min(), 4, "times smaller, least", digits=0)
    agrees(times.max(), 9600, "times smaller, most", digits=-2)
    agrees([*moved[moved].index], [(model, "gelu") for model in BOTH], "where the jump moves up")
    agrees(len(moved), 5, "of five")
    holds((after["up to, warm-up"] >= after["up to"]).all(), "it moves down nowhere")


def check_the_cost(cost: pd.DataFrame, found: pd.DataFrame, against: pd.DataFrame, quiet: float) -> None:
    """Losses, in nats."""
    smooth = cost.drop("relu", level="activation")
    free = smooth["cost"] == 0
    agrees(free.groupby("warm-up").agg(["sum", "size"]).to_numpy().tolist(), [[8, 9], [5, 9]], "lowest loss quiet")
    holds(free.xs("convlm", level="model").all(), "in convlm in all six")
    agrees([free.loc[steps].loc[BOTH].sum() for steps in (0, 50)], [5, 2], "of six in the transformers")
    agrees(against.stack().agg(["min", "max"]), [-0.059, 0.141], "quiet networks minus ReLU", digits=3)
    agrees(against["smelu_0.3"].agg(["min", "max"]), [-0.007, 0.141], "quiet SmeLU-0.3 minus ReLU", digits=3)
    holds(cost.xs("relu", level="activation")["quiet up to"].isna().all(), "ReLU is never quiet")
    agrees(smooth.loc[(0, "nanotransformer", "smelu_0.3"), "cost"], 0.060, "the seventh", digits=3)
    agrees(smooth.loc[(50, "charlm", "smelu_0.3"), "cost"], 0.021, "SmeLU 0.3 in charlm", digits=3)
    wet = smooth.loc[50].loc["nanotransformer", "cost"]
    agrees(wet.agg(["min", "max"]), [0.066, 0.104], "nanotransformer with a warm-up", digits=3)
    costly = smooth["cost"][smooth["cost"] > 0]
    agrees((len(costly), len(costly.loc[[50]])), (5, 4), "sweeps in which it costs, with a warm-up")
    agrees(costly.agg(["min", "max"]), [0.02, 0.10], "nats", digits=2)
    agrees(against["swiglu"].agg(["min", "max"]), [-0.059, 0.048], "quiet SwiGLU minus ReLU", digits=3)
    gelu = against["gelu"].unstack("model")
    agrees([gelu[BOTH].min(axis=None), gelu[BOTH].max(axis=None)], [0.009, 0.136], "quiet GELU minus ReLU", digits=3)
    agrees(gelu["convlm"], [-0.04, -0.04], "the same in convlm", digits=2)
    arm = ["warm-up", "model", "activation"]
    at = found.set_index([*arm, "learning_rate"])["max"]
    worst = 10 ** at.loc[[(*key, rate) for key, rate in smooth["quiet up to"].items()]]
    agrees((worst > quiet).sum(), 7, "series in which a seed exceeds it at the largest quiet rate")
    agrees(worst.max() / quiet, 16, "by a factor of", digits=0)
    every = at.loc[[(*key, rate) for key, rate in smooth["at"].items()]]
    agrees((10**every < quiet).sum(), 10, "lowest loss where every seed is quiet")


def check_the_verdicts(plan: pd.DataFrame) -> None:
    """By the rules of the plan."""
    agrees([*plan["outcome"]], ["failed", "undecided", "undecided", "failed", "failed"], "outcomes")


def check_the_growth(
    growth: pd.DataFrame,
    exponent: pd.DataFrame,
    stretch: pd.DataFrame,
    calm: pd.DataFrame,
    beside: pd.DataFrame,
    begin: pd.Series,
) -> None:
    """Of a small difference in charlm."""
    smooth = growth.drop("relu")
    quiet = 10 ** smooth.loc[:, :0.002]
    holds(calm.drop("relu").loc[:, :0.002].all(axis=None), "GELU and SwiGLU are quiet up to 0.002")
    holds(not calm.drop("relu").loc[:, 0.004:].any(axis=None), "and at no higher rate")
    agrees(quiet.min(axis=None), 1.5, "times at quiet rates, at least", digits=1)
    agrees(quiet.max(axis=None), 42, "times at quiet rates, at most", digits=0)
    alone = begin.unstack().drop("relu").loc[:, :0.002]
    agrees(alone.min(axis=None), 2.7, "AdamW's first step, least", digits=1)
    agrees(alone.max(axis=None), 63, "AdamW's first step, most", digits=0)
    holds((growth.loc[:, 0.004:] > 10).all(axis=None), "ten billion times and more at the others")
    agrees(smooth[0.004], [10, 11], "powers of ten at 0.004", digits=0)
    signs = beside[(beside["activation"] == "relu") & beside["learning_rate"].between(0.001, 0.004)]["sides_apart"]
    agrees(sorted({*beside["iteration"]})[98:102], [98, 99, 100, 110], "steps that are recorded")
    agrees(growth.loc["relu", 0.004], 15, "ReLU's power of ten at 0.004", digits=0)
    holds((signs == 0).all(), "no sign differs at 0.001 to 0.004")
    agrees(10 ** growth.loc[["relu", "gelu"], 0.001], [4.4, 3.2], "times at 0.001", digits=1)
    agrees(10 ** growth.loc[["relu", "gelu"], 0.002], [113, 22], "times at 0.002", digits=0)
    longest = np.log10(stretch["weight_distance"] / 1e-8).groupby(stretch["learning_rate"]).max()
    holds(longest[0.008] > 8 and longest[0.016] > 8, "stretches that reach the distance of unrelated networks")
    one = stretch[(stretch["activation"] == "relu") & (stretch["learning_rate"] == 0.0005)]
    apart = one[one["sides_apart"] > 0]
    agrees(len(apart), 1, "stretches in which a sign differs")
    agrees(1e6 * apart["sides_apart"].item(), 1, "of a million inputs", digits=0)
    agrees(apart["weight_distance"].item() / 1e-8, 6800, "growth in these ten steps", digits=-2)
    flat = exponent.drop("relu").stack()
    low, high = flat[flat.index.get_level_values(1) <= 0.002], flat[flat.index.get_level_values(1) > 0.002]
    agrees(low.agg(["min", "max"]), [0.001, 0.010], "exponents at quiet rates", digits=3)
    agrees(high.min(), 0.058, "at the others, least", digits=3)
    agrees(high.max(), 1.9, "at the others, most", digits=1)
    agrees(exponent.loc["relu", [0.001, 0.002]], [0.004, 0.021], "ReLU's", digits=3)
    agrees(exponent.loc["relu", 0.0005], 0.08, "ReLU's at the lowest rate", digits=2)
    holds((exponent > 0).all(axis=None), "no exponent is below 0")


def check_larger_networks(bits: pd.Series, floor: pd.DataFrame, quiet: float) -> None:
    """Three to four times the size, at one low rate."""
    agrees({*floor["learning_rate"]}, {0.0003}, "the rate")
    agrees({*floor[floor["variant"] == "nudge"].groupby(["activation", "model"]).size()}, {1}, "pairs")
    moved = (100 * bits).unstack("model").drop("relu")
    four = ["charlm", "convlm", "hybridlm", "tinylstm"]
    holds((moved[four] < 100 * quiet).all(axis=None), "four are quiet")
    holds(bits[("relu", "tinylstm")] < quiet, "tinylstm even under ReLU")
    agrees(moved.loc["smelu_1", "nanotransformer"], 0.03, "SmeLU-1 in nanotransformer (%)", digits=2)
    loud = moved["nanotransformer"].drop("smelu_1")
    agrees([loud.min(), loud.max()], [4, 9], "four in nanotransformer (%)", digits=0)
    agrees(moved["nanotransformer"][["gelu", "swiglu"]], [5, 9], "two of them (%)", digits=0)
    agrees(moved.loc[["swiglu", "gelu"], "minigpt"], [2.5, 0.2], "minigpt (%)", digits=1)
