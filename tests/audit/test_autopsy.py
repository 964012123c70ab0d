"""What the autopsy reads: the tables of runs with published defects are the records' own numbers."""

import pytest

import actlab
from actlab.records import store

STUDIES = ["autopsy-swiglu", "autopsy-models", "autopsy-convlm"]


@pytest.mark.parametrize("study", STUDIES)
def test_the_published_reading_is_the_records_own(committed, study):
    """Every pair on different inputs, each network with itself, at every snapshot and at the end; accuracies and losses
    as the published code measures them."""
    two, alone = actlab.load_pairs(study, "published", "defective"), actlab.load_losses(study, "published")
    coded, accuracies = [], []
    for record in (record for record in store.load_study(study) if "as_published" in record):
        for entry in (*record.get("trajectory", ()), record):
            coded += [pair["coded_pd"] for name in ("pairs", "itself") for pair in entry["as_published"][name]]
        accuracies += [trial["val_accuracy"] for trial in record["as_published"]["trials"]]
    assert len(coded) > 5
    assert sorted(two["coded_pd"]) == sorted(coded)
    assert sorted(alone["val_accuracy"]) == sorted(accuracies)
