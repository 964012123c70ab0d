"""Character text: built-in corpora, a user's own file or registered text; vocabulary, hash, split by position; what
a text gives away without a network."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from actlab import files, paths
from actlab.data.fetch import DATASETS, fetch
from actlab.data.vocabulary import Vocabulary
from actlab.errors import BadInput, Table

TRAIN_SHARE = 0.9
SMOOTHING = 0.1
"""Added to every count, so that an unseen character or pair does not cost infinity."""


@dataclass(frozen=True)
class Corpus(Vocabulary):
    """A text as character numbers, split by position (90/10): the validation text follows the training text."""

    train: Tensor
    """(n,) uint8 or int16 character numbers."""
    validation: Tensor
    sha256: str
    """Of the whole text in UTF-8."""

    def part(self, train_share: float, train_fraction: float, validation: str) -> Self:
        """Return the same, split after another share of the whole text, with the last ``train_fraction`` of its
        training text alone, and ``all`` of its validation text, or its ``first`` or ``second`` half."""
        whole = torch.cat([self.train, self.validation])
        cut = int(len(whole) * train_share)
        train = whole[cut - round(train_fraction * cut) : cut]
        return replace(self, train=train, validation=part_of(whole[cut:], validation))


def part_of(text: Tensor, name: str) -> Tensor:
    """Return ``all`` of a text, or its ``first`` or ``second`` half."""
    half = len(text) // 2
    return {"all": text, "first": text[:half], "second": text[half:]}[name]


def _pydoc() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[key] for key in sorted(topics))


def _treasure() -> str:
    return Path(__file__).with_name("treasure.txt").read_text(encoding="utf-8")


def _shakespeare() -> str:
    (source,) = DATASETS["shakespeare"].files
    return fetch(source).read_text(encoding="utf-8")


def novels() -> list[str]:
    """Return the 100 English novels, in the order of their file names (author, title, year), without byte-order mark,
    with \\n line ends."""
    return [fetch(source).read_text(encoding="utf-8-sig") for source in DATASETS["novels"].files]


TEXTS: Table[Callable[[], str]] = Table(
    "dataset",
    (
        ("pydoc", _pydoc),
        ("shakespeare", _shakespeare),
        ("novels", lambda: "\n".join(novels())),
        ("treasure", _treasure),
    ),
)
"""Name -> the text; ``actlab.register_text`` adds a user's own. Every other text is a file, named by its path."""


def is_file(name: str) -> bool:
    """Say whether a dataset's name is the path of a user's file, seen from the current folder: it has a dot or a slash,
    as no name of a table has."""
    return any(sign in name for sign in "./\\")


def short_name(name: str) -> str:
    """Return a text's name in records: that of the file without its folders, so that no result depends on where it
    lies."""
    return Path(name).name if is_file(name) else name


def located(name: str) -> str:
    """Return a text's name that holds in every process: a file's whole path."""
    return str(paths.located(name)) if is_file(name) else name


def shown(name: str) -> str:
    """Return a file's path for a record: from the current folder where it lies in that."""
    return paths.shown(paths.located(name))


def read_text(name: str) -> str:
    """Read the characters of a named text or of a file.

    Raises:
        UnknownName: no file, and no text of that name.
        BadInput: a file that is not there, or is not text in UTF-8.
        DataError: a known text that is not in the data folder.
    """
    if not is_file(name):
        return TEXTS[name]()
    path = paths.located(name)
    if not path.is_file():
        known = f"a dataset is one of {', '.join(TEXTS)}, or the path of a text from the current folder"
        raise BadInput(f"the text {name} is not a file: {known}")
    return _read_file(path, path.stat().st_mtime_ns)


def own_sha256(name: str) -> str:
    """Return the hash of a user's own text as it is now, file or registered; empty for a built-in one."""
    return "" if name in TEXTS.built_in else _sha256(read_text(name))


@lru_cache(maxsize=2)
def _read_file(path: Path, changed: int) -> str:
    return files.read_text(path, "utf-8-sig")  # a byte-order mark is no character of the text


@lru_cache(maxsize=2)
def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load_text(name: str) -> Corpus:
    """Load a corpus: a key of ``TEXTS``, or the path of a user's file.

    Raises:
        BadInput: it is no text (``read_text`` lists the rest).
    """
    return _load(name, own_sha256(name))


@lru_cache(maxsize=2)
def _load(name: str, sha256: str) -> Corpus:
    return corpus_of(short_name(name), read_text(name))


def corpus_of(name: str, text: str) -> Corpus:
    """Make a corpus of any text."""
    vocabulary = "".join(sorted(set(text)))
    codes = torch.frombuffer(bytearray(text.encode("utf-32-le")), dtype=torch.int32)
    known = torch.tensor([ord(c) for c in vocabulary], dtype=torch.int32)
    numbers = torch.bucketize(codes, known, out_int32=True)  # the places of the characters in the sorted vocabulary
    numbers = numbers.to(torch.uint8 if len(vocabulary) <= 256 else torch.int16)
    cut = int(len(text) * TRAIN_SHARE)
    return Corpus(name, vocabulary, numbers[:cut], numbers[cut:], hashlib.sha256(text.encode()).hexdigest())


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
