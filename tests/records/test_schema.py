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
        (FINAL, 2),
        (("reproducibility_metrics",), []),
    ):
        check_record(changed(grids.record(), place, put))


WRONG = yaml.safe_load(r"""
- [[trials], DROP, "trials.trials: Field required"]
- [[model_name], 3, 'model_name: Input should be a valid string, found 3']
- [[trials, 0, final, val_loss], low, "trials.0.done.final.val_loss: Input should be a valid number, found 'low'"]
- [[trials, 0, n_parameters], true, 'trials.0.done.n_parameters: Input should be a valid integer, found True']
- [[trials, 1, status], lost, "trials.1: .*'lost' .* expected tags: 'done', 'diverged', 'failed'"]
- [[trials, 1, label], "42", one is named twice]
- [[reproducibility_metrics, 0, between], ["42"], 'reproducibility_metrics.0.between: List should have']
- [[reproducibility_metrics, 0, between], ["42", "7"], expected two of its trials]
- [[kind], lists, "'lists' .* expected tags: 'trials', 'floor'"]
- [[kind], 3, "record 'charlm-relu', : Input tag '3'"]
""")
"""Place in a record, what is put there, what the error says."""


@pytest.mark.parametrize(("place", "put", "message"), [*WRONG, (FINAL, 10**400, "val_loss: .* a number below 2")])
def test_what_does_not(place, put, message):
    with pytest.raises(RecordError, match=message):
        check_record(changed(grids.record(), place, DROP if put == "DROP" else put))
