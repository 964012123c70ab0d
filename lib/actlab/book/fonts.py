"""A font for the formulas, cut down when the book is built: MathML needs one with a table of mathematical layout, which few machines have.

STIX Two Math (SIL Open Font License) comes with the Python package ziamath; the book carries the characters that formulas use, about a tenth of it.
"""

from __future__ import annotations

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
    from fontTools import subset

    options = subset.Options(flavor="woff", notdef_outline=True, layout_features=["ssty", "dtls", "flac"], hinting=False)
    with resources.as_file(resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as source:
        font = subset.load_font(str(source), options)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
        cutter.subset(font)
        path.parent.mkdir(parents=True, exist_ok=True)
        subset.save_font(font, str(path), options)
