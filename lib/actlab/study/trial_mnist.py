"""Trials of image classifiers: all networks, widths and learning rates of one seed and batch size train as one program,
whose results are parted among their arms."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor

from actlab.activations import find_activation
from actlab.data.images import CLASSES, Part, load_images
from actlab.models.ffn import FFN, count
from actlab.records import store
from actlab.study import mnist
from actlab.study.measure import Results, mean
from actlab.study.mnist import MnistArm, MnistParams, Program, networks, programs_of
from actlab.study.own_parts import check_parts
from actlab.study.pool import Report
from actlab.trainers.distributed import Group
from actlab.trainers.stacked import Stack, evaluate, train
from actlab.trainers.streams import generator, init_streams

NAME, FOLDER, OWN = "mnist", "programs", (MnistParams, MnistArm, Program, "mnist")
MEANS = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")
arms_of = mnist.arms_of


def tasks_of(params: MnistParams, arm: MnistArm) -> Sequence[Program]:
    """The programs that train an arm, one a seed."""
    programs = {(program.epochs, program.batch_size, program.seed): program for program in programs_of(params)}
    return [programs[arm.epochs, arm.batch_size, seed] for seed in arm.seeds]


def key(network: str, hidden: int, learning_rate: float) -> str:
    """The name of a trial in its program's results."""
    return f"{network}/{hidden}/{learning_rate!r}"


@lru_cache(maxsize=2)
def about_data(dataset: str, protocol: str) -> dict[str, Any]:
    """Name, sizes and hashes of a data set's parts."""
    images = load_images(dataset, protocol)
    parts: dict[str, Part] = {name: getattr(images, name) for name in ("train", "validation", "test")}
    sizes = {name: {"images": len(part), "sha256": part.sha256} for name, part in parts.items()}
    return {"name": dataset, "protocol": protocol, "features": images.features, **sizes}


def data_of(task: Program | MnistArm) -> dict[str, Any]:
    """What a record says of its images."""
    return about_data(task.dataset, task.protocol)


def known_by(program: Program) -> tuple[str, dict[str, Any]]:
    """(the start of its name in the cache, what identifies it there beside code and machine)."""
    own = {name: value for name, value in asdict(program).items() if name != "parts" or value}
    return program.label, {**own, "data": data_of(program)}


def network_of(program: Program, activation: str, width: int) -> FFN:
    """A freshly initialised network of the program."""
    images = load_images(program.dataset, program.protocol)
    net = FFN(images.features, width, CLASSES, find_activation(activation))
    net.initialise(init_streams(program.seed))
    return net


def train_trial(
    program: Program, saved_at: Path | None = None, report: Report | None = None, group: Group | None = None
) -> tuple[Results, dict[str, Tensor]]:
    """``trials``, by ``network/hidden/learning rate``; it lasts seconds, so it leaves no checkpoint, and no weights.
    Losses in nats, accuracies in %, seconds per training (the program's, shared evenly).

    Cells of one shape are one training: 16 units of GeGLU at equal parameters are 8 units at equal width, bit for bit.
    """
    for name in {networks()[network].activation for network, _ in program.cells}:
        check_parts(tuple(("activation", planned) for own, planned in program.parts if own == name), activation=name)
    images = load_images(program.dataset, program.protocol)
    rows = {cell: networks()[cell[0]] for cell in program.cells}
    of = {cell: (row.activation, row.width(images.features, cell[1], CLASSES)) for cell, row in rows.items()}
    shapes = list(dict.fromkeys(of.values()))
    stack = Stack([network_of(program, *shape) for shape in shapes], program.learning_rates)
    since = time.perf_counter()
    order = generator(program.seed, "order")
    measured = {
        "train_loss": train(stack, images.train.pixels, images.train.labels, program.batch_size, program.epochs, order)
    }
    seconds = (time.perf_counter() - since) / measured["train_loss"].numel()
    for name, part in (("val", images.validation), ("test", images.test)):
        found = evaluate(stack, part.pixels, part.labels)
        measured |= {f"{name}_{what}": values for what, values in found.items()}
    same = {"label": str(program.seed), "seed": program.seed}
    return {
        "status": "done",
        "trials": {
            key(*cell, rate): {**same, **_results(measured, r, shapes.index(shape)), "seconds": seconds}
            for cell, shape in of.items()
            for r, rate in enumerate(program.learning_rates)
        },
    }, {}


def _results(measured: dict[str, Tensor], rate: int, shape: int) -> Results:
    """One trial's numbers. ``diverged``: a loss is not finite (its accuracies are NaN). ``collapsed``: one class for
    every validation image."""
    values = {name: tensor[rate, shape].item() for name, tensor in measured.items()}
    status = "done" if all(math.isfinite(values[f"{name}_loss"]) for name in ("train", "val", "test")) else "diverged"
    if status == "diverged":
        values |= {"val_accuracy": math.nan, "test_accuracy": math.nan}
    return {"status": status, "collapsed": values["val_largest_class_share"] == 1.0, **values}


def measured_of(arm: MnistArm, results: list[Results], *_: Callable[..., Any]) -> store.Record:
    """The arm's own part of its record. Means are over the trials that are done."""
    features = data_of(arm)["features"]
    done = [trial for trial in results if trial["status"] == "done"]
    return {
        "model_name": "ffn",
        "activation": arm.activation,
        "network": arm.network,
        "width": arm.width(features),
        "n_parameters": count(features, arm.width(features), CLASSES, find_activation(arm.activation).gated),
        **{f"avg_{name}": mean(trial[name] for trial in done) for name in MEANS},
        "collapsed": sum(trial.get("collapsed", False) for trial in results),
        "trials": results,
    }


def trial_of(record: store.Record, label: str) -> Program:
    """The program that trains one recorded network alone: its bits do not depend on which others share a program."""
    config = record["config"]
    cells, rates = ((config["network"], config["hidden"]),), (config["learning_rate"],)
    own = tuple((record["activation"], found) for found in config.get("parts", {}).values())
    values = {name: config[name] for name in ("batch_size", "dataset", "protocol", "epochs")}
    return Program(seed=int(label), parts=own, cells=cells, learning_rates=rates, **values)
