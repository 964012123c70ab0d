"""Token shards, the stream of batches over them, and the tokenizer."""

import numpy as np
import pytest
import tiny
import torch
from tokenizers import Tokenizer

from actlab.data import tokenize
from actlab.data.text import TEXTS
from actlab.data.tokenize import END_OF_TEXT, documents_of, tokenize_dataset, train_bpe
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


def test_windows_follow_each_other_within_shards(shards):
    """Five windows of 4 + 1 in the first shard, none in the second, ten in the third."""
    stream = TokenStream(shards, block_size=4, batch_size=5)
    assert stream.windows == 15
    inputs, targets = stream.batch(0)
    assert inputs[:, 0].tolist() == [0, 4, 8, 12, 16]
    assert targets.equal(inputs + 1)
    assert inputs.dtype == torch.int64
    assert stream.batch(1)[0][:, 0].tolist() == [27, 31, 35, 39, 43]


@pytest.mark.parametrize("shuffled", [True, False])
def test_an_epoch_is_every_window_once(shards, shuffled):
    stream = TokenStream(shards, 4, 5, (lambda epoch: generator(1, f"order/{epoch}")) if shuffled else None)
    epochs = [torch.cat([stream.batch(3 * epoch + i)[0][:, 0] for i in range(3)]) for epoch in range(2)]
    assert epochs[0].sort().values.equal(epochs[1].sort().values)
    assert len(set(epochs[0].tolist())) == 15
    assert epochs[0].equal(epochs[1]) != shuffled


TEXT = "naïve 漢字 🙂\n\tdef f(x): return x\r\n" + tiny.CATS


def test_every_text_goes_through_and_back():
    tokenizer = train_bpe([TEXT], 300)
    for text in (TEXT, "Ünseen bytes \x00\x7f 🧪", ""):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.token_to_id(END_OF_TEXT) == 0
    assert tokenizer.get_vocab_size() == 300
    assert len(tokenizer.encode(TEXT).ids) < len(TEXT.encode()) / 2


@pytest.fixture
def tiny_text(monkeypatch):
    monkeypatch.setitem(TEXTS._built_in, "pydoc", lambda: TEXT)


def test_a_dataset_becomes_shards(tiny_text, tmp_path):
    manifest = tokenize_dataset("pydoc", 300, tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    cut = int(len(TEXT) * 0.9)
    for split, text in (("train", TEXT[:cut]), ("val", TEXT[cut:])):
        tokens = load_tokens(find_shards(tmp_path, split))
        assert tokens[0] == 0
        assert tokenizer.decode(tokens[1:].tolist()) == text
        assert sum(entry["tokens"] for entry in manifest["splits"][split]) == len(tokens)
    assert manifest["vocab_size"] == 300


def test_the_tokenizer_sees_the_training_part_only(monkeypatch, tmp_path):
    """Another validation text leaves the tokenizer as it is."""
    digests = set()
    for i, ending in enumerate(("zyx" * 120, "abc" * 120)):
        monkeypatch.setitem(TEXTS._built_in, "pydoc", lambda e=ending: TEXT + e)
        digests.add(tokenize_dataset("pydoc", 300, tmp_path / str(i))["tokenizer_sha256"])
    assert len(digests) == 1


def test_what_is_tokenized_is_not_done_twice(tiny_text, tmp_path):
    """The same text gives the same files; a damaged folder, or one of another size, is made anew."""
    first, shard = tokenize_dataset("pydoc", 300, tmp_path / "a"), tmp_path / "a" / "train_000.bin"
    assert tokenize_dataset("pydoc", 300, tmp_path / "b") == first
    before = shard.stat().st_mtime_ns
    assert tokenize_dataset("pydoc", 300, tmp_path / "a") == first
    assert shard.stat().st_mtime_ns == before
    shard.write_bytes(b"broken")
    assert tokenize_dataset("pydoc", 300, tmp_path / "a") == first
    assert tokenize_dataset("pydoc", 280, tmp_path / "a")["vocab_size"] == 280


def test_long_splits_take_several_shards(tiny_text, tmp_path, monkeypatch):
    whole = load_tokens([tmp_path / f["file"] for f in tokenize_dataset("pydoc", 300, tmp_path)["splits"]["train"]])
    monkeypatch.setattr(tokenize, "SHARD_TOKENS", 100)
    tokenize_dataset("pydoc", 300, tmp_path / "small")
    files = find_shards(tmp_path / "small", "train")
    assert len(files) == -(-len(whole) // 100)
    assert load_tokens(files).equal(whole)


@pytest.mark.data("english-novels/corpus")
def test_validation_novels_are_unseen_books():
    documents = documents_of("novels")
    assert (len(documents["train"]), len(documents["val"])) == (90, 10)
    assert not set(documents["train"]) & set(documents["val"])
    assert min(map(len, documents["val"])) > 10_000
