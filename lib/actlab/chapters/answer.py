"""The page of the confirmatory study (params/answer.yaml): its sentences and tables, from the registered
comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from html import escape
from typing import Any, get_args

import numpy as np
import pandas as pd
from IPython.display import HTML

from actlab.chapters import arms
from actlab.chapters.template import folded
from actlab.figures.style import NO_RECORD
from actlab.records import repro, store
from actlab.records.answer import METRIC, Answer, Hypothesis
from actlab.records.preregistration import params_of
from actlab.records.tables import of_records
from actlab.records.wording import extremes, listing, signed, significance
from actlab.report import frame
from actlab.statistics.equal_loss import Decision, Outcome, read_at_equal_seeds
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import ALPHA, Cells, adjusted, detectable_paired, equivalence_p, holm

STUDY, TUNING = "answer", "answer-tuning"
"""The confirmatory study and the one that chose its rates."""
OUTCOMES = get_args(Outcome)


def read(study: str = STUDY) -> Answer:
    """The recorded arms of a confirmatory study and the plan of its params file."""
    params = params_of(study)
    planned = np.size(params["model"]) * (np.size(params["activations"]) - 1)  # the reference is one of them
    return Answer(repro.read_study(study), params["plan"], planned)


def sentences(answer: Answer) -> dict[str, str]:
    """The page's findings: at equal loss, and in the final loss."""
    found = answer.comparisons()
    words = {word: [cell for cell, d in found.items() if d.outcome == word] for word in OUTCOMES}
    told = [f"{word}: {cells_in_words(cells)}" for word, cells in words.items() if cells and word != OUTCOMES[-1]]
    if out := [cell for cell in answer.grid.arms if cell not in answer.kept.arms]:
        told.append(f"left out by the plan: {cells_in_words(out)}")
    more, less, equivalent, undecided = map(len, words.values())
    losses = {f"{name} in {model}": test for (model, name), test in answer.at_the_end("val_loss").items()}
    return {
        "answer": f"of {len(found)} differences from {answer.reference} in total variation between seeds, at equal "
        f"validation loss, {undecided} are undecided and {equivalent or 'none'} equivalent (within {answer.margin:g}). "
        f"Two seeds agree significantly more in {more}, less in {less} (Holm-adjusted, 5%)",
        "outcomes": "; ".join(told) or f"all {undecided} recorded comparisons are undecided",
        "loss": significance(losses, "final loss, each at its tuned rate,", answer.planned),
        "power": "undecided is not equivalent: with 80% power, at Holm's first step, these seeds find a difference of "
        f"{extremes(detectable(answer))} in total variation. {_reach(answer)}",
        "means": _means(answer),
        "seeds": _seeds_apart(answer),
    }


def significant(cells: Cells) -> Cells:
    """Of a family, what is significant after its adjustment."""
    return {cell: test for cell, test in cells.items() if test[1] < ALPHA}


def detectable(answer: Answer) -> dict[str, float]:
    """model -> the difference of total variation at equal loss that the seeds find with 80% power at Holm's first step;
    the median over activations."""
    level = _first_step(answer)
    least = {cell: detectable_paired(e.n, level) * e.deviation() for cell, (e, _) in primary(answer).items()}
    return dict(pd.Series(least).groupby(level=0).median())


def _reach(answer: Answer) -> str:
    """How many comparisons could be found equivalent, were their differences 0."""
    found = [e.tail(answer.margin) < _first_step(answer) for e, _ in primary(answer).values()]
    return f"Were all differences exactly 0, {sum(found)} of {len(found)} intervals would show equivalence at that step"


def _first_step(answer: Answer) -> float:
    """The level of Holm's first step."""
    return ALPHA / max(answer.planned, len(answer.comparisons()))


def cells_in_words(cells: Iterable[tuple[str, str]]) -> str:
    """Comparisons in words, models with the same activations together: ``swish and swiglu in convlm``; ``none`` of
    none."""
    table = pd.DataFrame(list(cells), columns=["model", "activation"])
    found = table.groupby("model", sort=False)["activation"].agg(listing)
    return ", ".join(f"{told} in {listing(same.index)}" for told, same in found.groupby(found, sort=False)) or "none"


def means(answer: Answer) -> dict[str, tuple[Estimate, int, int]]:
    """activation whose mean over architectures is significant -> that mean, how many architectures lie on its side, and
    how many there are."""
    found = {}
    for (_, activation), (mean, _) in significant(pooled(answer)).items():
        each = [e.value * mean.value > 0 for (_, name), (e, _) in primary(answer).items() if name == activation]
        found[activation] = mean, sum(each), len(each)
    return found


def needed(answer: Answer) -> dict[str, list[str]]:
    """activation whose mean over architectures is significant -> the architectures without which it is not."""
    others = {model: [other for other in answer.arms() if other != model] for model in answer.arms()}
    left = {model: {name for _, name in significant(pooled(answer, kept))} for model, kept in others.items()}
    return {activation: [model for model in left if activation not in left[model]] for activation in means(answer)}


def at_equal_seeds(answer: Answer) -> dict[str, Estimate]:
    """activation whose mean over architectures is significant -> that mean, read where the losses of two seeds are
    equal too."""
    return {activation: answer.pooled(activation, read_at_equal_seeds) for activation in means(answer)}


def _means(answer: Answer) -> str:
    """The significant means over architectures, and what they rest on: how many architectures lie on their side, and
    those without which they are not significant."""
    told = []
    for (activation, (mean, same, of)), models in zip(means(answer).items(), needed(answer).values(), strict=True):
        rests = f"not significant without {' or without '.join(models)}" if models else "significant without any one"
        side = "higher" if mean.value > 0 else "lower"
        told.append(f"{activation} {signed(mean)}, {side} in {same} of {of} architectures and {rests}")
    return f"significant on average over these architectures: {'; '.join(told) or 'none'}"


def _seeds_apart(answer: Answer) -> str:
    """How far the distance of two seeds' losses goes with their total variation, and what is left of the significant
    means where these losses are equal too."""
    left = listing(f"{name} {signed(e)}" for name, e in at_equal_seeds(answer).items())
    kept = significant(adjusted({cell: _own(answer, *cell) for cell in answer.comparisons()}, answer.planned))
    return (
        "exploratory: in some architectures two seeds differ more where their own losses do (correlation over pairs "
        f"{extremes(answer.seeds_apart(), '{:+.2f}'.format)}). Adjusted for this (analysis of covariance) the "
        f"significant means become {left}, and significant comparisons are {cells_in_words(kept)}"
    )


def _own(answer: Answer, model: str, activation: str) -> Estimate:
    """A comparison adjusted for the losses of the seeds themselves."""
    return answer.pooled(activation, read_at_equal_seeds, [model])


def primary(answer: Answer, metric: str = METRIC, earlier: float = 0.0) -> Cells:
    """(model, activation) -> its difference from the reference at equal loss, and its adjusted p-value."""
    return tests(answer.comparisons(metric, earlier))


def tests(decided: Mapping[tuple[str, str], Decision]) -> Cells:
    """Of each decision the difference and its adjusted p-value."""
    return {cell: (d.difference, d.adjusted) for cell, d in decided.items()}


def pooled(answer: Answer, models: Collection[str] = ()) -> Cells:
    """The primary comparisons' means over architectures, all unless given, with the Holm-adjusted p-values of the
    plan's hypotheses; nothing below two architectures."""
    if len(answer.arms()) < 2:
        return {}
    planned = [entry.get("activations", []) for entry in answer.plan["hypotheses"]]
    families = [adjusted({name: answer.pooled(name, models=models) for name in names}) for names in planned]
    found = [(name, *tested) for family in families for name, tested in family.items()]
    return {("mean over architectures", name): (e, p) for name, e, p in found if e.n}


def written(study: str) -> Any:
    """What two seeds of an activation write from the same prompt with the same random draws, side by side; what they
    write alike at the beginning is marked."""
    shown = []
    for record in store.load_texts(study):
        letters = enumerate(zip(*record["texts"].values(), strict=False))
        length = max(map(len, record["texts"].values()))
        alike = next((place for place, drawn in letters if len(set(drawn)) > 1), length)
        shown += [
            f"<div><b>{escape(record['activation'])}, seed {seed}</b><pre>{escape(record['prompt'])}"
            f"<mark>{escape(text[:alike])}</mark>{escape(text[alike:])}</pre></div>"
            for seed, text in record["texts"].items()
        ]
    return HTML(f'<div class="texts">{"".join(shown)}</div>' if shown else NO_RECORD)


def extent(answer: Answer, study: str = STUDY) -> str:
    """``1 of 6``: how many of the planned architectures are recorded."""
    return f"{len({model for model, _ in answer.kept.arms})} of {np.size(params_of(study)['model'])}"


def tables(answer: Answer, study: str, companions: Iterable[str]) -> Any:
    """Every table of the page, folded; the plans of the ``companions`` with the study's own."""
    every = (
        "every comparison, at equal loss and at every outcome of the plan (each a family of its own, each level too; "
        "*: significant; =: equivalent within the outcome's margin)"
    )
    return folded(
        {
            every: comparison_table(answer),
            "learning rates that were tried, with their mean loss on text that nothing else uses": rate_table(answer),
            "when the plan was committed and when the first run under it began": arms.registered(study, *companions),
            "origin of the records": arms.provenance(answer.grid),
        }
    )


def comparison_table(answer: Answer) -> pd.DataFrame:
    """A row a comparison: its outcome at equal loss with both adjusted p-values, and its difference at every outcome of
    the plan, marked where significant or equivalent."""
    rates = {cell: arm.recipe["learning_rate"] for cell, arm in answer.grid.arms.items()}
    rows: dict[str, dict[str, Any]] = {
        ", ".join(cell): {
            f"learning rate / {answer.reference}'s": f"{rates[cell] / rates[cell[0], answer.reference]:g}",
            "outcome at equal loss": d.outcome,
            "p, no difference (Holm)": d.adjusted,
            f"p, not equivalent within {answer.margin:g} (Holm)": d.equivalence_adjusted,
            "at equal loss, adjusted for the seeds' own losses": signed(_own(answer, *cell), 4),
        }
        for cell, d in answer.comparisons().items()
    }
    for outcome in answer.plan["outcomes"]:
        name, metric, at_end, margin = outcome["name"], outcome["metric"], outcome["at"] == "end", outcome.get("margin")
        for share in outcome.get("levels") or [0.0]:
            title = f"{name}: {share:.0%} of the way up" if share else name
            found = answer.at_the_end(metric) if at_end else primary(answer, metric, share)
            equivalence = [equivalence_p(e, margin) if margin else 1.0 for e, _ in found.values()]
            for (cell, (e, p)), same in zip(found.items(), holm(equivalence, answer.planned), strict=True):
                mark = "*" if p < ALPHA else "=" * bool(same < ALPHA)
                rows.setdefault(", ".join(cell), {})[title] = f"{signed(e, 4)}{mark}"
    return frame(rows)


def hypothesis_rows(answer: Answer, judged: Iterable[Hypothesis], study: str = STUDY) -> dict[str, dict[str, str]]:
    """A row a hypothesis of the plan: what it says, its outcome by its rule, on how many of the planned architectures,
    the numbers on which that rests."""
    says = {entry["name"]: entry["says"] for entry in answer.plan["hypotheses"]}
    recorded = extent(answer, study)
    return {h.name: {"says": says[h.name], "recorded": recorded, "outcome": h.told, "detail": h.detail} for h in judged}


def rate_table(answer: Answer) -> pd.DataFrame:
    """A row a model and activation: the learning rate that tuning chose, and the mean loss of each rate that it
    tried."""
    tuning, _ = of_records(store.load_study(TUNING))
    if tuning.empty:
        return frame({})
    chosen = {cell: f"{arm.recipe['learning_rate']:g}" for cell, arm in answer.grid.arms.items()}
    rows: dict[str, dict[str, Any]] = {}
    for (rate, *cell), tried in tuning.groupby(["learning_rate", "model", "activation"])["val_loss"]:
        row = rows.setdefault(", ".join(cell), {"chosen": chosen.get(tuple(cell), "not yet")})
        row[f"{rate:g}"] = f"{tried.mean():.4f} (n = {tried.count()})"
    return frame({name: rows[name] for name in sorted(rows)})
