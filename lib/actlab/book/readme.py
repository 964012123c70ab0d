"""The top of the README and of the book's front page: `python -m actlab.book.readme` writes both, a test sees that they
are not stale."""

from __future__ import annotations

from actlab import files, paths
from actlab.chapters import intro
from actlab.chapters.intro import Front
from actlab.errors import BadInput
from actlab.figures import answer as figures
from actlab.figures.style import svg

PICTURE = "_static/headline-{}.svg"
PAGES = {
    "README.md": ("book/" + PICTURE, "notebooks"),
    "book/intro.md": (PICTURE, "studies"),
}
"""File -> where the figures and the pages lie, as seen from it."""


def headline(front: Front, figure: str, pages: str) -> str:
    """The block between the markers of a page; its two pictures stand side by side where there is room."""
    images = "\n".join(f"![{alt}]({figure.format(name)})" for name, alt in intro.ALT.items())
    return intro.LINES.format(**intro.sentences(front), figure=f"{images}\n\n*{front.caption}*", pages=pages)


def replaced(text: str, block: str, name: str = "headline") -> str:
    """A page with another block between the markers of that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, found, rest = text.partition(begin)
    _, also, after = rest.partition(end)
    if not (found and also):
        raise BadInput(f"the page must hold {begin.strip()} and {end}")
    return before + begin + block + end + after


def main() -> None:
    """Write the figure and the blocks."""
    front = intro.read()
    for name in intro.ALT:
        picture = svg(figures.lead(*front.lead, front.floors, [name])).decode() + "\n"
        files.write_text(paths.ROOT / "book" / PICTURE.format(name), picture)
    for name, places in PAGES.items():
        page = paths.ROOT / name
        files.write_text(page, replaced(page.read_text(encoding="utf-8"), headline(front, *places)))


if __name__ == "__main__":
    main()
