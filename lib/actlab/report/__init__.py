"""`actlab report | compare`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind; one
study minus another. Trains nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from matplotlib import rcParams

from actlab import files
from actlab.errors import BadInput, check_name
from actlab.figures.style import styled
from actlab.report import drawings, summary
from actlab.report.study import ARM, Report, levels, load, minus

__all__ = ["FORMATS", "Report", "compare", "load", "write"]
FORMATS = ("png", "svg", "pdf")
OURS = (
    r"(trials|pairs|estimates|differences)\.csv"
    r"|table_(total_variation|relative_pd|churn|jensen_shannon|label_pd|(best_)?val_loss|(val|test)_accuracy)\.tex"
    r"|((differences_)?(total_variation|reproducibility|churn|jensen_shannon|label_pd|(best_)?val_loss|(test_)?accuracy)"
    r"|accuracy_vs_reproducibility|training_curves|noise_floor)\.(png|svg|pdf)"
)
"""What a report writes beside its summary, but for a user's own metrics."""


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into ``out`` and yield each file; ``formats`` of the figures, none for no figures. What an
    earlier report left there (``OURS``) goes first; other files stay."""
    for name in formats:
        check_name("format", name, FORMATS)
    csv = {
        "trials": report.trials.drop(columns=[*ARM, "level"]),
        "pairs": report.pairs.drop(columns=[*ARM, "level"]),
        "estimates": report.estimates,
        "differences": report.differences,
    }
    for path in out.glob("*"):
        if re.fullmatch(OURS, path.name):
            path.unlink()
    yield files.write_text(out / "summary.txt", summary.text(report))
    for name, rows in csv.items():
        if len(rows):
            yield files.write_text(out / f"{name}.csv", files.in_csv(rows, index=False))
    for name, metric in report.metrics.items():
        yield files.write_text(out / f"table_{name}.tex", summary.table(report, metric).to_latex(escape=True))
    for name, drawn in drawings.of(report) if formats else ():
        for ending in formats:
            path = out / f"{name}.{ending}"
            with styled():
                drawn.savefig(path, metadata={"Date": None} if ending == "svg" else None, dpi=rcParams["savefig.dpi"])
            yield path


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ, one a line; the second minus the first, of every arm that both have:
    ``contrasts`` of each metric).

    Raises:
        BadInput: they share no arm, or are one study.
    """
    one, two = load(first), load(second)
    if first == second:
        raise BadInput(f"{first} minus itself is nothing: name two studies")
    names = list(levels(one.records) | levels(two.records))
    before, after = (levels(study.records, names) for study in (one, two))
    differ = [f"{n}: {' | '.join(before[n])} -> {' | '.join(after[n])}" for n in names if before[n] != after[n]]
    arm = ["group", "level"]
    there, here = ({*study.runs[arm].itertuples(index=False, name=None)} for study in (one, two))
    if not there & here:
        had = (", ".join(sorted(map(" ".join, arms))) for arms in (there, here))
        raise BadInput(f"the studies share no arm: one has {next(had)}; the other {next(had)}")
    both = [metric for metric in one.metrics if metric in two.metrics]
    differences = [minus(pd.concat([one.table(m), two.table(m)]), m, arm, "study", first) for m in both]
    return differ, pd.concat(differences, ignore_index=True).drop(columns="study")
