"""The trained models behind records: kept weights from the cache, else trained again and checked against the record's
hash of weights."""

from __future__ import annotations

from pathlib import Path

from actlab.data.text import load_text
from actlab.errors import BadInput, RecordError
from actlab.models import LanguageModel
from actlab.models.gpt2 import GPT2
from actlab.records import store
from actlab.study import ablation_run, again, kinds, laboratory, replay, run
from actlab.study.ablation import AblationTrial
from actlab.study.arms import TrialSpec
from actlab.trainers import checkpoint
from actlab.trainers.determinism import weights_sha256


def load_model(record: Path | str | store.Record, seed: int | None = None) -> LanguageModel | GPT2:
    """The model of a recorded trial, in evaluation mode, with the very weights of which the record keeps the hash.

    Args:
        record: a record of language models or of an ablation, or its file.
        seed: of the trial; the first one unless given. A label (``"42-nudge"``) names a changed repetition.

    Raises:
        BadInput: no such trial (the message lists the labels), one that is not done, or a kind of record that keeps no
            weights.
        RecordError: trained again here it has other weights than recorded: another machine, other versions or
        other code.
    """
    found = store.load(Path(record)) if isinstance(record, Path | str) else record
    kind = kinds.of_record(found).name
    if kind not in ("repro", "ablation"):
        raise BadInput(f"{found['arm']}: a record of kind {found['kind']!r} keeps no weights")
    label = found["trials"][0]["label"] if seed is None else str(seed)
    spec = replay.specification(found, label)
    trial = next(one for one in found["trials"] if one["label"] == label)
    if trial["status"] != "done":
        raise BadInput(f"{found['arm']} trial {label} is {trial['status']}: it left no model")
    model = _language(spec, found) if kind == "repro" else _ablation(spec, found)
    if (now := weights_sha256(model)) != trial["weights_sha256"]:
        raise RecordError(
            f"{found['arm']} trial {label}: trained again here it has other weights ({now[:12]}) than the record says "
            f"({trial['weights_sha256'][:12]}); `actlab replay` tells what differs: machine, versions or the code that trains"
        )
    return model


def _language(spec: TrialSpec, record: store.Record) -> LanguageModel:
    again.same_data(record, {"sha256": load_text(spec.dataset).sha256})
    if run.cached(spec, record["provenance"]).exists():
        return run.trained_model(spec, origin=record["provenance"])
    _ended(run.run_trial(spec))
    return run.trained_model(spec)


def _ablation(trial: AblationTrial, record: store.Record) -> GPT2:
    again.same_data(record, {"sha256": ablation_run.shards_of(trial).about["sha256"]})
    kept = ablation_run.cached(trial, record["provenance"])
    if not kept.exists():
        _ended(ablation_run.run_trial(trial))
        kept = ablation_run.cached(trial)
    return ablation_run.with_weights(trial, checkpoint.read_tensors(kept)[0])


def _ended(results: run.Results) -> None:
    if results["status"] == "failed":
        raise RecordError(f"trained again it failed: {results['traceback'].strip().splitlines()[-1]}")


def text(record: Path, seed: int | None, prompt: str, length: int = 200, draw: int = 0) -> str:
    """The prompt and ``length`` characters that a recorded language model draws after it; ``draw`` seeds the draws."""
    found = store.load(record)
    if kinds.of_record(found).name != "repro":
        raise BadInput(f"{found['arm']}: only character models write; this is a record of kind {found['kind']!r}")
    corpus = load_text(again.dataset_of(found))
    if not prompt:
        raise BadInput("--prompt: the model needs at least one character to go on from")
    corpus.encode(prompt)  # a character that the text does not have is refused before anything is trained
    model = load_model(found, seed)
    assert isinstance(model, LanguageModel)
    return prompt + laboratory.sample(model, corpus, prompt, length, draw)
