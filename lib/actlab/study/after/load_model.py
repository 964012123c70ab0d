"""From a record back to its trial and its model: weights that the study's folder `weights` keeps, from the cache, or
trained again; the hash in the record says whether they are the recorded ones."""

import logging
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from actlab.data.vocabulary import KNOWN
from actlab.errors import BadInput, RecordError, check_name
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study.cache import run_task, tensors_of
from actlab.study.params import KINDS, study_of
from actlab.study.trial import Results, Task, Trial
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.setup import missing_device


@dataclass(frozen=True, eq=False)
class RecordedTrial:
    """One trial of a record: its results, and what trains it again."""

    record: store.Record
    label: str

    @property
    def name(self) -> str:
        """Return its name in messages."""
        return f"{self.record['arm']} trial {self.label}"

    @cached_property
    def trial(self) -> Trial:
        """Return the trial as it was planned."""
        kind = self.record["kind"]
        return study_of(kind if kind in KINDS else "repro").trial.of_record(self.record, self.label)

    @cached_property
    def results(self) -> Results:
        """Return its results in the record."""
        return next(trial for trial in self.record["trials"] if trial["label"] == self.label)

    @property
    def weights(self) -> Path:
        """Return the file in which its study may keep its weights, beside the records."""
        return store.folder_of(self.record["study"]) / "weights" / f"{self.record['arm']}-{self.label}.safetensors"

    def check_here(self) -> None:
        """Raise ``RecordError`` where its device is not here, or its data are not those of the record."""
        if fault := missing_device(self.trial.place):
            raise RecordError(f"{self.name} was trained on {self.trial.place}: {fault}")
        recorded, here = self.record["provenance"]["data"], self.trial.data()
        if here.get("sha256") != recorded.get("sha256"):
            raise RecordError(
                f"{self.name} was made on other data: {recorded['name']} with sha256 {recorded.get('sha256')}, found "
                f"{here.get('sha256')}"
            )


def trial_of(record: store.Record, label: int | str | None = None) -> RecordedTrial:
    """Choose one trial of a record, the first unless a label or seed names another; ``BadInput`` lists the labels if it
    has none of that name, ``RecordError`` says that it has no trials."""
    labels = [trial["label"] for trial in record.get("trials", ())]
    if not labels:
        raise RecordError(f"a record of kind {record['kind']!r} holds no trials that can be trained again")
    label = labels[0] if label is None else str(label)
    check_name("trial", label, labels, record["arm"])
    return RecordedTrial(record, label)


def load_model(record: Path | str | store.Record, seed: int | str | None = None) -> LanguageModel:
    """Make the model of a recorded trial, in evaluation mode: with the weights that the study's folder ``weights``
    keeps, else from the cache, else trained again here. A warning says so where they are not the recorded ones, bit for
    bit. Its ``vocabulary`` encodes and decodes, ``model(model.vocabulary.encode("To be")[None])``, and needs no data
    where the characters are known; tokens that a user brought have none.

    Args:
        record: a record of language models or of an ablation: its name (``repro-lite/charlm-gelu``), its file, or what
            is in it.
        seed: of the trial; the first one unless given. A label (``"42-nudge"``) names a changed repetition.

    Raises:
        BadInput: no such trial (the message lists the labels), one that is not done, or a kind of record that keeps no
            weights.
        RecordError: it cannot be trained again here.
    """
    trial = trial_of(record if isinstance(record, dict) else store.load(store.find(record)), seed)
    if trial.results["status"] != "done":
        raise BadInput(f"{trial.name} is {trial.results['status']}: it left no model")
    data = trial.record["provenance"]["data"]
    if trial.weights.exists():
        tensors, _ = checkpoint.read_tensors(trial.weights)
    else:
        trial.check_here()
        if error := run_task(Task((trial.trial,)))[0].get("error"):
            raise RecordError(f"{trial.name}: trained again it failed: {error}")
        tensors = tensors_of(trial.trial)
    model = trial.trial.trained(tensors, vocab_size=data.get("vocab_size", 0))
    model.vocabulary = KNOWN.get(data["sha256"]) or trial.trial.vocabulary
    if weights_sha256(model) != trial.results["weights_sha256"]:
        logging.getLogger("actlab").warning(
            "%s: these are not the recorded weights (`actlab replay` says what differs here)", trial.name
        )
    return model
