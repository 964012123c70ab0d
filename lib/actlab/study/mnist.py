"""The sweep of feed-forward image classifiers as data: its parameters, its arms and the programs that train them.
Trains nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

from actlab.activations import ACTIVATIONS
from actlab.data.images import CLASSES, IMAGES, PROTOCOLS
from actlab.models.ffn import equal_parameters, equal_width
from actlab.records import store
from actlab.study.arms import Specified, taken
from actlab.study.own_parts import Parts, parts_of
from actlab.study.params import Count, Positive, Several, StudyName, StudyParams, Trials, one_of


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

    study: StudyName = "mnist-quick"
    trials: Trials = 10
    arms: Several[Annotated[str, one_of("arm", networks)]] = ("relu", "geglu_equal_width", "geglu_equal_parameters")
    """Networks."""
    hidden: Several[Count] = (2, 4, 8, 16)
    """Hidden units of the plain network."""
    learning_rates: Several[Positive] = (1e-1, 1e-2, 1e-3, 1e-4)
    """Adam's."""
    batch_sizes: Several[Count] = (8, 64)
    """Images in a batch."""
    epochs: Several[Count] = (1,)
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
    """What trains together: all networks, widths and learning rates of one seed and batch size."""

    seed: int
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
        """``b64-s42-e1``."""
        return f"b{self.batch_size}-s{self.seed}-e{self.epochs}"


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
    seeds = range(params.seed, params.seed + params.trials)
    used = sorted({networks()[arm].activation for arm in params.arms})
    parts = tuple((name, found) for name in used for _, found in parts_of(activation=name))
    longest_first = product(sorted(params.epochs, reverse=True), sorted(params.batch_sizes), seeds)
    return [
        taken(Program, params, seed=seed, batch_size=batch, cells=cells, epochs=epochs, parts=parts)
        for epochs, batch, seed in longest_first
    ]
