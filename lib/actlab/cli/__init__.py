"""The command line: `actlab init | run | status | report | compare | measure | replay | sample | list | data | book`, a
file for each kind of command."""

import atexit
import gc
import sys
from importlib import import_module
from typing import Annotated

import typer
from rich.markup import escape
from typer import Option

import actlab
from actlab import paths
from actlab.cli import arrays, data, project, results, training
from actlab.cli.shared_options import CORES, Workers, console, errors
from actlab.errors import ActlabError, BadInput

app = typer.Typer(
    help="What activation functions change in what a network learns, and in whether it learns the same thing twice.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(training.app)
app.add_typer(results.app)
app.add_typer(arrays.app)
app.add_typer(project.app)
app.add_typer(data.app, name="data")
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


@app.callback(invoke_without_command=True)
def _of_all(version: Annotated[bool, Option("--version", help="Print the version and end.")] = False) -> None:
    console.quiet = False
    if version:
        console.print(f"actlab {actlab.__version__}")
        raise typer.Exit


@app.command()
def book(
    workers: Workers = CORES,
    strict: Annotated[bool, Option("--strict", help="Stop at a number that the records do not hold.")] = False,
) -> None:
    """Execute the notebooks whose inputs changed, then build the book into book/_build/html."""
    if paths.CHECKOUT is None or paths.project() != paths.CHECKOUT:
        place = paths.CHECKOUT or "a clone of its repository"
        raise BadInput(f"`actlab book` works in actlab's own checkout: run it in {place}")
    sys.path.insert(0, str(paths.CHECKOUT / "book"))  # its builder is no part of the package
    builder = import_module("_ext.build")
    console.print(f"open {paths.shown(builder.build_book(workers, strict))}")


def main() -> None:
    """Run the command line; a user's mistake ends in one line and exit code 2, an interruption in 130."""
    atexit.register(gc.freeze)  # so that no garbage is looked for as it ends: 0.3 s of a command
    try:
        app()
    except (ActlabError, OSError) as error:  # OSError: a folder that may not be written, a disk that is gone
        errors.print("[red]error:[/red]", escape(str(error)))
        sys.exit(2)
    except SystemExit as error:
        if error.code == INTERRUPTED:  # typer turns an interruption into this
            errors.print("interrupted; run the same command again to go on")
        raise
