"""`actlab report | compare`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind; one
study minus another. Trains nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from actlab.errors import check_name
from actlab.figures.style import image
from actlab.files import write_bytes
from actlab.report import drawings, summary
from actlab.report.arms import ARM
from actlab.report.compare import compare
from actlab.report.drawings import left_out
from actlab.report.study import Report, load
from actlab.report.summary import spreads

__all__ = ["FORMATS", "Report", "compare", "left_out", "load", "spreads", "write"]
FORMATS = ("png", "svg", "pdf")


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into a folder and yield each file; ``formats`` of the figures, none for no figures."""
    for name in formats:
        check_name("format", name, FORMATS)
    for name, content in _files(report, dict.fromkeys(formats)):
        yield write_bytes(out / name, content)


def _files(report: Report, formats: Sequence[str] | dict[str, None]) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file."""
    yield "summary.txt", summary.text(report).encode()
    tables = {name: summary.table(report, metric) for name, metric in report.metrics.items()}
    for name, table in ({"trials": summary.trials(report)} | tables).items():
        yield f"table_{name}.tex", table.to_latex(escape=True).encode()
    of_rates = {"rates": report.rates.chosen, "tried_rates": report.rates.tried}
    for name, table in (report.tables | of_rates).items():
        if len(table):
            names = ARM if name in ("trials", "pairs") else []
            yield f"{name}.csv", table.drop(columns=names).to_csv(index=False).encode()
    for name, figure in drawings.of(report) if formats else ():
        for ending in formats:
            yield f"{name}.{ending}", image(figure, ending)
