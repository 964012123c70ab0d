"""The paper as PDF: holds its own numbers to the records, lays its prose, the findings, figures, tables and the
references in one folder, and sets them with typst (`make paper`)."""

import json
import runpy
import shutil
import sys
from pathlib import Path

import typst

from actlab import paths
from actlab.errors import ActlabError
from actlab.figures.style import image
from actlab.files import write_text

PAPER, BOOK = paths.ROOT / "paper", paths.ROOT / "book"
sys.path.append(str(BOOK))  # where `findings` are


def build_paper(out: Path = PAPER / "_build") -> list[Path]:
    """Write the sources and set both documents; the folder alone is enough to set them again.

    Raises:
        NotHeld: the records do not say what the paper does (`paper/held.py`).
        ActlabError: typst refuses the text.
    """
    from findings import every

    found = runpy.run_path(str(PAPER / "held.py"))
    write_text(out / "plan.json", json.dumps(found["plan"]))
    write_text(out / "findings.json", json.dumps({one.name: one.typeset for one in every()}))
    for name, figure in found["figures"].items():
        write_text(out / "figures" / f"{name}.svg", image(figure).decode())
    for name, table in found["tables"].items():
        write_text(out / "tables" / f"{name}.csv", table.to_csv(index_label="name"))
    for source in [*PAPER.glob("*.typ"), BOOK / "references.bib"]:
        shutil.copy(source, out)
    made = [out / f"{name}.pdf" for name in ("paper", "supplement")]
    try:
        for pdf in made:
            typst.compile(pdf.with_suffix(".typ"), output=pdf, root=out, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise ActlabError(f"{pdf.stem}.typ cannot be set: {error}") from None
    return made


if __name__ == "__main__":
    for made in build_paper():
        print(f"open {paths.shown(made)}")
