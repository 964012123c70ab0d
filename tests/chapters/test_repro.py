"""Sentences say what the records say, and change when a record goes."""

import grids

from actlab.activations import ACTIVATIONS
from actlab.chapters import repro
from actlab.records.repro import read


def test_an_activation_is_judged_by_the_margin():
    """Significant; all of the interval within the margin: equivalent; else undecided. Intervals are those of the paired
    t test."""
    arms = {"gelu": (3.0, 3.1, 3.2, 3.3), "swish": (2.001, 2.099, 2.2, 2.301), "smelu_1": (2.1, 2.0, 2.4, 2.2)}
    relu = grids.record("charlm", "relu", (2.0, 2.1, 2.2, 2.3))
    said = repro.by_the_margin(read([relu, *(grids.record("charlm", a, losses) for a, losses in arms.items())]), 0.02)
    assert said.endswith(
        "is significantly higher under gelu; equivalent under swish; undecided under smelu_1 "
        "(Holm-adjusted; margin 0.02 nats)"
    )


def test_every_sentence_is_made_from_records():
    """Numbers of the made-up grid appear in the sentences."""
    found = repro.sentences(grids.grid())
    assert "predict another next character at 13.0% (relu in charlm) to" in found["seeds"]
    assert "lies below that of the unigram table (3.300 nats), below that" in found["baselines"]
    assert found["baselines"].endswith("(2.050 nats) except in configurations of charlm and tinylstm")


def test_an_interval_that_reaches_the_table_does_not_beat_it():
    """Losses 1, 2, 3 have the mean 2 and the 95% t interval 2 -+ 4.303 / sqrt(3) = [-0.48, 4.48]."""
    arms = [grids.record(losses=(1.0, 2.0, 3.0)), grids.record("minigpt", losses=(2.0, 2.01, 2.02))]
    assert repro.baselines(read([grids.baseline(), *arms])).endswith("(2.050 nats) except in configurations of charlm")


def test_the_floor_and_a_repeat_that_differs():
    """How near a perturbed run stays; the same seed with other bits is not hidden."""
    floor = grids.floor()
    assert "gives the same bits" in repro.floor(read([grids.record(), floor]))
    assert "at most 1.0e-06 under the other activations" in repro.floor(read([grids.record(), floor]))
    floor["reproducibility_metrics"][0]["total_variation"] = 1e-9
    assert "did NOT give the same bits in 1 arms" in repro.floor(read([grids.record(), floor]))


def test_holm_covers_all_comparisons():
    """A true difference beside noise is counted and named, and the count is of all comparisons."""
    arms = grids.noisy()
    sentence = repro.compared(read(arms), "val_loss")
    assert sentence.startswith("of 2 differences from relu in validation loss this is significant (Holm-adjusted, 5%)")
    assert "gelu in charlm (+0.500" in sentence
    told = repro.answer(read(arms))
    assert "steps 1 of 2 validation losses differ" in told
    assert "; so do 0 differences between seeds" in told
    assert "no record" in repro.answer(read(arms[:1]))


def test_progress_leaves_models_at_the_plateau_out():
    """Less loss with more total variation is said as such; a model whose relu does not beat the unigram table is left
    out."""
    steps = {activation: 0.05 * (i + 1) for i, activation in enumerate(list(ACTIVATIONS)[1:12])}
    records = [grids.baseline(), grids.record(losses=(2.0, 2.1, 2.2), pd=0.5)]
    records += [grids.record(activation=a, losses=(2.0 + s, 2.1 + s, 2.2 + s), pd=0.5 - s) for a, s in steps.items()]
    told = "over 11 differences from relu, "
    end = "-1.00 [-1.00, -1.00]: lower disagreement between seeds goes with higher loss"
    stuck = [
        grids.record(model="tinylstm", losses=(3.4, 3.4, 3.4)),
        grids.record(model="tinylstm", activation="gelu", losses=(3.4, 3.4, 3.4)),
    ]
    for found in (records, records + stuck):
        assert told in repro.progress(read(found))
        assert repro.progress(read(found)).endswith(end)
    assert repro.progress(read(records[:11])) == ""  # nine differences
