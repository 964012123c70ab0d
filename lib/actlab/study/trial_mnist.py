"""Runs the sweep of image classifiers: programs in processes, finished ones in the cache, one record an arm."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock
from torch import Tensor

from actlab import paths
from actlab.activations import find_activation
from actlab.data.images import CLASSES, Part, load_images
from actlab.errors import ActlabError
from actlab.files import mending
from actlab.models.ffn import FFN, count
from actlab.records import store
from actlab.study import before, provenance
from actlab.study.events import Watch
from actlab.study.mnist import MnistArm, MnistParams, Program, arms_of, networks, programs_of
from actlab.study.parts import check_parts, sources
from actlab.study.pool import Report
from actlab.study.records import Outcome, Plan, keep, load_arms, run_arms
from actlab.trainers import process
from actlab.trainers.stacked import Stack, evaluate, train
from actlab.trainers.streams import generator, init_streams

Results = dict[str, Any]
"""What a trial leaves for the record: plain values."""


@dataclass(frozen=True)
class Trial:
    """Names a trial for a display."""

    label: str


def load_mnist(params: MnistParams) -> Outcome[MnistArm]:
    """What is recorded of a sweep; trains nothing."""
    return load_arms(arms_of(params))


def run_mnist(
    params: MnistParams, workers: int = 1, watch: Watch | None = None, scheduler: str = ""
) -> Outcome[MnistArm]:
    """Bring a sweep to its end: arms with a record are loaded, finished programs come from the cache, the rest is
    trained (``records.run_arms``)."""
    provenance.code()  # before anything can change the files that this process has loaded
    outcome = load_mnist(params)
    if outcome.missing:
        before.check(params, workers, scheduler)
    wanted = {key for arm in outcome.missing for key in _programs_of(arm)}
    programs = [program for program in programs_of(params) if _key_of(program) in wanted]
    places = {_key_of(program): place for place, program in enumerate(programs)}
    plan = Plan(programs, lambda arm: [places[key] for key in _programs_of(arm)], _train, finish, _trials_of)
    return run_arms(outcome, plan, workers, watch, scheduler)


def _programs_of(arm: MnistArm) -> list[tuple[int, int, int]]:
    return [(arm.epochs, arm.batch_size, seed) for seed in arm.seeds]


def _key_of(program: Program) -> tuple[int, int, int]:
    return program.epochs, program.batch_size, program.seed


def _trials_of(program: Program) -> list[Trial]:
    return [Trial(f"{program.label}-{_key(*cell, rate)}") for cell in program.cells for rate in program.learning_rates]


def _train(program: Program, report: Report) -> dict[str, Results]:
    return run_program(program)


def _key(network: str, hidden: int, learning_rate: float) -> str:
    return f"{network}/{hidden}/{learning_rate!r}"


@lru_cache(maxsize=2)
def about_data(dataset: str, protocol: str) -> dict[str, Any]:
    """Name, sizes and hashes of a data set's parts."""
    images = load_images(dataset, protocol)
    parts: dict[str, Part] = {name: getattr(images, name) for name in ("train", "validation", "test")}
    sizes = {name: {"images": len(part), "sha256": part.sha256} for name, part in parts.items()}
    return {"name": dataset, "protocol": protocol, "features": images.features, **sizes}


def cached(program: Program) -> Path:
    """The file of a finished program: the results of its trials."""
    about = {
        **{key: value for key, value in asdict(program).items() if key != "parts" or value},
        "data": about_data(program.dataset, program.protocol),
        "code": provenance.code()["trial_code_sha256"],
        "machine": provenance.machine(),
    }
    return paths.cache() / "programs" / f"{program.label}-{store.digest(about)[:16]}.json"


def run_program(program: Program) -> dict[str, Results]:
    """Train one program, or take it from the cache. Never raises for a failure of training: all of its trials have
    failed then.

    On one thread: the bits of a result then depend on no core count.
    """
    process.prepare()
    path = cached(program)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        return mending(lambda: _cached_or_trained(program, path))


def _cached_or_trained(program: Program, path: Path) -> dict[str, Results]:
    if not path.exists():
        try:
            trials = train_program(program)
        except ActlabError:
            raise
        except Exception:  # load_arms, so that the other programs of a study go on
            failed = {
                "label": str(program.seed),
                "seed": program.seed,
                "status": "failed",
                "collapsed": False,
                "traceback": traceback.format_exc(),
            }
            return {_key(*cell, rate): failed for cell in program.cells for rate in program.learning_rates}
        store.save(path, {"trials": trials})
    return store.load(path)["trials"]


def shape_of(program: Program, network: str, hidden: int) -> tuple[str, int]:
    """(activation, width) of a cell: all that a network's start depends on, the program apart."""
    row = networks()[network]
    return row.activation, row.width(load_images(program.dataset, program.protocol).features, hidden, CLASSES)


def network_of(program: Program, activation: str, width: int) -> FFN:
    """A freshly initialised network of the program."""
    images = load_images(program.dataset, program.protocol)
    net = FFN(images.features, width, CLASSES, find_activation(activation))
    net.initialise(init_streams(program.seed), program.init, images.pixel_power)
    return net


def train_program(program: Program) -> dict[str, Results]:
    """Results by ``network/hidden/learning rate``. Losses in nats, accuracies in %, seconds per training (the
    program's, shared evenly).

    Cells of one shape are one training: 16 units of GeGLU at equal parameters are 8 units at equal width, bit for bit.
    """
    for name in {networks()[network].activation for network, _ in program.cells}:
        planned = dict(program.parts).get(name)
        check_parts((("activation", planned),) if planned else (), activation=name)
    images = load_images(program.dataset, program.protocol)
    shapes = list(dict.fromkeys(shape_of(program, *cell) for cell in program.cells))
    stack = Stack([network_of(program, *shape) for shape in shapes], program.learning_rates)
    since = time.perf_counter()
    order = generator(program.seed, "order")
    train_loss = train(stack, images.train.pixels, images.train.labels, program.batch_size, program.epochs, order)
    seconds = (time.perf_counter() - since) / train_loss.numel()
    parts = {"val": images.validation, "test": images.test}
    measured = {"train_loss": train_loss} | {
        f"{name}_{what}": values
        for name, part in parts.items()
        for what, values in evaluate(stack, part.pixels, part.labels).items()
    }
    results = {}
    for cell in program.cells:
        index = shapes.index(shape_of(program, *cell))
        for r, rate in enumerate(program.learning_rates):
            results[_key(*cell, rate)] = {
                "label": str(program.seed),
                "seed": program.seed,
                **_results(measured, r, index),
                "seconds": seconds,
            }
    return results


def _results(measured: dict[str, Tensor], rate: int, cell: int) -> Results:
    """One trial's numbers. ``diverged``: a loss is not finite (its accuracies are NaN). ``collapsed``: one class for
    every validation image."""
    values = {name: tensor[rate, cell].item() for name, tensor in measured.items()}
    status = "done" if all(math.isfinite(values[f"{name}_loss"]) for name in ("train", "val", "test")) else "diverged"
    if status == "diverged":
        values |= {"val_accuracy": math.nan, "test_accuracy": math.nan}
    return {"status": status, "collapsed": values["val_largest_class_share"] == 1.0, **values}


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


MEANS = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")


def record_of(arm: MnistArm, trials: list[Results]) -> store.Record:
    """The record of an arm whose trials have all ended. Means are over the trials that are done."""
    data = about_data(arm.dataset, arm.protocol)
    width = arm.width(data["features"])
    done = [trial for trial in trials if trial["status"] == "done"]
    return {
        "model_name": "ffn",
        "activation": arm.activation,
        "network": arm.network,
        "width": width,
        "n_parameters": count(data["features"], width, CLASSES, find_activation(arm.activation).gated),
        **{f"avg_{name}": _mean(trial[name] for trial in done) for name in MEANS},
        "collapsed": sum(trial["collapsed"] for trial in trials),
        "trials": trials,
        "config": arm.config,
        "study": arm.study,
        "arm": arm.id,
        "kind": "mnist",
        "provenance": provenance.of_record(threads=1, path="stacked", data=data) | sources(arm.parts),
    }


def finish(arm: MnistArm, programs: list[dict[str, Results]]) -> store.Record:
    """Write the arm's record from its programs' results and return it."""
    key = _key(arm.network, arm.hidden, arm.learning_rate)
    return keep(arm, record_of(arm, [results[key] for results in programs]))
