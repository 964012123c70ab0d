"""`actlab report`: summary.txt and every figure of a study of language models, from its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from actlab import files, grid, paths, store, tables
from actlab.errors import BadInput, UnknownName
from actlab.figures import grid as figures
from actlab.grid import PAIR_METRICS, Grid
from actlab.wording import above_zero, with_interval


def write(study: str, out: Path, models: Sequence[str] | None = None, activations: Sequence[str] | None = None, plots: bool = True) -> Iterator[Path]:
    """Write the report of ``results/<study>`` into ``out`` and yield each file.

    Raises:
        BadInput: the study has no records (the message lists the studies that have).
        UnknownName: a model or activation without a record.
    """
    results = load(study, models, activations)
    yield files.write_text(out / "summary.txt", summary(results))
    if plots:
        for name, figure in drawings(results):
            path = out / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            figure().savefig(path)
            yield path


def load(study: str, models: Sequence[str] | None = None, activations: Sequence[str] | None = None) -> Grid:
    """The grid of a recorded study, whole or in part."""
    records = store.load_study(study) if Path(study).name == study else []  # a path would lead out of the results, and out of the reports
    if not any(record["kind"] == "trials" for record in records):
        known = sorted(folder.name for folder in paths.results().glob("*") if any(folder.glob("*.json")))
        raise BadInput(f"results/{study} has no records of language models: studies with records are {', '.join(known) or 'none'}")
    whole = grid.read(records)
    for kind, wanted, known_names in (("model", models, whole.models), ("activation", activations, whole.activations)):
        for name in wanted or ():
            if name not in known_names:
                raise UnknownName(kind, name, known_names, f"results/{study}")
    return grid.read(records, models or whole.models, activations or whole.activations)


def summary(results: Grid) -> str:
    """Per model: the prediction difference of each activation with interval and n, mean, CV%, best and worst; losses beside them."""
    lines = [f"study {results.study}: 95% intervals over trials; n counts trials", ""]
    for model in results.models:
        lines += [f"MODEL {model}", *(f"  {line}" for line in _model_lines(results, model)), ""]
    return "\n".join(lines)


def _model_lines(results: Grid, model: str) -> Iterator[str]:
    arms = results.of_model(model)
    for metric in ("relative_pd", "total_variation", "churn", "jensen_shannon", "val_loss", "val_accuracy"):
        yield f"{grid.METRICS[metric].label}"
        for arm in arms:
            estimate = arm.shown(metric)
            yield f"  {arm.activation:10s} {with_interval(estimate)}  n = {estimate.n}"
        if metric in PAIR_METRICS and arms:
            values = {arm.activation: arm.estimate(metric).value for arm in arms}
            sensitivity = results.sensitivity(model, metric)
            yield (
                f"  mean {sum(values.values()) / len(values):.4f}, CV% {with_interval(above_zero(sensitivity), 2)}, "
                f"lowest {min(values, key=lambda a: values[a])}, highest {max(values, key=lambda a: values[a])}"
            )
    for missing_model, activation in results.missing:
        if missing_model == model:
            yield f"{activation}: {tables.MISSING}"


def drawings(results: Grid) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """(file name, function that draws it) of every figure of the report."""
    for model in results.models:
        one = results.only(model)
        if one.arms:
            yield f"{model}/accuracy", partial(figures.bars, one, "val_accuracy")
            yield f"{model}/reproducibility", partial(figures.bars, one, "relative_pd")
            yield f"{model}/total_variation", partial(figures.bars, one, "total_variation")
            yield f"{model}/training_curves", partial(figures.curves, one)
            yield f"{model}/comparison", partial(figures.scatter, one, "val_loss")
    yield "accuracy", partial(figures.bars, results, "val_accuracy")
    yield "reproducibility", partial(figures.bars, results, "relative_pd")
    yield "total_variation", partial(figures.bars, results, "total_variation")
    yield "accuracy_vs_reproducibility", partial(figures.scatter, results)
    yield "four_panels", partial(figures.four_panels, results)
    yield "noise_floor", partial(figures.floors, results)
