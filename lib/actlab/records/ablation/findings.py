"""The ablation in sentences, every number from records."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from actlab.records.ablation.effects import gains, interactions, main_effects, rates
from actlab.records.ablation.probes import protocol
from actlab.records.ablation.reading import BASE, Factorial, times, words
from actlab.records.estimates import ALPHA, adjusted
from actlab.statistics.estimate import Estimate
from actlab.wording import bullets


def sentences(f: Factorial) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    if not len(f.trials):
        return dict.fromkeys(
            ("ablation_extent", "ablation_gain", "ablation_interaction", "ablation_rates", "ablation_protocol"),
            "No record yet",
        )
    return {
        "ablation_extent": _extent(f),
        "ablation_gain": _gain(f),
        "ablation_interaction": _interaction(f),
        "ablation_rates": _rates(f),
        "ablation_protocol": _protocol(f),
    }


def _extent(f: Factorial) -> str:
    t = f.trials
    one = t.iloc[0]
    diverged = int((t["status"] == "diverged").sum())
    elsewhere = int((t["rate_factor"] != 1.0).sum())
    others = f"{elsewhere} of them at other learning rates, " if elsewhere else ""
    return (
        f"{16 - len(f.missing)} of the 16 arms have records; {len(t)} trials, {others}{diverged} diverged, of {t['n_parameters'].min():,} to "
        f"{t['n_parameters'].max():,} parameters and {one['iterations'] * one['batch_size'] * one['context']:,} tokens ({one['dataset']})"
    )


def _shown(e: Estimate) -> str:
    return f"{e.value:+.3f} [{e.low:+.3f}, {e.high:+.3f}]" if not math.isnan(e.low) else f"{e.value:+.3f} [no interval]"


def _gain(f: Factorial) -> str:
    found = {key: _turned(e) for key, e in gains(f).items() if e.n}
    if not found:
        return "No arm and its bQ+bV partner are recorded yet"
    sure = sum(p < ALPHA for _, p in adjusted(found).values())
    best = max(found.items(), key=lambda item: abs(item[1].value))
    whole = _turned(main_effects(f)["symmetry"])
    averaged = (
        f"{_shown(whole)} nats averaged over all arms, n = {whole.n}; the largest is " if whole.n else "at its largest "
    )
    return (
        "The loss with bQ+bV (random vectors added to queries and values, which break attention's symmetry) less the loss without it, "
        f"so that below 0 is better, is {averaged}{_shown(best[1])} nats ({words(best[0][0])}, {words(best[0][1])}), n = {best[1].n}; "
        f"{sure} of {len(found)} such differences stay apart from 0 after Holm's correction at 5%"
    )


def _turned(e: Estimate) -> Estimate:
    """A gain, seen as a difference in loss."""
    return replace(e, value=-e.value, low=-e.high, high=-e.low)


def _interaction(f: Factorial) -> str:
    found = interactions(f)["all"]
    if not found.n:
        return "Whether the gain depends on the activation cannot be said before all arms are recorded"
    said = (
        "no interval"
        if math.isnan(found.low)
        else f"the interval {'excludes' if found.excludes(0) else 'does not exclude'} 0"
    )
    return (
        "The gain from bQ+bV (the loss without it less the loss with it) under random PReLU, less that under GELU, "
        f"is {_shown(found)} nats (all optimizers, n = {found.n}): {said}"
    )


def _rates(f: Factorial) -> str:
    found = {o: by_factor for (o, mode), by_factor in rates(f).items() if mode == BASE and len(by_factor) > 1}
    if not found:
        return "The learning rates have not been varied yet"
    named = [said for o, by in found.items() if (said := _best_rate(o, by))]
    return f"The lowest losses of symmetric GELU arms: {'; '.join(named)}" if named else "Every learning rate diverged"


def _best_rate(optimizer: str, by_factor: dict[float, Estimate]) -> str:
    """The best of the rates that were tried, and whether it is at the edge of them; empty where all diverged."""
    known = {factor: e for factor, e in by_factor.items() if not math.isnan(e.value)}
    if not known:
        return ""
    best = min(known, key=lambda factor: known[factor].value)
    if best == 1.0:
        return f"{words(optimizer)} at its published rate"
    lower = f", {known[1.0].value - known[best].value:.2f} nats lower" if 1.0 in known else ""
    edge = ", the largest tried" if best == max(by_factor) else ", the smallest tried" if best == min(by_factor) else ""
    return f"{words(optimizer)} at {times(best)} times its published rate (n = {known[best].n}{lower}{edge})"


def _protocol(f: Factorial) -> str:
    found = protocol(f)
    if found is None:
        return "No trained run has measured single batches yet"
    k = max(found.reported)
    return (
        f"The lowest of {k} single-batch losses of one trained run ({found.arm}) lies {found.optimism(k):.2f} nats below its mean "
        f"over {len(found.batch_losses)} batches; "
        f"in that run the standard deviation from batch to batch is {found.spread:.2f} nats"
    )


def listed(f: Factorial) -> Any:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(f).values())
