"""Numbers of notebooks/explore.ipynb, of the pictures that it suggests first."""

import actlab
from actlab.book.checks import agrees, holds


def check_equal_loss() -> None:
    """Where the explorer opens: charlm at equal loss."""
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram")
    found = actlab.equal_loss(curves, along, exclude_above=bigram).query("model == 'charlm'")
    agrees((len(found), {*found["n"]}), (5, {10}), "five activations beside ReLU, ten seeds")
    holds((found["p_holm"] >= 0.05).all(), "none of five activations differs significantly from ReLU")
    means = actlab.at_equal_loss(curves, along, exclude_above=bigram).query("model == 'charlm' and left_out == ''")
    agrees([100 * means["value"].min(), 100 * means["value"].max()], [19, 20], "of six activations, in %", digits=0)


def check_two_runs_from_one_bit() -> None:
    """convlm after 500 steps."""
    curves = actlab.load_curves("one-bit", "all").fillna({"variant": "none"})
    wide = curves.query("iteration == 500 and model == 'convlm'").pivot_table(
        "val_loss", ["activation", "seed"], "variant"
    )
    apart = (wide["nudge"] - wide["none"]).abs().groupby("activation").mean()
    agrees(apart["relu"], 0.005, "convlm with ReLU is so far from itself (nats)", digits=3)
    holds(apart["gelu"] < 1e-6, "with GELU less than a millionth")


def check_a_rounded_corner() -> None:
    """convlm with ReLU's corner rounded by 0.3."""
    trials, pairs = (table.query("model == 'convlm'") for table in actlab.load("corner", "all"))
    moved = pairs[pairs["second"].str.endswith("-nudge")].groupby("activation")["total_variation"].mean()
    agrees(moved["relu"], 0.09, "total variation after a rounding error, ReLU", digits=2)
    agrees(moved["smelu_0.3"], 0.00004, "the same, rounded by 0.3", digits=5)
    loss = trials.query("kind == 'trials'").groupby("activation")["val_loss"].mean()
    holds(abs(loss["smelu_0.3"] - loss["relu"]) < 0.01, "the mean loss stays within 0.01 nats")
