"""A verdict on a run in sentences, each made of its numbers: has it learned enough to compare, how far two seeds
differ, which differences it could have shown, and which it shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pandas as pd

from actlab.report import beside
from actlab.report.beside import METRIC
from actlab.report.study import ARM, Report, load
from actlab.statistics.significance import ALPHA


def sentences(report: Report) -> list[str]:
    """All that the run has numbers for; disagreement in points, which are hundredths of total variation."""
    return [*_learned(report), *_seeds(report), *_shown(report), *_floor(report), *_averaged(report), *_equal(report)]


def of_arms(study: str, arms: Collection[str]) -> list[str]:
    """The same of some arms of a study, for the page of a run."""
    whole = load(study)
    own = whole.runs[whole.runs["record"].isin(arms)]
    if own.empty:  # a larger record of the same settings stands in the tables in their place
        return []
    return sentences(whole.part(list(own[ARM].itertuples(index=False, name=None))))


def _learned(report: Report) -> Iterator[str]:
    bigram = beside.bigram_loss(report)
    losses = report.of("val_loss", report.estimates)["estimate"].dropna()
    if bigram is None or losses.empty:
        return
    better = losses[losses < bigram]
    table = f"the bigram table ({bigram:.3f} nats)"
    if better.empty:
        yield f"No network beats {table}: too early to compare."
    elif len(better) < len(losses):
        worse = ", ".join(" ".join(cell) for cell in losses.index if cell not in better.index)
        yield f"{len(better)} of {len(losses)} arms beat {table}; too early to compare: {worse}."
    else:
        yield f"Every arm beats {table}."


def _seeds(report: Report) -> Iterator[str]:
    apart = 100 * report.of(METRIC, report.estimates)["estimate"].dropna()
    runs = report.runs[report.runs["status"] == "done"].groupby(ARM)["seed"].nunique()
    if runs.empty:
        return
    seeds = _span(runs)
    if apart.empty:
        if report.kind == "trials":
            yield "With one seed nothing can be said about how far two seeds differ: set `trials` to three or more."
        return
    wide = f" ({apart.min():.1f} to {apart.max():.1f} by arm)" if len(apart) > 1 else ""
    tests = report.of(METRIC, report.differences)
    reach = 100 * ((tests["high"] - tests["low"]) / 2).dropna() if len(tests) else pd.Series(dtype=float)
    if len(reach):
        could = f"with {seeds} seeds only differences above {reach.median():.1f} points show (median half-width)"
    elif runs.max() < 3:
        could = f"with {seeds} seeds no difference has an interval: set `trials` to three or more"
    else:
        could = "nothing is compared here"
    yield f"Two seeds differ by {apart.mean():.1f} points{wide}; {could}."


def _span(values: pd.Series, form: str = "") -> str:
    """The lowest and the highest, or one number where they read alike."""
    return " to ".join(dict.fromkeys(f"{value:{form}}" for value in (values.min(), values.max())))


def _shown(report: Report) -> Iterator[str]:
    for name, what in ((METRIC, "disagreement between seeds"), ("val_loss", "validation loss")):
        tests = report.of(name, report.differences).dropna(subset="p_holm")
        if len(tests):
            found = int((tests["p_holm"] < ALPHA).sum())
            none = ", which does not show that there are none" if not found else ""
            yield f"{found} of {len(tests)} differences from {report.reference} in {what} are significant (Holm){none}."


def _floor(report: Report) -> Iterator[str]:
    floors = report.floors
    if not floors.empty:
        again = floors.loc[floors["variant"] == "repeat", METRIC]
        if len(again):
            same = "gives the same bits" if again.max() == 0 else f"differs by up to {100 * again.max():.1g} points"
            yield f"The same seed run again {same}."
        moved = floors[floors["variant"] == "nudge"].set_index(ARM)[METRIC]
        share = (100 * moved / report.of(METRIC, report.estimates)["estimate"]).dropna()
        if len(share):
            yield f"One bit of one weight does {_span(share, '.2g')}% of what another seed does."


def _averaged(report: Report) -> Iterator[str]:
    for decay, own in beside.averaged(report).groupby("decay"):
        before, after = 100 * own["single"].mean(), 100 * own["averaged"].mean()
        change = own["loss_change"].mean()
        yield (
            f"Averaging the weights (decay {decay:g}) takes the disagreement from {before:.1f} to {after:.1f} points, "
            f"at a loss {abs(change):.3f} nats {'lower' if change < 0 else 'higher'}."
        )


def _equal(report: Report) -> Iterator[str]:
    tests = beside.at_equal_loss(report).dropna(subset="p_holm")
    if len(tests):
        found = int((tests["p_holm"] < ALPHA).sum())
        yield f"At equal validation loss {found} of {len(tests)} differences in disagreement are significant (Holm)."
