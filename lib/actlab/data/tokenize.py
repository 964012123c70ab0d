"""From a text to token shards: a byte-level BPE trained on its training part, and the split."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from actlab.data.fetch import MAY_PREPARE, sha256
from actlab.data.text import TRAIN_SHARE, novels, read_text
from actlab.data.tokens import Tokens, write_shard
from actlab.errors import DataError, needs
from actlab.files import write_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer

END_OF_TEXT = "<|endoftext|>"
"""Stands before each document; token 0."""
TOKENIZER = "tokenizer.json"
"""Beside the shards that it made."""
VALIDATION_EVERY = 10
"""Of the novels in the order of their file names (author, title), the 5th, 15th, ... 95th are for validation: ten books
that training never sees."""


def documents_of(name: str) -> dict[str, list[str]]:
    """Return the documents of the splits ``train`` and ``val``: novels by book; every other text 90/10 by position, as
    for the character models."""
    if name == "novels":
        books = novels()
        unseen = books[VALIDATION_EVERY // 2 - 1 :: VALIDATION_EVERY]
        return {"train": [book for book in books if book not in unseen], "val": unseen}
    text = read_text(name)
    cut = int(len(text) * TRAIN_SHARE)
    return {"train": [text[:cut]], "val": [text[cut:]]}


def train_bpe(documents: Iterable[str], vocab_size: int) -> "Tokenizer":
    """Train a byte-level byte-pair encoding (Sennrich et al. 2016; bytes: Radford et al. 2019), of at most
    ``vocab_size`` tokens.

    The same documents give the same tokenizer, and every text goes through it and back unchanged.
    """
    with needs("data", "token shards"):
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


@dataclass(frozen=True)
class TokenVocabulary:
    """What turns text into the tokens of shards, and back."""

    file: Path
    """``tokenizer.json`` of their folder."""

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """Read the tokenizer when it is first used."""
        with needs("data", "tokens"):
            from tokenizers import Tokenizer
        return Tokenizer.from_file(str(self.file))

    def encode(self, text: str) -> Tensor:
        """Return the tokens of a text, (n,) int64."""
        return torch.tensor(self.tokenizer.encode(text, add_special_tokens=False).ids, dtype=torch.int64)

    def decode(self, numbers: Tensor) -> str:
        """Return the text of a 1-D tensor of tokens."""
        return self.tokenizer.decode(numbers.tolist())


def encode(tokenizer: "Tokenizer", documents: Iterable[str]) -> Tokens:
    """Return all documents as tokens, (n,) uint16, each after an end-of-text token."""
    end = tokenizer.token_to_id(END_OF_TEXT)
    parts = [
        np.array([end, *tokenizer.encode(document, add_special_tokens=False).ids], dtype=np.uint16)
        for document in documents
    ]
    return np.concatenate(parts)


def tokenize_dataset(name: str, vocab_size: int, out: Path) -> dict[str, Any]:
    """Train a tokenizer on the training part of a text and write its shards; what is there already, of the same text
    and size, is kept.

    Args:
        name: a text: ``novels``, ``shakespeare``, ``pydoc``, a registered one, or the path of a file.
        vocab_size: at most so many tokens (257 to 65,536); a short text may give fewer.
        out: folder for ``tokenizer.json``, ``train_000.bin``, ``val_000.bin`` and ``manifest.json``, which is written
            last.

    Returns:
        The manifest: name, vocab_size (actual), requested, text_sha256, characters, and for each split its files with
        tokens and sha256.
    """
    file = out / "manifest.json"
    if not (file.exists() or MAY_PREPARE.get()):
        raise DataError(f"{name} is not tokenized yet")
    documents, digest = documents_of(name), hashlib.sha256()
    for document in (*documents["train"], "", *documents["val"]):
        digest.update(hashlib.sha256(document.encode()).digest())
    source = {"requested": vocab_size, "text_sha256": digest.hexdigest()}
    if file.exists():
        existing: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if source.items() <= existing.items():
            return existing
    tokenizer = train_bpe(documents["train"], vocab_size)
    write_text(out / TOKENIZER, tokenizer.to_str())
    splits = {}
    for split, texts in documents.items():
        tokens = encode(tokenizer, texts)
        shard = write_shard(out / f"{split}_000.bin", tokens)
        splits[split] = [{"file": shard.name, "tokens": len(tokens), "sha256": sha256(shard)}]
    manifest = {
        "name": name,
        **source,
        "vocab_size": tokenizer.get_vocab_size(),
        "tokenizer_sha256": sha256(out / TOKENIZER),
        "characters": {split: sum(map(len, texts)) for split, texts in documents.items()},
        "splits": splits,
    }
    write_text(file, json.dumps(manifest, indent=1) + "\n")
    return manifest
