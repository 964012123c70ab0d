"""Numbers of notebooks/takehome.ipynb, which trains anew on every machine: checked so widely that each one passes."""

import pandas as pd

from actlab.checks import holds


def check_the_floor(floor: dict[object, dict[str, float]]) -> None:
    """The same seed, one bit, another seed."""
    apart = {name: found["total_variation"] for name, found in floor.items()}
    holds(apart["0 again"] == 0, "the same seed again gives 0")
    holds(apart[1] > 10_000 * apart["0, one bit"], "one bit moves tens of thousands of times less")
    holds(floor[1]["relative_pd"] == max(floor[1].values()), "relative PD is the largest number of the row")


def check_the_averages(effect: pd.DataFrame, trials: pd.DataFrame, both: pd.DataFrame) -> None:
    """Before and after."""
    churn = effect.set_index(["measure", "weights"])["estimate"]["churn (points)"]
    holds(5 < churn["last"] < 8, "about 6% of the images")
    holds(0.35 < churn["averaged"] / churn["last"] < 0.65, "about half of this disagreement")
    holds((trials.groupby("weights")["accuracy"].agg(lambda found: found.max() - found.min()) < 0.03).all(), "3 points")
    holds((both["difference"] < 0).all(), "less disagreement and a lower loss")
