"""`actlab report | compare | list`: what is recorded and what can be named. Trains nothing."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import typer
from typer import Argument, Option

from actlab import paths
from actlab.cli.shared_options import (
    MANY,
    Activations,
    AsJson,
    Models,
    Plugins,
    console,
    print_meanings,
    print_table,
)
from actlab.errors import check_name
from actlab.records.strict import in_json

app = typer.Typer()


def recorded_studies() -> list[str]:
    """List the recorded studies; none outside of any project."""
    from actlab.records import store

    with suppress(paths.NoProject):
        return store.studies()
    return []


LISTS = ["studies", "fields", "activations", "models", "networks", "optimizers", "scales", "texts", "metrics"]
Study = Annotated[str, Argument(help="A study, or its folder below results/.", autocompletion=recorded_studies)]
What = Annotated[str, Argument(help=f"One of {', '.join(LISTS)}.", autocompletion=lambda: LISTS)]


@app.command()
def report(
    study: Study,
    model: Models = None,
    activation: Activations = None,
    group: Annotated[list[str] | None, Option(help=f"Only groups with this in their name, such as soap{MANY}")] = None,
    factor: Annotated[str, Option(help="The setting to compare; the activation, or the one that varies.")] = "",
    reference: Annotated[str, Option(help="The level to compare with: gelu, or learning_rate=0.001.")] = "",
    out: Annotated[Path | None, Option(help="Folder to write to; out/STUDY unless given.")] = None,
    plots: Annotated[bool, Option(help="Draw the figures too.")] = True,
    formats: Annotated[list[str] | None, Option("--format", help=f"Of the figures: png, svg or pdf{MANY}")] = None,
    as_json: AsJson = False,
) -> None:
    """Write summary.txt, CSV and LaTeX tables and the figures of a recorded study of any kind. Trains nothing."""
    from actlab import report as reports

    console.quiet = as_json
    study = Path(study).name
    activations = _names(activation)
    if activations:
        from actlab.study.fields import our_name

        activations = [our_name(name) for name in activations]
    loaded = reports.load(study, _names(model), activations, reference, _names(group), factor)
    drawn = (_names(formats) or ["png"]) if plots else []
    written = [*map(str, reports.write(loaded, paths.located(str(out)) if out else Path("out") / study, drawn))]
    console.print("\n".join(written))
    for table in (loaded.rates, reports.spreads(loaded)):
        print_table(table)
    if len(loaded.pairs):
        console.print(reports.EQUAL_LOSS)
    if as_json:
        tables = {"estimates": loaded.estimates, "differences": loaded.differences, "rates": loaded.rates}
        rows = {name: table.to_dict("records") for name, table in tables.items()}
        typer.echo(in_json({"study": study, "reference": loaded.reference, "files": written, **rows}, indent=1))


def _names(values: list[str] | None) -> list[str]:
    """Split options that may be repeated and may hold several names with commas between them."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


@app.command()
def compare(first: Study, second: Study) -> None:
    """Subtract the first study's arms from the second's: paired where they share seeds, Holm-adjusted within a metric.
    Trains nothing."""
    from actlab import report as reports

    first, second = Path(first).name, Path(second).name
    lines, differences = reports.compare(first, second)
    console.print("\n".join(lines))
    print_table(differences)
    console.print(f"difference: {second} (estimate) minus {first} (reference), with its 95% interval from low to high")
    print_meanings(differences["metric"].unique())
    console.print(reports.EQUAL_LOSS)


def _catalogue(what: str) -> dict[str, str]:
    """Describe each name of a list in a few words."""
    from actlab.activations import ACTIVATIONS
    from actlab.data.fetch import DATASETS
    from actlab.data.text import TEXTS
    from actlab.metrics import ROWS
    from actlab.models import MODELS, SCALES
    from actlab.models.image_classifier import networks
    from actlab.optimizers import OPTIMIZERS
    from actlab.records import store
    from actlab.records.tables import COLUMNS

    return {
        "activations": {name: row.source for name, row in ACTIVATIONS.items()},
        "models": {name: row.description for name, row in MODELS.items()},
        "networks": {name: f"{activation}, for `kind: mnist`" for name, activation in networks().items()},
        "scales": {name: str(size) for name, size in SCALES.items()},
        "optimizers": {name: f"usual rate {row.defaults['lr']:g}; {row.source}" for name, row in OPTIMIZERS.items()},
        "texts": {name: DATASETS[name].description if name in DATASETS else "" for name in TEXTS},
        "metrics": {name: "; ".join(COLUMNS.get(name, ())) for name in ROWS},
        "studies": {name: f"{len(store.arm_files(name))} records" for name in recorded_studies()},
    }[what]


@app.command("list")
def list_names(what: What, plugin: Plugins = None) -> None:
    """Print the names that a params file, a notebook's parameters and a command may use."""
    check_name("list", what, LISTS)
    from actlab.plugins import load_plugins

    load_plugins(plugin or ())
    if what == "fields":
        _list_fields()
        return
    for name, words in _catalogue(what).items():
        console.print(f"{name:<20} {words}".rstrip())


def _list_fields() -> None:
    from actlab.records.settings import text
    from actlab.study.params import KINDS, study_of

    for kind in KINDS:
        study = study_of(kind)
        for name, field in study.model_fields.items():
            meaning = field if field.description else study.trial.model_fields[name]  # an axis is a field of a trial
            choices = get_args(meaning.annotation) if get_origin(meaning.annotation) is Literal else ()
            allowed = f" One of {', '.join(map(str, choices))}." if choices else ""
            axis = " A list is an axis." if name in study.axes else ""
            default = "" if field.is_required() else f" Default: {text(field.default)}."
            console.print(f"{name} ({kind}): {' '.join((meaning.description or '').split())}{allowed}{default}{axis}")
