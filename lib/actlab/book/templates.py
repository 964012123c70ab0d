"""What a notebook shows as HTML of ours, from the templates (Jinja) beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from actlab.activations import ACTIVATIONS
from actlab.book.mathml import to_mathml

ENVIRONMENT = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)


def rendered(name: str, **values: Any) -> Any:
    """A template with its values, for a notebook."""
    from IPython.display import HTML

    return HTML(ENVIRONMENT.get_template(f"{name}.html").render(values))


def activations() -> Any:
    """Name, formula, kind and source of every activation, formulas as MathML."""
    return rendered("activations", rows=ACTIVATIONS.values(), mathml=to_mathml)
