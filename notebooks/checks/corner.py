"""Numbers of notebooks/corner.ipynb."""

import pandas as pd

from actlab import holds
from actlab.checks import agrees

MODELS = ["convlm", "charlm", "nanotransformer"]


def check_results(results: pd.DataFrame) -> None:
    """One bit under ReLU and with a corner rounded by 0.3."""
    table = results.loc[MODELS]
    agrees(set(table["seeds"]), {5}, "five seeds")
    agrees(100 * table["one bit, ReLU"], [9, 10, 16], "one bit under ReLU, percent", digits=0)
    agrees(table["one bit, ReLU"] / table["two seeds differ"], [0.4, 0.6, 0.7], "of what another seed does", digits=1)
    agrees(100 * table.loc["convlm", "two seeds differ"], 21, "another seed in convlm, percent", digits=0)
    agrees(table["times smaller"].iloc[:1], [6000], "times smaller in convlm", digits=-3)
    agrees(table["times smaller"].iloc[1:2], [2400], "times smaller in charlm", digits=-2)
    agrees(table["times smaller"].iloc[2:], [30], "times smaller in nanotransformer", digits=-1)
    agrees(table["at least"].iloc[:2], [500, 300], "the intervals begin at", digits=-2)
    agrees(table["at least"].iloc[2:], [1.4], "in nanotransformer the interval begins at", digits=1)
    agrees(table["at most"].iloc[2:], [640], "in nanotransformer the interval ends at", digits=-1)


def check_the_loss(results: pd.DataFrame, dose: pd.DataFrame) -> None:
    """What rounding costs."""
    table = results.loc[MODELS]
    agrees(table["loss: difference"], [0.002, 0.012, 0.020], "nats higher", digits=3)
    agrees(table["loss: high"].max(), 0.042, "the largest within an interval", digits=3)
    holds(((table["loss: low"] < 0) & (table["loss: high"] > 0)).all(), "each interval includes 0")
    loss = dose["loss"].unstack("beta")
    agrees((loss[1] - loss[0])[["charlm", "convlm"]], [0.184, 0.027], "nats higher at a half-width of 1", digits=3)
    flat = loss.drop(columns=1).sub(loss[0], axis=0).abs().max(axis=None)
    holds(flat < 0.03, "the mean loss up to 0.3")


def check_every_width(dose: pd.DataFrame) -> None:
    """Wider is smaller, up to 0.3."""
    mean = dose["mean"].unstack("beta")
    falling = mean.drop(columns=[0, 1]).diff(axis=1).iloc[:, 1:]
    holds((falling < 0).all(axis=None), "from 0.001 to 0.3, the wider, the smaller")
    agrees(mean.index[mean[1] > mean[0.3]], ["charlm", "nanotransformer"], "larger again at 1")
    agrees(mean.loc["charlm", 1], 0.005, "charlm at 1", digits=3)
    powers = mean[0] / mean[0.3]
    holds(powers.min() > 10 and powers.max() < 10_000, "it falls by one to four powers of ten")


def check_sharpness(rising: pd.DataFrame) -> None:
    """GELU and Swish, ever closer to ReLU."""
    bit = rising["after one bit"]
    agrees(bit["gelu", 3], 0.00002, "GELU at a sharpness of 3", digits=5)
    agrees(bit["swish", 3], 0.000003, "Swish at a sharpness of 3", digits=6)
    agrees(bit.xs(100, level="sharpness")[["gelu", "swish"]], [0.075, 0.068], "at a sharpness of 100", digits=3)
    agrees(bit["relu"], [0.085], "ReLU on the same GPU", digits=3)


def check_the_plan(plan: pd.DataFrame, ranks: pd.Series) -> None:
    """What came of four predictions."""
    agrees(plan["outcome"], ["failed", "undecided", "held", "held"], "outcomes")
    agrees(ranks[["convlm", "nanotransformer", "charlm"]], [-1, -0.98, -0.90], "rank correlations", digits=2)
