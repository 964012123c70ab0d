"""Trials and arms: a trial is one flat, frozen object of settings, whose class says how trials of its kind are trained
and measured; an arm is the trials that share all settings but `seed` and `change`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from torch import Tensor

from actlab.data.text import located, short_name
from actlab.errors import BadInput
from actlab.models import LanguageModel
from actlab.models.vocabulary import Vocabulary
from actlab.plugins import Parts, find_part, parts_of
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study.fields import Seed, as_tuple
from actlab.study.plan import Checked
from actlab.trainers.windows import Windows

Settings = dict[str, Any]
"""Name of a field -> its value; what a record says of them, or of data."""
Results = dict[str, Any]
"""What a trial leaves for its arm's record: plain values."""
Outcome = tuple[Results, dict[str, Tensor]]
"""Of a trial: its results; its weights."""
Report = Callable[[int, float], None]
"""Called in training with (iteration, loss)."""


class Trial(Checked):
    """What every trial has. Its fields are those of a params file, the slowest axis of a study first; what is only
    measured on it (``Measures``) is none of them. What raises ``NotImplementedError`` here is for each kind to say."""

    kind: ClassVar[str]
    """Of its study, as params files name it."""
    path: ClassVar[str] = "loop"
    """Of its training, as records call it."""
    named_by: ClassVar[tuple[str, ...]]
    """The fields that its name begins with."""
    no_axis: ClassVar[tuple[str, ...]] = ("seed", "change", "parts")
    """Fields that the plan fills in, or of which a list is one value."""
    later: ClassVar[tuple[str, ...]] = ()
    """Fields that came after the first cached trials."""
    told_later: ClassVar[tuple[str, ...]] = ()
    """Fields that came after the first records."""
    in_recipe: ClassVar[tuple[str, ...]] = ()
    """Fields that records have in a block of their own."""
    may_be_own: ClassVar[tuple[str, ...]] = ("activation",)
    """Settings that may name a part of the user's own."""
    seed: Seed = 42
    change: str = ""
    """What it differs in from the plain trial of its seed: ``repeat``, ``nudge-100``, ``order``, ...; empty:
    nothing."""
    parts: Parts = ()
    """Hashes of the parts that are a user's own: (kind, sha256)."""

    @property
    def label(self) -> str:
        """Names the trial within its arm: ``42`` or ``42-nudge``."""
        return f"{self.seed}-{self.change}" if self.change else str(self.seed)

    @property
    def name(self) -> str:
        """``charlm-gelu-42``: begins its file in the cache."""
        return "-".join([*(str(getattr(self, name)) for name in self.named_by), self.label])

    @property
    def place(self) -> str:
        """The device on which it trains."""
        return str(getattr(self, "device", "cpu"))

    @property
    def length(self) -> int:
        """Steps of its training, where they are reported."""
        return int(getattr(self, "iterations", 0))

    def told(self, names: Iterable[str], later: Iterable[str]) -> Settings:
        """Its settings of these names; those that came ``later`` only where they are not at their defaults, so that
        what was kept before them is found."""
        usual = {name: field.default for name, field in type(self).model_fields.items()}
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if name not in later or value != usual[name]}

    @property
    def key(self) -> Settings:
        """Its settings for the cache."""
        return self.told(type(self).model_fields, self.later)

    @property
    def settings(self) -> Settings:
        """Those that it shares with its arm, as records tell them: their hash is in the arm's id, so that what is there
        never changes."""
        told = self.told([name for name in type(self).model_fields if name not in self.no_axis], self.told_later)
        recipe = {name: told.pop(name) for name in self.in_recipe if name in told}
        blocks = {"recipe": recipe, "parts": dict(self.parts)}
        return told | {"dataset": short_name(told["dataset"])} | {name: own for name, own in blocks.items() if own}

    @classmethod
    def planned(cls, point: Settings, seed: int) -> Self:
        """The plain trial of a seed at a point of a study, with its parts as they are now."""
        trial = cls.model_construct(**{**point, "dataset": located(point["dataset"]), "seed": seed})
        parts = parts_of(**{name: getattr(trial, name) for name in cls.may_be_own})
        return trial.model_copy(update={"parts": parts})

    def part(self, kind: str, name: str) -> Any:
        """What a name in its settings stands for: built in, or a user's own as it was planned."""
        return find_part(kind, name, dict(self.parts).get(kind, ""))

    @classmethod
    def of_record(cls, record: store.Record, label: str) -> Self:
        """A recorded trial; its parts need not be here, and a user's text lies where it lay, from the current
        folder."""
        config, (seed, _, change) = record["config"], label.partition("-")
        values: Settings = {name: as_tuple(value) for name, value in (config.get("recipe", {}) | config).items()}
        found = {name: value for name, value in values.items() if name in cls.model_fields}
        found["dataset"] = located(record["provenance"]["data"].get("path") or config["dataset"])
        found["parts"] = tuple(sorted(config.get("parts", {}).items()))
        return cls.model_construct(**found | cls.implied(config)).with_change(int(seed), change)

    @classmethod
    def implied(cls, config: Settings) -> Settings:
        """What of a trial follows from the rest of a record's settings."""
        return {}

    def with_change(self, seed: int, change: str = "") -> Self:
        """The same for another seed and change."""
        return self.model_copy(update={"seed": seed, "change": change})

    @property
    def content(self) -> str:
        """The hash of its data."""
        raise NotImplementedError

    def data(self, prediction_windows: int = 0) -> Settings:
        """What a record says of its data, and of the windows on which predictions are compared."""
        raise NotImplementedError

    @classmethod
    def grouped(cls, trials: Sequence[Self]) -> list[tuple[Self, ...]]:
        """The trials, those together that train at once; what is started first comes first."""
        return [(trial,) for trial in trials]

    def train(self, task: "Task", place: Path | None, report: Report | None) -> list[Outcome]:
        """An outcome for each trial of the task of which it is the first; ``place``: as of ``cache.train_afresh``."""
        raise NotImplementedError

    def measure(self, arm: "Arm", results: list[Results], tensors: "Left") -> store.Record:
        """The part of its record that is own to an arm of its kind, from what the arm's trials left."""
        raise NotImplementedError

    def seconds(self, task: "Task") -> float:
        """What the task of which it is the first takes here, by a few steps that are timed now."""
        raise NotImplementedError

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What its model's inputs stand for, where that is known."""
        return None

    def fresh(self, vocab_size: int = 0) -> LanguageModel:
        """Its model before training, where weights are kept: where names become objects. ``vocab_size``: that of its
        data, which need not be here then."""
        raise BadInput(f"{self.name}: trials of the kind {self.kind} keep no weights")

    def trained(self, tensors: Mapping[str, Tensor], start: str = "weights/", vocab_size: int = 0) -> LanguageModel:
        """Its model in evaluation mode, with the weights among these tensors; ``start``: of their names."""
        model = self.fresh(vocab_size)
        model.load_state_dict({name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)})
        return model.eval()

    def compared_on(self, prediction_windows: int) -> Windows:
        """The windows on which predictions of two trials are compared, where weights are kept."""
        raise NotImplementedError


Left = Callable[[Trial, int | None], Mapping[str, Tensor]]
"""What a trial left, at its end or at a snapshot."""


@dataclass(frozen=True)
class Measures:
    """What an arm's record measures on its trials, beside what each leaves: no part of a trial's identity."""

    prediction_windows: int = 0
    """Frozen validation windows on which predictions are compared."""
    training_windows: int = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    snapshots: tuple[int, ...] = ()
    """Steps at which the weights are kept and the trials compared as well."""
    protocol: tuple[str, ...] = ()
    """Names of the defects that are on."""
    ensembles: tuple[int, ...] = ()
    """Sizes of the ensembles that are compared, beside single trials."""
    equal_compute: tuple[int, ...] = ()
    """The same, each network after an equal share of the steps: two networks of half of them."""
    metrics: Parts = ()
    """A user's own metrics: (name, sha256)."""


@dataclass(frozen=True)
class Arm:
    """The trials of one record."""

    study: str
    kind: str
    """Of its record: ``trials``; ``floor``: the first seed plain, repeated and with one bit moved; ``perturbed``: every
    seed plain and changed; ``twins``; ``mnist``; ``ablation``."""
    name: str
    trials: tuple[Trial, ...]
    config: Mapping[str, Any] = field(compare=False)
    """What its record says of its settings; their hash is in its id."""
    measures: Measures = Measures()
    decided: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What its record says of the ``plan`` that it is run under, and of the ``tuning`` of learning rates: it changes no
    id."""

    @property
    def as_record(self) -> store.Record:
        """What its record will say of its settings, where there is none yet."""
        about = {"kind": self.kind, "arm": self.id, "model_name": self.config.get("model", "")}
        return {**self.config, **about, "config": self.config}

    @cached_property
    def id(self) -> str:
        """``charlm-gelu-<hash>``: the name of its record, by which a recorded arm is found."""
        return f"{self.name}-{store.digest(by_content(self.config))[:10]}"


@dataclass(frozen=True)
class Task:
    """What trains at once: one trial; the trials of a program of the image sweep; a leader and its followers."""

    trials: tuple[Trial, ...]
    snapshots: tuple[int, ...] = ()
    """Steps at which its arms together want the weights kept."""

    @property
    def first(self) -> Trial:
        """Names the task."""
        return self.trials[0]


def together(arms: Sequence[Arm]) -> dict[Trial, tuple[int, ...]]:
    """Each trial of some arms once, with the snapshots that they want of it."""
    found: dict[Trial, tuple[int, ...]] = {}
    for arm in arms:
        for trial in arm.trials:
            found[trial] = tuple(sorted({*arm.measures.snapshots, *found.get(trial, ())}))
    return found
