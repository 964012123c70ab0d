"""`actlab report | compare`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind; one
study minus another. Trains nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.figures.style import image
from actlab.report import drawings, folder, summary
from actlab.report.drawings import left_out
from actlab.report.study import ARM, Report, load, minus, rows_of

__all__ = ["FORMATS", "Report", "compare", "left_out", "load", "write"]
FORMATS = ("png", "svg", "pdf")
FEWEST = 3
"""Seeds that two studies share, for an interval of pairs."""


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into ``out`` and yield each file; ``formats`` of the figures, none for no figures.

    Raises:
        BadInput: a file of that name is there that no report wrote (``folder``).
    """
    for name in formats:
        check_name("format", name, FORMATS)
    return folder.write(out, _files(report, list(dict.fromkeys(formats))))


def _files(report: Report, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file."""
    yield "summary.txt", summary.text(report).encode()
    shown = {name: summary.table(report, metric) for name, metric in report.metrics.items()}
    for name, table in ({"trials": summary.trials(report)} | shown).items():
        yield f"table_{name}.tex", table.to_latex(escape=True).encode()
    of_rates = {"rates": report.rates.chosen, "tried_rates": report.rates.tried}
    for name, table in (report.tables | of_rates).items():
        if len(table):
            rows = table.drop(columns=[*ARM, "level"]) if "level" in table else table
            yield f"{name}.csv", rows.to_csv(index=False).encode()
    if not formats:
        return
    for name, figure in drawings.of(report):
        for ending in formats:
            yield f"{name}.{ending}", image(figure, ending)


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ, one a line, whether their losses cannot be compared, and why pairs are
    not, if so; the second minus the first, of every arm that both have: ``contrasts`` of each metric).

    Raises:
        BadInput: they share no arm or metric, or are one study.
    """
    if first == second:
        raise BadInput(f"{first} minus itself is nothing: name two studies")
    one, two = (load(study, ends_alone=True) for study in (first, second))
    arm = ["group", "level"]
    arms, others = ({*study.runs[arm].itertuples(index=False, name=None)} for study in (one, two))
    if not arms & others:
        raise BadInput(f"the studies share no arm: one has {_named(arms)}; the other {_named(others)}")
    differences = {}
    for name in one.metrics:
        if name in two.metrics:
            both = pd.concat([rows_of(name, study.trials, study.pairs) for study in (one, two)])
            differences[name] = minus(both, name, arm, "study", first).assign(metric=name)
    if not differences:
        raise BadInput(f"nothing has a value in both {first} and {second}: in one of them no trial has ended well")
    told = [*_settings(one, two), *_other_data(one, two), *_too_few(one, two)]
    return told, pd.concat(differences, ignore_index=True).drop(columns="study")


def _named(arms: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(sorted(map(" ".join, arms)))


def _settings(one: Report, two: Report) -> Iterator[str]:
    """Those in which two studies differ, a line each."""
    names = list(summary.values(one.records) | summary.values(two.records))
    before, after = (summary.values(study.records, names) for study in (one, two))
    for name in names:
        if before[name] != after[name]:
            yield f"{name}: {' | '.join(before[name])} -> {' | '.join(after[name])}"


def _other_data(one: Report, two: Report) -> list[str]:
    """That two studies are measured on different data, in a line."""
    found = []
    for study in (one, two):
        every = [record["provenance"]["data"] for record in study.records]
        found.append({f"{data['name']} {data.get('sha256', '')[:8]}".strip() for data in every})
    mine, theirs = (", ".join(sorted(names)) for names in found)
    if mine == theirs:
        return []
    return [
        f"{one.study} is measured on {mine}, {two.study} on {theirs}: losses and accuracies on different data "
        "cannot be compared"
    ]


def _too_few(one: Report, two: Report) -> list[str]:
    """Why no disagreement between seeds is compared, in a line; none where the studies share enough seeds."""
    seeds = [sorted(set(study.runs["seed"])) for study in (one, two)]
    shared = set(seeds[0]) & set(seeds[1])
    if len(shared) >= FEWEST or one.pairs.empty or two.pairs.empty:
        return []
    its, others = (", ".join(map(str, every)) for every in seeds)
    losses = "losses over all (unpaired)" if len(shared) < 2 else "losses over those in common"
    return [
        f"too few: {one.study} has the seeds {its}, {two.study} {others}, and {len(shared)} of them in common: the "
        f"disagreement between seeds is compared over {FEWEST} or more that both have, {losses}"
    ]
