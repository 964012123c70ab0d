"""Fonts, cut down when the book is built to what its pages show: one for the formulas, one for the icons.

MathML needs a font with a table of mathematical layout, which few machines have.
STIX Two Math (SIL Open Font License) comes with the Python package ziamath; the book carries the characters that
formulas use, about a tenth of it. The theme draws its icons with a script of 1.5 MB; a font with the dozen that appear
takes its place.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

RANGES = (
    (0x20, 0x7E),  # Latin
    (0xA0, 0xFF),
    (0x300, 0x338),  # accents
    (0x391, 0x3F6),  # Greek
    (0x2010, 0x2044),  # dashes, dots, primes
    (0x2061, 0x2064),  # invisible operators
    (0x20D6, 0x20D7),
    (0x2102, 0x214B),  # letterlike: blackboard R, script L, Planck's h
    (0x2190, 0x21D5),  # arrows
    (0x2200, 0x22FF),  # operators
    (0x2308, 0x230B),  # ceilings and floors
    (0x27E8, 0x27E9),  # angle brackets
    (0x1D434, 0x1D467),  # italic letters, which a single-letter identifier is set in
    (0x1D6FC, 0x1D71B),  # italic Greek
)


def write_math_font(path: Path) -> None:
    """Write the cut-down font as WOFF, unless it is there."""
    if path.exists():
        return
    with resources.as_file(resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as source:
        _cut(
            source, [code for first, last in RANGES for code in range(first, last + 1)], path, ["ssty", "dtls", "flac"]
        )


def _cut(source: Path, codes: list[int], path: Path, features: list[str]) -> None:
    """Some characters of a font as WOFF."""
    from fontTools import subset

    options = subset.Options(flavor="woff", notdef_outline=True, layout_features=features, hinting=False)
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=codes)
    cutter.subset(font)
    path.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(path), options)


ICON = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r"((?:\.fa-[a-z0-9-]+:before,?)+)\{content:\"\\([0-9a-f]+)\"\}")


def icon_codes(css: str, pages: str) -> list[int]:
    """Characters of the icons that a text names (``fa-moon``), as the theme's style sheet numbers them."""
    wanted = set(ICON.findall(pages))
    return sorted({int(code, 16) for names, code in ICON_RULE.findall(css) if wanted & set(ICON.findall(names))})


def replace_icons(html: Path) -> None:
    """In a built book: ``_static/icons.woff`` with the icons that pages and scripts use, and no script in their
    place."""
    static = html / "_static"
    script, font = (
        static / "scripts" / "fontawesome.js",
        static / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.ttf",
    )
    if not (script.exists() and font.exists()):
        return  # another theme
    sources = [*html.rglob("*.html"), *(path for path in (static / "scripts").glob("*.js") if path != script)]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    _cut(
        font,
        icon_codes((static / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8"), text),
        static / "icons.woff",
        [],
    )
    script.write_text("/* The icons are a font: see book.css. */\n", encoding="utf-8")
