"""`actlab data list | get | tokenize`: the data sets."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from actlab import paths
from actlab.cli.shared_options import console

app = typer.Typer(help="The data sets: what is there, what can be had.", no_args_is_help=True)


@app.command("list")
def data_list() -> None:
    """The data sets and whether they are in the data folder."""
    from actlab.data.fetch import DATASETS

    for name, dataset in DATASETS.items():
        console.print(f"{name:<12}{dataset.where:<10}{dataset.description}")
    console.print(f"data folder: {paths.shown(paths.data())} (ACTLAB_DATA moves it)")


@app.command("get")
def data_get(name: Annotated[str, Argument(help="A name that `actlab data list` shows.")]) -> None:
    """Download a data set into the data folder, checked against its checksums."""
    from actlab.data.fetch import DATASETS, fetch

    for source in DATASETS[name].files:
        console.print(f"{paths.shown(fetch(source))}: checked")
    console.print(f"{name} is ready")


@app.command("tokenize")
def data_tokenize(
    name: Annotated[str, Argument(help="A text: treasure, novels, shakespeare, pydoc, or a file in UTF-8.")],
    vocab_size: Annotated[int, Option(min=257, max=65536, help="At most so many tokens.")] = 4096,
    out: Annotated[Path | None, Option(help="Folder; NAME-bpe-VOCAB_SIZE in the data folder unless given.")] = None,
) -> None:
    """Train a byte-level BPE on the training part of a text and write its token shards."""
    from actlab.data.text import short_name
    from actlab.data.tokenize import tokenize_dataset

    folder = out or paths.data() / f"{short_name(name)}-bpe-{vocab_size}"
    size = tokenize_dataset(name, vocab_size, folder)["vocab_size"]
    console.print(f"{paths.shown(folder)}: {size:,} tokens in the vocabulary")
