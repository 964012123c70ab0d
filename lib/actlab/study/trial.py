"""A trial: one training run as a flat, frozen object of settings, whose class says how trials of its kind are
trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from torch import Tensor, nn
from torch.optim import Optimizer

from actlab.data.text import located, short_name
from actlab.errors import BadInput
from actlab.models import LanguageModel, count_parameters
from actlab.models.vocabulary import Vocabulary
from actlab.optimizers import build_optimizer
from actlab.plugins import Parts, find_part, parts_of
from actlab.records.store import Record
from actlab.study.fields import Betas, Checked, Count, CountOrNone, Device, NotNegative, TextName, as_tuple, name_in
from actlab.trainers import loop
from actlab.trainers.recipes import DTYPES, Recipe
from actlab.trainers.seeds import generator
from actlab.trainers.windows import Windows, cover, spread

Settings = dict[str, Any]
"""Name of a field -> its value."""
Results = dict[str, Any]
"""The results of one trial, as plain values."""
Outcome = tuple[Results, dict[str, Tensor]]
"""The results of a trial, and its weights."""
Report = Callable[[int, float], None]
"""Training calls it with (iteration, loss)."""


class Trial(Checked):
    """What every trial has. Its fields are those of a params file, the slowest axis of a study first. What is only
    measured on it (``arm.Measures``) is none of them. A kind of trial defines what raises ``NotImplementedError``."""

    kind: ClassVar[str]
    """The kind of its study, as params files name it."""
    cell: ClassVar[tuple[str, ...]]
    """The factors of its study, which begin its name."""
    identity: ClassVar[tuple[str, ...]]
    """The settings whose hash is in the id of its arm: fields, with the block of the record that holds them
    (``recipe.clip``). One with ``?`` came after the first records, which lack it: at its default it is left out."""
    may_be_own: ClassVar[tuple[str, ...]] = ("activation",)
    """Settings that may name a part of the user's own."""
    seed: CountOrNone = 42
    change: str = ""
    """The one thing in which it differs from the plain trial of its seed: ``repeat``, ``nudge-100``, ``order``, ...
    (records call it ``variant``, params files list ``perturbations``)."""
    parts: Parts = ()
    """Hashes of the parts that are a user's own: (kind, sha256)."""

    @classmethod
    def identifying(cls) -> dict[str, tuple[str, bool]]:
        """Map each setting that identifies a trial to the block that holds it, and to whether it is left out at its
        default."""
        found = {}
        for entry in cls.identity:
            block, _, name = entry.rstrip("?").rpartition(".")
            found[name] = block, entry.endswith("?")
        return found

    @property
    def settings(self) -> Settings:
        """Return the settings that it shares with its arm, as records hold them: recorded ids need them to stay as they
        are."""
        settings: Settings = {}
        for name, (block, optional) in self.identifying().items():
            value = getattr(self, name)
            if not optional or value != type(self).model_fields[name].default:
                (settings.setdefault(block, {}) if block else settings)[name] = value
        settings["dataset"] = short_name(settings["dataset"])
        return settings | ({"parts": dict(self.parts)} if self.parts else {})

    @property
    def label(self) -> str:
        """Name it within its arm: ``42`` or ``42-nudge``."""
        return f"{self.seed}-{self.change}" if self.change else str(self.seed)

    @property
    def name(self) -> str:
        """Name it in the cache: ``charlm-gelu-42`` begins the name of its file."""
        return "-".join([*(str(getattr(self, name)) for name in self.cell), self.label])

    @property
    def place(self) -> str:
        """Return the device on which it trains."""
        return getattr(self, "device", "cpu")

    @classmethod
    def planned(cls, point: Settings, seed: int) -> Self:
        """Plan the plain trial of a seed at a point of a study, with the user's parts as they are now."""
        trial = cls.model_construct(**{**point, "dataset": located(point["dataset"]), "seed": seed})
        parts = parts_of(**{name: getattr(trial, name) for name in cls.may_be_own})
        return trial.model_copy(update={"parts": parts})

    @classmethod
    def of_record(cls, record: Record, label: str) -> Self:
        """Read a recorded trial back. Its own parts need not be loaded; a user's text lies where it lay, from the
        current folder."""
        config, (seed, _, change) = record["config"], label.partition("-")
        values = {name: as_tuple(value) for name, value in (config.get("recipe", {}) | config).items()}
        values = {name: value for name, value in values.items() if name in cls.model_fields}
        values["dataset"] = located(record["provenance"]["data"].get("path") or config["dataset"])
        values["parts"] = tuple(sorted(config.get("parts", {}).items()))
        return cls.model_construct(**values).with_change(int(seed), change)

    def seed_of(self, stream: str) -> int:
        """Return the seed that feeds the named stream."""
        return self.seed

    def with_change(self, seed: int, change: str = "") -> Self:
        """Return the same trial with another seed and change."""
        return self.model_copy(update={"seed": seed, "change": change})

    def part(self, kind: str, name: str) -> Any:
        """Find the object behind a name in its settings: built in, or the user's own as it was planned."""
        return find_part(kind, name, dict(self.parts).get(kind, ""))

    @property
    def content(self) -> str:
        """Return the hash of its data."""
        raise NotImplementedError

    def data(self, prediction_windows: int = 0) -> Settings:
        """Return what a record says of its data, and of the windows on which predictions are compared."""
        raise NotImplementedError

    @classmethod
    def grouped(cls, trials: Sequence[Self]) -> list[tuple[Self, ...]]:
        """Put the trials into the groups that train at once; those that should start first come first."""
        return [(trial,) for trial in trials]

    def train(self, task: "Task", place: Path | None, report: Report | None) -> list[Outcome]:
        """Train the task of which it is the first trial: an outcome a trial. ``place``: as of
        ``cache.train_afresh``."""
        raise NotImplementedError

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Return what its model's inputs stand for, where that is known."""
        return None

    def fresh(self, vocab_size: int = 0) -> LanguageModel:
        """Make its model as it is before training: here names become objects. ``vocab_size``: that of its data, which
        then need not be here."""
        raise BadInput(f"{self.name}: trials of the kind {self.kind} keep no weights")

    def trained(self, tensors: Mapping[str, Tensor], start: str = "weights/", vocab_size: int = 0) -> LanguageModel:
        """Make its model in evaluation mode, with the weights among these tensors; ``start`` begins their names."""
        model = self.fresh(vocab_size)
        model.load_state_dict({name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)})
        return model.eval()


@dataclass(frozen=True)
class Task:
    """What trains at once: one trial; the trials of a program of the image sweep; a leader and its followers."""

    trials: tuple[Trial, ...]
    snapshots: tuple[int, ...] = ()
    """Steps at which its arms together want the weights kept."""

    @property
    def first(self) -> Trial:
        """Return the trial that names the task."""
        return self.trials[0]


class LanguageTrial(Trial):
    """What trials of both kinds of language models have."""

    dataset: TextName = "treasure"
    """The text: a known one, or the path of a file in UTF-8. treasure needs no download."""
    iterations: Count = 60
    """Optimizer steps."""
    evaluate_every: Count = 30
    """Steps between evaluations."""
    validation: Literal["all", "first", "second"] = "all"
    """The part of the validation text that is measured on."""
    validation_windows: CountOrNone = 0
    """Evenly spread windows of that part on which the loss is measured; 0: all of it."""
    batch_size: Count = 16
    """Windows in a batch."""
    device: Device = "cpu"
    """Where it trains."""
    dtype: Annotated[str, name_in("dtype", DTYPES)] = "float32"
    """Of the forward and backward pass; weights, losses and evaluations stay in float32."""
    compiled: bool = False
    """Run through torch.compile; on a GPU, since on a CPU it does not pay."""
    betas: Betas = None
    """Decays of the optimizer's averages of gradients and of their squares; none: its usual ones."""
    warmup: CountOrNone = 0
    """Steps over which the rate rises linearly to its full value."""
    clip: NotNegative = 0.0
    """Largest L2 norm of the gradient of all weights; 0: not limited."""

    @property
    def size(self) -> Any:
        """Return the numbers behind the name of its scale."""
        raise NotImplementedError

    @property
    def validation_text(self) -> Tensor:
        """Return the characters or tokens that it is measured on: its part of the validation split."""
        raise NotImplementedError

    def validation_set(self) -> Windows:
        """Return the windows on which its loss is measured: an even selection of the validation text, or all of it."""
        text, block, count = self.validation_text, self.size.block_size, self.validation_windows
        return spread(text, block, count) if count else cover(text, block)

    @property
    def recipe(self) -> Recipe:
        """Return how it is trained."""
        return Recipe(**self.model_dump(include={field.name for field in fields(Recipe)}))

    def optimizer_for(self, model: nn.Module, name: str, settings: Settings) -> Optimizer:
        """Make the named optimizer, over all weights of a model that is on its device. ``settings``: what departs from
        its usual ones (None does not)."""
        self.part("optimizer", name)
        changes = {key: value for key, value in settings.items() if value is not None}
        return build_optimizer(name, model.parameters(), generator(self.seed_of("optimizer"), "optimizer"), **changes)

    def results_of(self, model: nn.Module, trained: loop.Trained) -> Results:
        """Return the results that every trained language model has."""
        return {
            "label": self.label,
            "seed": self.seed,
            "n_parameters": count_parameters(model),
            "status": trained.status,
            "final": trained.final,
            "history": trained.progress.history,
            "started": trained.progress.started,
            "seconds": trained.progress.seconds,
            "weights_sha256": trained.weights_sha256,
        }


def without_vocabulary(size: Any) -> Settings:
    """Return the numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {name: value for name, value in asdict(size).items() if name != "vocab_size"}


def weights(model: nn.Module, start: str = "weights/") -> dict[str, Tensor]:
    """Return a model's state under the names that a trial's file has for it."""
    return {f"{start}{name}": value for name, value in model.state_dict().items()}
