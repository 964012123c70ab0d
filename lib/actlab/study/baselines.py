"""What a text gives away without a network: unigram and bigram tables of the training split, measured on the validation
split."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from actlab.data.text import Corpus, load_text, own_sha256, short_name
from actlab.records import store

SMOOTHING = 0.1
"""Added to every count, so that an unseen character or pair does not cost infinity."""


def unigram(corpus: Corpus) -> dict[str, float]:
    """Every character drawn from the training frequencies (add-0.1 smoothing): val_loss in nats, val_accuracy in %."""
    counts = torch.bincount(corpus.train.long(), minlength=corpus.vocab_size).double() + SMOOTHING
    return _measure(counts.log() - counts.sum().log(), corpus.validation[1:].long())


def bigram(corpus: Corpus) -> dict[str, float]:
    """Every character drawn from the training frequencies after the one before it (add-0.1 smoothing)."""
    v, text, validation = corpus.vocab_size, corpus.train.long(), corpus.validation.long()
    counts = torch.bincount(text[:-1] * v + text[1:], minlength=v * v).double().view(v, v) + SMOOTHING
    table = (counts / counts.sum(dim=1, keepdim=True)).log()
    return _measure(table[validation[:-1]], validation[1:])


def _measure(log_probabilities: Tensor, targets: Tensor) -> dict[str, float]:
    """Loss and accuracy of (V,) or (N, V) log probabilities on (N,) targets."""
    rows = log_probabilities.expand(len(targets), -1)
    loss = -rows.gather(1, targets[:, None]).mean()
    return {"val_loss": loss.item(), "val_accuracy": 100 * (rows.argmax(dim=1) == targets).double().mean().item()}


def record_of(study: str, dataset: str, train_fraction: float = 1.0, part: str = "all") -> dict[str, Any]:
    """The baselines as a record of the study; ``part`` of the validation text, as trials are measured."""
    corpus = load_text(dataset).limited(train_fraction).part(part)
    measured = {"unigram": unigram(corpus), "bigram": bigram(corpus)}
    data = {
        "name": corpus.name,
        "sha256": corpus.sha256,
        "vocab_size": corpus.vocab_size,
        "validation_positions": len(corpus.validation) - 1,
    }
    data |= {"train_fraction": train_fraction} if train_fraction < 1 else {}
    data |= {"validation": part} if part != "all" else {}
    return {"kind": "baseline", "study": study, **measured, "provenance": {"data": data}}


def _slug(dataset: str) -> str:
    """The text's name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", short_name(dataset))


def ensure(study: str, dataset: str, train_fraction: float = 1.0, part: str = "all") -> None:
    """Write the study's baseline record if it has none."""
    record = record_of(study, dataset, train_fraction, part)
    path = store.path_of(study, f"baseline-{_slug(dataset)}-{record['provenance']['data']['sha256'][:10]}")
    if not path.exists():
        store.save(path, record)


def recorded(study: str, dataset: str) -> store.Record | None:
    """The study's baseline record, if it has one."""
    own = own_sha256(dataset)[:10]
    found = sorted(store.path_of(study, "any").parent.glob(f"baseline-{_slug(dataset)}-{own or '*'}.json"))
    return store.load(found[0]) if found else None
