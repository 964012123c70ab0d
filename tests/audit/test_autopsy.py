"""What the autopsy reads: the tables of runs with published defects are the records' own numbers."""

import pandas as pd
import pytest

import actlab
from actlab.records import store

STUDIES = ["autopsy-swiglu", "autopsy-models", "autopsy-convlm"]


@pytest.mark.parametrize("study", STUDIES)
def test_the_published_reading_is_the_records_own(committed, study):
    """Every pair on different inputs, each network with itself, at every snapshot and at the end; accuracies and losses
    as the published code measures them."""
    two, alone = actlab.load_pairs(study, "published", "defective"), actlab.load_losses(study, "published")
    expected, scores = {}, {}
    for record in (record for record in store.load_study(study) if record["kind"] == "trials"):
        end = {"iteration": record["config"]["recipe"].get("iterations"), "as_published": record.get("as_published")}
        for entry in [*record.get("trajectory", ()), end] if end["as_published"] else ():
            for pair in entry["as_published"]["pairs"] + entry["as_published"]["itself"]:
                expected[record["arm"], entry["iteration"], *pair["between"]] = pair["coded_pd"], pair["relative_pd"]
        for trial in record.get("as_published", {}).get("trials", ()):
            scores[record["arm"], trial["label"]] = trial["val_accuracy"], trial["val_loss"]
    assert len(expected) > 5
    keys = ["record", "iteration", "first", "second"]
    assert {(*row[:4],): row[4:] for row in two[[*keys, "coded_pd", "relative_pd"]].itertuples(index=False)} == expected
    assert {
        (*row[:2],): row[2:] for row in alone[["record", "trial", "val_accuracy", "val_loss"]].itertuples(index=False)
    } == scores
    assert pd.api.types.is_float_dtype(two["coded_pd"])
