"""The ablation in sentences, every number from records."""

from __future__ import annotations

import math
from typing import Any

from actlab.factorial.effects import gains, interactions, main_effects, rates
from actlab.factorial.probes import protocol
from actlab.factorial.reading import BASE, Factorial, words
from actlab.statistics.estimate import Estimate
from actlab.statistics.tests import holm
from actlab.wording import bullets


def sentences(f: Factorial) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    if not len(f.trials):
        return dict.fromkeys(("ablation_extent", "ablation_gain", "ablation_interaction", "ablation_rates", "ablation_protocol"), "No record yet")
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
    return (
        f"{16 - len(f.missing)} of the 16 arms have records; {len(t)} trials in all, {diverged} diverged, of {t['n_parameters'].min():,} to "
        f"{t['n_parameters'].max():,} parameters and {one['iterations'] * one['batch_size'] * one['context']:,} tokens ({one['dataset']})"
    )


def _shown(e: Estimate) -> str:
    return f"{e.value:+.3f} [{e.low:+.3f}, {e.high:+.3f}]" if not math.isnan(e.low) else f"{e.value:+.3f} [no interval]"


def _gain(f: Factorial) -> str:
    found = {key: e for key, e in gains(f).items() if e.n}
    if not found:
        return "No arm and its bQ+bV partner are recorded yet"
    adjusted = holm([e.p_value() for e in found.values()])
    sure = sum(p < 0.05 for p in adjusted)
    best = max(found.items(), key=lambda item: abs(item[1].value))
    whole = main_effects(f)["symmetry"]
    averaged = f"averaged over all arms bQ+bV gains {_shown(whole)} nats, n = {whole.n}; " if whole.n else ""
    named = f"the largest difference is {_shown(best[1])} ({words(best[0][0])}, {words(best[0][1])}), n = {best[1].n}"
    return f"{averaged}{named}; {sure} of {len(found)} gains stay apart from 0 after Holm's correction at 5%"


def _interaction(f: Factorial) -> str:
    found = interactions(f)["all"]
    if not found.n:
        return "Whether the gain depends on the activation cannot be said before all arms are recorded"
    said = "no interval" if math.isnan(found.low) else f"the interval {'excludes' if found.excludes(0) else 'does not exclude'} 0"
    return f"Under random PReLU bQ+bV gains {_shown(found)} nats more than under GELU (all optimizers, n = {found.n}): {said}"


def _rates(f: Factorial) -> str:
    found = {o: by_factor for (o, mode), by_factor in rates(f).items() if mode == BASE and len(by_factor) > 1}
    if not found:
        return "The learning rates have not been varied yet"
    best = {o: min((x for x in by.items() if not math.isnan(x[1].value)), key=lambda x: x[1].value) for o, by in found.items()}
    gained = {o: found[o][1.0].value - e.value for o, (_, e) in best.items() if 1.0 in found[o]}
    named = ", ".join(f"{words(o)} at {best[o][0]:g} times its published rate ({gain:.2f} nats lower)" for o, gain in gained.items() if gain > 0)
    return f"The symmetric GELU arms are best at: {named}" if named else "No other learning rate that was tried is better than the published one"


def _protocol(f: Factorial) -> str:
    found = protocol(f)
    if found is None:
        return "No trained run has measured single batches yet"
    k = max(found.reported)
    return (
        f"The lowest of {k} single-batch losses of one real run lies {found.optimism(k):.2f} nats below its mean "
        f"over {len(found.batch_losses)} batches; "
        f"the standard deviation from batch to batch is {found.spread:.2f} nats"
    )


def listed(f: Factorial) -> Any:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(f).values())
