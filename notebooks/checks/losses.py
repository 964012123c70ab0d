"""Numbers of notebooks/losses.ipynb."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees

TRANSFORMERS = ["charlm", "minigpt", "nanotransformer"]


def check_results(results: pd.DataFrame, distance: pd.DataFrame, tied: pd.DataFrame) -> None:
    """The best of each architecture."""
    best = ["SwiGLU", "SwiGLU", "SwiGLU", "GELU", "SmeLU-1"]
    order = [*TRANSFORMERS, "convlm", "tinylstm"]
    agrees(results.loc[order, "best"].tolist(), best, "predicts best")
    agrees(results.loc[order, "loss, ReLU"], [1.93, 2.03, 1.87, 1.81, 1.78], "nats under ReLU", digits=2)
    agrees(results.loc[order, "loss, best"], [1.91, 1.98, 1.83, 1.77, 1.72], "nats under the best", digits=2)
    gain = -results["difference"]
    agrees(gain[TRANSFORMERS].agg(["min", "max"]), [0.019, 0.047], "transformers", digits=3)
    agrees(gain[["convlm", "tinylstm"]], [0.035, 0.057], "convolution and LSTM", digits=3)
    holds(results.loc["hybridlm", "high"] > 0, "hybridlm: no gain to tell")
    hybrid = tied.loc["hybridlm"].drop(distance.loc["hybridlm"].idxmin())
    agrees(hybrid.index[~hybrid.astype(bool)].tolist(), ["swiglu"], "only SwiGLU is behind in hybridlm")
    agrees(distance.loc["hybridlm", "swiglu"], 0.013, "by so many nats", digits=3)
    most = distance.loc["largest gap", ["relu", "gelu", "swiglu"]]
    agrees(most, [0.057, 0.223, 0.272], "at most behind the best", digits=3)
    agrees(distance.loc["largest gap"].idxmin(), "relu", "ReLU is least behind")


def check_the_networks(trials: pd.DataFrame, losses: pd.DataFrame) -> None:
    """Sizes and seeds."""
    arm = ["model", "activation"]
    size = trials.groupby(arm)["parameters"].first().unstack()
    holds(size.div(size["relu"], axis=0).sub(1).abs().max(axis=None) < 0.0040, "as many parameters, within 0.4%")
    holds(trials["parameters"].between(2.5e5, 4.5e5).all(), "0.3 to 0.4 million parameters")
    agrees(set(trials.groupby(arm)["seed"].nunique()), {10}, "ten seeds")
    steps = trials.groupby("model")["iterations"].first()
    agrees([steps.pop("tinylstm"), *set(steps)], [1500, 750], "steps", digits=0)
    agrees(losses["relu"].max() - losses["relu"].min(), 0.32, "six architectures under ReLU, nats", digits=2)


def check_the_leads(leads: pd.DataFrame, gains: pd.DataFrame, shown: pd.DataFrame, behind: pd.DataFrame) -> None:
    """One row a lead, one column a test."""
    cells = leads.reset_index("activation", drop=True)
    safe = ~cells.apply(lambda column: column.str.contains("gone|reversed|certain")).any(axis=1)
    agrees(cells.index[safe].tolist(), ["convlm"], "GELU's lead alone survives its tests")
    held = cells.loc["convlm"].astype(str).str.startswith("holds")
    agrees(held.index[held].tolist(), ["novels", "ReLU's tuning"], "both tests that it had")
    same = cells.index[cells["ReLU's rate"] == "has that rate"]
    agrees(set(same), {"convlm", "minigpt"}, "have ReLU's rate anyway")
    again = shown[shown["where"] == "other seeds"]
    agrees(-again["difference"].min(), 0.10, "ReLU at most behind on other seeds, nats", digits=2)
    se = behind.set_index(["model", "activation"])["se"]["convlm"]
    agrees(se["swiglu"] / se["swish"], 2, "SwiGLU's differences scatter twice as much in convlm", digits=0)


def check_elsewhere(shown: pd.DataFrame) -> None:
    """Other seeds, texts and rates."""
    cells = shown.set_index(["study", "model", "activation"])
    again = cells[cells["where"].isin(["other seeds", "novels"])]
    holds((again["high"] < 0).all(), "every gain that was tried again repeats")
    lstm = -cells.loc[("answer-fresh", "tinylstm", "smelu_1"), ["difference", "high", "low"]].astype(float)
    agrees(lstm, [0.101, 0.070, 0.133], "ReLU behind SmeLU-1 in the LSTM on other seeds", digits=3)
    agrees(cells.loc[("answer-fresh", "tinylstm", "smelu_1"), "n"], 10, "ten other seeds")
    rate = cells.loc["answer-rate"].xs("swiglu", level="activation")
    agrees([len(rate), (rate["high"] < 0).sum().item()], [3, 0], "SwiGLU at ReLU's rate")
    late = cells.loc["remedies-cooldown"].xs("swiglu", level="activation")
    ahead = {"convlm", "minigpt", "nanotransformer"}
    agrees(set(late.index[late["high"] < 0]), ahead, "SwiGLU stays ahead where the rate falls late")
    agrees(late.loc["charlm", "difference"], -0.001, "level with ReLU in charlm", digits=3)
    agrees(cells.loc[("answer-decay", "charlm", "swiglu"), "difference"], 0.021, "behind in charlm", digits=3)


def check_the_allowance(survivors: pd.Series, certain: pd.DataFrame, stays: pd.Series, highest: pd.Series) -> None:
    """For tuning."""
    agrees(survivors.tolist(), [18, 12, 12, 7], "significant, with the allowance, same rate, both")
    gained = certain["difference"] < 0
    agrees([gained.sum().item(), (~gained).sum().item()], [6, 12], "below ReLU and above")
    agrees(set(certain.index[gained & stays]), {("charlm", "swiglu"), ("convlm", "gelu")}, "two stay")
    agrees(certain.loc[("nanotransformer", "swiglu"), "p_allowed"], 0.08, "SwiGLU in nanotransformer", digits=2)
    agrees(highest["tinylstm", "swiglu"], 0.004, "SwiGLU in the LSTM, the highest rate", digits=3)
