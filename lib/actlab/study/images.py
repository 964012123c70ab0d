"""The sweep of feed-forward image classifiers: a trial and a study of it, how they are planned, trained, measured and
read back. All networks, widths and learning rates of a batch size and of up to five seeds train as one program."""

import math
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator
from torch import Generator

from actlab.activations import ACTIVATIONS
from actlab.data.images import CLASSES, IMAGES, PROTOCOLS, load_images
from actlab.models.image_classifier import FFN, count, networks, width_of
from actlab.records import store
from actlab.records.settings import CELLS
from actlab.study.arm import Arm, means
from actlab.study.fields import Count, Positive, StudyName, name_in, our_name
from actlab.study.study import Study as AnyStudy
from actlab.study.study import with_axes
from actlab.study.trial import Outcome, Report, Results, Settings, Task, Trial
from actlab.trainers import stacked
from actlab.trainers.seeds import generator, init_streams

SEEDS = 5
"""Most seeds of a program: more share the cost of calling an operation, fewer leave work for other processes."""
MEANS = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")


class ImageTrial(Trial):
    """Everything that a trial's result depends on, but for data, code and machine."""

    kind = "mnist"
    cell = tuple(CELLS["mnist"])
    identity = ("network", "hidden", "learning_rate", "batch_size", "epochs", "dataset", "protocol")
    dataset: Annotated[str, name_in("dataset", IMAGES)] = "digits"
    """The images; digits need no download."""
    protocol: Annotated[str, name_in("protocol", PROTOCOLS)] = "corrected"
    """corrected: validation images held out of training; as_published: the test images."""
    epochs: Count = 1
    """Passes over the training images."""
    batch_size: Count = 8
    """Images in a batch."""
    learning_rate: Positive = 1e-3
    """Adam's."""
    hidden: Count = 2
    """Hidden units of the plain network."""
    network: Annotated[str, BeforeValidator(our_name), name_in("network", networks)] = "relu"
    """The activation; of a gated one also whether its width (``_equal_width``) or its parameters
    (``_equal_parameters``) are the plain network's."""

    @property
    def activation(self) -> str:
        """Name the network's activation."""
        return networks()[self.network]

    @property
    def shape(self) -> tuple[str, int]:
        """Return (activation, width after the gate): cells of one shape are one network. 16 units of GeGLU at equal
        parameters are 8 at equal width, bit for bit."""
        return self.activation, width_of(self.network, self.data()["features"], self.hidden, CLASSES)

    @property
    def content(self) -> str:  # noqa: D102
        return store.digest(self.data())

    def data(self, prediction_windows: int = 0) -> Settings:  # noqa: D102
        return _about(self.dataset, self.protocol)

    @classmethod
    def grouped(cls, trials: Sequence[Self]) -> list[tuple[Self, ...]]:
        """Put the trials of one batch size and length and of up to ``SEEDS`` seeds into one program. The longest comes
        first."""
        seeds = sorted({trial.seed for trial in trials})

        def program(trial: Self) -> tuple[Any, ...]:
            block = seeds.index(trial.seed) // SEEDS
            return -trial.epochs, trial.batch_size, trial.dataset, trial.protocol, block

        return [tuple(group) for _, group in groupby(sorted(trials, key=program), program)]

    def network_of(self, seed: int) -> FFN:
        """Make its network, freshly initialised."""
        activation, width = self.shape
        net = FFN(self.data()["features"], width, CLASSES, self.part("activation", activation))
        net.initialise(init_streams(seed))
        return net

    def train(self, task: Task, place: Path | None, report: Report | None) -> list[Outcome]:
        """Train the program; it lasts seconds, so it leaves no checkpoint, and no weights. Losses in nats, accuracies
        in %, seconds per trial (the program's, shared evenly)."""
        images, (stack, orders, places) = load_images(self.dataset, self.protocol), program_of(task)
        since = time.perf_counter()
        losses = stacked.train(stack, images.train.pixels, images.train.labels, self.batch_size, self.epochs, orders)
        spent = (time.perf_counter() - since) / losses.numel()
        measures = {"train_loss": losses}
        for name, part in (("val", images.validation), ("test", images.test)):
            for what, values in stacked.evaluate(stack, part.pixels, part.labels).items():
                measures[f"{name}_{what}"] = values
        outcomes: list[Outcome] = []
        for trial, at in zip(task.trials, places, strict=True):
            numbers = {name: values[at].item() for name, values in measures.items()}
            outcomes.append(({"label": trial.label, "seed": trial.seed, **_results(numbers), "seconds": spent}, {}))
        return outcomes


@lru_cache(maxsize=2)
def _about(dataset: str, protocol: str) -> Settings:
    images = load_images(dataset, protocol)
    sizes = {name: {"images": len(part), "sha256": part.sha256} for name, part in vars(images).items()}
    return {"name": dataset, "protocol": protocol, "features": images.train.pixels.shape[1], **sizes}


def program_of(task: Task) -> tuple[stacked.Stack, list[Generator], list[tuple[int, int, int]]]:
    """Make the program of a task: (the freshly initialised networks, every shape at every learning rate and seed of its
    trials; each seed's order of the images; where each trial lies among seeds, rates and shapes)."""
    trials = cast("tuple[ImageTrial, ...]", task.trials)
    with_shape = {trial.shape: trial for trial in trials}
    seeds = list(dict.fromkeys(trial.seed for trial in trials))
    rates = list(dict.fromkeys(trial.learning_rate for trial in trials))
    shapes = list(with_shape)
    networks = [[trial.network_of(seed) for trial in with_shape.values()] for seed in seeds]
    places = [(seeds.index(t.seed), rates.index(t.learning_rate), shapes.index(t.shape)) for t in trials]
    return stacked.Stack(networks, rates), [generator(seed, "order") for seed in seeds], places


def _results(values: dict[str, float]) -> Results:
    """Make one trial's results. ``diverged``: a loss is not finite (its accuracies are NaN). ``collapsed``: one class
    for every validation image."""
    finite = all(math.isfinite(values[f"{name}_loss"]) for name in ("train", "val", "test"))
    if not finite:
        values |= {"val_accuracy": math.nan, "test_accuracy": math.nan}
    status = "done" if finite else "diverged"
    return {"status": status, "collapsed": values["val_largest_class_share"] == 1.0, **values}


class ImageArm(Arm):
    """An arm of the sweep."""

    def measured(self, results: list[Results]) -> store.Record:
        """Average the trials that are done."""
        first = cast("ImageTrial", self.trials[0])
        activation, width = first.shape
        return {
            "model_name": "ffn",
            "activation": activation,
            "network": first.network,
            "width": width,
            "n_parameters": count(first.data()["features"], width, CLASSES, ACTIVATIONS[activation].gated),
            **means(MEANS, results),
            "collapsed": sum(trial.get("collapsed", False) for trial in results),
            "trials": results,
        }


@with_axes(
    network=("relu", "geglu_equal_width", "geglu_equal_parameters"),
    hidden=(2, 4, 8, 16),
    learning_rate=(1e-1, 1e-2, 1e-3, 1e-4),
    batch_size=(8, 64),
)
class ImageStudy(AnyStudy):
    """One sweep: every network x hidden x learning rate x batch size x epochs, ``trials`` seeds each."""

    trial = ImageTrial
    study: StudyName = "mnist-quick"
    """Folder of the records below results/."""
    trials: Count = 10
    """Independently seeded training runs of each arm; more than recorded: the study grows."""

    def arms(self) -> list[Arm]:
        """Plan its arms, epochs slowest and network fastest."""
        arms: list[Arm] = []
        for point in self.points():
            first = ImageTrial.planned(point, self.seed)
            trials = tuple(first.with_change(seed) for seed in self.seeds)
            epochs = "" if first.epochs == 1 else f"-e{first.epochs}"
            name = f"{first.network}-h{first.hidden}-lr{first.learning_rate:g}-b{first.batch_size}{epochs}"
            config = first.settings | {"seeds": [*self.seeds], "optimizer": "adam", "init": "published"}
            arms.append(ImageArm(self.study, "mnist", name, trials, config))
        return arms


Study = ImageStudy
