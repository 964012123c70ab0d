"""What the paper says of rounding errors, from tables."""

import pandas as pd

from actlab.chapters import intro


def table(**columns):
    return pd.DataFrame(columns)


def test_where_one_ulp_grows():
    """Under relu in one of two architectures, under gelu in the other; a repetition without a change is not asked."""
    pairs = table(
        model=["charlm", "charlm", "minigpt", "minigpt", "minigpt"],
        activation=["relu", "gelu", "relu", "gelu", "relu"],
        variant=["nudge", "nudge", "nudge", "nudge", "repeat"],
        total_variation=[0.01, 1e-7, 0.0, 0.02, 0.3],
    )
    assert intro.growing(pairs) == "under relu in 1 of 2 architectures, under other activations in minigpt"
    assert intro.growing(pairs[:3]).endswith("under other activations in none")


def test_what_another_processor_changes():
    """relu's range, and the architecture apart where the others move most."""
    twins = table(
        model=["charlm", "charlm", "charlm", "tinylstm"],
        other=[False, False, True, True],
        apart=[0.001, 0.003, 1e-7, 0.05],
    )
    assert intro.reach(twins) == (
        "0.001 to 0.003 nats under relu. Under the others it changes by at most 1.0e-07, in tinylstm by at most 0.050 "
        "(exploratory, 4 runs)"
    )
