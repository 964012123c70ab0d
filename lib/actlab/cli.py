"""The command line: `actlab run | status | report | compare | replay | sample | data | book`. Parses, calls, prints;
decides nothing."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from actlab.errors import ActlabError, BadInput

app = typer.Typer(
    help="What does the choice of activation function change in what a network learns, and in whether it learns "
    "the same thing twice?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="The data sets: what is there, what can be had.", no_args_is_help=True)
app.add_typer(data_app, name="data")
console = Console(markup=False, highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
MANY = "; several by commas or repeated."
ParamsFile = Annotated[Path, typer.Argument(help="A params file, such as params/repro-quick.yaml.", show_default=False)]
StudyName = Annotated[str, typer.Argument(help="A folder below results/.", show_default=False)]
Models = Annotated[list[str] | None, typer.Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[
    list[str] | None, typer.Option("--activation", help=f"Only this activation, or network of a sweep{MANY}")
]
Optimizers = Annotated[list[str] | None, typer.Option("--optimizer", help=f"Only this optimizer of an ablation{MANY}")]
Modes = Annotated[list[str] | None, typer.Option("--symmetry", help=f"Only this symmetry mode of an ablation{MANY}")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set any field of the params file; may be repeated."),
]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Independently seeded runs of each arm; more than recorded: the study grows.")
]
Iterations = Annotated[int | None, typer.Option("--max-iters", min=1, help="Optimizer steps of a trial.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda.")]
Workers = Annotated[int, typer.Option(min=1, help="Single-threaded processes.")]
Plugins = Annotated[
    list[str] | None, typer.Option("--plugin", help="A Python file with parts of your own; may be repeated.")
]
CORES = os.cpu_count() or 1


@app.command()
def run(
    params: ParamsFile,
    model: Models = None,
    activation: Activations = None,
    optimizer: Optimizers = None,
    symmetry: Modes = None,
    trials: Trials = None,
    max_iters: Iterations = None,
    device: Device = None,
    set_: Sets = None,
    workers: Workers = CORES,
    scheduler: Annotated[
        str, typer.Option(help="Train on a Dask cluster instead: its scheduler's address, tcp://host:8786.")
    ] = "",
    redo_damaged: Annotated[
        bool, typer.Option("--redo-damaged", help="Set damaged records aside and train their arms again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be trained, and how long it takes; train nothing.")
    ] = False,
    track: Annotated[
        str, typer.Option(help="tensorboard: write loss curves for live watching into out/STUDY/tensorboard.")
    ] = "",
    plugin: Plugins = None,
) -> None:
    """Train every arm of a study that has no record yet; a started study goes on where it stopped."""
    from actlab.study.startup import loading, start_fork_server

    if workers > 1 and not scheduler and not dry_run:
        start_fork_server()  # first, so that it loads its libraries while this process loads its own
    with loading():
        from actlab.records import store
        from actlab.study import run as study
        from actlab.study.finish import failure_of
        from actlab.study.progress import StudyDisplay, tracked

    filters = {"model": model, "activation": activation, "optimizer": optimizer, "symmetry": symmetry}
    settings = _settings(params, plugin, filters, set_, trials=trials, iterations=max_iters, device=device)
    if dry_run:
        return _show_status(settings, workers)
    for path in store.set_damaged_aside(settings.study) if redo_damaged else ():
        console.print(f"set aside: {path}")
    display = StudyDisplay(console)
    with display.progress, tracked(track, Path("out") / settings.study / "tensorboard", display.watch) as watch:
        outcome = study.run(settings, workers, watch, scheduler)
    failed = {arm.id: failure_of(arm) for arm, _ in outcome.failed}
    console.print(f"{len(outcome.present) - len(failed)} records in results/{settings.study}")
    for arm, trial in outcome.failed:
        errors.print(
            f"[red]failed[/red] {arm.id} trial {trial['label']}:", escape(trial["traceback"].strip().splitlines()[-1])
        )
    for path in failed.values():
        errors.print("traceback:", escape(str(path)))
    if outcome.failed:
        raise typer.Exit(1)


@app.command("check-plugin")
def check_plugin(
    file: Annotated[str, typer.Argument(help="A Python file with parts of your own.", show_default=False)],
) -> None:
    """Run the contracts of the built-in parts on your own: reach, causality, gradient, count, identity. Exit code 1 if
    one is broken."""
    from actlab.study import contracts

    table = Table("part", "contract", "outcome", "found", box=None, pad_edge=False)
    outcomes = list(contracts.check(file))
    for each in outcomes:
        table.add_row(
            each.part, each.contract, "[green]holds[/green]" if each.holds else "[red]BROKEN[/red]", escape(each.found)
        )
    Console(soft_wrap=True, highlight=False).print(table)
    if not all(each.holds for each in outcomes):
        raise typer.Exit(1)


def _settings(
    params: Path,
    own: list[str] | None,
    filters: Mapping[str, list[str] | None],
    sets: list[str] | None,
    **changes: object,
) -> Any:
    from actlab.study import choose
    from actlab.study.run import read_params

    return choose.chosen(read_params(params, own or ()), str(params), filters, sets or (), **changes)


@app.command()
def status(
    params: ParamsFile,
    model: Models = None,
    activation: Activations = None,
    optimizer: Optimizers = None,
    symmetry: Modes = None,
    trials: Trials = None,
    set_: Sets = None,
    workers: Workers = CORES,
    plugin: Plugins = None,
) -> None:
    """Trials of each arm that are done, running and missing, and the time that is left by recorded seconds."""
    filters = {"model": model, "activation": activation, "optimizer": optimizer, "symmetry": symmetry}
    _show_status(_settings(params, plugin, filters, set_, trials=trials), workers)


def _show_status(settings: Any, workers: int) -> None:
    from actlab.study import status as progress

    found = progress.of(settings)
    _print_table(found)
    console.print(progress.in_words(found, workers))


def _print_table(frame: Any) -> None:
    console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))


@app.command()
def report(
    study: StudyName,
    model: Models = None,
    activation: Activations = None,
    reference: Annotated[
        str, typer.Option(help="Activation or network that the others are compared with; relu where there is one.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder to write to; out/STUDY unless given.")] = None,
    plots: Annotated[bool, typer.Option(help="Draw the figures too.")] = True,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help=f"Of the figures: png, svg or pdf{MANY}")
    ] = None,
) -> None:
    """Write summary.txt, CSV and LaTeX tables and the figures of a recorded study of any kind. Trains nothing."""
    from actlab.chapters import summary as reports
    from actlab.study.choose import listed

    found = reports.load(study, listed(model), listed(activation), reference)
    for path in reports.write(found, out or Path("out") / study, (listed(formats) or ["png"]) if plots else ()):
        console.print(str(path))


@app.command()
def compare(
    first: StudyName,
    second: StudyName,
    out: Annotated[Path | None, typer.Option(help="Also write the comparison as CSV to this file.")] = None,
) -> None:
    """What the second study's arms measure minus the first's: paired where they share seeds, Holm-adjusted within a
    metric. Trains nothing."""
    from actlab.chapters import summary as reports
    from actlab.files import write_text

    differs, found = reports.compare(first, second)
    console.print("\n".join(differs or ["the same settings"]))
    _print_table(found.drop(columns="method"))
    if out:
        console.print(str(write_text(out, found.to_csv(index=False))))


@app.command()
def sample(
    record: Annotated[
        Path, typer.Argument(help="A record of a language model, results/STUDY/ARM.json.", show_default=False)
    ],
    seed: Annotated[int | None, typer.Option(min=0, help="Of the trial; the first one unless given.")] = None,
    prompt: Annotated[str, typer.Option(help="Text to go on from.")] = "ROMEO:",
    length: Annotated[int, typer.Option(min=1, max=100_000, help="Characters.")] = 200,
    draw: Annotated[
        int, typer.Option(min=0, help="Seed of the draws: the same for two models makes only the models differ.")
    ] = 0,
    plugin: Plugins = None,
) -> None:
    """Let a recorded trial's model write. Its weights come from the cache, else it is trained again and checked against
    the record."""
    from actlab.study import explore, plugins

    plugins.load(plugin or ())
    console.print(explore.written(record, seed, prompt, length, draw))


@app.command()
def replay(
    record: Annotated[Path | None, typer.Argument(help="A record, results/STUDY/ARM.json.", show_default=False)] = None,
    trial: Annotated[
        str | None, typer.Option(help="The trial of this label; the first unless given; with --all: of every record.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Trials of all records, or of a --sample of them.")] = False,
    study: Annotated[str, typer.Option(help="With --all: only this folder below results/.")] = "",
    sample: Annotated[
        int | None, typer.Option(min=1, help="With --all: so many trials at random, the studies taking turns.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample.")] = 0,
    minutes: Annotated[
        float, typer.Option(min=0, help="With --all: only trials that took no longer.", show_default=False)
    ] = math.inf,
    workers: Annotated[int, typer.Option(min=1, help="With --all: single-threaded processes.")] = CORES,
    plugin: Plugins = None,
) -> None:
    """Train recorded trials again, compare them bit for bit, and add the outcome to the history beside the record.

    Exit code 1 if one differs though machine, versions and the code that trains are the recorded ones.
    """
    from actlab.study import plugins
    from actlab.study import replay as replays
    from actlab.study.progress import StudyDisplay

    plugins.load(plugin or ())
    if every == (record is not None):
        raise BadInput("give a record, or --all for a sample of all records")
    found = [replays.task_of(record, trial)] if record else replays.recorded_trials(study, trial)
    tasks = found if record else replays.sample(found, sample, seed, minutes)
    display, outcomes = StudyDisplay(console), []
    with display.progress:
        for outcome in replays.replay_all(tasks, workers, display.watch):
            console.print(outcome.sentence, markup=False)
            outcomes.append(outcome)
    trained, wrong = sum(each.record is not None for each in outcomes), sum(each.wrong for each in outcomes)
    if not trained:
        raise BadInput(f"none of {len(tasks)} trials could be trained again here")
    if every:
        console.print(f"{trained} of {len(tasks)} trials trained again; {wrong} contradict what replay promises")
    if wrong:
        raise typer.Exit(1)


@data_app.command("list")
def data_list() -> None:
    """The data sets and whether they are in the data folder."""
    from actlab import paths
    from actlab.data.sources import DATASETS

    for name, dataset in DATASETS.items():
        console.print(f"{name:<12}{dataset.where:<10}{dataset.description}")
    console.print(f"data folder: {paths.data()} (ACTLAB_DATA moves it)")


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="A name that `actlab data list` shows.", show_default=False)],
) -> None:
    """Download a data set into the data folder, checked against its checksums."""
    from actlab.data import sources

    for path in sources.get(name):
        console.print(f"{path}: checked")
    console.print(f"{name} is ready")


@data_app.command("tokenize")
def data_tokenize(
    name: Annotated[
        str, typer.Argument(help="A text: novels, shakespeare, pydoc, or a file in UTF-8.", show_default=False)
    ],
    vocab_size: Annotated[int, typer.Option(min=257, max=65536, help="At most so many tokens.")] = 4096,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the shards; NAME-bpe-VOCAB_SIZE in the data folder unless given.")
    ] = None,
) -> None:
    """Train a byte-level BPE on the training part of a text and write its token shards."""
    from actlab import paths
    from actlab.data.text import short_name
    from actlab.data.tokenize import tokenize_dataset

    folder = out or paths.data() / f"{short_name(name)}-bpe-{vocab_size}"
    manifest = tokenize_dataset(name, vocab_size, folder)
    console.print(f"{folder}: {manifest['vocab_size']:,} tokens in the vocabulary")


@app.command()
def book(
    workers: Annotated[int, typer.Option(min=1, help="Notebooks executed at once.")] = CORES,
    execute_only: Annotated[bool, typer.Option(help="Execute the notebooks, build no pages.")] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Print the whole book to book/_build/book.pdf too (needs Chromium).")
    ] = False,
) -> None:
    """Execute the notebooks whose inputs changed, then build the book into book/_build/html."""
    from actlab.book import build, execute

    if execute_only:
        execute.execute_stale(workers, build.say)
    else:
        console.print(f"open {build.build_book(workers)}")
        if pdf:
            console.print(f"open {build.print_book()}")


def main() -> None:
    """Run the command line; a user's mistake ends in one line and exit code 2, an interruption in 130."""
    try:
        app(standalone_mode=True)
    except (ActlabError, OSError) as error:  # OSError: a folder that may not be written, a disk that is gone
        errors.print("[red]error:[/red]", escape(str(error)))
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer turns Ctrl-C into this
            errors.print("interrupted; run the same command again to go on")
        raise
