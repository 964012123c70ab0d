"""Numbers of notebooks/methods.ipynb: the measures' ranges, the worked example, the models."""

import pandas as pd

import actlab
from actlab import paths
from actlab.checks import agrees, holds
from actlab.files import read_yaml


def check_measures(values: pd.DataFrame) -> None:
    """Four positions."""
    same, tie, rare, other = (
        values[name] for name in ("the same choice", "nearly a tie", "a rare character", "another choice")
    )
    agrees([same["churn"], tie["churn"]], [0, 1], "churn of the first case and of the second")
    holds(tie["total variation"] < 0.03, "next to nothing has moved at the tie")
    holds(same["relative PD"] < rare["relative PD"] < other["relative PD"], "a rare character raises relative PD")
    agrees(rare["total variation"], 0.01, "total variation of the rare character", digits=2)
    holds(values.loc["total variation"].idxmax() == "another choice", "total variation follows what has moved")


def check_example(
    of_relu: pd.DataFrame,
    by_hand: dict[str, float],
    by_actlab: pd.Series,
    family: pd.DataFrame,
    contrasts: pd.DataFrame,
) -> None:
    """What is computed by hand is what the library computes."""
    agrees(len(of_relu), 10, "pairs of five runs")
    agrees(by_hand["estimate"], 12, "two seeds differ by, points", digits=0)
    holds(abs(by_hand["se"] - by_actlab["se"]) < 1e-12, "the jackknife by hand is actlab.means")
    holds((family["by hand"] - contrasts["p_holm"]).abs().max() < 1e-12, "Holm by hand is actlab.contrasts")
    found = contrasts["p_holm"] < 0.05
    agrees(found.index[~found].tolist(), ["smelu_05"], "where we could not tell")
    agrees(len(found), 5, "comparisons")
    agrees(1 - 0.95**5, 0.23, "chance of one by chance, of five", digits=2)


def check_models(models: pd.DataFrame) -> None:
    """Gated models have the size of the plain ones."""
    recorded = actlab.load("repro-lite")[0].groupby(["model", "activation"])["parameters"].first().unstack()
    agrees(models["lite"].sort_index().tolist(), recorded["relu"].tolist(), "parameters at the lite scale")
    holds(((recorded["swiglu"] / recorded["relu"] - 1).abs() < 0.01).all(), "within 1% at the lite scale")


def check_tests() -> None:
    """The sign-flip test's lowest p-values, and the margin of the main plan."""
    agrees([2 / 2**seeds for seeds in (5, 3)], [0.0625, 0.25], "lowest p of five shared seeds, and of three")
    plan = read_yaml(paths.ROOT / "params" / "answer.yaml")["plan"]
    holds(
        {"margin": 0.005, "at": "equal loss"}.items() <= plan["outcomes"][0].items(), "a margin of 0.005 at equal loss"
    )
