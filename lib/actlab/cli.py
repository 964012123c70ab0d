"""The command line: `actlab run | status | report | compare | replay | sample | book | paper`; `shelf.py` has the
others."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer import Argument, Option

import actlab
from actlab import shelf
from actlab.errors import LIMITS, ActlabError, BadInput
from actlab.shelf import Plugins, console

app = typer.Typer(
    help="What activation functions change in what a network learns, and in whether it learns the same thing twice.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(shelf.app)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
MANY = "; several by commas or repeated."
Words = list[str] | None
Files = Annotated[list[Path], Argument(help="Params files, such as params/repro-quick.yaml; one after the other.")]
StudyName = Annotated[str, Argument(help="A folder below results/.")]
Models = Annotated[Words, Option("--model", help=f"Only this model{MANY}")]
Activations = Annotated[Words, Option("--activation", help=f"Only this activation or network{MANY}")]
Sets = Annotated[Words, Option("--set", metavar="NAME=VALUE", help="Set any field of the file; may be repeated.")]
Trials = Annotated[int | None, Option(min=1, help="Seeds of each arm; more than recorded: the study grows.")]
Workers = Annotated[int, Option(min=1, help="Single-threaded processes.")]
CORES = os.cpu_count() or 1


@app.callback(invoke_without_command=True)
def _of_all(version: Annotated[bool, Option("--version", help="Print the version and end.")] = False) -> None:
    if version:
        console.print(f"actlab {actlab.__version__}")
        raise typer.Exit


@app.command()
def run(
    params: Files,
    model: Models = None,
    activation: Activations = None,
    trials: Trials = None,
    max_iters: Annotated[int | None, Option("--max-iters", min=1, help="Optimizer steps of a trial.")] = None,
    device: Annotated[str | None, Option(help="cpu or cuda.")] = None,
    set_: Sets = None,
    workers: Workers = CORES,
    scheduler: Annotated[str, Option(help="Train on the Dask cluster of this scheduler, tcp://host:8786.")] = "",
    redo_damaged: Annotated[bool, Option("--redo-damaged", help="Train the arms of damaged records again.")] = False,
    into_recorded: Annotated[bool, Option("--into-recorded", help="Add other arms to a committed study.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would be trained, and for how long.")] = False,
    track: Annotated[str, Option(help="tensorboard: write live loss curves into out/STUDY/tensorboard.")] = "",
    plugin: Plugins = None,
) -> None:
    """Train every arm of a study that has no record yet; a started study goes on where it stopped."""
    since = time.monotonic()
    from actlab.study.workers.startup import loading, start_fork_server

    if workers > 1 and not scheduler and not dry_run:
        start_fork_server()  # first, so that it loads its libraries while this process loads its own
    with loading():
        from actlab.records import store
        from actlab.study import run as study
        from actlab.study.params import overrides
        from actlab.study.progress import StudyDisplay, tracked
        from actlab.study.write_record import failure_of

    filters = {"model": model, "activation": activation}
    changes = {"trials": trials, "iterations": max_iters, "device": device}
    plugins, sets = overrides.plugins_in(set_ or ())
    files = {str(path): study.read_params(path, [*(plugin or ()), *plugins]) for path in params}
    all_of_them = [overrides.overridden(file, path, filters, sets, **changes) for path, file in files.items()]
    failed = False
    for settings in all_of_them:  # of which none trains before all are checked
        if dry_run:
            from actlab.study.status import in_words, of

            start = time.monotonic() - since
            _print_table(found := of(settings))
            console.print(in_words(found, workers, start))
            continue
        for path in store.set_damaged_aside(settings.study) if redo_damaged else ():
            console.print(f"set aside: {path}")
        display = StudyDisplay(console)
        with display, tracked(track, Path("out") / settings.study / "tensorboard", display.watch) as watch:
            outcome = study.run(settings, workers, watch, scheduler, into_recorded)
        done = len(outcome.present) - len({arm.id for arm, _ in outcome.failed})
        console.print(f"results/{settings.study}: {done} of {len(outcome.arms)} records")
        for arm, trial in outcome.failed:
            failed = True
            why = f"{trial['traceback'].strip().splitlines()[-1]} (traceback: {failure_of(arm)})"
            errors.print(f"[red]failed[/red] {arm.id} trial {trial['label']}:", escape(why))
    if failed:
        raise typer.Exit(1)


@app.command("check-plugin")
def check_plugin(file: Annotated[str, Argument(help="A Python file with parts of your own.")]) -> None:
    """Check your own parts by the contracts of ours (reach, causality, gradient, count); exit code 1 if one breaks."""
    from actlab.study.plugins import contracts

    broken = 0
    for each in contracts.check(file):
        console.print(f"{each.part:<22} {each.contract:<10} {'holds ' if each.holds else 'BROKEN'}  {each.found}")
        broken += not each.holds
    if broken:
        raise typer.Exit(1)


@app.command()
def status(
    params: Files,
    model: Models = None,
    activation: Activations = None,
    trials: Trials = None,
    set_: Sets = None,
    workers: Workers = CORES,
    plugin: Plugins = None,
) -> None:
    """Trials of each arm by their state, and the time that is left, from a few steps that are timed now."""
    run(params, model, activation, trials, set_=set_, workers=workers, dry_run=True, plugin=plugin)


def _print_table(frame: Any) -> None:
    console.print(frame.to_string(index=False, float_format="{:.4g}".format, na_rep="unknown"))


@app.command()
def report(
    study: StudyName,
    model: Models = None,
    activation: Activations = None,
    reference: Annotated[str, Option(help="What the others are compared with; relu where there is one.")] = "",
    out: Annotated[Path | None, Option(help="Folder to write to; out/STUDY unless given.")] = None,
    plots: Annotated[bool, Option(help="Draw the figures too.")] = True,
    formats: Annotated[Words, Option("--format", help=f"Of the figures: png, svg or pdf{MANY}")] = None,
) -> None:
    """Write summary.txt, CSV and LaTeX tables and the figures of a recorded study of any kind. Trains nothing."""
    from actlab import report as reports
    from actlab.study.params.overrides import listed

    found = reports.load(study, listed(model), listed(activation), reference)
    for path in reports.write(found, out or Path("out") / study, (listed(formats) or ["png"]) if plots else ()):
        console.print(str(path))


@app.command()
def compare(
    first: StudyName,
    second: StudyName,
    out: Annotated[Path | None, Option(help="Also write the comparison as CSV to this file.")] = None,
) -> None:
    """What the second study's arms measure minus the first's: paired where they share seeds, Holm-adjusted within a
    metric. Trains nothing."""
    from actlab import report as reports
    from actlab.files import in_csv, write_text
    from actlab.records.tables import COLUMNS

    differs, found = reports.compare(first, second)
    console.print("\n".join(differs or ["the same settings"]))
    _print_table(found)
    console.print(f"difference: {second} (estimate) minus {first} (reference), with its 95% interval from low to high")
    for metric in found["metric"].unique():
        console.print(f"{metric}: {'; '.join(COLUMNS.get(metric, ()))}")
    if out:
        console.print(str(write_text(out, in_csv(found, index=False))))


@app.command()
def sample(
    record: Annotated[str, Argument(help="Of a language model: STUDY/CONFIGURATION, as repro-lite/charlm-gelu.")],
    seed: Annotated[list[int] | None, Option(min=0, help="Of a trial, may be repeated; else the first.")] = None,
    prompt: Annotated[str, Option(help="Text to go on from.")] = "ROMEO:",
    length: Annotated[int, Option(min=1, max=LIMITS["written"], help="Characters.")] = 200,
    draw: Annotated[int, Option(min=0, help="Seed of the draws: with one, only the models differ.")] = 0,
    keep: Annotated[bool, Option(help="Record the texts, in the study's folder `texts`.")] = False,
    anyway: Annotated[bool, Option(help="Train also where the weights will not be the recorded ones.")] = False,
    plugin: Plugins = None,
) -> None:
    """Let a recorded trial's model write: with weights from the cache or the study's folder `weights`, else trained
    again and held to the record."""
    from actlab.study import sampling
    from actlab.study.plugins.load import load_plugins
    from actlab.study.progress import StudyDisplay

    load_plugins(plugin or ())
    display = StudyDisplay(errors)
    with display:
        found = sampling.written(record, seed or [None], prompt, length, draw, anyway, display.watch)
    for label, text in found["texts"].items():
        other = ", not the recorded weights" if label in found.get("notes", {}) else ""
        console.print(f"seed {label}{other}:\n{prompt}{text}\n")
    console.print(*found.get("notes", {}).values(), sep="\n")
    if keep:
        console.print(str(sampling.keep(found)))


@app.command()
def replay(
    record: Annotated[str | None, Argument(help="STUDY/CONFIGURATION, or a record's file.")] = None,
    trial: Annotated[str | None, Option(help="The trial of this label; the first unless given, or --all.")] = None,
    every: Annotated[bool, Option("--all", help="Trials of all records, or of a --sample of them.")] = False,
    study: Annotated[str, Option(help="With --all: only this folder below results/.")] = "",
    sample: Annotated[int | None, Option(min=1, help="With --all: so many trials at random.")] = None,
    seed: Annotated[int, Option(min=0, help="Of the sample.")] = 0,
    minutes: Annotated[float, Option(min=0, help="With --all: only trials that took no longer.")] = math.inf,
    workers: Annotated[int, Option(min=1, help="With --all: single-threaded processes.")] = CORES,
    keep: Annotated[bool, Option(help="Add the outcomes to the history beside the records, in results/.")] = False,
    plugin: Plugins = None,
) -> None:
    """Train recorded trials again and compare them bit for bit. Exit code 1 if one differs though machine, versions and
    the code that trains are the recorded ones."""
    from actlab.records.store import find
    from actlab.study import replay as replays
    from actlab.study.plugins.load import load_plugins
    from actlab.study.progress import StudyDisplay

    load_plugins(plugin or ())
    if every == (record is not None):
        raise BadInput("give a record, or --all for a sample of all records")
    if record:
        tasks = [replays.task_of(find(record), trial)]
    else:
        found = replays.sample(replays.recorded_trials(study, trial), None, seed, minutes)
        tasks, skipped = replays.possible(found, sample)
        console.print(*skipped, sep="\n", end="\n" * bool(skipped))
    trained, wrong, display = 0, 0, StudyDisplay(console)
    with display:
        for outcome in replays.replay_all(tasks, workers, display.watch, keep):
            console.print(outcome.sentence)
            trained, wrong = trained + (outcome.record is not None), wrong + outcome.wrong
    if not trained:
        raise BadInput(f"none of {len(tasks)} trials could be trained again here")
    if every:
        console.print(f"{trained} of {len(tasks)} trials trained again; {wrong} contradict what replay promises")
    if wrong:
        raise typer.Exit(1)


@app.command()
def book(
    workers: Annotated[int, Option(min=1, help="Notebooks executed at once.")] = CORES,
) -> None:
    """Execute the notebooks whose inputs changed, then build the book into book/_build/html."""
    from actlab.book import build

    console.print(f"open {build.build_book(workers)}")


@app.command()
def paper() -> None:
    """Set the paper and its supplement from the records, into paper/_build."""
    from actlab.book.paper import build_paper

    for path in build_paper():
        console.print(f"open {path}")


def main() -> None:
    """Run the command line; a user's mistake ends in one line and exit code 2, an interruption in 130."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `kill`, `timeout` and schedulers of jobs
    try:
        app(standalone_mode=True)
    except (ActlabError, OSError) as error:  # OSError: a folder that may not be written, a disk that is gone
        errors.print("[red]error:[/red]", escape(str(error)))
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer turns an interruption into this
            errors.print("interrupted; run the same command again to go on")
        raise
