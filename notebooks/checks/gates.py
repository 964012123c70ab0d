"""Numbers of notebooks/gates.ipynb. Where another architecture is recorded, the page's text is to be written again."""

import pandas as pd

from actlab.book.checks import agrees, holds

INPUTS = 3_145_728
"""Of all ReLUs of convlm in one step: 32 windows of 128 characters, six layers of 128."""


def check_the_ends(table: pd.DataFrame) -> None:
    """Geometric means over seeds."""
    agrees([*table.index], ["convlm"], "the other five architectures are still being trained")
    convlm = table.loc["convlm"]
    agrees(convlm["seeds"], 5, "five seeds")
    agrees(convlm["own"], 0.086, "total variation, own sides", digits=3)
    agrees(1e7 * convlm["copied"], 6.0, "total variation, copied sides", digits=1)
    agrees(convlm["times"], 140_000, "times closer", digits=-4)
    agrees(convlm["at least"], 86_000, "at least so many times", digits=-3)
    agrees(convlm["at most"], 240_000, "at most so many times", digits=-4)


def check_the_first_jump(both: pd.DataFrame, share: float, apart: pd.DataFrame, along: pd.DataFrame) -> None:
    """One step, in every seed."""
    agrees((len(both), share), (5, 1.0), "in five of five seeds the two steps are one")
    steps = [(model, seed, step) for (model, seed), step in both["the gradient jumps"].items()]
    at = apart.loc[steps]
    ratio = at["own"] / at["copied"]
    agrees([ratio.min(), ratio.max()], [16, 41], "how much further apart the gradients are there", digits=0)
    sides = along["sides_apart"]
    agrees(INPUTS * sides.loc[steps, "own"].max(), 1, "one input is on another side there", digits=0)
    before = [(model, seed, step - 1) for model, seed, step in steps]
    holds(apart.loc[before, "own"].max() < 1e-6, "before it gradients differ by less than a millionth")
    agrees(INPUTS * sides["copied"].max(), 7, "the most sides that differ in a copying network", digits=0)
    mean = 100 * sides["own"].groupby("iteration").mean()
    agrees(mean.loc[[99, 499]], [1.5, 10.1], "share of sides that differ after 100 and 500 steps (%)", digits=1)


def check_the_verdicts(verdicts: pd.Series) -> None:
    """By the rules of the plan."""
    agrees([*verdicts], ["undecided", "undecided", "supported"], "what the rules say so far")
