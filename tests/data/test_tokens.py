"""Token shards, the stream of batches over them, and the tokenizer."""

import numpy as np
import pytest
import tiny
import torch
from tokenizers import Tokenizer

from actlab.data.text import TEXTS
from actlab.data.tokenize import END_OF_TEXT, TOKENIZER, TokenVocabulary, documents_of, tokenize_dataset
from actlab.data.tokens import TokenStream, find_shards, load_tokens, read_shard, write_shard
from actlab.trainers.seeds import generator


@pytest.fixture
def shards(tmp_path):
    """Tokens 0, 1, 2, ... over three shards of 23, 4 and 41."""
    cuts = np.split(np.arange(68), [23, 27])
    return [write_shard(tmp_path / f"train_{i:03d}.bin", part) for i, part in enumerate(cuts)]


def test_a_shard_comes_back(tmp_path):
    values = [0, 5, 65535, 7]
    path = write_shard(tmp_path / "deep" / "train_000.bin", values)
    assert read_shard(path).tolist() == values
    assert path.stat().st_size == 1024 + 8
    assert np.fromfile(path, dtype="<i4", count=3).tolist() == [20240520, 1, 4]


def test_an_epoch_is_every_window_once(shards):
    """Five windows of 4 + 1 in the first shard, none in the second, ten in the third; each once an epoch, in an order
    of its own."""
    stream = TokenStream(shards, 4, 5, lambda epoch: generator(1, f"order/{epoch}"))
    first, second = (
        [start for i in range(3) for start in stream.batch(3 * epoch + i)[0][:, 0].tolist()] for epoch in range(2)
    )
    assert sorted(first) == sorted(second) == [*range(0, 20, 4), *range(27, 67, 4)]
    assert first != second
    inputs, targets = stream.batch(0)
    assert targets[:, :-1].equal(inputs[:, 1:])
    assert inputs.dtype == torch.int64


TEXT = "naïve 漢字 🙂\n\tdef f(x): return x\r\n" + tiny.CATS


@pytest.fixture
def tiny_text(monkeypatch):
    monkeypatch.setitem(TEXTS.built_in, "pydoc", lambda: TEXT)


def test_a_dataset_becomes_shards(tiny_text, tmp_path):
    """Each split after an end-of-text token; every text, also an unseen one, goes through the tokenizer and back."""
    manifest = tokenize_dataset("pydoc", 300, tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    cut = int(len(TEXT) * 0.9)
    for split, text in (("train", TEXT[:cut]), ("val", TEXT[cut:])):
        tokens = load_tokens(find_shards(tmp_path, split))
        assert tokens[0] == tokenizer.token_to_id(END_OF_TEXT) == 0
        assert tokenizer.decode(tokens[1:].tolist()) == text
        assert sum(entry["tokens"] for entry in manifest["splits"][split]) == len(tokens) < len(text.encode()) / 2
    vocabulary = TokenVocabulary(tmp_path / TOKENIZER)
    assert vocabulary.decode(vocabulary.encode(TEXT)) == TEXT
    unseen = "Ünseen bytes \x00\x7f 🧪"
    assert tokenizer.decode(tokenizer.encode(unseen).ids) == unseen
    assert manifest["vocab_size"] == tokenizer.get_vocab_size() == 300


def test_the_tokenizer_sees_the_training_part_only(tiny_text, monkeypatch, tmp_path):
    """Another validation text leaves the tokenizer as it is."""
    first = tokenize_dataset("pydoc", 300, tmp_path / "a")
    monkeypatch.setitem(TEXTS.built_in, "pydoc", lambda: TEXT[:-300] + "zyx" * 100)
    assert tokenize_dataset("pydoc", 300, tmp_path / "b")["tokenizer_sha256"] == first["tokenizer_sha256"]


def test_what_is_tokenized_is_not_done_twice(tiny_text, tmp_path):
    """But anew where another size is asked for."""
    first, shard = tokenize_dataset("pydoc", 300, tmp_path), tmp_path / "train_000.bin"
    before = shard.stat().st_mtime_ns
    assert tokenize_dataset("pydoc", 300, tmp_path) == first
    assert shard.stat().st_mtime_ns == before
    assert tokenize_dataset("pydoc", 280, tmp_path)["vocab_size"] == 280


@pytest.mark.data("english-novels/corpus")
def test_validation_novels_are_unseen_books():
    documents = documents_of("novels")
    assert (len(documents["train"]), len(documents["val"])) == (90, 10)
    assert not set(documents["train"]) & set(documents["val"])
    assert min(map(len, documents["val"])) > 10_000
