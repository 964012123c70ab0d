"""Formulas as MathML, written when the book is built: the pages need no script and no content network to show them."""

import re
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging

BAR = re.compile(r"<mo([^>]*)>&#x0007C;</mo>")
"""A vertical bar, which would be spaced like a relation."""
ROWS = r"\begin{{split}}{}\end{{split}}"
"""A displayed formula of several rows, as Sphinx understands it."""
SHAPES = {
    "math": ("inline", '<span class="math">{}</span>'),
    "math_block": ("block", '<div class="math math-block" tabindex="0">{}</div>'),
}


def to_mathml(latex: str, display: str) -> str:
    """A ``<math>`` element, ``inline`` or ``block``, of a formula without its dollar signs.

    Raises:
        ValueError: a command that the converter does not know, which it would show as it stands.
    """
    markup = BAR.sub(r'<mo lspace="0" rspace="0"\1>&#x0007C;</mo>', convert(latex.strip(), display=display))
    if unknown := re.findall(r"\\\w*", markup):
        raise ValueError(f"unknown {', '.join(unknown)}")
    return markup


def visit(translator: Any, node: Any) -> None:
    """Of a formula, inline or displayed."""
    display, around = SHAPES[node.tagname]
    latex = node.astext()
    if display == "block" and r"\\" in latex and r"\begin" not in latex:
        latex = ROWS.format(latex)
    try:
        translator.body.append(around.format(to_mathml(latex, display)))
    except Exception as error:  # the converter raises many kinds
        logging.getLogger(__name__).warning(f"cannot set the formula {node.astext()!r}: {error}", location=node)
    raise SkipNode
