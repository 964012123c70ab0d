"""`actlab measure`: how far the predictions of runs of any framework differ, from one array per run. Trains nothing."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from actlab.cli.shared_options import Plugins, console, print_meanings, print_table

app = typer.Typer()


@app.command()
def measure(
    runs: Annotated[list[Path], Argument(help="One .npy file per run: (N, V), the same N inputs in the same order.")],
    labels: Annotated[Path | None, Option(help="A .npy file of the N true classes, from 0.")] = None,
    logits: Annotated[bool, Option("--logits", help="The files hold logits, not probabilities.")] = False,
    plugin: Plugins = None,
) -> None:
    """Say how far two runs of your own model differ on the same inputs, with 95% intervals over runs: arrays of
    probabilities (or logits) of any framework. With labels also loss and accuracy."""
    from actlab.cli.measured import measured
    from actlab.plugins import PARTS, load_plugins

    load_plugins(plugin or ())
    own = [name for kind, name in PARTS if kind == "metric"]
    table = measured(runs, labels, logits, own)
    print_table(table)
    console.print(f"n: runs; 95% intervals over runs; of {len(runs) * (len(runs) - 1) // 2} pairs")
    console.print("intervals of pairs are symmetric on a logarithmic scale (actlab.means: on the value's own)")
    print_meanings(table["metric"])
    if len(runs) < 3:
        console.print("two runs give one pair and no interval: three or more runs do")
