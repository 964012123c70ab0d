"""The README's headline, sentences and figure, from the records: `python -m actlab.book.readme` writes them, a test
sees that they are not stale."""

from __future__ import annotations

from actlab import files, paths
from actlab.chapters import repro
from actlab.records import store
from actlab.errors import BadInput
from actlab.figures import repro as figures
from actlab.figures.style import show
from actlab.records.repro import Grid, read
from actlab.study import kinds
from actlab.study.arms import arms_of

PARAMS = "params/repro-lite.yaml"
FIGURE = "book/_static/headline.svg"
BEGIN, END = "<!-- headline: begin -->\n", "<!-- headline: end -->"
SENTENCES = ("seeds", "models", "activations", "losses", "progress", "baselines", "extent")
CAPTION = "How far two runs of one recipe differ: total variation between seeds, with 95% intervals"


def lite() -> Grid:
    """The recorded grid at lite scale, of all arms that its params file plans."""
    params = kinds.load_repro(paths.ROOT / PARAMS)
    planned = {arm.id for arm in arms_of(params)}
    records = [r for r in store.load_study(params.study) if r["kind"] == "baseline" or r["arm"] in planned]
    return read(records, params.model, params.activations)


def headline(grid: Grid) -> str:
    """The block between the README's markers."""
    found = repro.sentences(grid)
    lines = [f"- {found[name][0].upper()}{found[name][1:]}." for name in SENTENCES if found[name]]
    return "\n".join(
        [
            f"![{CAPTION}]({FIGURE})",
            "",
            f"**{CAPTION}** (lite scale, tiny Shakespeare; lower is more reproducible).",
            "",
            *lines,
            "",
        ]
    )


def picture(grid: Grid) -> str:
    """The headline figure as SVG."""
    return str(show(figures.bars(grid, "total_variation")).data) + "\n"


def replaced(text: str, block: str) -> str:
    """A README with another block between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise BadInput(f"README.md must hold {BEGIN.strip()} and {END}")
    return before + begin + block + end + after


def main() -> None:
    """Write figure and block."""
    grid, readme = lite(), paths.ROOT / "README.md"
    files.write_text(paths.ROOT / FIGURE, picture(grid))
    files.write_text(readme, replaced(readme.read_text(encoding="utf-8"), headline(grid)))


if __name__ == "__main__":
    main()
