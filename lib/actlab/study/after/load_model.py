"""From a record back to its trial and its model: weights from the cache, from the study's folder `weights`, or trained
again; the hash in the record says whether they are the recorded ones."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Tensor

from actlab.data.vocabulary import KNOWN
from actlab.errors import BadInput, DataError, RecordError
from actlab.models import LanguageModel
from actlab.models.vocabulary import Vocabulary
from actlab.plugins import find_part
from actlab.records import store
from actlab.records.find import find
from actlab.study.cache import place_of, run_task, tensors_of
from actlab.study.params import RECORDED, trial_in
from actlab.study.trial import Report, Results, Task, Trial
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.setup import missing_device


@dataclass(frozen=True, eq=False)
class RecordedTrial:
    """One trial of a record: its results, and what trains it again."""

    record: store.Record
    label: str

    @property
    def id(self) -> str:
        """Return the id of its arm."""
        return str(self.record["arm"])

    @property
    def name(self) -> str:
        """Return its name in messages."""
        return f"{self.id} trial {self.label}"

    @cached_property
    def trial(self) -> Trial:
        """Return the trial as it was planned."""
        return trial_in(self.record, self.label)

    @cached_property
    def results(self) -> Results:
        """Return its results in the record."""
        return next(trial for trial in self.record["trials"] if trial["label"] == self.label)

    @property
    def weights(self) -> Path:
        """Return the file in which its study may keep its weights, beside the records."""
        return store.folder_of(self.record["study"]) / "weights" / f"{self.id}-{self.label}.safetensors"

    def cached(self) -> dict[str, Tensor] | None:
        """Read its weights as they were recorded, if they are in the cache, and whole."""
        with suppress(DataError):
            tensors, results = checkpoint.read_tensors(place_of(self.trial, self.record["provenance"]))
            if results.get("weights_sha256") == self.results.get("weights_sha256"):
                return tensors
        return None

    def check_here(self) -> None:
        """Refuse, with an ``ActlabError``, what cannot be trained here: no GPU, own parts that are not loaded, other
        data or none."""
        if missing_device(self.trial.place):
            raise RecordError(f"{self.id} was trained on {self.trial.place}, which is not here")
        names = {"activation": self.record["activation"], "model": self.record["model_name"]}
        for kind, planned in self.trial.parts:
            if kind in names:
                find_part(kind, names[kind], planned)
        self.check_data()

    def check_data(self) -> None:
        """Raise ``RecordError`` where the record was made on other data than is here."""
        recorded, here = self.record["provenance"]["data"], self.trial.data()
        if here.get("sha256") != recorded.get("sha256"):
            words = f"{recorded['name']}{' (other words with another Python)' * (recorded['name'] == 'pydoc')}"
            raise RecordError(
                f"{self.id} was made on other data: {words} with sha256 {recorded.get('sha256')}, found "
                f"{here.get('sha256')}"
            )


def trial_of(record: store.Record, label: int | str | None = None) -> RecordedTrial:
    """Choose one trial of a record, the first unless a label or seed names another; ``BadInput`` lists the labels if it
    has none of that name, ``RecordError`` says that it has no trials."""
    labels = [trial["label"] for trial in record.get("trials", ())]
    if record["kind"] not in RECORDED or not labels:
        raise RecordError(f"a record of kind {record['kind']!r} holds no trials that can be trained again")
    label = labels[0] if label is None else str(label)
    if label not in labels:
        raise BadInput(f"{record['arm']} has no trial {label!r}: known are {', '.join(labels)}")
    return RecordedTrial(record, label)


def load_model(record: Path | str | store.Record, seed: int | str | None = None) -> LanguageModel:
    """The model of a recorded trial, in evaluation mode: with its weights from the cache, else those that the study's
    folder ``weights`` keeps, else trained again here. A warning says so where they are not the recorded ones, bit for
    bit. Its ``vocabulary`` encodes and decodes: ``model(model.vocabulary.encode("To be")[None])``.

    Args:
        record: a record of language models or of an ablation: its name (``repro-lite/charlm-gelu``), its file, or what
            is in it.
        seed: of the trial; the first one unless given. A label (``"42-nudge"``) names a changed repetition.

    Raises:
        BadInput: no such trial (the message lists the labels), one that is not done, or a kind of record that keeps no
            weights.
        RecordError: it cannot be trained again here.
    """
    content = record if isinstance(record, dict) else store.load(find(record))
    model, note = model_of(trial_of(content, seed))
    if note:
        logging.getLogger("actlab").warning("%s", note)
    return model


def model_of(trial: RecordedTrial, report: Report | None = None) -> tuple[LanguageModel, str]:
    """Make the model of a recorded trial as ``load_model`` does, with a note where its weights are not the recorded
    ones. ``report`` hears of a training."""
    if trial.record["kind"] == "mnist":
        raise BadInput(f"{trial.id}: a record of kind {trial.record['kind']!r} keeps no weights")
    if trial.results["status"] != "done":
        raise BadInput(f"{trial.name} is {trial.results['status']}: it left no model")
    note = "trained again here, where machine, versions or code differ (`actlab replay` says which)"
    tensors = trial.cached()
    if tensors is None and trial.weights.exists():
        tensors, about = checkpoint.read_tensors(trial.weights)
        note = about["note"]
    elif tensors is None:
        trial.check_here()
        if error := run_task(Task((trial.trial,)), report)[0].get("error"):
            raise RecordError(f"{trial.name}: trained again it failed: {error}")
        tensors = tensors_of(trial.trial)
    model = trial.trial.trained(tensors, vocab_size=trial.record["provenance"]["data"]["vocab_size"])
    model.vocabulary = vocabulary_of(trial)
    if weights_sha256(model) == trial.results["weights_sha256"]:
        return model, ""
    return model, f"{trial.name}: these are not the recorded weights: {note}"


def vocabulary_of(trial: RecordedTrial) -> Vocabulary | None:
    """Find the vocabulary of a trial's text, which need not be here where its characters are known; tokens that a user
    brought have none.

    Raises:
        RecordError: the text is another one now.
    """
    sha256 = trial.record["provenance"]["data"]["sha256"]
    if sha256 in KNOWN:
        return KNOWN[sha256]
    trial.check_data()
    return trial.trial.vocabulary
