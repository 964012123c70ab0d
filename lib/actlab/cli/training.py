"""`actlab run | status | sample | replay`: what trains, or uses what was trained."""

import random
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer import Argument, Option

from actlab.cli.shared_options import (
    CORES,
    Activations,
    AsJson,
    Models,
    Plugins,
    Workers,
    console,
    errors,
    print_table,
)
from actlab.errors import BadInput
from actlab.records.strict import in_json

if TYPE_CHECKING:
    from actlab.study.study import Study

app = typer.Typer()
Files = Annotated[
    list[Path],
    Argument(help="Params files, such as params/repro-quick.yaml, one after the other; NAME=VALUE is as with --set."),
]
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
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would be trained, as `status` does.")] = False,
    track: Annotated[str, Option(help="Live loss curves: tensorboard, into out/STUDY/tensorboard; or wandb.")] = "",
    plugin: Plugins = None,
) -> None:
    """Train every arm of a study that has no record yet; a started study goes on where it stopped."""
    if dry_run:
        status(params, model, activation, trials, max_iters, device, set_, workers, plugin)
        return
    from actlab.study.workers.startup import loading, start_fork_server

    if workers > 1 and not scheduler:
        start_fork_server()  # first, so that it loads its libraries while this process loads its own
    with loading():
        from actlab import report as reports
        from actlab.cli.display import StudyDisplay
        from actlab.cli.tracking import tracker
        from actlab.records import store
        from actlab.study import run as study
        from actlab.study.record import failure_of

    failed = False
    changes = {"trials": trials, "iterations": max_iters, "device": device}
    studies = _studies(params, model, activation, set_, plugin, **changes)
    for settings in studies:  # of which none trains before all are checked
        with tracker(track, Path("out") / settings.study) as log, StudyDisplay(console, log) as display:
            records = study.run(settings, workers, display.watch, scheduler)
        if done := len(records.present) - len({arm.id for arm, _ in records.failed}):
            recorded = reports.read(settings.study)
            if len(recorded.runs):
                print_table(reports.spreads(recorded))
            console.print(f"`actlab report {settings.study}` writes tables and figures into out/{settings.study}")
        console.print(f"{store.where(settings.study)}: {done} of {len(records)} records")
        for arm, trial in records.failed:
            failed = True
            words = escape(f"{trial['error']} (traceback: {failure_of(arm)})")
            errors.print(f"[red]failed[/red] {arm.id} trial {trial['label']}:", words)
    if failed:
        raise typer.Exit(1)


def _studies(
    params: list[Path],
    model: list[str] | None,
    activation: list[str] | None,
    sets: list[str] | None,
    plugins: list[str] | None,
    **changes: Any,
) -> "list[Study]":
    """Read the params files of a command line, with what it changes."""
    from actlab.study.params import filtered, read_params

    filters = {"model": model, "activation": activation}
    files = [path for path in params if "=" not in str(path) or path.exists()]
    if not files:
        raise BadInput("name a params file too, such as params/repro-quick.yaml")
    settings = [*(sets or ()), *(str(path) for path in params if path not in files)]
    studies = [read_params(path, plugins or (), settings, **changes) for path in files]
    return [filtered(study, str(path), filters) for study, path in zip(studies, files, strict=True)]


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
    """Trials of each arm by their state, and the time that is left, from what ended trials took."""
    from actlab.cli.display import in_words
    from actlab.study.after import status as states

    console.quiet = as_json
    rows = []
    changes = {"trials": trials, "iterations": max_iters, "device": device}
    for study in _studies(params, model, activation, set_, plugin, **changes):
        table = states.of(study)
        seconds = states.seconds_left(table, workers)
        rows.append(
            {"study": study.study, "workers": workers, "seconds_left": seconds, "arms": table.to_dict("records")}
        )
        print_table(table)
        console.print(in_words(table, workers))
    if as_json:
        typer.echo(in_json(rows, indent=1))


@app.command()
def sample(
    record: Annotated[str, Argument(help="Of a language model: STUDY/CONFIGURATION, as repro-lite/charlm-gelu.")],
    seed: Annotated[list[int] | None, Option(min=0, help="Of a trial, may be repeated; else the first.")] = None,
    prompt: Annotated[str, Option(help="Text to go on from.")] = "ROMEO:",
    length: Annotated[int, Option(min=1, help="Characters.")] = 200,
    draw: Annotated[int, Option(min=0, help="Seed of the draws: with one, only the models differ.")] = 0,
    plugin: Plugins = None,
) -> None:
    """Let a recorded trial's model write: with weights from the study's folder `weights` or the cache, else trained
    again; whether they are the recorded ones is said."""
    from actlab.plugins import load_plugins
    from actlab.study.after import sampling

    load_plugins(plugin or ())
    for label, text in sampling.texts_of(record, seed or [None], prompt, length, draw).items():
        console.print(f"seed {label}:\n{prompt}{text}\n")


@app.command()
def replay(
    record: Annotated[str | None, Argument(help="STUDY/CONFIGURATION, or a record's file.")] = None,
    trial: Annotated[str | None, Option(help="The trial of this label; the first unless given, or --all.")] = None,
    of_all: Annotated[bool, Option("--all", help="Trials of all records, or of a --sample of them.")] = False,
    study: Annotated[str, Option(help="With --all: only this folder below results/.")] = "",
    sample: Annotated[int | None, Option(min=1, help="With --all: so many trials at random.")] = None,
    workers: Workers = CORES,
    quick: Annotated[bool, Option("--quick", help="Replay one recorded run of seconds.")] = False,
    keep: Annotated[bool, Option(help="Keep the outcomes in results/STUDY/replays.")] = False,
    plugin: Plugins = None,
) -> None:
    """Train recorded trials again and compare them bit for bit. Exit code 1 if one differs though machine, Python,
    packages, text and the code that trains are the recorded ones."""
    from actlab import paths
    from actlab.plugins import load_plugins
    from actlab.records import store
    from actlab.study.after import replay as replays
    from actlab.study.after.load_model import trial_of
    from actlab.study.workers.pool import run_tasks

    load_plugins(plugin or ())
    if of_all + quick + (record is not None) != 1:
        raise BadInput("give a record, --quick, or --all for a sample of all records")
    if quick:
        (record,) = map(str, (paths.SHIPPED.with_name("results") / "bits").glob("charlm-*.json"))
    tasks = [trial_of(store.load(store.find(record)), trial)] if record else replays.recorded_trials(study, trial)
    if sample:
        tasks = random.sample(tasks, min(sample, len(tasks)))
    trained = wrong = 0
    for _, outcome in run_tasks(replays.replay, tasks, workers):
        console.print(outcome.sentence)
        if outcome.record is not None:
            trained += 1
            wrong += outcome.wrong
            if keep:
                replays.keep(outcome.record)
            if quick:
                console.print(f"this machine repeats the recorded bits: {'yes' if outcome.record['equal'] else 'no'}")
    if not trained:
        raise BadInput(f"none of {len(tasks)} trials could be trained again here")
    if of_all:
        console.print(f"{trained} of {len(tasks)} trials trained again; {wrong} contradict what replay promises")
    if wrong:
        raise typer.Exit(1)
