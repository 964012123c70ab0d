"""What a text gives away without a network: unigram and bigram tables of the training split, measured on the validation
split, and the study's record of them."""

from collections.abc import Iterable
from typing import Any

import torch

from actlab.data.text import Corpus
from actlab.errors import BadInput
from actlab.records import store
from actlab.study.characters import CharacterTrial

PART = ("train_share", "train_fraction", "validation")
"""Settings of a trial that say which part of a text it is measured on."""
SMOOTHING = 0.1
"""Added to every count, so that an unseen character or pair does not cost infinity."""


def text_tables(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Measure two tables on a text: in ``unigram`` every character is drawn from the training frequencies, in
    ``bigram`` from those after the one before it. Each has a val_loss (nats) and a val_accuracy (%)."""
    v, text = corpus.vocab_size, corpus.train.long()
    single = torch.bincount(text, minlength=v).double() + SMOOTHING
    pairs = torch.bincount(text[:-1] * v + text[1:], minlength=v * v).double().view(v, v) + SMOOTHING
    tables = {  # (V, V) log probabilities: row, the character before; column, the one that comes
        "unigram": (single.log() - single.sum().log()).expand(v, v),
        "bigram": (pairs / pairs.sum(dim=1, keepdim=True)).log(),
    }
    before, targets, measures = corpus.validation[:-1].long(), corpus.validation[1:].long(), {}
    for name, table in tables.items():
        rows = table[before]
        loss, right = -rows.gather(1, targets[:, None]).mean(), rows.argmax(dim=1) == targets
        measures[name] = {"val_loss": loss.item(), "val_accuracy": 100 * right.double().mean().item()}
    return measures


def record_baselines(study: str, trials: Iterable[CharacterTrial]) -> None:
    """Write a study's record of the text of each of these trials, of the part on which they are measured, if it has
    none.

    Raises:
        BadInput: the record there is of another part of the text.
    """
    for trial in {trial.dataset: trial for trial in trials}.values():
        corpus = trial.text
        data: dict[str, Any] = {name: getattr(corpus, name) for name in ("name", "sha256", "vocab_size")}
        data["validation_positions"] = len(corpus.validation) - 1
        part = {axis: getattr(trial, axis) for axis in PART}
        data |= {axis: value for axis, value in part.items() if value != type(trial).model_fields[axis].default}
        path = store.path_of(study, f"baseline-{corpus.name}-{corpus.sha256[:10]}")
        if not path.exists():
            record = {"kind": "baseline", "study": study, **text_tables(corpus), "provenance": {"data": data}}
            store.save(path, record)
        elif store.load(path)["provenance"]["data"] != data:
            raise BadInput(
                f"{path} has the tables of another part of {trial.dataset}: give this study a name of its own, "
                "--set study=..."
            )
