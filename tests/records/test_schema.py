"""Records against the models of their kinds: the first entry that is not as asked is named with its place."""

import ablations
import grids
import pytest
import yaml
from damage import DROP, changed

from actlab.errors import RecordError
from actlab.records.schema import check_record

FINAL = ("trials", 0, "final", "val_loss")


def test_what_fits():
    """Records of every kind; further keys, empty lists, NaN and whole numbers for numbers."""
    check_record(grids.floor())
    check_record(ablations.record("ecd", "bQbV", "gelu"))
    for place, put in (
        ((*FINAL[:3], "more"), []),
        (FINAL, float("nan")),
        (FINAL, None),
        (FINAL, 2),
    ):
        check_record(changed(grids.record(), place, put))


WRONG = yaml.safe_load(r"""
- [[trials], DROP, "trials.trials: Field required"]
- [[trials, 0, final, val_loss], low, "trials.0.done.final.val_loss: Input should be a valid number, found 'low'"]
- [[trials, 1, status], lost, "trials.1: .*'lost' .* expected tags: 'done', 'diverged', 'failed'"]
- [[reproducibility_metrics, 0, between], ["42"], 'between: Value should have at least 2 items']
- [[trials, 0, label], abc, "trials.0.done.label: String should match .*, found 'abc'"]
- [[average], [{between: ["42", "43"], total_variation: low}], 'average.*.0.total_variation: Input should be a valid']
- [[as_published], {trials: [{val_loss: 2.0}]}, 'as_published.trials.0.label: Field required']
- [[kind], lists, "kind: .*'lists' .* expected tags: 'trials', 'floor'"]
""")
"""Place in a record, what is put there, what the error says."""


@pytest.mark.parametrize(("place", "put", "message"), WRONG)
def test_what_does_not(place, put, message):
    with pytest.raises(RecordError, match=message):
        check_record(changed(grids.record(), place, DROP if put == "DROP" else put))
