"""The sweep of feed-forward image classifiers: its parameters, its arms, and its trials. All networks, widths and
learning rates of a batch size and of up to five seeds train as one program, whose results are parted among their
arms."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from torch import Tensor

from actlab.activations import ACTIVATIONS, find_activation
from actlab.data.images import CLASSES, IMAGES, PROTOCOLS, load_images
from actlab.errors import LIMITS
from actlab.models.ffn import FFN, count, equal_parameters, equal_width
from actlab.records import store
from actlab.study.arms import Specified, taken
from actlab.study.fields import Batch, Positive, Several, StudyName, Trials, one_of
from actlab.study.measure import Results, mean
from actlab.study.params import StudyParams
from actlab.study.parts import Parts, check_parts, parts_of
from actlab.study.pool import Report
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.stacked import Stack, evaluate, train


@dataclass(frozen=True)
class Network:
    """One row of the table of arms: an activation, and what ``hidden`` units of a plain network mean for it."""

    name: str
    activation: str
    width: Callable[[int, int, int], int]
    """(pixels, hidden, classes) -> its own hidden units."""


def networks() -> dict[str, Network]:
    """``relu``, ``geglu_equal_width``, ``geglu_equal_parameters``, and the same for every activation without parameters
    of its own."""
    stackable = [a for a in ACTIVATIONS.values() if not a.learns]  # a learned slope would need a training of its own
    plain = [Network(a.name, a.name, equal_width) for a in stackable if not a.gated]
    widths = (("equal_width", equal_width), ("equal_parameters", equal_parameters))
    gated = [Network(f"{a.name}_{rule}", a.name, width) for a in stackable if a.gated for rule, width in widths]
    return {row.name: row for row in plain + gated}


class MnistParams(StudyParams):
    """One sweep: every arm x hidden x learning rate x batch size x epochs, ``trials`` seeds each. Lists make the
    factors."""

    factors = ("arms", "hidden", "learning_rates", "batch_sizes", "epochs")
    study: StudyName = "mnist-quick"
    trials: Trials = 10
    arms: Several[Annotated[str, one_of("arm", networks)]] = ("relu", "geglu_equal_width", "geglu_equal_parameters")
    """Networks."""
    hidden: Several[Annotated[int, Field(ge=1, le=LIMITS["hidden"])]] = (2, 4, 8, 16)
    """Hidden units of the plain network."""
    learning_rates: Several[Positive] = (1e-1, 1e-2, 1e-3, 1e-4)
    """Adam's."""
    batch_sizes: Several[Batch] = (8, 64)
    """Images in a batch."""
    epochs: Several[Annotated[int, Field(ge=1, le=LIMITS["epochs"])]] = (1,)
    """Passes over the training images; several make arms of their own."""
    dataset: Annotated[str, one_of("dataset", IMAGES)] = "digits"
    protocol: Annotated[str, one_of("protocol", PROTOCOLS)] = "corrected"
    """corrected: validation images held out of training; as_published: the test images."""


@dataclass(frozen=True)
class MnistArm(Specified):
    """One network at one width, learning rate and batch size, and the seeds of its trials: what one record holds."""

    study: str
    network: str
    hidden: int
    learning_rate: float
    batch_size: int
    seeds: tuple[int, ...]
    dataset: str
    protocol: str
    epochs: int
    parts: Parts = ()
    """The hash of the activation, where it is a user's own."""

    @property
    def activation(self) -> str:
        """Name of the activation."""
        return networks()[self.network].activation

    def width(self, features: int) -> int:
        """Hidden units of this arm's own network (after the gate) on images of that many pixels."""
        return networks()[self.network].width(features, self.hidden, CLASSES)

    @property
    def config(self) -> dict[str, Any]:
        """What the arm's hash covers, as plain values."""
        values = self.known_by | {"seeds": list(self.seeds), "optimizer": "adam", "init": "published"}
        return {key: value for key, value in values.items() if key != "study"}

    @property
    def id(self) -> str:
        """``geglu_equal_width-h8-lr0.001-b64-<hash>``, with ``-e3`` where it is trained for three epochs."""
        epochs = "" if self.epochs == 1 else f"-e{self.epochs}"
        name = f"{self.network}-h{self.hidden}-lr{self.learning_rate:g}-b{self.batch_size}{epochs}"
        return f"{name}-{store.digest(self.config)[:10]}"


@dataclass(frozen=True)
class Program:
    """What trains together: all networks, widths and learning rates of some seeds and one batch size."""

    seeds: tuple[int, ...]
    batch_size: int
    cells: tuple[tuple[str, int], ...]
    """(network, hidden)."""
    learning_rates: tuple[float, ...]
    dataset: str
    protocol: str
    epochs: int
    parts: Parts = ()
    """Hashes of the activations that are a user's own: (activation, sha256)."""

    @property
    def label(self) -> str:
        """``b64-s42-e1``, of its first seed."""
        return f"b{self.batch_size}-s{self.seeds[0]}-e{self.epochs}"


def arms_of(params: MnistParams) -> list[MnistArm]:
    """The arms of a sweep, epochs slowest, network fastest."""
    seeds = tuple(range(params.seed, params.seed + params.trials))
    parts = {name: parts_of(activation=networks()[name].activation) for name in params.arms}
    cells = product(params.epochs, params.batch_sizes, params.learning_rates, params.hidden, params.arms)
    return [
        MnistArm(
            params.study,
            network,
            hidden,
            rate,
            batch,
            seeds,
            params.dataset,
            params.protocol,
            epochs,
            parts[network],
        )
        for epochs, batch, rate, hidden, network in cells
    ]


def programs_of(params: MnistParams) -> list[Program]:
    """The programs that train a sweep, the longest (most epochs, smallest batches) first."""
    cells = tuple((network, hidden) for hidden in params.hidden for network in params.arms)
    last = params.seed + params.trials
    seeds = [tuple(range(first, min(first + SEEDS, last))) for first in range(params.seed, last, SEEDS)]
    used = sorted({networks()[arm].activation for arm in params.arms})
    parts = tuple((name, found) for name in used for _, found in parts_of(activation=name))
    longest_first = product(sorted(params.epochs, reverse=True), sorted(params.batch_sizes), seeds)
    return [
        taken(Program, params, seeds=some, batch_size=batch, cells=cells, epochs=epochs, parts=parts)
        for epochs, batch, some in longest_first
    ]


NAME, FOLDER, OWN = "mnist", "programs", (MnistParams, MnistArm, Program, "mnist")
SEEDS = 5
"""Most seeds of a program: more share the cost of calling an operation, fewer leave work for other processes."""
MEANS = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")


def tasks_of(params: MnistParams, arm: MnistArm) -> Sequence[Program]:
    """The program that trains each of an arm's seeds: several times the same."""
    alike = [p for p in programs_of(params) if (p.epochs, p.batch_size) == (arm.epochs, arm.batch_size)]
    return [program for program in alike for _ in program.seeds]


def key(network: str, hidden: int, learning_rate: float, seed: int) -> str:
    """The name of a trial in its program's results."""
    return f"{network}/{hidden}/{learning_rate!r}/{seed}"


def data_of(task: Program | MnistArm) -> dict[str, Any]:
    """What a record says of its images: name, sizes and hashes of a data set's parts."""
    return _about(task.dataset, task.protocol)


@lru_cache(maxsize=2)
def _about(dataset: str, protocol: str) -> dict[str, Any]:
    images = load_images(dataset, protocol)
    parts = {"train": images.train, "validation": images.validation, "test": images.test}
    sizes = {name: {"images": len(part), "sha256": part.sha256} for name, part in parts.items()}
    return {"name": dataset, "protocol": protocol, "features": images.features, **sizes}


def known_by(program: Program) -> tuple[str, dict[str, Any]]:
    """(the start of its name in the cache, what identifies it there beside code and machine)."""
    own = {name: value for name, value in asdict(program).items() if name != "parts" or value}
    return program.label, {**own, "data": data_of(program)}


def network_of(program: Program, activation: str, width: int, seed: int) -> FFN:
    """A freshly initialised network of the program."""
    net = FFN(data_of(program)["features"], width, CLASSES, find_activation(activation))
    net.initialise(init_streams(seed))
    return net


def train_trial(
    program: Program, saved_at: Path | None = None, report: Report | None = None
) -> tuple[Results, dict[str, Tensor]]:
    """``trials``, by ``network/hidden/learning rate/seed``; it lasts seconds, so it leaves no checkpoint, and no
    weights. Losses in nats, accuracies in %, seconds per training (the program's, shared evenly).

    Cells of one shape are one training: 16 units of GeGLU at equal parameters are 8 units at equal width, bit for bit.
    """
    for name in {networks()[network].activation for network, _ in program.cells}:
        check_parts(tuple(("activation", planned) for own, planned in program.parts if own == name), activation=name)
    images = load_images(program.dataset, program.protocol)
    rows = {cell: networks()[cell[0]] for cell in program.cells}
    of = {cell: (row.activation, row.width(images.features, cell[1], CLASSES)) for cell, row in rows.items()}
    shapes = list(dict.fromkeys(of.values()))
    networks_of_seeds = [[network_of(program, *shape, seed) for shape in shapes] for seed in program.seeds]
    stack = Stack(networks_of_seeds, program.learning_rates)
    since = time.perf_counter()
    orders = [generator(seed, "order") for seed in program.seeds]
    measured = {
        "train_loss": train(stack, images.train.pixels, images.train.labels, program.batch_size, program.epochs, orders)
    }
    seconds = (time.perf_counter() - since) / measured["train_loss"].numel()
    for name, part in (("val", images.validation), ("test", images.test)):
        found = evaluate(stack, part.pixels, part.labels)
        measured |= {f"{name}_{what}": values for what, values in found.items()}
    return {
        "status": "done",
        "trials": {
            key(*cell, rate, seed): {
                **{"label": str(seed), "seed": seed},
                **_results({name: found[s, r, shapes.index(shape)].item() for name, found in measured.items()}),
                "seconds": seconds,
            }
            for cell, shape in of.items()
            for r, rate in enumerate(program.learning_rates)
            for s, seed in enumerate(program.seeds)
        },
    }, {}


def _results(values: dict[str, float]) -> Results:
    """One trial's numbers. ``diverged``: a loss is not finite (its accuracies are NaN). ``collapsed``: one class for
    every validation image."""
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
    return Program(seeds=(int(label),), parts=own, cells=cells, learning_rates=rates, **values)
