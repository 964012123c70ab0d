"""Arms of several models beside relu at equal validation loss: a table and a sentence, for any study with snapshots."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from actlab.records.estimates import MARGIN, REFERENCE, at_equal_loss
from actlab.records.repro import ArmResults
from actlab.statistics.equal_loss import Decision, EqualLoss, decide
from actlab.wording import signed

METRIC = "total_variation"
Arms = Mapping[str, Mapping[str, ArmResults]]
"""model -> activation -> arm."""


def levels(arms: Arms) -> dict[str, EqualLoss]:
    """Model -> its arms at equal loss, where it has snapshots of relu and of another activation."""
    found = {model: at_equal_loss(of_model, METRIC) for model, of_model in arms.items()}
    return {model: at for model, at in found.items() if at}


def outcomes(arms: Arms) -> dict[tuple[str, str], Decision]:
    """(model, activation) -> its difference from relu at equal loss: Holm over all of them, equivalence within
    ``MARGIN``."""
    cells = {(model, a): e for model, at in levels(arms).items() for a, e in at.differences.items()}
    return dict(zip(cells, decide(list(cells.values()), MARGIN), strict=True))


def table(arms: Arms) -> pd.DataFrame:
    """A row a model and activation: its difference from relu at the last step and at equal loss, with the outcome
    there."""
    losses = {model: at.loss for model, at in levels(arms).items()}
    rows = {
        f"{model}, {a} minus {REFERENCE}": {
            "at the last step": signed(arms[model][a].minus(arms[model][REFERENCE], METRIC), 4),
            "at equal loss": signed(found.difference, 4),
            "the loss (nats)": f"{losses[model]:.3f}",
            "p (Holm)": f"{found.adjusted:.3f}",
            f"p of {MARGIN} or more (Holm)": f"{found.equivalence_adjusted:.3f}",
            "outcome at equal loss": found.outcome,
        }
        for (model, a), found in outcomes(arms).items()
    }
    return pd.DataFrame.from_dict(rows or {"no snapshots yet": {"at equal loss": ""}}, orient="index")


def sentence(arms: Arms) -> str:
    """What was not planned before: said as exploration; nothing without snapshots."""
    found = outcomes(arms)
    if not found:
        return ""
    named = "; ".join(f"{model} {a} {signed(d.difference)}, {d.outcome}" for (model, a), d in found.items())
    losses = ", ".join(f"{model} {at.loss:.3f}" for model, at in levels(arms).items())
    return (
        f"exploratory, not part of the rule: at equal validation loss ({losses} nats) total variation between seeds differs "
        f"from {REFERENCE}'s by: {named} (95%, Holm over {len(found)}, equivalence within {MARGIN})"
    )
