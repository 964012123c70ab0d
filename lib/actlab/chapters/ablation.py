"""The optimizer x symmetry x activation ablation, at the published and at tuned learning rates: figures, tables,
sentences, the plan judged. Effects are losses with bQ+bV minus those without (nats a token): below 0 it helps."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import arms
from actlab.chapters.template import frame
from actlab.figures.primitives import line, lines, points
from actlab.records import repro, store
from actlab.records.ablation import (
    CELLS,
    LOSS_LABEL,
    Factorial,
    batches,
    effects,
    interaction,
    rates,
    read,
    symmetry,
)
from actlab.records.labels import METRICS, words
from actlab.records.preregistration import plan_of
from actlab.records.tables import levels
from actlab.records.wording import signed, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval
from actlab.statistics.significance import ALPHA, Test, adjusted, equivalence_p, signs

TUNING, TUNED = "ablation-tuning", "ablation-tuned"
EFFECT = "loss with bQ+bV minus loss without (nats; below 0 it helps)"
CAPTION = (
    "Under no optimizer bQ+bV lowers the loss significantly, at published or tuned rates (final loss with minus "
    "without it, paired by seed, unadjusted 95% intervals)"
)
Rates = Mapping[str, Mapping[float, Estimate]]
"""Optimizer -> multiple of its published rate -> loss."""


def tuned() -> Factorial:
    """The recorded arms at tuned rates."""
    return read(store.load_study(TUNED))


def tuning() -> Rates:
    """Loss by optimizer and rate, of the runs that chose the rates."""
    return rates(store.load_study(TUNING))


def figure_effects(published: Factorial, tuned: Factorial) -> Figure:
    """The effect of bQ+bV by optimizer and activation, at the published rates and at tuned ones."""
    found = {
        (panel, words(o), words(a)): e
        for panel, f in (("published rates", published), ("tuned rates, fresh seeds", tuned))
        for (o, a), e in effects(f).items()
        if e.n
    }
    return points(found, EFFECT, zero=True, columns=2, height=2.2)


def figure_rates(found: Rates) -> Figure:
    """Loss against the multiple of the published learning rate, a line an optimizer."""
    shown = {("", words(o)): line(by_rate) for o, by_rate in found.items()}
    return lines(shown, "learning rate over the published one", LOSS_LABEL, kind="bars", log=True, height=2.8)


def ranking(f: Factorial) -> dict[tuple[str, str], Test]:
    """(one optimizer, another) -> the first's mean loss over its four arms minus the second's, paired by seed; p-value
    by Holm over the six."""
    optimizers = levels(f.trials, "optimizer")
    means = {o: f.losses(cell for cell in CELLS if cell[0] == o).mean(axis=1, skipna=False) for o in optimizers}
    ordered = sorted(means, key=lambda o: float(means[o].mean()))
    return adjusted({(a, b): mean_interval(means[a] - means[b]) for a, b in combinations(ordered, 2)})


def verdict(found: Estimate, margin: float) -> str:
    """For a hypothesis of a lower loss: supported, contradicted (significantly above 0, or equivalent to 0 within the
    margin) or undecided."""
    if found.p_value() < ALPHA:
        return "supported" if found.value < 0 else "contradicted"
    return "contradicted" if equivalence_p(found, margin) < ALPHA else "undecided"


def table(f: Factorial) -> pd.DataFrame:
    """A row an optimizer: its lowest loss, and the effect of bQ+bV under each activation."""
    rows = {}
    for o in levels(f.trials, "optimizer"):
        best = min((mean_interval(f.values(*cell)) for cell in f.cells if cell[0] == o), key=lambda e: e.value)
        shown = {
            f"effect of bQ+bV with {words(a)}": signed(e) for (which, a), e in effects(f).items() if which == o and e.n
        }
        rows[words(o)] = {"lowest loss (nats)": with_interval(best, 3)} | shown
    return frame(rows)


def losses(f: Factorial) -> pd.DataFrame:
    """One row an arm: its loss with interval and n."""
    return arms.table(repro.read(f.records), METRICS["val_loss"], {})


def sentences(f: Factorial) -> dict[str, str]:
    """Name -> sentence on the arms at the published rates."""
    t, found = f.trials, adjusted({key: e for key, e in effects(f).items() if e.n})
    (raised, lowered), whole = signs(found), symmetry(f)
    told = f"bQ+bV raises the loss significantly in {raised} and lowers it in {lowered} of {len(found)} comparisons"
    if whole.n:
        told += f"; on average the loss changes by {signed(whole)} nats (n = {whole.n})"
    one, noise = t.iloc[0], batches(f)
    tokens = one["iterations"] * one["batch_size"] * one["context"]
    return {
        "ablation_extent": f"{len({*CELLS} & {*f.cells})} of {len(CELLS)} configurations have records; models have "
        f"up to {t['parameters'].max():,} parameters and see {tokens:,} tokens",
        "ablation_effect": f"At the published rates {told}"
        if found
        else "No configuration and its bQ+bV partner are recorded",
        "ablation_batches": f"The published losses are minima over {noise.evaluations} evaluations of one batch each. "
        f"Read the same way, ours would be {noise.optimism:.2f} nats lower on average"
        if noise
        else "No trained run has measured single batches",
    }


def tuned_sentences(f: Factorial, tuning: Rates) -> dict[str, str]:
    """What bQ+bV and the optimizers do at tuned rates, what the plan's rules say of it, and what tuning changed."""
    margin = float(plan_of(TUNED)["outcomes"][0]["margin"])
    gain, both, pairs = symmetry(f), interaction(f), ranking(f)
    moves = "raises" if gain.low > 0 else "lowers" if gain.high < 0 else "does not significantly change"
    order = [words(o) for o in dict.fromkeys(o for pair in pairs for o in pair)]
    undecided = [f"{words(a)} and {words(b)}" for (a, b), (_, p) in pairs.items() if p >= ALPHA]
    drops = pd.Series({words(o): by[1.0].value - min(e.value for e in by.values()) for o, by in tuning.items()})
    return {
        "tuned_symmetry": f"adding random query and value vectors (bQ+bV) {moves} the final loss by {signed(gain)} "
        f"nats (n = {gain.n}; mean over four optimizers and two activations, at rates tuned for GELU without bQ+bV)",
        "tuned_interaction": f"with random PReLU the effect differs from that with GELU by {signed(both)} nats"
        + ": the loss rises less" * (gain.low > 0 > both.high),
        "tuned_plan": f'by the registered rules "bQ+bV helps" is {verdict(gain, margin)} and "PReLU '
        f'contributes to the benefit" {verdict(both, margin)}'
        + "; the latter's rule asks only whether the effect is lower with PReLU, and here there is no benefit to "
        "contribute to" * (gain.value >= 0),
        "tuned_ranking": f"At tuned rates the means over four configurations rank {', '.join(order)}; "
        + (f"undecided: {'; '.join(undecided)}" if undecided else "all differences are significant (Holm-adjusted)"),
        "tuned_rates": f"Tuning the rate lowers the loss by up to {drops.max():.2f} nats ({drops.idxmax()})",
    }
