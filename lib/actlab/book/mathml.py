"""Formulas as MathML, written when the book is built: the pages need no script and no content network to show them."""

import re
from typing import Any

from latex2mathml.converter import convert

from actlab.errors import BadInput

BAR = re.compile(r"<mo([^>]*)>&#x0007C;</mo>")
"""A vertical bar, which would be spaced like a relation."""
SHAPES = {
    "math": ("inline", '<span class="math">{}</span>'),
    "math_block": ("block", '<div class="math math-block">{}</div>'),
}


def to_mathml(latex: str, display: str) -> str:
    """A ``<math>`` element.

    Args:
        latex: without dollar signs.
        display: ``inline`` or ``block``.

    Raises:
        BadInput: a formula that the converter does not understand (it would show its source in the middle of the page).
    """
    try:
        markup = BAR.sub(r'<mo lspace="0" rspace="0"\1>&#x0007C;</mo>', convert(latex.strip(), display=display))
    except Exception as error:  # the converter raises many kinds
        raise BadInput(f"cannot set the formula {latex!r}: {type(error).__name__}: {error}") from None
    if left := re.findall(r"\\\w*", markup):
        raise BadInput(f"cannot set the formula {latex!r}: unknown {', '.join(left)}")
    return markup


def visit(translator: Any, node: Any) -> None:
    """Of a formula, inline or displayed."""
    from docutils.nodes import SkipNode
    from sphinx.util import logging

    display, around = SHAPES[node.tagname]
    try:
        translator.body.append(around.format(to_mathml(node.astext(), display)))
    except BadInput as error:
        logging.getLogger(__name__).warning(str(error), location=node)
    raise SkipNode
