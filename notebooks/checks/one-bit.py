"""Numbers of notebooks/one-bit.ipynb. Means are geometric unless it says so."""

import numpy as np
import pandas as pd
from scipy import stats

import actlab
from actlab import holds
from actlab.checks import agrees

FIVE = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm"]
JUMPING = ["charlm", "nanotransformer"]
"""The architectures whose smooth networks jump as the rate rises."""


def check_results(results: pd.DataFrame, two: pd.DataFrame, bit: pd.DataFrame, means: pd.DataFrame) -> None:
    """One bit, in percent of another seed."""
    table = results.loc[FIVE]
    agrees(table["relu"].agg(["min", "max"]), [40, 69], "ReLU in five architectures", digits=0)
    holds(45 < stats.gmean(table["relu"]) < 60, "about half of what another seed does")
    agrees(table["gelu"].drop("nanotransformer").max(), 0.5, "GELU in four", digits=1)
    agrees(table.loc["nanotransformer", "gelu"], 5, "GELU in nanotransformer", digits=0)
    arm, once = ["model", "activation"], bit.drop(columns="seed").assign(second=bit["first"])  # a pair, a run left out
    logs = [actlab.without_each(one, "log10").set_index([*arm, "left_out"])["value"] for one in (once, two)]
    share = 100 * 10 ** actlab.jackknife((logs[0] - logs[1]).xs(("hybridlm", "gelu")))[["estimate", "low", "high"]]
    agrees(share.astype(float), [0.5, 0.0, 10.1], "GELU in hybridlm, its interval", digits=1)
    tuned = actlab.load("answer")[0].query("model == 'nanotransformer'").groupby("activation")["learning_rate"].unique()
    agrees(
        [tuned[name].item() for name in ("gelu", "relu", "swiglu", "smelu_1")], [0.002, 0.002, 0.001, 0.001], "rates"
    )
    agrees(results.loc["tinylstm"].agg(["min", "max"]), [64, 92], "tinylstm, every activation", digits=0)
    smooth = table.drop(columns="relu")
    agrees(smooth.drop("nanotransformer").max(axis=None), 2.4, "smooth ones in four", digits=1)
    agrees(smooth.loc["nanotransformer"].agg(["min", "max"]), [5, 17], "in nanotransformer", digits=0)
    agrees(set(bit.groupby(["model", "activation"])["seed"].nunique()), {5}, "five seeds")
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


def check_the_six_rates(swept_runs: pd.DataFrame, swept: pd.DataFrame, again: pd.Series, complete: pd.Index) -> None:
    """Three seeds everywhere."""
    agrees(sorted(complete), ["charlm", "convlm", "nanotransformer"], "architectures of which all is recorded")
    arms = swept.groupby(["warm-up", "model", "activation", "learning_rate"])["seed"].nunique()
    agrees(set(arms), {3}, "three seeds")
    agrees((swept_runs["parameters"] / 1e6).agg(["min", "max"]), [0.31, 0.43], "million parameters", digits=2)
    agrees({*swept_runs["iterations"]}, {300}, "steps")
    agrees((len(again), again.max()), (36, 0.0), "unchanged repetitions on a GPU, and their largest difference")


def check_the_levels(by_rate: pd.DataFrame, quiet: float, each_rate: pd.DataFrame, seed_level: pd.Series) -> None:
    """What one bit does at a rate: geometric means."""
    example = each_rate.query(
        "`warm-up` == 0 and model == 'charlm' and activation == 'gelu' and learning_rate == 0.002"
    )
    agrees(100 * 10 ** example["max"].item(), 0.04, "its worst of three seeds (%)", digits=2)
    gelu = 100 * 10 ** by_rate.loc[(0, "charlm", "gelu"), [0.002, 0.004]]
    agrees(gelu.iloc[0], 0.003, "GELU in charlm at 0.002 (%)", digits=3)
    agrees(gelu.iloc[1], 10, "GELU in charlm at 0.004 (%)", digits=0)
    shares = gelu / seed_level.loc["charlm", [0.002, 0.004]]
    agrees(shares.iloc[0], 0.02, "GELU in charlm at 0.002 (% of another seed)", digits=2)
    agrees(shares.iloc[1], 53, "GELU in charlm at 0.004 (% of another seed)", digits=0)
    relu = 100 * 10 ** by_rate.xs("relu", level="activation").stack()
    agrees(relu.max(), 20, "ReLU's most (%)", digits=0)
    agrees(relu.min(), 0.7, "ReLU's least (%)", digits=1)
    agrees(relu[(0, "charlm")][[0.002, 0.004]], [8, 11], "ReLU in charlm (%)", digits=0)
    gelu = by_rate.xs(("convlm", "gelu"), level=["model", "activation"])
    holds((10 ** gelu.max(axis=None)) < quiet, "GELU in convlm is quiet at all six rates")


def check_the_jumps(largest_jumps: pd.DataFrame, jump_table: pd.DataFrame) -> None:
    """Largest rise between neighbouring rates."""
    times = jump_table["times larger"].loc[0].drop("relu", level="activation")
    agrees(times[JUMPING].drop(("charlm", "smelu_0.3")), [3300, 4300, 4500, 1400, 200], "in times", digits=-2)
    agrees(times[("charlm", "smelu_0.3")], 1030, "SmeLU-0.3 in charlm", digits=-1)
    agrees(times["convlm"], [20, 42, 48], "in convlm", digits=0)
    agrees(jump_table.loc[(0, "convlm", "gelu"), "at a rate of"], 0.064, "GELU's in convlm is at the edge", digits=3)
    single = jump_table.loc[0].drop("relu", level="activation").loc[JUMPING]
    agrees(single["least"].min(), 9, "single seeds, least", digits=0)
    agrees(single["most"].max(), 85_000, "single seeds, most", digits=-3)
    holds(
        (jump_table["least"] <= jump_table["times larger"]).all()
        and (jump_table["times larger"] <= jump_table["most"]).all(),
        "seeds lie around it",
    )
    dry = largest_jumps.loc[0]
    worse = jump_table.loc[0].drop("relu", level="activation")["loss is higher by"][JUMPING].sort_values()
    agrees([*worse.iloc[[0, 1, -1]]], [0.02, 0.08, 0.23], "nats worse at the jump", digits=2)
    smooth = dry.drop("relu", level="activation")["jump"]
    agrees(smooth[JUMPING].agg(["min", "max"]), [2.3, 3.7], "smooth ones without a warm-up", digits=1)
    agrees(10 ** smooth[JUMPING].min(), 200, "a factor of", digits=-1)
    agrees(10 ** smooth[JUMPING].max(), 4500, "to a factor of", digits=-2)
    agrees(jump_table.loc[0].loc["convlm", "most"].max(), 900, "in convlm, most of one seed", digits=-2)
    agrees(jump_table.loc[0].xs("relu", level="activation")["most"].max(), 6, "under ReLU, most of one seed", digits=0)
    relu = dry.xs("relu", level="activation")["jump"]
    agrees(relu[[*JUMPING, "convlm"]], [0.7, 0.4, 0.2], "ReLU's", digits=1)
    agrees(10 ** relu.max(), 5.4, "ReLU's as a factor", digits=1)
    agrees(smooth["charlm"], [3.52, 3.63, 3.01], "GELU, SwiGLU, SmeLU 0.3 in charlm", digits=2)
    agrees(smooth["nanotransformer"], [3.65, 3.16, 2.30], "the same in nanotransformer", digits=2)
    agrees(smooth["convlm"], [1.3, 1.6, 1.7], "the same in convlm", digits=1)
    agrees(10 ** smooth["convlm"].max(), 50, "as a factor, at most", digits=-1)


def check_slopes_and_warm_up(rate_slopes: pd.Series, warmed: pd.DataFrame, moved_up: pd.Series) -> None:
    """ReLU's slope, and where the jump goes."""
    agrees(rate_slopes[0][["charlm", "nanotransformer", "convlm"]], [0.78, 0.38, 0.23], "no warm-up", digits=2)
    agrees(rate_slopes[50][["charlm", "nanotransformer", "convlm"]], [0.79, 0.39, 0.33], "warm-up", digits=2)
    times = warmed["times smaller there"]
    agrees(times.min(), 4, "times smaller, least", digits=0)
    agrees(times.max(), 9600, "times smaller, most", digits=-2)
    agrees([*moved_up[moved_up].index], [(model, "gelu") for model in JUMPING], "where the jump moves up")
    agrees(len(moved_up), 5, "of five")
    holds((warmed["up to, warm-up"] >= warmed["up to"]).all(), "it moves down nowhere")


def check_the_cost(cost: pd.DataFrame, each_rate: pd.DataFrame, against_relu: pd.DataFrame, quiet: float) -> None:
    """Losses, in nats."""
    smooth = cost.drop("relu", level="activation")
    free = smooth["cost"] == 0
    agrees(free.groupby("warm-up").agg(["sum", "size"]).to_numpy().tolist(), [[8, 9], [5, 9]], "lowest loss quiet")
    holds(free.xs("convlm", level="model").all(), "in convlm in all six")
    agrees([free.loc[steps].loc[JUMPING].sum() for steps in (0, 50)], [5, 2], "of six in the transformers")
    agrees(against_relu.stack().agg(["min", "max"]), [-0.059, 0.141], "quiet networks minus ReLU", digits=3)
    agrees(against_relu["smelu_0.3"].agg(["min", "max"]), [-0.007, 0.141], "quiet SmeLU-0.3 minus ReLU", digits=3)
    holds(cost.xs("relu", level="activation")["quiet up to"].isna().all(), "ReLU is never quiet")
    agrees(smooth.loc[(0, "nanotransformer", "smelu_0.3"), "cost"], 0.060, "the seventh", digits=3)
    agrees(smooth.loc[(50, "charlm", "smelu_0.3"), "cost"], 0.021, "SmeLU 0.3 in charlm", digits=3)
    wet = smooth.loc[50].loc["nanotransformer", "cost"]
    agrees(wet.agg(["min", "max"]), [0.066, 0.104], "nanotransformer with a warm-up", digits=3)
    costly = smooth["cost"][smooth["cost"] > 0]
    agrees((len(costly), len(costly.loc[[50]])), (5, 4), "sweeps in which it costs, with a warm-up")
    agrees(costly.agg(["min", "max"]), [0.02, 0.10], "nats", digits=2)
    agrees(against_relu["swiglu"].agg(["min", "max"]), [-0.059, 0.048], "quiet SwiGLU minus ReLU", digits=3)
    gelu = against_relu["gelu"].unstack("model")
    agrees(
        [gelu[JUMPING].min(axis=None), gelu[JUMPING].max(axis=None)], [0.009, 0.136], "quiet GELU minus ReLU", digits=3
    )
    agrees(gelu["convlm"], [-0.04, -0.04], "the same in convlm", digits=2)
    arm = ["warm-up", "model", "activation"]
    at = each_rate.set_index([*arm, "learning_rate"])["max"]
    worst = 10 ** at.loc[[(*key, rate) for key, rate in smooth["quiet up to"].items()]]
    agrees((worst > quiet).sum(), 7, "series in which a seed exceeds it at the largest quiet rate")
    agrees(worst.max() / quiet, 16, "by a factor of", digits=0)
    every = at.loc[[(*key, rate) for key, rate in smooth["at"].items()]]
    agrees((10**every < quiet).sum(), 10, "lowest loss where every seed is quiet")


def check_the_verdicts_on_rates(rate_plan: pd.DataFrame) -> None:
    """By the rules of the plan."""
    agrees([*rate_plan["outcome"]], ["failed", "undecided", "undecided", "failed", "failed"], "outcomes")


def check_the_growth_of_a_small_difference(
    spreading: pd.DataFrame,
    exponent: pd.DataFrame,
    stretch: pd.DataFrame,
    calm: pd.DataFrame,
    beside_steps: pd.DataFrame,
    first_step: pd.Series,
) -> None:
    """Of a small difference in charlm."""
    smooth = spreading.drop("relu")
    quiet = 10 ** smooth.loc[:, :0.002]
    holds(calm.drop("relu").loc[:, :0.002].all(axis=None), "GELU and SwiGLU are quiet up to 0.002")
    holds(not calm.drop("relu").loc[:, 0.004:].any(axis=None), "and at no higher rate")
    agrees(quiet.min(axis=None), 1.5, "times at quiet rates, at least", digits=1)
    agrees(quiet.max(axis=None), 42, "times at quiet rates, at most", digits=0)
    alone = first_step.unstack().drop("relu").loc[:, :0.002]
    agrees(alone.min(axis=None), 2.7, "AdamW's first step, least", digits=1)
    agrees(alone.max(axis=None), 63, "AdamW's first step, most", digits=0)
    holds((spreading.loc[:, 0.004:] > 10).all(axis=None), "ten billion times and more at the others")
    agrees(smooth[0.004], [10, 11], "powers of ten at 0.004", digits=0)
    signs = beside_steps[(beside_steps["activation"] == "relu") & beside_steps["learning_rate"].between(0.001, 0.004)][
        "sides_apart"
    ]
    agrees(sorted({*beside_steps["iteration"]})[98:102], [98, 99, 100, 110], "steps that are recorded")
    agrees(spreading.loc["relu", 0.004], 15, "ReLU's power of ten at 0.004", digits=0)
    holds((signs == 0).all(), "no sign differs at 0.001 to 0.004")
    agrees(10 ** spreading.loc[["relu", "gelu"], 0.001], [4.4, 3.2], "times at 0.001", digits=1)
    agrees(10 ** spreading.loc[["relu", "gelu"], 0.002], [113, 22], "times at 0.002", digits=0)
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


def check_larger_networks(larger_bits: pd.Series, larger_floor: pd.DataFrame, quiet: float) -> None:
    """Three to four times the size, at one low rate."""
    agrees({*larger_floor["learning_rate"]}, {0.0003}, "the rate")
    agrees({*larger_floor[larger_floor["variant"] == "nudge"].groupby(["activation", "model"]).size()}, {1}, "pairs")
    moved = (100 * larger_bits).unstack("model").drop("relu")
    four = ["charlm", "convlm", "hybridlm", "tinylstm"]
    holds((moved[four] < 100 * quiet).all(axis=None), "four are quiet")
    holds(larger_bits[("relu", "tinylstm")] < quiet, "tinylstm even under ReLU")
    agrees(moved.loc["smelu_1", "nanotransformer"], 0.03, "SmeLU-1 in nanotransformer (%)", digits=2)
    loud = moved["nanotransformer"].drop("smelu_1")
    agrees([loud.min(), loud.max()], [4, 9], "four in nanotransformer (%)", digits=0)
    agrees(moved["nanotransformer"][["gelu", "swiglu"]], [5, 9], "two of them (%)", digits=0)
    agrees(moved.loc[["swiglu", "gelu"], "minigpt"], [2.5, 0.2], "minigpt (%)", digits=1)
