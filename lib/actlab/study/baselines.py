"""What a text gives away without a network: unigram and bigram tables of the training split, measured on the validation
split, and the study's record of them."""

import re
from typing import Any

import torch

from actlab.data.text import TRAIN_SHARE, Corpus, load_text, own_sha256, short_name
from actlab.errors import BadInput
from actlab.models import SCALES
from actlab.records import store
from actlab.study.study import LanguageStudy
from actlab.trainers.windows import spread

USUAL = {"train_share": TRAIN_SHARE, "train_fraction": 1.0, "validation": "all"}
"""The part of a text that a baseline need not name."""
SMOOTHING = 0.1
"""Added to every count, so that an unseen character or pair does not cost infinity."""


def measured(corpus: Corpus) -> dict[str, dict[str, float]]:
    """``unigram``: every character drawn from the training frequencies; ``bigram``: from those after the one before it.
    Of each val_loss (nats) and val_accuracy (%)."""
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


def record_baselines(study: LanguageStudy) -> None:
    """Writes the study's record of each of its texts, of the part on which trials are measured, if it has none.

    Raises:
        BadInput: the text is too short; the record there is of another part of it, or of another version.
    """
    block = max(SCALES[scale].block_size for scale in study.levels("scale"))
    part = {axis: study.levels(axis)[0] for axis in USUAL}
    for dataset in study.levels("dataset"):
        corpus = load_text(dataset).split_at(part["train_share"]).limited(part["train_fraction"])
        corpus = corpus.part(part["validation"])
        name, own = re.sub(r"[^\w.-]+", "-", short_name(dataset)), own_sha256(dataset)[:10]
        data: dict[str, Any] = {about: getattr(corpus, about) for about in ("name", "sha256", "vocab_size")}
        data["validation_positions"] = len(corpus.validation) - 1
        data |= {axis: value for axis, value in part.items() if value != USUAL[axis]}
        files = f"baseline-*-{own}.json" if own else f"baseline-{name}-*.json"  # a user's text is known by its hash
        for path in store.folder_of(study.study).glob(files):
            if store.load(path)["provenance"]["data"] | {"name": data["name"]} != data:
                raise BadInput(
                    f"{store.where(study.study)} has the tables of another part or version of {dataset}: give this "
                    "study a name of its own, --set study=..."
                )
            break
        else:
            for text in (corpus.train, corpus.validation):
                spread(text, block, 1)  # one that is too short to train is refused before anything is written
            record = {"kind": "baseline", "study": study.study, **measured(corpus), "provenance": {"data": data}}
            store.save(store.path_of(study.study, f"baseline-{name}-{corpus.sha256[:10]}"), record)
