"""Numbers of notebooks/same.ipynb."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees


def check_another_processor(processors: pd.DataFrame, twins: pd.DataFrame) -> None:
    """Two kinds of CPU."""
    relu, rest, lstm = (
        processors.loc[("tuned rates", name)] for name in ("relu", "all others", "tinylstm, all others")
    )
    agrees(relu["min"], 0.0044, "least nats under ReLU", digits=4)
    agrees(relu["max"], 0.012, "most nats under ReLU", digits=3)
    agrees(relu["share of a seed (median)"], 0.5, "in the median, of a seed", digits=1)
    agrees(rest["max"], 0.00094, "most nats under the others", digits=5)
    agrees(lstm["max"], 0.054, "most nats in tinylstm", digits=3)
    agrees(processors.groupby("rate")["size"].sum()[["tuned rates", "low rate"]].tolist(), [21, 70], "runs")
    agrees(processors.loc[("low rate", "relu"), "max"], 0.0016, "most nats under ReLU at the low rate", digits=4)
    holds(processors.loc[("low rate", "all others"), "max"] < 1e-6, "under the others below a millionth")
    few = twins[(twins["rate"] == "low rate") & (twins["under"] == "tinylstm, all others")]["apart"].nlargest(2)
    agrees(few.iloc[0], 0.00003, "in one run of the LSTM", digits=5)
    holds(few.iloc[1] < 1e-6, "in its others below a millionth")


def check_the_same_machine(same: pd.DataFrame) -> None:
    """The control."""
    holds((same["pairs"] == same["equal bit for bit"]).all(), "every pair is equal")
    agrees(same["pairs"].tolist(), [36, 36], "pairs")


def check_cpu_and_gpu(factors: pd.DataFrame, moved: pd.Series) -> None:
    """The same seeds and rates."""
    relu = factors.xs("relu", level="activation")
    holds(relu["max"].max() < 1.07 and relu["min"].min() > 0.93, "under ReLU the two agree within 7%")
    agrees(factors.loc[("charlm", "gelu"), ["min", "max"]], [8, 33], "GELU in charlm, times larger", digits=0)
    smelu = 1 / factors.loc[("charlm", "smelu_1"), ["max", "min"]]
    agrees(smelu["max"], 13, "SmeLU-1 in charlm, times smaller, least", digits=0)
    agrees(smelu["min"], 410, "SmeLU-1 in charlm, times smaller, most", digits=-1)
    agrees(1 / factors.loc[("convlm", "swiglu"), ["max", "min"]], [6, 53], "SwiGLU in convlm, smaller", digits=0)
    agrees(moved[[("convlm", "relu")]], [0.0017], "convlm: the loss moves by at most", digits=4)
    agrees(moved[[("tinylstm", "relu")]], [0.026], "tinylstm: the loss moves by at most", digits=3)


def check_results(results: pd.DataFrame, changes: dict[str, pd.DataFrame], closer: pd.DataFrame) -> None:
    """What two threads and one bit change, in % of another seed and in points, and what averaging takes off."""
    share = results["share (%)"].droplevel("model").unstack()
    agrees(share.loc[["relu", "gelu"], "two threads"], [77, 32], "two threads", digits=0)
    agrees(share.loc[["relu", "gelu"], "one bit"], [77, 30], "one bit", digits=0)
    gelu = results.loc[("nanotransformer", "gelu", "two threads"), ["low", "high"]].astype(float)
    agrees(gelu, [20, 53], "two threads under GELU, interval", digits=0)
    agrees(share.loc["swiglu", ["two threads", "one bit"]], [1.4, 0.2], "SwiGLU", digits=1)
    geometric = results["share, geometric means (%)"].droplevel("model").unstack()
    agrees(geometric.loc["gelu", ["two threads", "one bit"]], [29, 22], "geometric means, GELU", digits=0)
    agrees(geometric.loc["swiglu", ["two threads", "one bit"]], [0.09, 0.05], "geometric means, SwiGLU", digits=2)
    agrees(geometric.loc["relu", ["two threads", "one bit"]], [77, 77], "geometric means, ReLU", digits=0)
    relu = results.loc[("nanotransformer", "relu", "two threads")]
    agrees(relu[["total variation (points)", "two seeds"]], [13, 17], "ReLU, points", digits=0)
    agrees(set(results["n"]), {5}, "seeds")
    each = changes["two threads"].groupby("activation")["total_variation"]
    agrees(each.get_group("gelu").agg(["min", "max"]), [2, 8], "GELU, least and most points", digits=0)
    agrees(set(each.get_group("relu").round()), {13.0}, "ReLU, points of each seed")
    fifth, *four = each.get_group("swiglu").sort_values(ascending=False)
    agrees([fifth, max(four)], [1.13, 0.04], "SwiGLU, the fifth seed and the others", digits=2)
    for column, ends in {"estimate": [14.0, 14.5], "reference": [16.7, 17.4]}.items():
        agrees(100 * closer[column].agg(["min", "max"]), ends, f"two seeds, averaged or not: {column}", digits=1)


def check_the_plans(plan: pd.DataFrame, precision: pd.DataFrame) -> None:
    """Ten predictions."""
    words = ["held", "held", "held", "held", "failed", "held", "undecided", "held", "failed", "failed"]
    agrees(plan["outcome"].tolist(), words, "outcomes")
    agrees(precision["outcome"].tolist(), ["equivalent"] * 12, "all 12 are equivalent")
