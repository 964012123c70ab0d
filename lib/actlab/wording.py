"""Small pieces that every page's sentences share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def bullets(sentences: Iterable[str]) -> Any:
    """Sentences as a Markdown list for a notebook; empty ones are left out."""
    from IPython.display import Markdown

    return Markdown("\n".join(f"- {text[0].upper()}{text[1:]}." for text in sentences if text))  # type: ignore[no-untyped-call]


def publish(named: dict[str, Any]) -> None:
    """Hand values to the book's pages under their names (myst-nb's glue)."""
    from myst_nb import glue

    for name, value in named.items():
        glue(name, value, display=False)
