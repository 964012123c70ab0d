"""`actlab report | compare`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind; one
study minus another. Trains nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from actlab.errors import check_name
from actlab.files import write_bytes, write_text
from actlab.report import summary
from actlab.report.compare import compare
from actlab.report.study import Report, load, read
from actlab.report.summary import EQUAL_LOSS, spreads

__all__ = ["EQUAL_LOSS", "FORMATS", "Report", "compare", "load", "read", "spreads", "write"]
FORMATS = ("png", "svg", "pdf")


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into a folder and yield each file; ``formats`` of the figures, none for no figures."""
    for name in formats:
        check_name("format", name, FORMATS)
    tables = summary.tables_of(report)
    yield write_text(out / "summary.txt", summary.text(report, tables))
    for name, table in tables.items():
        yield write_text(out / f"table_{name}.tex", table.to_latex(escape=True))
    for name, table in {**report.tables, "rates": report.rates}.items():
        if len(table):
            yield write_text(out / f"{name}.csv", table.to_csv(index=False))
    if formats:
        from actlab.figures.style import image  # Matplotlib takes half a second to import
        from actlab.report import drawings

        for name, figure in drawings.figures_of(report):
            for ending in dict.fromkeys(formats):
                yield write_bytes(out / f"{name}.{ending}", image(figure, ending))
