"""What the commands share: consoles, and options of several of them."""

import os
from typing import Annotated, Any

import typer
from rich.console import Console
from typer import Option

from actlab.records.strict import in_json

console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
errors = Console(stderr=True, emoji=False, highlight=False, soft_wrap=True)
CORES = os.cpu_count() or 1
MANY = "; several by commas or repeated."
Models = Annotated[list[str] | None, Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[list[str] | None, Option("--activation", help=f"Only this activation or network{MANY}")]
Workers = Annotated[int, Option(min=1, help="Single-threaded processes.")]
Plugins = Annotated[list[str] | None, Option("--plugin", help="A Python file with parts of your own; may be repeated.")]


def _json_alone(asked: bool) -> bool:
    """Print nothing else where JSON is printed."""
    console.quiet = asked
    return asked


AsJson = Annotated[
    bool, Option("--json", callback=_json_alone, help="Print JSON in place of text; its keys stand in the book.")
]


def print_json(value: object) -> None:
    """Print a value of plain types as JSON that every reader takes: ``null`` for a number that is not finite."""
    typer.echo(in_json(value, indent=1))


def print_table(frame: Any) -> None:
    """Print a pandas table that has rows, numbers with four digits."""
    if len(frame):
        console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))
