"""Character tables: known answers on made texts and on tiny Shakespeare."""

from __future__ import annotations

import math

import pytest

from actlab.data.text import corpus_of, load_text
from actlab.study import baselines


def test_unigram_of_a_uniform_text() -> None:
    """Four characters equally often cost ln 4, and the first of them is guessed always."""
    corpus = corpus_of("abcd", "abcd" * 100)
    found = baselines.unigram(corpus)
    assert found["val_loss"] == pytest.approx(math.log(4))
    assert found["val_accuracy"] == pytest.approx(100 * 9 / 39)


def test_bigram_of_a_cycle_is_nearly_certain() -> None:
    """In a cycle the next character is known: loss is what smoothing costs, accuracy 100%."""
    corpus = corpus_of("abcd", "abcd" * 100)
    found = baselines.bigram(corpus)
    assert found["val_accuracy"] == 100
    assert found["val_loss"] == pytest.approx(-math.log(90.1 / 90.4), abs=2e-4)


@pytest.mark.data("tinyshakespeare/input.txt")
def test_shakespeare_known_answers() -> None:
    """Unigram 3.347 nats and 14.9%, bigram 2.484 nats and 27.0% (reference values, computed independently)."""
    corpus = load_text("shakespeare")
    unigram, bigram = baselines.unigram(corpus), baselines.bigram(corpus)
    assert (round(unigram["val_loss"], 3), round(unigram["val_accuracy"], 1)) == (3.347, 14.9)
    assert (round(bigram["val_loss"], 3), round(bigram["val_accuracy"], 1)) == (2.484, 27.0)


def test_limited_training_text() -> None:
    """Less text gives tables that know less, and a character that it lacks costs no infinity."""
    whole, part = (baselines.record_of("tiny-quick", "pydoc", fraction) for fraction in (1.0, 0.01))
    assert "train_fraction" not in whole["provenance"]["data"]
    assert part["provenance"]["data"]["train_fraction"] == 0.01
    for table in ("unigram", "bigram"):
        assert whole[table]["val_loss"] < part[table]["val_loss"] < math.inf


def test_the_record_is_written_once() -> None:
    """A study has one baseline record of its text."""
    baselines.ensure("tiny-quick", "pydoc")
    baselines.ensure("tiny-quick", "pydoc")
    found = baselines.recorded("tiny-quick", "pydoc")
    assert found is not None
    assert found["kind"] == "baseline"
    assert baselines.recorded("tiny-quick", "shakespeare") is None
