"""The optimizer x symmetry x activation ablation, at the published and at tuned learning rates: figures, tables and
sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import ablation_tuned as tuned
from actlab.figures.primitives import line, lines, points
from actlab.figures.style import NO_RECORD, words_alone
from actlab.records.ablation import (
    BASE,
    BROKEN,
    LOSS_LABEL,
    PUBLISHED,
    Factorial,
    Protocol,
    arms,
    batches,
    gains,
    interactions,
    main_effects,
    protocol,
    rates,
    times,
    words,
)
from actlab.records.estimates import ALPHA, adjusted
from actlab.records.wording import bullets, signed, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

EFFECT = "loss with bQ+bV minus loss without (nats; below 0 it helps)"


def figure_effects(f: Factorial, losses: tuned.Losses) -> Figure:
    """The effect of bQ+bV by optimizer and activation, at the published rates and at tuned ones."""
    found = {("published rates", words(o), words(a)): _turned(e) for (o, a), e in gains(f).items()}
    if tuned.complete(losses):
        for o in tuned.OPTIMIZERS:
            for a in tuned.ACTIVATIONS:
                found["tuned rates", words(o), words(a)] = mean_interval(tuned.effect(losses, o, a))
    return points(found, EFFECT, zero=True, columns=2, height=2.2)


def _turned(e: Estimate) -> Estimate:
    """A gain (without minus with) as an effect (with minus without)."""
    return Estimate(-e.value, -e.high, -e.low, e.n, e.level, e.method)


def figure_arms(f: Factorial) -> Figure:
    """The loss of every arm: filled marks bQ+bV, hollow ones symmetric; an arm without a record says so."""
    found: dict[tuple[str, str, str], Estimate | None] = {}
    for o, m, a in [*arms(f), *f.missing]:
        found["", words(o), f"{words(a)}, {words(m)}"] = arms(f).get((o, m, a))
    hollow = [key for key in found if key[2].endswith(words(BASE))]
    return points(found, LOSS_LABEL, hollow=hollow, height=3.0)


FARTHEST = 1.6
"""A loss beyond so many times the lowest one would hide all others in the figure of rates: it is told in words."""


def figure_rates(f: Factorial) -> Figure:
    """Loss against the learning rate in multiples of the published one: a panel an optimizer."""
    found = {(o, mode): {x: e for x, e in by.items() if e.value <= _highest(f)} for (o, mode), by in rates(f).items()}
    made = {(words(o), words(mode)): line(by) for (o, mode), by in found.items() if by}
    return lines(made, "learning rate over the published one", LOSS_LABEL, bars=True, log="x", columns=2, height=2.0)


def beyond(f: Factorial) -> str:
    """What ``figure_rates`` leaves out."""
    found = [
        f"{words(o)} {words(mode)} {e.value:.0f} at {times(x)}"
        for (o, mode), by in rates(f).items()
        for x, e in by.items()
        if e.value > _highest(f)
    ]
    return f"Not drawn, at multiples of the published rate: {', '.join(found)} nats" if found else ""


def _highest(f: Factorial) -> float:
    return FARTHEST * min((e.value for by in rates(f).values() for e in by.values() if e.value == e.value), default=0.0)


def figure_protocol(found: Protocol | None) -> Figure:
    """The lowest of k single-batch losses of one real run; the dotted line is its mean over all batches. Near the
    number of batches an interval has no bound, and is not drawn."""
    if found is None:
        return words_alone("no run has measured several batches: the validation text is too short")
    bounded = {
        k: e if 2 * k <= len(found.batch_losses) else replace(e, low=math.nan, high=math.nan)
        for k, e in found.reported.items()
    }
    x, y = "evaluations k, of which the lowest is reported", "expected lowest loss (nats)"
    expected = {("", "lowest of k batches"): line(bounded)}
    return lines(expected, x, y, bars=True, log="x", levels={"mean over all batches": found.mean}, height=2.8)


# --- tables ----------------------------------------------------------------------------------------------------------


def tables(f: Factorial) -> dict[str, pd.DataFrame]:
    """Title -> every table of the page at the published rates."""
    return {
        "The published table: losses with random PReLU, one run each (nats)": published_table(),
        "Every arm": arms_table(f),
        "Effects averaged over the other factors": main_effects_table(f),
        "What single batches report": batches_table(f),
        "Keys beside the mean of bQ: heads outside the null of random directions": outside_null(f),
    }


def published_table() -> pd.DataFrame:
    """The published losses with random PReLU, and the gain of bQ+bV that they imply (nats; positive: bQ+bV helps)."""
    rows = {
        words(o): {words(BASE): f"{one:.4f}", words(BROKEN): f"~{two:.2f}", "gain": f"{one - two:+.2f}"}
        for o, (one, two) in PUBLISHED.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def arms_table(f: Factorial) -> pd.DataFrame:
    """One row an arm: loss with interval, accuracy (%), standard error of one trial's loss over windows, trials
    done."""
    names = (LOSS_LABEL, "accuracy (%)", "standard error over windows", "trials (n)")
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for cell, loss in arms(f).items():
        error, accuracy = (f.values(*cell, metric=m) for m in ("val_standard_error", "val_accuracy"))
        shown = (
            with_interval(loss, 3),
            with_interval(mean_interval(accuracy), 1),
            f"{np.nanmean(error):.3f}" if loss.n else "no value",
            f"{loss.n} of {len((f.record(*cell) or {})['trials'])}",
        )
        rows[tuple(map(words, cell))] = dict(zip(names, shown, strict=True))
    for cell in f.missing:
        rows[tuple(map(words, cell))] = dict.fromkeys(names, NO_RECORD)
    return pd.DataFrame.from_dict(rows, orient="index")


def main_effects_table(f: Factorial) -> pd.DataFrame:
    """``main_effects`` in words."""
    named = {"symmetry": "gain of bQ+bV", "activation": "loss of GELU less that of random PReLU"}
    rows = {named[name]: {"nats": str(effect)} for name, effect in main_effects(f).items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def batches_table(f: Factorial) -> pd.DataFrame:
    """``batches`` in words; says so where no trial measured two."""
    found = batches(f)
    if found is None:
        return pd.DataFrame({"": {"single batches": "not measured: the validation text is too short"}})
    rows = {
        "single batches of each trial": f"{found.batches}",
        "spread from batch to batch in one trial (sd in nats, mean over the trials)": f"{found.spread:.3f}",
        "the same of the difference symmetric less bQ+bV on one batch": f"{found.paired_spread:.3f}",
        "trials with the same easiest batch": f"{found.same_easiest} of {found.trials}",
    }
    return pd.DataFrame({"": rows})


def outside_null(f: Factorial) -> pd.DataFrame:
    """By optimizer and symmetry: in how many heads (layers x heads x seeds x activations) the cosine of the keys with
    the mean of bQ leaves the middle 95% of random directions.

    The last column is the standard deviation over keys of bQ . k / sqrt(hs): what bQ does to attention, for a part that
    all keys share cancels.
    """
    rows = {}
    for o in f.levels("optimizer"):
        for m in f.levels("symmetry"):
            trials = [t for a in f.levels("activation") for t in f.done(o, m, a)]
            if not trials:
                continue
            keys = [trial["analyses"]["alignment"]["keys"] for trial in trials]
            cosine, low, high = (np.array([k[name] for k in keys]) for name in ("cosine", "low", "high"))
            away = int(((cosine < low) | (cosine > high)).sum())  # of (trials, layers, heads)
            rows[words(o), words(m)] = {
                "heads": str(cosine.size),
                "outside the null": f"{away} ({100 * away / cosine.size:.0f}%)",
                "mean cosine": f"{cosine.mean():+.3f}",
                "spread of logits": f"{np.mean([k['logit_spread'] for k in keys]):.3f}",
            }
    return pd.DataFrame.from_dict(rows, orient="index")


# --- sentences -------------------------------------------------------------------------------------------------------


def sentences(f: Factorial) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    said = {
        "ablation_extent": _extent,
        "ablation_gain": _gain,
        "ablation_interaction": _interaction,
        "ablation_rates": _rates,
        "ablation_protocol": _protocol,
    }
    return {name: say(f) if len(f.trials) else NO_RECORD.capitalize() for name, say in said.items()}


def listed(f: Factorial) -> Any:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(f).values())


def _extent(f: Factorial) -> str:
    t = f.trials
    one = t.iloc[0]
    diverged = int((t["status"] == "diverged").sum())
    elsewhere = int((t["rate_factor"] != 1.0).sum())
    others = f"{elsewhere} of them at other learning rates, " if elsewhere else ""
    return (
        f"{16 - len(f.missing)} of the 16 arms have records; {len(t)} trials, {others}{diverged} diverged, of "
        f"{t['n_parameters'].min():,} to "
        f"{t['n_parameters'].max():,} parameters and {one['iterations'] * one['batch_size'] * one['context']:,} "
        f"tokens ({one['dataset']})"
    )


def _gain(f: Factorial) -> str:
    found = adjusted({key: _turned(e) for key, e in gains(f).items() if e.n})
    if not found:
        return "No arm and its bQ+bV partner are recorded yet"
    significant = sum(p < ALPHA for _, p in found.values())
    (optimizer, activation), (best, _) = max(found.items(), key=lambda item: abs(item[1][0].value))
    whole = _turned(main_effects(f)["symmetry"])
    averaged = (
        f"{signed(whole)} nats averaged over all arms, n = {whole.n}; the largest is " if whole.n else "at its largest "
    )
    return (
        "The loss with bQ+bV (random vectors added to queries and values, which break attention's symmetry) less the "
        "loss without it, "
        f"so that below 0 is better, is {averaged}{signed(best)} nats ({words(optimizer)}, {words(activation)}), n = "
        f"{best.n}; {significant} of {len(found)} such differences stay apart from 0 after Holm's correction at 5%"
    )


def _interaction(f: Factorial) -> str:
    found = interactions(f)["all"]
    if not found.n:
        return "Whether the gain depends on the activation cannot be said before all arms are recorded"
    said = f"the interval {'excludes' if found.excludes(0) else 'does not exclude'} 0"
    return (
        "The gain from bQ+bV (the loss without it less the loss with it) under random PReLU, less that under GELU, "
        f"is {signed(found)} nats (all optimizers, n = {found.n}): {'no interval' if math.isnan(found.low) else said}"
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
        f"The lowest of {k} single-batch losses of one trained run ({found.arm}) lies "
        f"{found.mean - found.reported[k].value:.2f} nats below its mean "
        f"over {len(found.batch_losses)} batches; "
        f"in that run the standard deviation from batch to batch is {found.batch_losses.std(ddof=1):.2f} nats"
    )
