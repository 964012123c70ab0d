"""Twins: the same trial on two kinds of processor, found by its settings; anything else that differs makes it none."""

import pytest
from tests.support import grids

from actlab.chapters import processors


def arm(study, processor, losses, activation="relu", **changes):
    """An arm trained on a processor; ``changes`` are settings or, for ``torch``, a version."""
    record = grids.record("charlm", activation, losses)
    machine = {**record["provenance"]["machine"], "processor": processor, "torch": changes.pop("torch", "2.13.0")}
    config = {**record["config"], "activation": activation, "scale": "lite", **changes}
    return {**record, "study": study, "config": config, "provenance": {**record["provenance"], "machine": machine}}


def replay(study, label, processor, now):
    """A trial of the study's relu arm trained again."""
    machine = {**grids.record()["provenance"]["machine"], "processor": processor}
    told = {"study": study, "arm": "charlm-relu", "trial": label}
    return {**told, "val_loss": {"recorded": 0.0, "now": now}, "provenance": {"machine": machine}}


def test_twins_are_found_in_other_records_and_in_replays():
    """Seeds 42 and 43 in a second study with fewer trials, seed 44 in a replay; the reference is the mean distance of
    the first study's seeds."""
    one, two = arm("one", "a", (2.0, 2.1, 2.3)), arm("two", "b", (2.001, 2.1), trials=["42", "43"])
    found = processors.twins([one, two], [replay("one", "44", "b", 2.28)])
    assert found["label"].tolist() == ["42", "43", "44"]
    assert set(found["processors"]) == {("a", "b")}
    assert found["apart"].tolist() == [pytest.approx(0.001), 0, pytest.approx(0.02)]
    assert found["between_seeds"].tolist() == pytest.approx([(0.1 + 0.2 + 0.3) / 3] * 3)


@pytest.mark.parametrize(
    "changes",
    [{"torch": "2.14.0"}, {"scale": "full"}, {"recipe": {"iterations": 7}}, {"protocol": ["activation: ignored"]}],
)
def test_only_the_processor_may_differ(changes):
    """Another version, size, recipe or protocol makes it another trial."""
    assert processors.twins([arm("one", "a", (2.0,)), arm("two", "b", (2.0,), **changes)], []).empty
    same = [arm("one", "a", (2.0,)), arm("two", "a", (2.0,))]
    assert processors.twins(same, [replay("other", "42", "b", 2.0)]).empty, "nor a replay of an unknown record"


def test_sentences_tell_relu_from_the_others():
    """The median of each; what was trained where."""
    gelu = [arm("one", "a", (2.0, 2.1), "gelu"), arm("two", "b", (2.0, 2.1), "gelu")]
    relu = [arm("one", "a", (2.0, 2.1)), arm("two", "b", (2.001, 2.103))]
    found = processors.twins([*gelu, *relu], [])
    assert processors.extent(found).startswith("4 runs of 2 configurations were trained from the same seed")
    assert processors.extent(found).endswith("on a and b")
    assert "loss by 0.0020 nats in the median, that of the other activations by 0." in processors.summary(found)


def test_without_records_the_page_says_so():
    """No number is invented."""
    none = processors.twins([], [])
    assert processors.extent(none) == processors.summary(none) == processors.NOT_YET
    processors.figure(none).canvas.draw()
