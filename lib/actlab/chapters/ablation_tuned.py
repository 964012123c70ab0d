"""The ablation at tuned learning rates: which rates were chosen, the losses of its arms, and the plan's hypotheses
judged.

Losses are those of the last evaluation (nats a token, lower is better), on validation text that no rate was chosen on;
seeds are shared by all arms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.ablation import BASE, BROKEN, words
from actlab.records.estimates import adjusted
from actlab.records.preregistration import plan_of
from actlab.records.wording import signed, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval
from actlab.statistics.significance import equivalence_p

TUNING, STUDY = "ablation-tuning", "ablation-tuned"
OPTIMIZERS, ACTIVATIONS = ("ecd", "adamw", "sgdm", "soap"), ("gelu", "random_prelu")
NOT_YET = (
    f"{NO_RECORD} of every arm: `actlab run params/ablation-tuning.yaml`, then `actlab run params/ablation-tuned.yaml`"
)
Losses = Mapping[tuple[str, str, str], NDArray[np.float64]]
"""(optimizer, symmetry, activation) -> (seeds,) final losses, NaN where a trial diverged."""


def read() -> dict[tuple[str, str, str], NDArray[np.float64]]:
    """The recorded arms."""
    return losses_of(store.load_study(STUDY))


def losses_of(records: Iterable[store.Record]) -> dict[tuple[str, str, str], NDArray[np.float64]]:
    """The final losses of ablation records, by arm, in the order of their seeds."""
    return {
        (r["optimizer"], r["symmetry"], r["activation"]): np.array(
            [_final(trial) for trial in sorted(r["trials"], key=lambda t: int(t["seed"]))]
        )
        for r in records
        if r["kind"] == "ablation"
    }


def _final(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else float("nan")


def complete(losses: Losses) -> bool:
    """Whether all sixteen arms are there."""
    return all((o, s, a) in losses for o in OPTIMIZERS for s in (BASE, BROKEN) for a in ACTIVATIONS)


def effect(losses: Losses, optimizer: str, activation: str) -> NDArray[np.float64]:
    """(seeds,) loss with bQ+bV minus the loss without it: below 0, bQ+bV helps."""
    return losses[optimizer, BROKEN, activation] - losses[optimizer, BASE, activation]


def interaction(losses: Losses) -> Estimate:
    """The effect of bQ+bV under PReLU minus that under GELU, averaged over optimizers, paired by seed: below 0, PReLU
    adds to it."""
    return mean_interval(
        np.mean([effect(losses, o, "random_prelu") - effect(losses, o, "gelu") for o in OPTIMIZERS], axis=0)
    )


def symmetry(losses: Losses) -> Estimate:
    """The effect of bQ+bV, averaged over optimizers and activations, paired by seed."""
    return mean_interval(np.mean([effect(losses, o, a) for o in OPTIMIZERS for a in ACTIVATIONS], axis=0))


def ranking(losses: Losses) -> dict[tuple[str, str], tuple[Estimate, float]]:
    """(one optimizer, another) -> the first's mean loss over its four arms minus the second's, paired by seed; p-value
    by Holm over the six."""
    means = {o: np.mean([losses[o, s, a] for s in (BASE, BROKEN) for a in ACTIVATIONS], axis=0) for o in OPTIMIZERS}
    ordered = sorted(means, key=lambda o: float(np.nanmean(means[o])))
    found = {(a, b): mean_interval(means[a] - means[b]) for a, b in combinations(ordered, 2)}
    return adjusted(found)


def verdict(found: Estimate, margin: float, alpha: float) -> str:
    """For a hypothesis of a lower loss: supported, contradicted (significantly above 0, or equivalent to 0 within the
    margin) or undecided."""
    if found.p_value() < alpha:
        return "supported" if found.value < 0 else "contradicted"
    return "contradicted" if equivalence_p(found, margin) < alpha else "undecided"


def rates_table(records: Iterable[store.Record] | None = None) -> pd.DataFrame:
    """A row an optimizer: the multiples of the published rate that were tried, each with its mean loss over seeds. The
    lowest with two is chosen."""
    found: dict[str, dict[float, list[float]]] = {}
    for record in store.load_study(TUNING) if records is None else records:
        by_rate = found.setdefault(record["optimizer"], {}).setdefault(record["rate_factor"], [])
        by_rate += [_final(trial) for trial in record["trials"]]
    rows = {
        words(o): {
            f"x{rate:g}": f"{np.mean(values):.3f} (n = {len(values)})" for rate, values in sorted(found[o].items())
        }
        for o in OPTIMIZERS
        if o in found
    }
    return pd.DataFrame.from_dict(rows or {NOT_YET: {"": ""}}, orient="index").fillna("")


def table(losses: Losses) -> pd.DataFrame:
    """A row an optimizer: the mean losses of its arms, and the effect of bQ+bV under each activation."""
    if not complete(losses):
        return pd.DataFrame.from_dict({NOT_YET: {"": ""}}, orient="index")
    rows = {}
    for o in OPTIMIZERS:
        cells = {
            f"{words(s)}, {words(a)}": with_interval(mean_interval(losses[o, s, a]), 3)
            for a in ACTIVATIONS
            for s in (BASE, BROKEN)
        }
        gains = {f"bQ+bV minus symmetric, {words(a)}": signed(mean_interval(effect(losses, o, a))) for a in ACTIVATIONS}
        rows[words(o)] = cells | gains
    return pd.DataFrame.from_dict(rows, orient="index")


def sentences(losses: Losses) -> dict[str, str]:
    """The plan's three hypotheses, judged by its rules."""
    if not complete(losses):
        return dict.fromkeys(("tuned_interaction", "tuned_symmetry", "tuned_ranking"), NOT_YET)
    plan = plan_of(STUDY)
    alpha, margin = float(plan["alpha"]), float(plan["outcomes"][0]["margin"])
    both, gain, pairs = interaction(losses), symmetry(losses), ranking(losses)
    order = [words(o) for o in dict.fromkeys(o for pair in pairs for o in pair)]
    undecided = [f"{words(a)} and {words(b)}" for (a, b), (_, p) in pairs.items() if p >= alpha]
    return {
        "tuned_interaction": "at tuned rates the effect of bQ+bV on the final loss differs between random PReLU and "
        f"GELU by {signed(both)} nats "
        f"(n = {both.n} seeds; below 0 is in favour of PReLU); that PReLU contributes to it is "
        f"{verdict(both, margin, alpha)} by the plan's rule"
        + ("" if gain.value < 0 else ", though there is no benefit to contribute to: bQ+bV raises the loss"),
        "tuned_symmetry": f"at tuned rates bQ+bV changes the final loss by {signed(gain)} nats (n = {gain.n}); that "
        f"it helps is {verdict(gain, margin, alpha)}",
        "tuned_ranking": f"at tuned rates the optimizers rank {', '.join(order)} from the lowest loss; "
        + (
            f"undecided: {'; '.join(undecided)}" if undecided else "all six differences are significant (Holm-adjusted)"
        ),
    }
