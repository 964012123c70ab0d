"""What the commands share: consoles, and options of several of them."""

from __future__ import annotations

import os
from typing import Annotated, Any

from rich.console import Console
from typer import Option

console = Console(markup=False, highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)
CORES = os.cpu_count() or 1
MANY = "; several by commas or repeated."
Models = Annotated[list[str] | None, Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[list[str] | None, Option("--activation", help=f"Only this activation or network{MANY}")]
Plugins = Annotated[list[str] | None, Option("--plugin", help="A Python file with parts of your own; may be repeated.")]


def print_table(frame: Any) -> None:
    """A pandas table, numbers with four digits."""
    console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))
