"""The sweep of feed-forward image classifiers: its parameters, its arms, and its trials. All networks, widths and
learning rates of a batch size and of up to five seeds train as one program, whose results are parted among their
arms."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from actlab.activations import ACTIVATIONS
from actlab.data.images import CLASSES, IMAGES, PROTOCOLS, load_images
from actlab.errors import LIMITS
from actlab.models.ffn import FFN, count, networks
from actlab.plugins import Parts, find_part, parts_of
from actlab.records import store
from actlab.study.arms import Specified, taken
from actlab.study.kinds.kind import Kind, Outcome, Report, Results
from actlab.study.kinds.measure import mean
from actlab.study.params.field_types import Batch, Positive, Several, StudyName, Trials, one_of
from actlab.study.params.yaml_file import StudyParams
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.stacked import Stack, evaluate, train


class MnistParams(StudyParams):
    """One sweep: every network x hidden x learning rate x batch size x epochs, ``trials`` seeds each."""

    factors = ("network", "hidden", "learning_rate", "batch_size", "epochs")
    study: StudyName = "mnist-quick"
    trials: Trials = 10
    network: Several[Annotated[str, one_of("network", networks)]] = (
        "relu",
        "geglu_equal_width",
        "geglu_equal_parameters",
    )
    """Networks."""
    hidden: Several[Annotated[int, Field(ge=1, le=LIMITS["hidden"])]] = (2, 4, 8, 16)
    """Hidden units of the plain network."""
    learning_rate: Several[Positive] = (1e-1, 1e-2, 1e-3, 1e-4)
    """Adam's."""
    batch_size: Several[Batch] = (8, 64)
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
    plan = None
    kind = "mnist"
    metrics: ClassVar[Parts] = ()

    @property
    def activation(self) -> str:
        """Name of the activation."""
        return networks()[self.network].activation

    @property
    def trials(self) -> "tuple[Program, ...]":
        """Each alone."""
        config, activation = self.config, self.activation
        return tuple(alone(config, activation, seed) for seed in self.seeds)

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
class Program(Specified):
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


def programs_of(params: MnistParams) -> list[Program]:
    """The programs that train a sweep, the longest (most epochs, smallest batches) first."""
    cells = tuple((network, hidden) for hidden in params.hidden for network in params.network)
    seeds = [tuple(params.seeds[first : first + SEEDS]) for first in range(0, params.trials, SEEDS)]
    used = sorted({networks()[arm].activation for arm in params.network})
    parts = tuple((name, found) for name in used for _, found in parts_of(activation=name))
    longest_first = product(sorted(params.epochs, reverse=True), sorted(params.batch_size), seeds)
    return [
        taken(
            Program,
            params,
            seeds=some,
            batch_size=batch,
            cells=cells,
            learning_rates=params.learning_rate,
            epochs=epochs,
            parts=parts,
        )
        for epochs, batch, some in longest_first
    ]


SEEDS = 5
"""Most seeds of a program: more share the cost of calling an operation, fewer leave work for other processes."""
MEANS = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")


def key(network: str, hidden: int, learning_rate: float, seed: int) -> str:
    """The name of a trial in its program's results."""
    return f"{network}/{hidden}/{learning_rate!r}/{seed}"


@lru_cache(maxsize=2)
def _about(dataset: str, protocol: str) -> dict[str, Any]:
    images = load_images(dataset, protocol)
    parts = {"train": images.train, "validation": images.validation, "test": images.test}
    sizes = {name: {"images": len(part), "sha256": part.sha256} for name, part in parts.items()}
    return {"name": dataset, "protocol": protocol, "features": images.features, **sizes}


def alone(config: Mapping[str, Any], activation: str, seed: int) -> Program:
    """What trains one network of an arm with these settings: its bits do not depend on which others share a program."""
    own = {name: config[name] for name in ("batch_size", "dataset", "protocol", "epochs")}
    parts = tuple((activation, sha256) for sha256 in config.get("parts", {}).values())
    cells = ((config["network"], config["hidden"]),)
    return Program(seeds=(seed,), parts=parts, cells=cells, learning_rates=(config["learning_rate"],), **own)


def stack_of(program: Program, features: int) -> tuple[Stack, dict[tuple[str, int], int]]:
    """The program's freshly initialised networks on images of so many pixels, and which of them each cell has.

    Cells of one shape are one network: 16 units of GeGLU at equal parameters are 8 at equal width, bit for bit.
    """
    rows, planned = networks(), dict(program.parts)
    cells = [(cell, rows[cell[0]], cell[1]) for cell in program.cells]
    shapes = {cell: (row.activation, row.width(features, hidden, CLASSES)) for cell, row, hidden in cells}
    distinct = list(dict.fromkeys(shapes.values()))
    activations = {name: find_part("activation", name, planned.get(name, "")) for name, _ in distinct}

    def fresh(activation: str, width: int, seed: int) -> FFN:
        net = FFN(features, width, CLASSES, activations[activation])
        net.initialise(init_streams(seed))
        return net

    stack = Stack([[fresh(*shape, seed) for shape in distinct] for seed in program.seeds], program.learning_rates)
    return stack, {cell: distinct.index(shape) for cell, shape in shapes.items()}


def _results(values: dict[str, float]) -> Results:
    """One trial's numbers. ``diverged``: a loss is not finite (its accuracies are NaN). ``collapsed``: one class for
    every validation image."""
    status = "done" if all(math.isfinite(values[f"{name}_loss"]) for name in ("train", "val", "test")) else "diverged"
    if status == "diverged":
        values |= {"val_accuracy": math.nan, "test_accuracy": math.nan}
    return {"status": status, "collapsed": values["val_largest_class_share"] == 1.0, **values}


class Sweep(Kind):
    """The sweep: a program trains the arms of one batch size and length, up to ``SEEDS`` seeds at once."""

    name, folder, params = "mnist", "programs", MnistParams
    parts, records = (MnistArm, Program), ("mnist",)

    def plan(self, params: MnistParams) -> list[MnistArm]:
        """The arms of a sweep, epochs slowest, network fastest."""
        common: dict[str, Any] = {"seeds": tuple(params.seeds)}
        parts = {name: parts_of(activation=networks()[name].activation) for name in params.network}
        names = ("epochs", "batch_size", "learning_rate", "hidden", "network")
        cells = product(params.epochs, params.batch_size, params.learning_rate, params.hidden, params.network)
        settings = [common | dict(zip(names, cell, strict=True)) for cell in cells]
        return [taken(MnistArm, params, parts=parts[own["network"]], **own) for own in settings]

    def tasks(self, params: MnistParams, arms: Sequence[MnistArm]) -> Mapping[MnistArm, Sequence[Program]]:
        """Arm -> the program that trains each of its seeds: several times the same. Those that last longer come
        first."""
        programs = programs_of(params)
        return {
            arm: [
                program
                for program in programs
                if (program.epochs, program.batch_size) == (arm.epochs, arm.batch_size)
                for _ in program.seeds
            ]
            for arm in sorted(arms, key=lambda arm: arm.epochs / arm.batch_size, reverse=True)
        }

    def own(self, arm: MnistArm, task: Program, results: Results) -> list[Results]:  # noqa: D102
        if results["status"] == "failed":
            return [{**results, "label": str(seed), "seed": seed} for seed in task.seeds]
        return [results["trials"][key(arm.network, arm.hidden, arm.learning_rate, seed)] for seed in task.seeds]

    def size(self, task: Program) -> int:  # noqa: D102
        return len(task.cells) * len(task.learning_rates) * len(task.seeds)

    def path(self, task: Program) -> str:  # noqa: D102
        return "stacked"

    def device(self, task: Program) -> str:  # noqa: D102
        return "cpu"

    def data(self, task: Program) -> dict[str, Any]:
        """Name, sizes and hashes of a data set's parts."""
        return _about(task.dataset, task.protocol)

    def known_by(self, task: Program) -> tuple[str, dict[str, Any]]:  # noqa: D102
        return task.label, {**task.known_by, "data": self.data(task)}

    def train(self, task: Program, saved_at: Path | None = None, report: Report | None = None) -> Outcome:
        """``trials``, by ``network/hidden/learning rate/seed``; it lasts seconds, so it leaves no checkpoint, and no
        weights. Losses in nats, accuracies in %, seconds per training (the program's, shared evenly).
        """
        images = load_images(task.dataset, task.protocol)
        stack, places = stack_of(task, images.features)
        orders = [generator(seed, "order") for seed in task.seeds]
        since = time.perf_counter()
        losses = train(stack, images.train.pixels, images.train.labels, task.batch_size, task.epochs, orders)
        seconds = (time.perf_counter() - since) / losses.numel()
        found, trials = {"train_loss": losses}, {}
        for name, part in (("val", images.validation), ("test", images.test)):
            measures = evaluate(stack, part.pixels, part.labels)
            found |= {f"{name}_{what}": values for what, values in measures.items()}
        for cell, (r, rate), (s, seed) in product(places, enumerate(task.learning_rates), enumerate(task.seeds)):
            own = {name: values[s, r, places[cell]].item() for name, values in found.items()}
            trials[key(*cell, rate, seed)] = {"label": str(seed), "seed": seed, **_results(own), "seconds": seconds}
        return {"status": "done", "trials": trials}, {}

    def measure(self, arm: MnistArm, results: list[Results]) -> store.Record:
        """The arm's own part of its record. Means are over the trials that are done."""
        features = _about(arm.dataset, arm.protocol)["features"]
        width = networks()[arm.network].width(features, arm.hidden, CLASSES)  # after the gate
        done = [trial for trial in results if trial["status"] == "done"]
        return {
            "model_name": "ffn",
            "activation": arm.activation,
            "network": arm.network,
            "width": width,
            "n_parameters": count(features, width, CLASSES, ACTIVATIONS[arm.activation].gated),
            **{f"avg_{name}": mean(trial[name] for trial in done) for name in MEANS},
            "collapsed": sum(trial.get("collapsed", False) for trial in results),
            "trials": results,
        }

    def task_of(self, record: store.Record, label: str) -> Program:
        """The program that trains one recorded network alone."""
        return alone(record["config"], record["activation"], int(label))
