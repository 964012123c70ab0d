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
        (("reproducibility_metrics", 0, "total_variation"), 1.0 + 1e-7),
    ):
        check_record(changed(grids.record(), place, put))


WRONG = yaml.safe_load(r"""
- [[trials], DROP, "trials.trials: Field required"]
- [[model_name], 3, 'model_name: Input should be a valid string, found 3']
- [[trials], [], "trials.trials: List should have at least 1 item"]
- [[trials, 0, final, val_loss], low, "trials.0.done.final.val_loss: Input should be a valid number, found 'low'"]
- [[trials, 0, n_parameters], true, 'trials.0.done.n_parameters: Input should be a valid integer, found True']
- [[trials, 1, status], lost, "trials.1: .*'lost' .* expected tags: 'done', 'diverged', 'failed'"]
- [[reproducibility_metrics, 0, between], ["42"], 'between: Value should have at least 2 items']
- [[reproducibility_metrics, 0, total_variation], 1.01, 'total_variation: Input should be less than or equal to 1']
- [[reproducibility_metrics, 0, relative_pd], -0.01, 'relative_pd: Input should be greater than or equal to 0']
- [[reproducibility_metrics, 0, churn], .nan, 'churn: Input should be']
- [[trials, 0, final, val_accuracy], 100.5, 'val_accuracy: Input should be less than or equal to 100']
- [[config, parts], [1], 'config.parts: Input should be a valid dictionary, found \[1\]']
- [[trials, 0, label], abc, "trials.0.done.label: String should match .*, found 'abc'"]
- [[trials, 0, seed], first, "trials.0.done.seed: Input should be a valid integer, found 'first'"]
- [[average], [{between: ["42", "43"], total_variation: 3}], 'average.*.0.total_variation: Input should be less']
- [[ensembles], {"2": [{between: [[], []], churn: -1}]}, 'ensembles.2.0.total_variation: Field required']
- [[equal_compute], [{iteration: 3, pairs: []}], 'equal_compute.0.size: Field required']
- [[trajectory], [{iteration: 5, pairs: [{between: ["42", "43"]}]}], 'trajectory.0.pairs.0.total_variation: Field']
- [[as_published], {trials: [{val_loss: 2.0}]}, 'as_published.trials.0.label: Field required']
- [[config, dataset], DROP, 'config.dataset: Field required']
- [[config, dataset], null, 'config.dataset: Input should be a valid string, found None']
- [[kind], lists, "'lists' .* expected tags: 'trials', 'floor'"]
- [[kind], 3, "record charlm-relu, : Input tag '3'"]
""")
"""Place in a record, what is put there, what the error says."""


@pytest.mark.parametrize(("place", "put", "message"), WRONG)
def test_what_does_not(place, put, message):
    with pytest.raises(RecordError, match=message):
        check_record(changed(grids.record(), place, DROP if put == "DROP" else put))
