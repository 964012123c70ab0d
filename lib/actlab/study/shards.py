"""Token shards of the ablation: a text's, made in the cache, or a user's own."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from actlab import paths
from actlab.data import fetch
from actlab.data.text import short_name
from actlab.data.tokenize import TOKENIZER, TokenVocabulary, tokenize_dataset
from actlab.data.tokens import check_range, find_shards
from actlab.errors import DataError
from actlab.records import store


@dataclass(frozen=True)
class Shards:
    """The tokens of a trial: files, the vocabulary that the model needs, and what a record says of them."""

    train: tuple[Path, ...]
    validation: tuple[Path, ...]
    vocab_size: int
    about: dict[str, Any]
    vocabulary: TokenVocabulary | None
    """None where a user's own shards come without their tokenizer."""


@lru_cache(maxsize=2)
def own_shards(folder: str, vocab_size: int) -> Shards:
    """The user's own, which keep the published vocabulary of the model's scale; all files are checked against it."""
    train, validation = (tuple(find_shards(paths.data() / folder, split)) for split in ("train", "val"))
    if both := {*train} & {*validation}:
        raise DataError(f"{min(both)} is named for both splits, train and val: validation text is not trained on")
    for path in (*train, *validation):
        check_range(path, vocab_size)
    hashes = {path.name: fetch.sha256(path) for path in (*train, *validation)}
    about = {"name": folder, "vocab_size": vocab_size, "sha256": store.digest(hashes), "files": hashes}
    tokenizer = paths.data() / folder / TOKENIZER
    return Shards(train, validation, vocab_size, about, TokenVocabulary(tokenizer) if tokenizer.exists() else None)


@lru_cache(maxsize=2)
def text_shards(dataset: str, vocab_size: int, cache: Path, sha256: str = "") -> Shards:
    """A text, tokenized into the cache at its first use."""
    own = bool(sha256)  # known by its content, whatever its file is called
    folder = cache / "tokens" / (f"own-{vocab_size}-{sha256[:10]}" if own else f"{dataset}-{vocab_size}")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        manifest = tokenize_dataset(dataset, vocab_size, folder)
    train, validation = (
        tuple(folder / entry["file"] for entry in manifest["splits"][split]) for split in ("train", "val")
    )
    found = store.digest({key: value for key, value in manifest.items() if not own or key != "name"})
    about = {"sha256": found, **manifest, "name": short_name(dataset)}
    return Shards(train, validation, manifest["vocab_size"], about, TokenVocabulary(folder / TOKENIZER))
