"""What the commands share: consoles, and options of several of them."""

import logging
import os
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer import Option

from actlab.errors import BadInput, visible
from actlab.records.strict import in_json


class Screen(Console):
    """A terminal to which no text gives orders."""

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: D102
        return super().render_str(visible(text), **how)


console = Screen(markup=False, emoji=False, highlight=False, soft_wrap=True)
errors = Screen(stderr=True, emoji=False, highlight=False, soft_wrap=True)
CORES = os.cpu_count() or 1
MANY = "; several by commas or repeated."
Models = Annotated[list[str] | None, Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[list[str] | None, Option("--activation", help=f"Only this activation or network{MANY}")]
Workers = Annotated[int, Option(min=1, help="Single-threaded processes.")]
Plugins = Annotated[list[str] | None, Option("--plugin", help="A Python file with parts of your own; may be repeated.")]


def _json_alone(asked: bool) -> bool:
    """Nothing else is said where JSON is."""
    console.quiet = console.quiet or asked
    return asked


AsJson = Annotated[
    bool, Option("--json", callback=_json_alone, help="Print JSON in place of text; its keys stand in the book.")
]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Print each trial too.")]


def talk(quiet: bool, verbose: bool) -> None:
    """How much is said from now on."""
    if quiet and verbose:
        raise BadInput("--quiet and --verbose ask for opposite things: give one")
    console.quiet = quiet
    logging.getLogger("actlab").setLevel(logging.INFO if verbose else logging.WARNING)


def print_json(value: object) -> None:
    """A value of plain types as JSON that every reader takes: ``null`` for a number that is not finite. Also where
    nothing else is said."""
    typer.echo(in_json(value, indent=1))


def print_table(frame: Any) -> None:
    """A pandas table, numbers with four digits."""
    console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))
