"""`actlab run | status | sample | replay`: what trains, or uses what was trained."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from typer import Argument, Option

from actlab.cli.options import (
    CORES,
    Activations,
    AsJson,
    Models,
    Plugins,
    Workers,
    console,
    errors,
    print_json,
    print_table,
)
from actlab.errors import BadInput

if TYPE_CHECKING:
    from actlab.study.study import Study as AnyStudy

app = typer.Typer()
Files = Annotated[list[Path], Argument(help="Params files, such as params/repro-quick.yaml; one after the other.")]
Sets = Annotated[
    list[str] | None,
    Option("--set", "-p", metavar="NAME=VALUE", help="Set any field of the file (`list fields`); may be repeated."),
]
Trials = Annotated[int | None, Option(min=1, help="Seeds of each arm; more than recorded: the study grows.")]

MaxIters = Annotated[int | None, Option("--max-iters", min=1, help="Optimizer steps of a trial.")]
Device = Annotated[str | None, Option(help="cpu, cuda or mps.")]


@app.command()
def run(
    params: Files,
    model: Models = None,
    activation: Activations = None,
    trials: Trials = None,
    max_iters: MaxIters = None,
    device: Device = None,
    set_: Sets = None,
    workers: Workers = CORES,
    scheduler: Annotated[str, Option(help="Train on the Dask cluster of this scheduler, tcp://host:8786.")] = "",
    redo_damaged: Annotated[bool, Option("--redo-damaged", help="Train the arms of damaged records again.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would be trained, and for how long.")] = False,
    track: Annotated[str, Option(help="Live loss curves: tensorboard, into out/STUDY/tensorboard; or wandb.")] = "",
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
        from actlab.study.progress import StudyDisplay, why
        from actlab.study.record import failure_of
        from actlab.study.tracking import tracked

    changes = {"trials": trials, "iterations": max_iters, "device": device}
    all_of_them = _read(params, {"model": model, "activation": activation}, changes, set_, plugin)
    if dry_run:
        _say_how_far(all_of_them, workers, since)
        return
    failed = False
    for settings in all_of_them:  # of which none trains before all are checked
        if redo_damaged:
            for path in store.set_damaged_aside(settings.study):
                console.print(f"set aside: {path}")
        display = StudyDisplay(console)
        with display, tracked(track, Path("out") / settings.study, display.watch) as watch:
            outcome = study.run(settings, workers, watch, scheduler)
        done = len(outcome.present) - len({arm.id for arm, _ in outcome.failed})
        console.print(f"{store.where(settings.study)}: {done} of {len(outcome.arms)} records")
        for arm, trial in outcome.failed:
            failed = True
            told = escape(f"{why(trial)} (traceback: {failure_of(arm)})")
            errors.print(f"[red]failed[/red] {arm.id} trial {trial['label']}:", told)
    if failed:
        raise typer.Exit(1)


def _read(
    params: list[Path],
    filters: dict[str, list[str] | None],
    changes: dict[str, object],
    set_: list[str] | None,
    plugin: list[str] | None,
) -> "list[AnyStudy]":
    """The studies of params files, changed and filtered by the options of a command."""
    from actlab.study.params import filtered, read_params

    studies = [(path, read_params(path, plugin or (), set_ or (), **changes)) for path in params]
    return [filtered(study, str(path), filters) for path, study in studies]


def _say_how_far(studies: "list[AnyStudy]", workers: int, since: float, as_json: bool = False) -> None:
    """In place of a run that began at a moment of ``time.monotonic``."""
    from actlab.study import status as how_far

    start, found = time.monotonic() - since, []  # seconds that a run needs before it trains
    for study in studies:
        arms = study.arms()  # once: a study that chooses learning rates reads its records for them
        table = how_far.of(study, arms)
        left = how_far.seconds_left(table, workers, start)
        rows = table.to_dict("records")
        found.append({"study": study.study, "workers": workers, "seconds_left": left, "arms": rows})
        print_table(table)
        console.print(how_far.in_words(table, workers, start))
    if as_json:
        print_json(found)


@app.command()
def status(
    params: Files,
    model: Models = None,
    activation: Activations = None,
    trials: Trials = None,
    max_iters: MaxIters = None,
    device: Device = None,
    set_: Sets = None,
    workers: Workers = CORES,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Trials of each arm by their state, and the time that is left, from a few steps that are timed now."""
    since = time.monotonic()
    changes = {"trials": trials, "iterations": max_iters, "device": device}
    studies = _read(params, {"model": model, "activation": activation}, changes, set_, plugin)
    _say_how_far(studies, workers, since, as_json)


@app.command()
def sample(
    record: Annotated[str, Argument(help="Of a language model: STUDY/CONFIGURATION, as repro-lite/charlm-gelu.")],
    seed: Annotated[list[int] | None, Option(min=0, help="Of a trial, may be repeated; else the first.")] = None,
    prompt: Annotated[str, Option(help="Text to go on from.")] = "ROMEO:",
    length: Annotated[int, Option(min=1, help="Characters.")] = 200,
    draw: Annotated[int, Option(min=0, help="Seed of the draws: with one, only the models differ.")] = 0,
    keep: Annotated[bool, Option(help="Record the texts, in results/STUDY/texts of the project.")] = False,
    anyway: Annotated[bool, Option(help="Train also where the weights will not be the recorded ones.")] = False,
    plugin: Plugins = None,
) -> None:
    """Let a recorded trial's model write: with weights from the cache or the study's folder `weights`, else trained
    again and held to the record."""
    from actlab.plugins import load_plugins
    from actlab.study import sampling
    from actlab.study.progress import StudyDisplay

    load_plugins(plugin or ())
    with StudyDisplay(errors) as display:
        texts = sampling.written(record, seed or [None], prompt, length, draw, anyway, display.watch)
    for label, text in texts["texts"].items():
        other = ", not the recorded weights" if label in texts.get("notes", {}) else ""
        console.print(f"seed {label}{other}:\n{prompt}{text}\n")
    console.print(*texts.get("notes", {}).values(), sep="\n")
    if keep:
        console.print(str(sampling.keep(texts)))


@app.command()
def replay(
    record: Annotated[str | None, Argument(help="STUDY/CONFIGURATION, or a record's file.")] = None,
    trial: Annotated[str | None, Option(help="The trial of this label; the first unless given, or --all.")] = None,
    every: Annotated[bool, Option("--all", help="Trials of all records, or of a --sample of them.")] = False,
    study: Annotated[str, Option(help="With --all: only this folder below results/.")] = "",
    sample: Annotated[int | None, Option(min=1, help="With --all: so many trials at random.")] = None,
    seed: Annotated[int, Option(min=0, help="Of the sample.")] = 0,
    minutes: Annotated[float, Option(min=0, help="With --all: only trials that took no longer.")] = math.inf,
    workers: Workers = CORES,
    keep: Annotated[bool, Option(help="Keep the outcomes in results/STUDY/replays of the project.")] = False,
    plugin: Plugins = None,
) -> None:
    """Train recorded trials again and compare them bit for bit. Exit code 1 if one differs though machine, versions and
    the code that trains are the recorded ones."""
    from actlab.plugins import load_plugins
    from actlab.records import store
    from actlab.records.find import find
    from actlab.study import replay as replays
    from actlab.study.load_model import trial_of
    from actlab.study.progress import StudyDisplay

    load_plugins(plugin or ())
    if every == (record is not None):
        raise BadInput("give a record, or --all for a sample of all records")
    if record:
        tasks = [trial_of(store.load(find(record)), trial)]
    else:
        recorded = replays.sample(replays.recorded_trials(study, trial), seed, minutes)
        tasks, skipped = replays.possible(recorded, sample)
        for sentence in skipped:
            console.print(sentence)
    trained = wrong = 0
    with StudyDisplay(console) as display:
        for outcome in replays.replay_all(tasks, workers, display.watch, keep):
            console.print(outcome.sentence)
            if outcome.record is not None:
                trained += 1
            if outcome.wrong:
                wrong += 1
    if not trained:
        raise BadInput(f"none of {len(tasks)} trials could be trained again here")
    if every:
        console.print(f"{trained} of {len(tasks)} trials trained again; {wrong} contradict what replay promises")
    if wrong:
        raise typer.Exit(1)
