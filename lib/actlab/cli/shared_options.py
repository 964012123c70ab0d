"""What the commands share: consoles, and options of several of them."""

import os
from collections.abc import Iterable
from typing import Annotated, Any

from rich.console import Console
from typer import Option

console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
errors = Console(stderr=True, emoji=False, highlight=False, soft_wrap=True)
CORES = os.cpu_count() or 1
MANY = "; several by commas or repeated."
Models = Annotated[list[str] | None, Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[list[str] | None, Option("--activation", help=f"Only this activation or network{MANY}")]
Workers = Annotated[int, Option(min=1, help="Single-threaded processes.")]
Plugins = Annotated[list[str] | None, Option("--plugin", help="A Python file with parts of your own; may be repeated.")]


AsJson = Annotated[bool, Option("--json", help="Print JSON in place of text; its keys stand in the book.")]


def print_table(frame: Any) -> None:
    """Print a pandas table that has rows, numbers with four digits."""
    if len(frame):
        console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))


def print_meanings(metrics: Iterable[str]) -> None:
    """Print unit and meaning of metrics; a user's own have none here."""
    from actlab.records.tables import COLUMNS

    for name in metrics:
        if name in COLUMNS:
            console.print(f"{name}: {'; '.join(COLUMNS[name])}")
