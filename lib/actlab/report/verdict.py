"""A verdict on a run in sentences, each made of its numbers: has it learned enough to compare, how far two seeds
differ, which differences it could have shown, and which it shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import pandas as pd

from actlab.figures.style import small
from actlab.report.study import ARM, METRIC, Report, bigram_loss, load
from actlab.statistics.significance import ALPHA


def sentences(report: Report) -> list[str]:
    """All that the run has numbers for; disagreement in points, which are hundredths of total variation."""
    seeds, losses = (report.of(name, report.differences) for name in (METRIC, "val_loss"))
    reference = f"from {report.reference}"
    return [
        *_learned(report),
        *_seeds(report),
        *_shown(seeds, "", f"{reference} in disagreement between seeds"),
        *_shown(losses, "", f"{reference} in validation loss"),
        *_floor(report),
        *_averaged(report),
        *_shown(report.equal_loss, "At equal validation loss ", "in disagreement"),
    ]


def of_arms(study: str, arms: Collection[str]) -> list[str]:
    """The same of some arms of a study, for the page of a run."""
    whole = load(study)
    own = whole.runs[whole.runs["record"].isin(arms)]
    if own.empty:  # a larger record of the same settings stands in the tables in their place
        return []
    return sentences(whole.part(list(own[ARM].itertuples(index=False, name=None))))


def _learned(report: Report) -> Iterator[str]:
    bigram = bigram_loss(report.study)
    losses = report.of("val_loss", report.estimates)["estimate"].dropna()
    if bigram is None or losses.empty:
        return
    table = f"the bigram table ({bigram:.3f} nats)"
    worse = [" ".join(cell) for cell in losses.index[losses >= bigram]]
    if not worse:
        yield f"Every arm beats {table}."
    elif len(worse) == len(losses):
        yield f"No network beats {table}: too early to compare."
    else:
        better = len(losses) - len(worse)
        yield f"{better} of {len(losses)} arms beat {table}; too early to compare: {', '.join(worse)}."


def _seeds(report: Report) -> Iterator[str]:
    apart = 100 * report.of(METRIC, report.estimates)["estimate"].dropna()
    runs = report.runs[report.runs["status"] == "done"].groupby(ARM)["seed"].nunique()
    if apart.empty:
        if len(runs) and report.kind == "trials":
            yield "With one seed nothing can be said about how far two seeds differ: set `trials` to three or more."
        return
    seeds = f"with {_span(runs)} seeds"
    wide = f" ({apart.min():.1f} to {apart.max():.1f} by arm)" if len(apart) > 1 else ""
    tests = report.of(METRIC, report.differences).reindex(columns=["low", "high"]).dropna()
    if len(tests):
        reach = 50 * (tests["high"] - tests["low"]).median()
        could = f"{seeds} only differences above {reach:.1f} points show (median half-width)"
    elif runs.max() < 3:
        could = f"{seeds} no difference has an interval: set `trials` to three or more"
    else:
        could = "nothing is compared here"
    yield f"Two seeds differ by {apart.mean():.1f} points{wide}; {could}."


def _span(values: pd.Series, form: Callable[[float], str] = str) -> str:
    """The lowest and the highest, or one number where they read alike."""
    return " to ".join(dict.fromkeys(form(value) for value in (values.min(), values.max())))


def _shown(tests: pd.DataFrame, where: str, what: str) -> Iterator[str]:
    p = tests["p_holm"].dropna()
    if len(p):
        found = int((p < ALPHA).sum())
        none = "" if found else ", which does not show that there are none"
        yield f"{where}{found} of {len(p)} differences {what} are significant (Holm){none}."


def _floor(report: Report) -> Iterator[str]:
    if report.floors.empty:
        return
    floors = report.floors.set_index(ARM)
    again, moved = (floors.loc[floors["variant"] == variant, METRIC] for variant in ("repeat", "nudge"))
    if len(again):
        same = "gives the same bits" if again.max() == 0 else f"differs by up to {100 * again.max():.1g} points"
        yield f"The same seed run again {same}."
    share = (100 * moved / report.of(METRIC, report.estimates)["estimate"]).dropna()
    if len(share):
        yield f"One bit of one weight does {_span(share, small)}% of what another seed does."


def _averaged(report: Report) -> Iterator[str]:
    for decay, own in report.averaged.groupby("decay"):
        before, after = 100 * own["single"].mean(), 100 * own["averaged"].mean()
        change = own["loss_change"].mean()
        yield (
            f"Averaging the weights (decay {decay:g}) takes the disagreement from {before:.1f} to {after:.1f} points, "
            f"at a loss {abs(change):.3f} nats {'lower' if change < 0 else 'higher'}."
        )
