"""What lies here: `actlab list | data | rm | mv`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

app = typer.Typer()
data_app = typer.Typer(help="The data sets: what is there, what can be had.", no_args_is_help=True)
app.add_typer(data_app, name="data")
console = Console(markup=False, highlight=False, soft_wrap=True)

Plugins = Annotated[list[str] | None, Option("--plugin", help="A Python file with parts of your own; may be repeated.")]
Study = Annotated[str, Argument(help="A folder below results/.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask.")]


def _catalogue() -> dict[str, dict[str, str]]:
    """What can be listed: name -> a few words."""
    from actlab import paths
    from actlab.activations import ACTIVATIONS
    from actlab.data.catalogue import DATASETS
    from actlab.data.text import TEXTS
    from actlab.metrics import ROWS
    from actlab.models import MODELS, SCALES
    from actlab.records.tables import COLUMNS
    from actlab.study.plugins.identity import PARTS

    counts = {folder.name: len([*folder.glob("*.json")]) for folder in paths.results().glob("*/")}
    own = {
        (kind, name): f"{part.about.get('note', '')} (own, {part.file.name})" for (kind, name), part in PARTS.items()
    }
    sizes = {
        name: f"{size.n_layer} layers, width {size.n_embd}, {size.n_head} heads, context {size.block_size}"
        for name, size in SCALES.items()
    }
    found = {
        "studies": {name: f"{count} records" for name, count in sorted(counts.items()) if count},
        "activations": {name: f"{'gated; ' * row.gated}{row.source}" for name, row in ACTIVATIONS.items()},
        "models": {name: row.description for name, row in MODELS.items()},
        "scales": sizes,
        "texts": {name: DATASETS[name].description if name in DATASETS else "" for name in TEXTS},
        "metrics": {name: "; ".join(COLUMNS.get(name, ())) for name in ROWS},
    }
    kinds = {"activations": "activation", "models": "model", "texts": "dataset", "metrics": "metric"}
    return {
        what: {name: own.get((kinds.get(what, ""), name), said) for name, said in rows.items()}
        for what, rows in found.items()
    }


@app.command("list")
def list_names(
    what: Annotated[str, Argument(help="studies, activations, models, scales, texts or metrics.")],
    plugin: Plugins = None,
) -> None:
    """The names that a params file, a notebook's parameters and a command may use."""
    from actlab.errors import Table
    from actlab.study.plugins.load import load_plugins

    load_plugins(plugin or ())
    for name, said in Table("list", _catalogue().items()).find(what).items():
        console.print(f"{name:<20} {said}".rstrip())


@app.command("rm")
def remove(study: Study, yes: Yes = False) -> None:
    """Delete a study of yours from results/. Trained networks stay in the cache: the same run records them again."""
    from actlab.records import store

    files = store.own_files(study)
    if not yes:
        typer.confirm(f"delete results/{study} ({len(files)} files)?", abort=True)
    store.remove(study)
    console.print(f"results/{study} is gone")


@app.command("mv")
def rename(study: Study, name: Annotated[str, Argument(help="Its new name.")], yes: Yes = False) -> None:
    """Rename a study of yours, in its records too."""
    from actlab.records import store
    from actlab.study.params.field_types import folder

    folder(name)
    files = store.own_files(study)
    if not yes:
        typer.confirm(f"rename results/{study} ({len(files)} files) to results/{name}?", abort=True)
    store.rename(study, name)
    console.print(f"results/{name}; say `study: {name}` in its params file too")


@data_app.command("list")
def data_list() -> None:
    """The data sets and whether they are in the data folder."""
    from actlab import paths
    from actlab.data.catalogue import DATASETS

    for name, dataset in DATASETS.items():
        console.print(f"{name:<12}{dataset.where:<10}{dataset.description}")
    console.print(f"data folder: {paths.data()} (ACTLAB_DATA moves it)")


@data_app.command("get")
def data_get(name: Annotated[str, Argument(help="A name that `actlab data list` shows.")]) -> None:
    """Download a data set into the data folder, checked against its checksums."""
    from actlab.data import catalogue

    for path in catalogue.get(name):
        console.print(f"{path}: checked")
    console.print(f"{name} is ready")


@data_app.command("tokenize")
def data_tokenize(
    name: Annotated[str, Argument(help="A text: novels, shakespeare, pydoc, or a file in UTF-8.")],
    vocab_size: Annotated[int, Option(min=257, max=65536, help="At most so many tokens.")] = 4096,
    out: Annotated[Path | None, Option(help="Folder; NAME-bpe-VOCAB_SIZE in the data folder unless given.")] = None,
) -> None:
    """Train a byte-level BPE on the training part of a text and write its token shards."""
    from actlab import paths
    from actlab.data.text import short_name
    from actlab.data.tokenize import tokenize_dataset

    folder = out or paths.data() / f"{short_name(name)}-bpe-{vocab_size}"
    size = tokenize_dataset(name, vocab_size, folder)["vocab_size"]
    console.print(f"{folder}: {size:,} tokens in the vocabulary")
