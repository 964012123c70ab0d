"""Numbers of notebooks/takehome.ipynb. They differ a little on other processors, so that each has some room."""

import pandas as pd

from actlab import holds


def check_the_noise_floor(floor: dict[str | int, dict[str, float]]) -> None:
    """Before any seed effect."""
    holds(set(floor["0 again"].values()) == {0.0}, "The same seed again must give 0 in every column")
    bit, seed = floor["0, one bit"]["total_variation"], floor[1]["total_variation"]
    holds(bit < 0.01 * seed, "one bit does below a hundredth of what another seed does")


def check_the_seed_effect(effect: pd.DataFrame, trials: pd.DataFrame) -> None:
    """With the last weights."""
    churn = effect[effect["measure"] == "churn"].set_index("weights")["estimate"]
    holds(0.04 < churn["last"] < 0.08, "another answer for about 6% of the images")
    accuracy = trials[trials["weights"] == "last"]["accuracy"]
    holds(accuracy.max() - accuracy.min() < 0.04, "accuracy stays within four points")


def check_averaging(closer: pd.DataFrame, better: pd.DataFrame) -> None:
    """Before and after."""
    pair, loss = closer.iloc[0], better.iloc[0]
    holds(0.055 < pair["reference"] < 0.085, "total variation before: about 0.07")
    holds(0.028 < pair["estimate"] < 0.05, "total variation after: about 0.04")
    holds(0.35 < 1 - pair["estimate"] / pair["reference"] < 0.6, "averaging takes off about half")
    holds(pair["high"] < 0, "what it takes off is significant")
    holds(0.15 < loss["reference"] < 0.24, "loss before: about 0.19 nats")
    holds(0.09 < loss["estimate"] < 0.15, "loss after: about 0.12 nats")
    holds(loss["high"] < 0, "the loss falls significantly")


def check_the_forest(fewer: pd.DataFrame) -> None:
    """A hundred trees beside ten."""
    found = fewer.loc["total_variation"]
    holds(2.2 < found["reference"] / found["estimate"] < 2.8, "total variation divided by about 2.5")
    holds(found["high"] < 0, "more trees agree significantly more")
