"""Character text: vocabulary, encoding, the split by position, and the real corpora's published numbers."""

import hashlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actlab.data.fetch import DATASETS, fetch
from actlab.data.text import corpus_of, load_text, novels
from actlab.data.vocabulary import KNOWN, Vocabulary
from actlab.errors import BadInput

SHAKESPEARE = pytest.mark.data("tinyshakespeare/input.txt")
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=100, max_size=300)
any_text = any_text.filter(lambda text: len(set(text)) > 1)


@given(text=any_text)
def test_round_trip_and_split_by_position(text):
    """Decoding gives the text back, and encoding its numbers; the first 90% of the characters (rounded down) train, the
    rest validate; the vocabulary is that of both, sorted."""
    corpus = corpus_of("any", text)
    numbers = torch.cat([corpus.train, corpus.validation])
    assert corpus.decode(numbers) == text
    assert torch.equal(corpus.encode(text), numbers.long())
    assert len(corpus.train) == len(text) * 9 // 10
    assert list(corpus.vocabulary) == sorted(set(text))
    assert corpus.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_another_split():
    """The share of the whole text that trains, in its order."""
    part = corpus_of("abc", "abcdefghij" * 20).part(0.8, 1.0, "all")
    assert (len(part.train), len(part.validation)) == (160, 40)
    assert part.decode(torch.cat([part.train, part.validation])) == "abcdefghij" * 20


def test_limited_training_text():
    """The last part of it, next to the validation text, which stays as it is."""
    whole = corpus_of("abc", "abcdefghij" * 20)
    part = whole.part(0.9, 0.1, "all")
    assert part.train.equal(whole.train[-18:])
    assert part.vocabulary == whole.vocabulary
    assert part.validation.equal(whole.validation)
    assert whole.part(0.9, 1.0, "all").train.equal(whole.train)


def test_unknown_characters_are_named():
    """A prompt with characters that the corpus lacks is refused, and the message shows them."""
    with pytest.raises(BadInput, match="the vocabulary of toy has no '!', 'Z'"):
        corpus_of("toy", "hello world " * 10).encode("hello Z!")


@SHAKESPEARE
def test_shakespeare_is_the_published_split():
    """1,003,854 characters train, 111,540 validate, 65 are distinct."""
    corpus = load_text("shakespeare")
    assert (len(corpus.train), len(corpus.validation), corpus.vocab_size) == (1_003_854, 111_540, 65)
    assert corpus.decode(corpus.train[:14]) == "First Citizen:"
    assert corpus.vocabulary.startswith("\n !$&',-.3:;?ABC")


@pytest.mark.data("english-novels")
def test_a_novel_without_byte_order_mark_and_carriage_returns():
    """The file has both (as published); the text that is read has neither, and no other change."""
    raw = fetch(DATASETS["novels"].files[0]).read_bytes()
    assert novels()[0] == raw[3:].decode("utf-8").replace("\r\n", "\n")


@SHAKESPEARE
@pytest.mark.data("english-novels")
@pytest.mark.parametrize("name", ["shakespeare", "novels"])
def test_the_vocabularies_that_are_kept_are_those_of_the_texts(name):
    """By the hash of the text, so that a recorded network writes where the text is not."""
    corpus = load_text(name)
    assert KNOWN[corpus.sha256] == Vocabulary(name, corpus.vocabulary)
