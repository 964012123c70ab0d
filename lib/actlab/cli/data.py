"""`actlab data list | get | tokenize`: the data sets."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from actlab import paths
from actlab.cli.options import console

app = typer.Typer(help="The data sets: what is there, what can be had.", no_args_is_help=True)


@app.command("list")
def data_list() -> None:
    """The data sets and whether they are in the data folder."""
    from actlab.data.fetch import DATASETS

    for name, dataset in DATASETS.items():
        console.print(f"{name:<12}{dataset.where:<10}{dataset.description}")
    where = "here" if paths.recorded() else "not here"
    console.print(f"{'records':<12}{where:<10}the records of actlab's own studies, beside those of a project")
    console.print(f"data folder: {paths.shown(paths.data())} (ACTLAB_DATA moves it)")


@app.command("get")
def data_get(
    name: Annotated[str, Argument(help="A name that `actlab data list` shows.")],
    source: Annotated[str, Option("--from", help="Of records: address of a zip of actlab's repository.")] = "",
) -> None:
    """Download a data set, or the records of actlab's own studies, into the data folder, checked against checksums."""
    from actlab.data import recorded
    from actlab.data.fetch import fetch_all

    if name == "records":
        console.print(f"{paths.shown(recorded.get(source))}: checked")
        return
    for path in fetch_all(name):
        console.print(f"{paths.shown(path)}: checked")
    console.print(f"{name} is ready")


@app.command("tokenize")
def data_tokenize(
    name: Annotated[str, Argument(help="A text: novels, shakespeare, pydoc, or a file in UTF-8.")],
    vocab_size: Annotated[int, Option(min=257, max=65536, help="At most so many tokens.")] = 4096,
    out: Annotated[Path | None, Option(help="Folder; NAME-bpe-VOCAB_SIZE in the data folder unless given.")] = None,
) -> None:
    """Train a byte-level BPE on the training part of a text and write its token shards."""
    from actlab.data.text import short_name
    from actlab.data.tokenize import tokenize_dataset

    folder = paths.located(str(out)) if out else paths.data() / f"{short_name(name)}-bpe-{vocab_size}"
    alone = out is not None or (folder / "manifest.json").exists()  # it may be of another text of that name
    size = tokenize_dataset(name, vocab_size, folder, alone)["vocab_size"]
    console.print(f"{paths.shown(folder)}: {size:,} tokens in the vocabulary")
