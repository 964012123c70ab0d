"""Sentences say what the records say, and change when a record goes."""

from __future__ import annotations

from tests.support import grids

from actlab.activations import ACTIVATIONS
from actlab.chapters import repro
from actlab.records.repro import read


def test_what_matters_follows_the_rule() -> None:
    """Surely apart: matters; all of the interval within the margin: does not; else undecided. Intervals are those of
    the paired t test."""
    arms = {"gelu": (3.0, 3.1, 3.2, 3.3), "swish": (2.001, 2.099, 2.2, 2.301), "smelu_1": (2.1, 2.0, 2.4, 2.2)}
    results = read(
        [
            grids.record("charlm", "relu", (2.0, 2.1, 2.2, 2.3)),
            *(grids.record("charlm", a, losses) for a, losses in arms.items()),
        ]
    )
    rule, *said = repro.mattering(results, 0.02).data.splitlines()
    assert "within 0.02 nats of relu" in rule
    assert [line.split(":")[0] for line in said] == ["- These matter", "- These do not matter", "- Undecided"]
    assert ["charlm " + a in line for a, line in zip(arms, said, strict=True)] == [True] * 3
    assert repro.mattering(results, 0.0) is None
    assert "waits for records" in repro.mattering(read([]), 0.02).data


def test_every_sentence_is_made_from_records() -> None:
    """Numbers of the made-up grid appear in the sentences."""
    found = repro.sentences(grids.grid())
    assert (
        found["extent"]
        == "5 of 6 arms (model and activation) have records, 19 of 24 trials done; 1 arm still to be run"
    )
    assert "13.0%" in found["seeds"]
    assert "1.0e-06 (charlm, relu)" in found["floor"]
    assert "all identical bit for bit" in found["floor"]
    told = "every recorded arm beats the unigram table (3.300 nats); the 95% interval of the loss does not lie below"
    assert found["baselines"].startswith(told)


def test_an_interval_that_reaches_the_table_is_not_surely_better() -> None:
    """Losses 1, 2, 3 have the mean 2 and the 95% t interval 2 -+ 4.303 / sqrt(3) = [-0.48, 4.48]: better than 2.05 on
    average, not surely so."""
    arms = [grids.record(losses=(1.0, 2.0, 3.0)), grids.record(activation="gelu", losses=(2.0, 2.01, 2.02))]
    said = repro.baselines(read([grids.baseline(), *arms]))
    assert "the 95% interval of the loss does not lie below the bigram table (2.050 nats) for charlm (relu)" in said
    assert "gelu" not in said


def test_what_is_rare_does_not_read_as_never() -> None:
    """Churn of 0.0004 is 0.040%, not 0.0%; its interval does not reach below 0."""
    record = grids.record()
    for pair, churn in zip(record["reproducibility_metrics"], (0.0, 0.0002, 0.001), strict=True):
        pair["churn"] = churn
    assert "at 0.040% [0.000, " in repro.seeds(read([record]))


def test_a_deleted_record_changes_the_sentence() -> None:
    """Without its records a study says so."""
    assert set(repro.sentences(read([])).values()) == {"No record yet"}
    alone = repro.sentences(read([grids.record()]))
    assert alone["floor"] == "The noise floor has no record yet"
    assert alone["activations"] == alone["models"] == ""


def test_a_repeat_that_differs_is_shouted() -> None:
    """Same seed, other bits: the sentence does not hide it."""
    floor = grids.floor()
    floor["reproducibility_metrics"][0]["total_variation"] = 1e-9
    assert "1 of them NOT identical" in repro.floor(read([grids.record(), floor]))


def test_holm_covers_all_comparisons() -> None:
    """Two true differences among noise are found and named, and the count is of all comparisons."""
    arms = [
        grids.record(),
        grids.record(activation="gelu", losses=(2.5, 2.601, 2.7)),
        grids.record(activation="swish", losses=(2.0, 2.3, 2.1)),
    ]
    sentence = repro.compared(read(arms), "val_loss")
    assert sentence.startswith(
        "1 of 2 differences from relu in validation loss are significant (Holm-adjusted over 2, 5%)"
    )
    assert "charlm gelu +0.500" in sentence
    assert "swish" not in sentence
    told = (
        "the activation changes the validation loss significantly in 1 of 2 comparisons with relu, and how far "
        "two seeds"
    )
    assert told in repro.answer(read(arms)).data
    assert "No record" in repro.answer(read([])).data


def test_progress_leaves_models_at_the_plateau_out() -> None:
    """Less loss with more total variation is said as such; a model whose relu does not beat the unigram table is named
    and left out."""
    steps = {activation: 0.05 * (i + 1) for i, activation in enumerate(list(ACTIVATIONS)[1:12])}
    records = [grids.baseline(), grids.record(losses=(2.0, 2.1, 2.2), pd=0.5)]
    records += [grids.record(activation=a, losses=(2.0 + s, 2.1 + s, 2.2 + s), pd=0.5 - s) for a, s in steps.items()]
    assert repro.progress(read(records)).endswith(
        "-1.00 [-1.00, -1.00] over seeds: lower disagreement between seeds goes with higher loss"
    )
    stuck = [
        grids.record(model="tinylstm", losses=(3.4, 3.4, 3.4)),
        grids.record(model="tinylstm", activation="gelu", losses=(3.4, 3.4, 3.4)),
    ]
    assert repro.progress(read(records + stuck)).startswith(
        "Over 11 differences from relu (tinylstm at the unigram plateau aside)"
    )
    assert repro.progress(read(records[:11])) == ""  # nine differences


def test_listed_shows_no_empty_sentence() -> None:
    """One bullet a sentence that has something to say; those that are named alone."""
    text = repro.listed(read([grids.record()])).data
    assert len(text.splitlines()) == 4
    assert all(line.startswith("- ") and line.endswith(".") for line in text.splitlines())
    assert repro.listed(read([grids.record()]), "extent", "models").data.count("\n") == 0


def test_an_arm_whose_trials_hardly_differ_is_no_extreme() -> None:
    """One trial of five answers otherwise: the lowest churn, without an interval, is named aside."""
    odd = grids.record(activation="smelu_1", losses=(2.0,) * 5)
    for pair in odd["reproducibility_metrics"]:
        pair["churn"] = 0.001 * ("42" in pair["between"])
    said = repro.seeds(
        read([grids.record(losses=(2.0,) * 5), grids.record(activation="gelu", pd=0.2, losses=(2.0,) * 5), odd])
    )
    assert "(charlm, relu) to" in said
    assert said.endswith("(charlm (smelu_1) aside, where too few trials differ)")
