"""Numbers of notebooks/ablation.ipynb, over the tables that it shows of the recorded studies."""

import numpy as np
import pandas as pd

import actlab
from actlab.checks import agrees, holds


def check_published_rates(results: pd.DataFrame, average: pd.DataFrame, activation: pd.DataFrame) -> None:
    """Three seeds on a hundred novels."""
    significant = results[results["p_holm"] < 0.05]
    agrees(len(results), 8, "comparisons")
    agrees(len(significant), 5, "significant ones")
    holds((significant["difference"] > 0).all(), "bQ+bV lowers the loss in none")
    holds((results["n"] == 3).all(), "three seeds")
    agrees(average[["estimate", "low", "high"]].iloc[0], [0.023, 0.015, 0.031], "the mean effect", digits=3)
    agrees([activation["difference"].min(), activation["difference"].max()], [-0.04, 0.02], "PReLU", digits=2)
    one = activation[activation["p_holm"] < 0.05]
    agrees(one[["optimizer", "symmetry"]].to_numpy().tolist(), [["adamw", "symmetric"]], "the significant one of PReLU")
    holds((one["difference"] < 0).all(), "in favour of PReLU")


def check_tuning(by_rate: pd.DataFrame, planned: pd.DataFrame) -> None:
    """What the rate is worth beside the symmetry."""
    best = by_rate.groupby("optimizer")["estimate"].min()
    gained = by_rate[by_rate["rate_factor"] == 1].set_index("optimizer")["estimate"] - best
    agrees(gained["adamw"], 1.01, "tuning lowers AdamW's loss", digits=2)
    effect = planned.loc[planned["effect"] == "bQ+bV", "nats"].mean()
    holds(40 < gained["adamw"] / effect < 50, "over forty times the effect of bQ+bV")
    holds((gained[["adamw", "soap"]] > 10 * effect).all(), "the rate matters far more for AdamW and SOAP")
    holds((gained[["ecd", "sgdm"]] == 0).all(), "for ECD and SGDM the published rate is the best of those tried")


def check_tuned_rates(tuned: pd.DataFrame, effects: pd.DataFrame, at_tuned: pd.DataFrame) -> None:
    """Five fresh seeds; the committed rules."""
    found = effects.set_index("effect")[["estimate", "low", "high"]].astype(float)
    agrees(found.loc["bQ+bV"], [0.022, 0.014, 0.029], "the mean effect at tuned rates", digits=3)
    more = found.loc["bQ+bV, random PReLU minus GELU"]
    agrees(more, [-0.011, -0.019, -0.004], "less under random PReLU", digits=3)
    holds(tuned.groupby(["optimizer", "symmetry", "activation"])["seed"].nunique().eq(5).all(), "five seeds each")
    agrees(int(((at_tuned["p_holm"] < 0.05) & (at_tuned["difference"] > 0)).sum()), 4, "significant at tuned rates")
    holds(not ((at_tuned["p_holm"] < 0.05) & (at_tuned["difference"] < 0)).any(), "never significantly lower")
    holds((at_tuned.loc[at_tuned["optimizer"] == "soap", "p_holm"] > 0.05).all(), "under SOAP not to be told from zero")
    agrees(round(tuned["parameters"].max(), -4), 170_000, "parameters")


def check_the_opening(tuned: pd.DataFrame, size: dict[str, list[float]]) -> None:
    """Before and after, in nats and in the probability of the right token."""
    mean = tuned.groupby("symmetry")["val_loss"].mean()
    agrees(mean[["symmetric", "bQbV"]], [4.75, 4.77], "mean losses, nats per token", digits=2)
    agrees(100 * (1 - np.exp(mean["symmetric"] - mean["bQbV"])), 2, "less probability, percent", digits=0)
    agrees([size["parameters"][0] / 1e6, size["tokens"][0] / 1e6], [124, 500], "published, millions", digits=0)
    agrees({*tuned["iterations"]}, {600}, "steps")


def check_activations_at_tuned_rates(
    effects: pd.DataFrame, at_tuned: pd.DataFrame, prelu_at_tuned: pd.DataFrame
) -> None:
    """Random PReLU beside GELU, and SOAP's interval."""
    found = effects.set_index("effect")["estimate"]
    under = found[["bQ+bV under random PReLU", "bQ+bV under GELU"]]
    agrees(under, [0.016, 0.027], "what bQ+bV raises under PReLU and GELU", digits=3)
    soap = at_tuned.set_index("optimizer").loc["soap"].set_index("activation")[["difference", "low", "high"]]
    agrees(soap.loc["gelu"].astype(float), [-0.001, -0.007, 0.006], "SOAP under GELU", digits=3)
    agrees(soap.loc["random_prelu"].astype(float), [-0.006, -0.011, 0.000], "SOAP under random PReLU", digits=3)
    by = ["optimizer", "activation"]
    judged = actlab.contrasts(actlab.load("ablation-tuned")[0], "val_loss", by, "symmetry", "symmetric", margin=0.01)
    within = judged.set_index(by).loc["soap", ["p_equivalent", "p_equivalent_holm"]] < 0.05
    agrees(
        within.to_numpy().tolist(), [[True, False], [False, False]], "within 0.01 nats: GELU, before correction alone"
    )
    holds((judged.query("optimizer == 'soap'")["outcome"] == "undecided").all(), "under SOAP undecided by the plan")
    one = prelu_at_tuned[prelu_at_tuned["p_holm"] < 0.05]
    agrees(one[["optimizer", "symmetry"]].to_numpy().tolist(), [["soap", "symmetric"]], "PReLU at tuned rates")
    agrees(one["difference"], [0.012], "PReLU under SOAP", digits=3)


def check_optimizers(ranking: pd.DataFrame, level: pd.DataFrame, of_each: pd.DataFrame) -> None:
    """Their order."""
    agrees(list(level), ["soap", "adamw", "sgdm", "ecd"], "the order of the optimizers")
    agrees(len(ranking), 6, "differences between optimizers")
    holds((ranking["p_holm"] < 0.05).all(), "all of them significant")
    cells = of_each.pivot(index=["symmetry", "activation"], columns="optimizer", values="estimate")
    holds((cells.idxmin(axis=1) == "soap").all(), "SOAP is the lowest in each configuration")
    holds((cells.idxmax(axis=1) == "ecd").all(), "ECD is the highest in each configuration")
    holds(len(set((cells["adamw"] < cells["sgdm"]).tolist())) == 2, "the order of AdamW and SGDM varies")


def check_single_batches(optimism: float, average: pd.DataFrame, size: dict[str, list[float]]) -> None:
    """The lowest of 122 batches."""
    agrees(optimism, 0.32, "how much lower our losses would be", digits=2)
    agrees(round(optimism / average["estimate"].iloc[0]), 14, "times the effect of bQ+bV")
    agrees(size["tokens"][1], 307_200, "tokens seen")
    agrees(size["the lowest of"][1], 122, "evaluations")


def check_order_at_published_rates(ends: pd.DataFrame) -> None:
    """Whatever the symmetry."""
    mean = ends.groupby("optimizer")["estimate"].mean()
    holds(np.diff(mean.sort_values()).max() > 10 * 0.023, "the optimizer matters far more than the symmetry")
    agrees(mean.sort_values().index.tolist(), ["sgdm", "ecd", "soap", "adamw"], "order at the published rates")
