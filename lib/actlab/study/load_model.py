"""From a record back to its trial and its model: what it needs to be trained here; weights from the cache, from the
study's folder `weights`, or trained again."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from actlab.data.vocabulary import KNOWN
from actlab.errors import BadInput, DataError, RecordError
from actlab.models import LanguageModel
from actlab.models.vocabulary import Vocabulary
from actlab.plugins import find_part
from actlab.records import store
from actlab.records.find import find
from actlab.records.settings import PROCESSOR
from actlab.study import provenance
from actlab.study.cache import place_of, run_task, tensors_of
from actlab.study.params import RECORDED, trial_in
from actlab.study.progress import Training, Watch, seconds_of, why
from actlab.study.trial import Report, Results, Task, Trial
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.setup import missing_device

HASHES = ("sha256", "evaluation_sha256", "validation_sha256", "train", "validation", "test")
"""What identifies the data of a record."""


@dataclass(frozen=True, eq=False)
class RecordedTrial:
    """One trial of a record: what it left, and what trains it again."""

    record: store.Record
    label: str

    @property
    def id(self) -> str:
        """Of its arm."""
        return str(self.record["arm"])

    @property
    def name(self) -> str:
        """In messages."""
        return f"{self.id} trial {self.label}"

    @cached_property
    def trial(self) -> Trial:
        """As it was planned."""
        return trial_in(self.record, self.label)

    @cached_property
    def results(self) -> Results:
        """What the record says of it."""
        return next(trial for trial in self.record["trials"] if trial["label"] == self.label)

    @property
    def windows(self) -> int:
        """On how many frozen windows predictions are compared; 0: on none."""
        return int(self.record["config"].get("prediction_windows", 0))

    @property
    def weights(self) -> Path:
        """Where its study keeps its weights beside its records, if it does."""
        return store.folder_of(self.record["study"]) / "weights" / f"{self.id}-{self.label}.safetensors"

    def kept(self) -> dict[str, Tensor] | None:
        """Its weights as they were recorded, if they are still in the cache, and whole."""
        path = place_of(self.trial, self.record["provenance"])
        with suppress(DataError):
            tensors, ended = checkpoint.read_tensors(path)
            if ended.get("weights_sha256") == self.results.get("weights_sha256"):
                return tensors
        return None

    def check_here(self) -> None:
        """``ActlabError`` where it cannot be trained here at all: no GPU, own parts that are not loaded, other data or
        none."""
        if missing_device(self.trial.place):
            raise RecordError(f"{self.id} was trained on {self.trial.place}, which is not here")
        named = {"activation": self.record["activation"], "model": self.record["model_name"]}
        for kind, planned in self.trial.parts:
            if kind in named:
                find_part(kind, named[kind], planned)
        self.check_data()

    def check_data(self) -> None:
        """``RecordError`` where the record was made on other data than is here."""
        data = self.record["provenance"]["data"]
        for name, value in self.trial.data(self.windows).items():
            if name in HASHES and data.get(name) != value:
                raise RecordError(
                    f"{self.id} was made on other data: {data['name']} with {name} {data.get(name)}, found {value}"
                )

    def check_processor(self) -> None:
        """``RecordError`` where this machine rounds otherwise than the one that made the record (old records do not
        tell the generation of their processor)."""
        was, here = self.record["provenance"]["machine"], provenance.machine()
        if any(was.get(key) not in (None, here[key]) for key in PROCESSOR):
            raise RecordError(
                f"{self.name} was trained on {_processor(was)}; here is {_processor(here)}, on which training gives "
                f"other bits; it takes about {seconds_of(self.results):.0f} s to train again: {WAY_OUT}"
            )


def _processor(machine: Mapping[str, Any]) -> str:
    """In a message."""
    return " ".join(str(machine[key]) for key in PROCESSOR if machine.get(key))


def told_of(watch: Watch, trial: RecordedTrial, iteration: int, loss: float) -> None:
    """Lets a display hear of a training."""
    watch(Training(trial.id, trial.label, trial.trial.length, iteration, loss))


def trial_of(record: store.Record, label: int | str | None = None) -> RecordedTrial:
    """One trial of a record, the first unless a label or seed names another; ``BadInput`` lists the labels if it has
    none of that name, ``RecordError``: it has no trials."""
    labels = [trial["label"] for trial in record.get("trials", ())]
    if record["kind"] not in RECORDED or not labels:
        raise RecordError(f"a record of kind {record['kind']!r} holds no trials that can be trained again")
    label = labels[0] if label is None else str(label)
    if label not in labels:
        raise BadInput(f"{record['arm']} has no trial {label!r}: known are {', '.join(labels)}")
    return RecordedTrial(record, label)


def load_model(record: Path | str | store.Record, seed: int | str | None = None, anyway: bool = False) -> LanguageModel:
    """The model of a recorded trial, in evaluation mode: with the weights of which the record keeps the hash, from the
    cache or trained again; or with those that the study's folder ``weights`` keeps, with a warning where they were
    trained on another kind of processor. Its ``vocabulary`` encodes and decodes: ``model(model.vocabulary.encode("To
    be")[None])``.

    Args:
        record: a record of language models or of an ablation: its name (``repro-lite/charlm-gelu``), its file, or what
            is in it.
        seed: of the trial; the first one unless given. A label (``"42-nudge"``) names a changed repetition.
        anyway: train it again also where that gives other weights than recorded, with a warning.

    Raises:
        BadInput: no such trial (the message lists the labels), one that is not done, or a kind of record that keeps no
            weights.
        RecordError: trained again here it has, or would have, other weights than recorded.
    """
    content = record if isinstance(record, dict) else store.load(find(record))
    model, note = kept_model(trial_of(content, seed), anyway)
    if note:
        logging.getLogger("actlab").warning("%s", note)
    return model


def kept_model(trial: RecordedTrial, anyway: bool = False, report: Report | None = None) -> tuple[LanguageModel, str]:
    """As ``load_model``; a note whose weights these are, where they are not the recorded ones, bit for bit. ``report``
    hears of a training."""
    if trial.record["kind"] == "mnist":
        raise BadInput(f"{trial.id}: a record of kind {trial.record['kind']!r} keeps no weights")
    if trial.results["status"] != "done":
        raise BadInput(f"{trial.name} is {trial.results['status']}: it left no model")
    tensors, beside = trial.kept(), dict[str, str]()
    if tensors is None and trial.weights.exists():
        tensors, beside = checkpoint.read_tensors(trial.weights)
    elif tensors is None:
        trial.check_here()
        if not anyway:
            trial.check_processor()
        if failed := why(run_task(Task((trial.trial,)), report)[0]):
            raise RecordError(f"trained again it failed: {failed}")
        tensors = tensors_of(trial.trial)
    model = trial.trial.trained(tensors, vocab_size=trial.record["provenance"]["data"]["vocab_size"])
    model.vocabulary = vocabulary_of(trial)
    now, wanted = weights_sha256(model), trial.results["weights_sha256"]
    if beside and now != beside["weights_sha256"]:
        raise RecordError(f"{trial.weights} does not hold the weights that it names")
    if now == wanted:
        return model, ""
    if beside:
        return model, f"{trial.name}: {beside['note']}"
    note = f"{trial.name}: trained again here it has other weights ({now[:12]}) than the record says ({wanted[:12]})"
    if not anyway:
        raise RecordError(f"{note}; `actlab replay` tells what differs: machine, versions or the code that trains")
    return model, note


def vocabulary_of(trial: RecordedTrial) -> Vocabulary | None:
    """Of a trial's text, which need not be here where its characters are known; none of tokens that a user brought.

    Raises:
        RecordError: the text is another one now.
    """
    sha256 = trial.record["provenance"]["data"]["sha256"]
    if sha256 in KNOWN:
        return KNOWN[sha256]
    trial.check_data()
    return trial.trial.vocabulary


WAY_OUT = "--anyway (load_model(..., anyway=True)) does so and marks the result"
