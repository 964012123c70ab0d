"""The sweep of feed-forward image classifiers as data: its parameters, its arms and the programs that train them.
Trains nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from pydantic import Field, field_validator, model_validator

from actlab.activations import ACTIVATIONS
from actlab.data.fetch import find_dataset
from actlab.data.images import CLASSES, IMAGES, PROTOCOLS
from actlab.errors import BadInput, UnknownName
from actlab.models.ffn import INITS, equal_parameters, equal_width
from actlab.records import store
from actlab.study.params import StudyParams
from actlab.study.parts import Parts, parts_of


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


FACTORS = ("arms", "hidden", "learning_rates", "batch_sizes", "epochs")


class MnistParams(StudyParams):
    """One sweep: every arm x hidden x learning rate x batch size x epochs, ``trials`` seeds each. Lists make the
    factors."""

    study: str = Field(
        "mnist-quick", pattern=r"^[a-z0-9][a-z0-9-]{0,60}$", description="folder of the records below results/"
    )
    arms: tuple[str, ...] = Field(
        ("relu", "geglu_equal_width", "geglu_equal_parameters"), min_length=1, description="networks"
    )
    hidden: tuple[int, ...] = Field((2, 4, 8, 16), min_length=1, description="hidden units of the plain network")
    learning_rates: tuple[float, ...] = Field((1e-1, 1e-2, 1e-3, 1e-4), min_length=1, description="Adam's rates")
    batch_sizes: tuple[int, ...] = Field((8, 64), min_length=1, description="images in a batch")
    trials: int = Field(10, ge=1, le=1000, description="independently seeded training runs of each arm")
    seed: int = Field(42, ge=0, lt=2**31, description="seed of the first trial; the others follow it")
    epochs: tuple[int, ...] = Field(
        (1,), min_length=1, description="passes over the training images; several make arms of their own"
    )
    dataset: str = Field("digits", description="images")
    protocol: str = Field(
        "corrected", description="corrected: validation images held out of training; as_published: the test images"
    )
    init: str = Field(
        "published",
        description="published: N(0, 0.02^2) everywhere; variance: every layer's output starts with variance 1",
    )

    @field_validator(*FACTORS, mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value if isinstance(value, tuple) else (value,)

    @field_validator("hidden", "learning_rates", "batch_sizes", "epochs")
    @classmethod
    def _positive(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 < value < float("inf") for value in values):
            raise BadInput("every value must be positive and finite")
        return values

    @model_validator(mode="after")
    def _known(self) -> MnistParams:
        find_dataset(self.dataset, tuple(IMAGES))
        for name, value, known in (
            ("protocol", self.protocol, PROTOCOLS),
            ("init", self.init, INITS),
            *(("arm", arm, tuple(networks())) for arm in self.arms),
        ):
            if value not in known:
                raise UnknownName(name, value, known)
        return self

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Kind of part -> the names that the study uses."""
        return {"activation": tuple(networks()[arm].activation for arm in self.arms)}


@dataclass(frozen=True)
class MnistArm:
    """One network at one width, learning rate and batch size, and the seeds of its trials: what one record holds."""

    study: str
    network: str
    hidden: int
    learning_rate: float
    batch_size: int
    seeds: tuple[int, ...]
    dataset: str
    protocol: str
    init: str
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
        values = asdict(self) | {"parts": dict(self.parts), "seeds": list(self.seeds), "optimizer": "adam"}
        return {key: value for key, value in values.items() if key != "study" and (key != "parts" or value)}

    @property
    def id(self) -> str:
        """``geglu_equal_width-h8-lr0.001-b64-<hash>``, with ``-e3`` where it is trained for three epochs."""
        epochs = "" if self.epochs == 1 else f"-e{self.epochs}"
        return f"{self.network}-h{self.hidden}-lr{self.learning_rate:g}-b{self.batch_size}{epochs}-{store.digest(self.config)[:10]}"


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
    init: str
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
    common = (seeds, params.dataset, params.protocol, params.init)
    cells = product(params.epochs, params.batch_sizes, params.learning_rates, params.hidden, params.arms)
    own = {
        network: parts_of(activation=row.activation) for network, row in networks().items() if network in params.arms
    }
    return [
        MnistArm(params.study, net, hidden, rate, batch, *common, epochs, own[net])
        for epochs, batch, rate, hidden, net in cells
    ]


def programs_of(params: MnistParams) -> list[Program]:
    """The programs that train a sweep, the longest (most epochs, smallest batches) first."""
    cells = tuple((network, hidden) for hidden in params.hidden for network in params.arms)
    common = (cells, params.learning_rates, params.dataset, params.protocol, params.init)
    seeds = range(params.seed, params.seed + params.trials)
    longest_first = product(sorted(params.epochs, reverse=True), sorted(params.batch_sizes), seeds)
    used = sorted(set(params.names["activation"]))
    own = tuple((name, found) for name in used for _, found in parts_of(activation=name))
    return [Program(seed, batch, *common, epochs, own) for epochs, batch, seed in longest_first]
