"""The paper as PDF: holds its own numbers to the records, lays its prose, the findings, figures, tables and the
references in one folder, and sets them with typst (`make paper`)."""

import json
import runpy
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from actlab import paths
from actlab.book.execute import BookError
from actlab.figures.style import image
from actlab.files import write_text


def of_the_book(name: str) -> ModuleType:
    """A script of `book/`: `findings`, the numbers that several places quote, or `pictures`."""
    if (folder := str(paths.ROOT / "book")) not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)


def findings() -> ModuleType:
    """`book/findings.py`."""
    return of_the_book("findings")


def build_paper(out: Path = paths.ROOT / "paper" / "_build") -> list[Path]:
    """Write the sources and set both documents; the folder alone is enough to set them again.

    Raises:
        NotHeld: the records do not say what the paper does (`paper/held.py`).
        BookError: typst refuses the text.
    """
    import typst

    found = runpy.run_path(str(paths.ROOT / "paper" / "held.py"))
    write_text(out / "plan.json", json.dumps(found["plan"]))
    write_text(out / "findings.json", json.dumps({one.name: one.typeset for one in findings().every()}))
    for name, figure in found["figures"].items():
        write_text(out / "figures" / f"{name}.svg", image(figure).decode())
    for name, table in found["tables"].items():
        write_text(out / "tables" / f"{name}.csv", table.to_csv(index_label="name"))
    for source in [*(paths.ROOT / "paper").glob("*.typ"), paths.ROOT / "book" / "references.bib"]:
        shutil.copy(source, out)
    made = [out / f"{name}.pdf" for name in ("paper", "supplement")]
    try:
        for pdf in made:
            typst.compile(pdf.with_suffix(".typ"), output=pdf, root=out, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise BookError(f"{pdf.stem}.typ cannot be set: {error}") from None
    return made
