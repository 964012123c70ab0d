"""Numbers of notebooks/methods.ipynb: the measures' ranges, the worked example, the models."""

from collections.abc import Callable

import pandas as pd
import torch

from actlab import paths
from actlab.book.checks import agrees, holds
from actlab.files import read_yaml
from actlab.models import MODELS, SCALES, build_model

Measure = Callable[[torch.Tensor, torch.Tensor], float]


def parameters(scale: str, activation: str) -> pd.Series:
    """Of every model, with gated layers matched to the plain ones."""
    built = {name: build_model(name, SCALES[scale], activation) for name in MODELS}
    return pd.Series({name: sum(p.numel() for p in model.parameters()) for name, model in built.items()})


def check_measures(values: pd.DataFrame, measures: dict[str, Measure]) -> None:
    """Four positions, and two runs that have nothing in common."""
    same, tie, rare, other = (
        values[name] for name in ("the same choice", "nearly a tie", "a rare character", "another choice")
    )
    agrees([same["churn"], tie["churn"]], [0, 1], "churn of the first case and of the second")
    holds(tie["total variation"] < 0.03, "next to nothing has moved at the tie")
    holds(same["relative PD"] < rare["relative PD"] < other["relative PD"], "a rare character raises relative PD")
    agrees(rare["total variation"], 0.01, "total variation of the rare character", digits=2)
    holds(values.loc["total variation"].idxmax() == "another choice", "total variation follows what has moved")
    p, q = torch.eye(2, dtype=torch.float64)[:, None]
    agrees([measure(p, q) for measure in measures.values()], [1, 2, 1, 1], "the largest values", digits=6)


def check_example(
    of_relu: pd.DataFrame,
    by_hand: dict[str, float],
    by_actlab: pd.Series,
    family: pd.DataFrame,
    contrasts: pd.DataFrame,
) -> None:
    """What is computed by hand is what the library computes."""
    agrees(len(of_relu), 10, "pairs of five runs")
    agrees(by_hand["estimate"], 0.12, "two seeds differ by", digits=2)
    holds(abs(by_hand["se"] - by_actlab["se"]) < 1e-12, "the jackknife by hand is actlab.means")
    holds((family["by hand"] - contrasts["p_holm"]).abs().max() < 1e-12, "Holm by hand is actlab.contrasts")
    found = contrasts["p_holm"] < 0.05
    agrees(found.index[~found].tolist(), ["smelu_05"], "where we could not tell")
    agrees(len(found), 5, "comparisons")
    agrees(1 - 0.95**5, 0.23, "chance of one by chance, of five", digits=2)


def check_models(models: pd.DataFrame) -> None:
    """Gated models have the size of the plain ones."""
    agrees(SCALES["lite"].vocab_size, 65, "characters of Shakespeare")
    holds(((parameters("lite", "swiglu") / models["lite"] - 1).abs() < 0.01).all(), "within 1% at the lite scale")
    smallest = (parameters("33k", "swiglu") / parameters("33k", "relu") - 1).abs().max()
    agrees(100 * smallest, 2.2, "at the smallest (%)", digits=1)


def check_tests() -> None:
    """The sign-flip test's lowest p-values, and the margin of the main plan."""
    agrees([2 / 2**seeds for seeds in (5, 3)], [0.0625, 0.25], "lowest p of five shared seeds, and of three")
    plan = read_yaml(paths.ROOT / "params" / "answer.yaml")["plan"]
    holds(
        {"margin": 0.005, "at": "equal loss"}.items() <= plan["outcomes"][0].items(), "a margin of 0.005 at equal loss"
    )
