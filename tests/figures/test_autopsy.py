"""Figures of the autopsy and of the sources: drawn of a part of a study, and every arm and stream named."""

from __future__ import annotations

from dataclasses import replace

from tests.records.test_sources import study
from tests.support import autopsies
from tests.support.drawn import EVIDENCE, words

from actlab.figures import autopsy as figures
from actlab.figures import sources as stream_figures


def test_one_arm_alone_can_be_drawn() -> None:
    """While a study is running, its pages are built from what there is."""
    whole = autopsies.evidence()
    for arm in whole.on:
        for draw in EVIDENCE.values():
            assert draw(replace(whole, on={arm: whole.on[arm]})).axes, arm


def test_itself_draws_three_readings_an_arm() -> None:
    """Every arm is named, and each reading has its legend."""
    text = words(figures.itself(autopsies.evidence()))
    assert all(f"{model}, {activation}" in text for model, activation in autopsies.evidence().on)
    assert "one model against itself" in text


def test_streams_are_all_named() -> None:
    """Four groups."""
    text = words(stream_figures.by_stream(study())).replace("\n", " ")
    assert all(name in text for name in ("every stream", "initial weights", "order of batches", "dropout masks"))
