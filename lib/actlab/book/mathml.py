"""Formulas as MathML, written when the book is built: the pages need no script and no content network to show them."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

from actlab.errors import BadInput

ROWS = re.compile(r"\\begin\{(aligned|align\*?|split)\}(.*?)\\end\{\1\}", re.DOTALL)
"""Environments of aligned rows, which latex2mathml knows only as ``align*``."""

BAR = re.compile(r"<mo([^>]*)>&#x0007C;</mo>")
"""A vertical bar, which would be spaced like a relation."""


def to_mathml(latex: str, display: str) -> str:
    """A ``<math>`` element that keeps its source as an annotation.

    Args:
        latex: without dollar signs.
        display: ``inline`` or ``block``.

    Raises:
        BadInput: a formula that the converter does not understand (it would show its source in the middle of the page).
    """
    text = ROWS.sub(r"\\begin{align*}\2\\end{align*}", latex.strip())
    try:
        markup = BAR.sub(r'<mo lspace="0" rspace="0"\1>&#x0007C;</mo>', convert(text, display=display))
        tree = ElementTree.fromstring(markup)
    except Exception as error:  # the converter raises many kinds
        raise BadInput(f"cannot set the formula {latex!r}: {type(error).__name__}: {error}") from None
    left = [node.text for node in tree.iter() if node.text and "\\" in node.text]
    if left:
        raise BadInput(f"cannot set the formula {latex!r}: unknown {', '.join(left)}")
    opening, _, rest = markup.partition(">")  # the source beside it, for screen readers and for copying
    source = html.escape(latex.strip(), quote=True)
    note = f'<annotation encoding="application/x-tex">{source}</annotation>'
    return f"{opening}><semantics>{rest.removesuffix('</math>')}{note}</semantics></math>"


def _render(latex: str, display: str, node: Any) -> str:
    from sphinx.util import logging

    try:
        return to_mathml(latex, display)
    except BadInput as error:
        logging.getLogger(__name__).warning(str(error), location=node)
        return f"<code>{html.escape(latex)}</code>"


def visit_math(translator: Any, node: Any) -> None:
    """Inline."""
    from docutils.nodes import SkipNode

    translator.body.append(f'<span class="math">{_render(node.astext(), "inline", node)}</span>')
    raise SkipNode


def visit_math_block(translator: Any, node: Any) -> None:
    """Display, with its number where it has a label."""
    from docutils.nodes import SkipNode
    from sphinx.util.math import get_node_equation_number

    translator.body.append(translator.starttag(node, "div", CLASS="math math-block"))
    translator.body.append(_render(node.astext(), "block", node))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>")
    raise SkipNode


def setup(app: Any) -> None:
    """Register as the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
