"""The paper as PDF: lays the prose of `paper/`, what it quotes and the references in one folder, which typst sets as it
stands (`make paper`)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from actlab import paths
from actlab.book.execute import BookError
from actlab.chapters import paper as chapter
from actlab.figures.style import svg
from actlab.files import write_text


def build_paper(out: Path = paths.ROOT / "paper" / "_build") -> list[Path]:
    """Write the sources and set both documents; the folder alone is enough to set them again. What has no value is
    null in ``values.json``, and its sentence is not set.

    Raises:
        BookError: typst refuses the text, or a statement in it that the records do not bear (it says where).
    """
    values, figures, tables = chapter.made()
    numbers = re.sub(r"\b(NaN|-?Infinity)\b", "null", json.dumps(values, indent=1, default=vars))
    write_text(out / "values.json", numbers)
    for name, figure in figures.items():
        write_text(out / "figures" / f"{name}.svg", svg(figure).decode())
    for name, table in tables.items():
        write_text(out / "tables" / f"{name}.csv", table.to_csv(index_label="name"))
    for source in [*(paths.ROOT / "paper").glob("*.typ"), paths.ROOT / "book" / "references.bib"]:
        shutil.copy(source, out)
    return [typeset(out / f"{name}.typ") for name in ("paper", "supplement")]


def typeset(source: Path) -> Path:
    """Set one document beside its source."""
    import typst

    pdf = source.with_suffix(".pdf")
    try:
        typst.compile(source, output=pdf, root=source.parent, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise BookError(f"{source.name} cannot be set: {error}") from None
    return pdf
