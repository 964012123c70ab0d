"""What is no table, no row of numbers or no plan is refused in one sentence; empty groups and mixed labels are counted
rightly."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

import actlab
from actlab import metrics
from actlab.activations import get_activation
from actlab.errors import ActlabError
from actlab.models import build_model
from actlab.optimizers import ECD

NONE = float("nan")
RUNS = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "seed": seed, "val_loss": seed / 10 + rise}
        for name, rise in (("relu", 0.0), ("gelu", 0.1), ("swish", 0.2))
        for seed in (1, 2, 4)
    ]
)
CURVES = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "trial": str(seed), "iteration": step, "val_loss": 3 - step / 10 - s}
        for name in ("relu", "gelu")
        for seed, s in ((1, 0.1), (2, 0.2), (3, 0.4))
        for step in (0, 5, 10)
    ]
)
ALONG = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "first": a, "second": b, "iteration": step, "total_variation": step + i}
        for name in ("relu", "gelu")
        for i, (a, b) in enumerate(combinations("123", 2))
        for step in (0, 5, 10)
    ]
)
WRONG = {
    "no values": lambda: actlab.jackknife([]),
    "text": lambda: actlab.jackknife(["a", "b"]),
    "no shared evaluation": lambda: actlab.at_equal_loss(CURVES, ALONG.assign(iteration=7)),
    "rows of other lengths": lambda: actlab.jackknife([[1], [1, 2]]),
    "a matrix": lambda: actlab.jackknife([[1, 2], [1, 2]]),
    "complex": lambda: actlab.jackknife([1j, 2]),
    "infinite": lambda: actlab.jackknife([math.inf, 1, 2]),
    "no losses": lambda: actlab.at_loss([], [], 1.0),
    "fewer values": lambda: actlab.at_loss([1, 2, 3], [1, 2], 1.5),
    "losses of text": lambda: actlab.at_loss(["a"], [2.0], 1.5),
    "planned without a level": lambda: actlab.contrasts(RUNS, "val_loss", planned=[("charlm",)]),
    "planned half": lambda: actlab.contrasts(RUNS, "val_loss", planned=2.5),
    "planned less than none": lambda: actlab.contrasts(RUNS, "val_loss", planned=-1),
    "planned by name": lambda: actlab.contrasts(RUNS, "val_loss", planned="gelu"),
    "planned, equal loss": lambda: actlab.equal_loss(CURVES, ALONG, planned=[("charlm",)]),
    "by a number": lambda: actlab.contrasts(RUNS, "val_loss", by=3),
    "by one name twice": lambda: actlab.contrasts(RUNS, "val_loss", by=["model", "model"]),
    "by nothing": lambda: actlab.means(RUNS, "val_loss", by=[]),
    "no table": lambda: actlab.contrasts([1], "val_loss"),
    "no table of contrasts": lambda: actlab.bound(pd.DataFrame()),
    "a margin of text": lambda: actlab.contrasts(RUNS, "val_loss", margin="a"),
    "an unknown family": lambda: actlab.contrasts(RUNS, "val_loss", family="zz"),
    "a complex metric": lambda: actlab.contrasts(RUNS.assign(val_loss=1j), "val_loss"),
    "a metric of text": lambda: actlab.equal_loss(CURVES, ALONG.assign(total_variation="a")),
    "pairs twice": lambda: actlab.equal_loss(CURVES, pd.concat([ALONG, ALONG])),
    "a share that is no number": lambda: actlab.equal_loss(CURVES, ALONG, share=NONE),
    "a share of text": lambda: actlab.equal_loss(CURVES, ALONG, share="a"),
    "a bound of text": lambda: actlab.equal_loss(CURVES, ALONG, exclude_above="2"),
    "a bound that is missing": lambda: actlab.equal_loss(CURVES, ALONG, exclude_above=NONE),
    "curves that are no table": lambda: actlab.equal_loss([1], ALONG),
    "pairs that are no table": lambda: actlab.at_equal_loss(CURVES, {"first": 1}),
    "a loss of text": lambda: actlab.at_loss([2.0, 1.0], [1.0, 2.0], "a"),
    "steps of text": lambda: actlab.equal_loss(CURVES.astype({"iteration": str}), ALONG),
    "an infinite loss": lambda: actlab.equal_loss(CURVES.assign(val_loss=math.inf), ALONG),
    "contrasts that are no table": lambda: actlab.bound([1]),
    "contrasts of text": lambda: actlab.bound(pd.DataFrame({"df": ["a"], "se": [1.0], "difference": [1.0]})),
    "by the factor": lambda: actlab.contrasts(RUNS, "val_loss", by="activation"),
    "several metrics": lambda: actlab.means(RUNS, ["val_loss", "val_loss"]),
    "planned with a list": lambda: actlab.contrasts(RUNS, "val_loss", planned=[("charlm", ["gelu"])]),
    "a column twice": lambda: actlab.contrasts(pd.concat([RUNS, RUNS[["val_loss"]]], axis=1), "val_loss"),
    "a pair without a name": lambda: actlab.means(ALONG[:3].assign(first=NONE), "total_variation"),
    "a pair of lists": lambda: actlab.equal_loss(CURVES, ALONG.assign(first=[["1"]] * len(ALONG))),
    "a run with itself among pairs": lambda: actlab.means(ALONG[:9:3].assign(first=["1", "3", "2"]), "total_variation"),
    "pairs of runs beside changed ones": lambda: actlab.means(
        ALONG[:9:3].assign(seed=[None, None, 1]), "total_variation"
    ),
    "an ensemble as text": lambda: actlab.means(ALONG[:1].assign(first="('4', '5')"), "total_variation"),
    "values with their gradient": lambda: actlab.jackknife(torch.ones(3, requires_grad=True)),
    "a pair of nothing": lambda: actlab.means(ALONG[:1].assign(first=[[]]), "total_variation"),
    "a run without a name": lambda: actlab.equal_loss(CURVES.assign(trial=None), ALONG),
    "ensembles of nothing": lambda: actlab.means(RUNS[:1].drop(columns="seed").assign(members=None), "val_loss"),
    "a group of lists": lambda: actlab.contrasts(RUNS.assign(model=[["charlm"]] * len(RUNS)), "val_loss"),
    "a metric that is a table": lambda: actlab.contrasts(RUNS, pd.DataFrame()),
    "a reference that is an array": lambda: actlab.contrasts(RUNS, "val_loss", reference=RUNS["seed"]),
    "a correction that is missing": lambda: actlab.contrasts(RUNS, "val_loss", correction=pd.NA),
    "unpaired, no table": lambda: actlab.contrasts(None, "val_loss", unpaired=True),
    "a run whose name is empty": lambda: actlab.means(ALONG[:3].assign(first=""), "total_variation"),
    "unpaired by a table": lambda: actlab.contrasts(RUNS, "val_loss", unpaired=RUNS),
    "across a table": lambda: actlab.at_equal_loss(CURVES, ALONG, across=RUNS),
    "a margin of hundreds of digits": lambda: actlab.contrasts(RUNS, "val_loss", margin=10**400),
    "planned hundreds of digits": lambda: actlab.contrasts(RUNS, "val_loss", planned=10**400),
    "a share of hundreds of digits": lambda: actlab.equal_loss(CURVES, ALONG, share=10**400),
    "a group called p": lambda: actlab.contrasts(RUNS.assign(p="a"), "val_loss", by="p"),
    "a factor called estimate": lambda: actlab.means(RUNS.assign(estimate="a"), "val_loss", by="estimate"),
    "a group called loss": lambda: actlab.at_equal_loss(*(t.assign(loss="a") for t in (CURVES, ALONG)), by="loss"),
    "a kind that is a table": lambda: actlab.load("answer", RUNS),
    "a record that is none": lambda: actlab.load_model(None),
    "a record of a kind that is a list": lambda: actlab.load_model({"kind": []}),
    "a record without anything": lambda: actlab.load_model({"kind": "trials"}),
    "plug-ins that are none": lambda: actlab.load_plugins(3),
    "plug-ins of nothing": lambda: actlab.load_plugins([None]),
    "parameters of text": lambda: actlab.run_experiment("charlm", "relu", "study: x"),
    "own metrics that are none": lambda: metrics.compare([[1.0]], [[1.0]], None, 3),
    "a size by its name": lambda: build_model("charlm", "lite", "relu"),
    "a seed of ECD that is no whole number": lambda: ECD([torch.nn.Parameter(torch.ones(2))], seed=1.5),
    "a seed of ECD of too many bits": lambda: ECD([torch.nn.Parameter(torch.ones(2))], seed=2**64),
    "an activation that is a list": lambda: get_activation(["relu"]),
    "nothing beside training": lambda: actlab.beside_training(CURVES, ALONG, ALONG[:1], None),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what):
    with pytest.raises(ActlabError):
        WRONG[what]()


def test_an_empty_group_is_one_group():
    """A group column that is empty everywhere (NaN) changes no number, at equal loss and in a family neither."""
    named, empty = (actlab.equal_loss(*(t.assign(model=m) for t in (CURVES, ALONG))) for m in ("charlm", NONE))
    assert len(empty) == 1
    assert empty["model"].isna().all()
    pd.testing.assert_frame_equal(named.drop(columns="model"), empty.drop(columns="model"))
    every = pd.concat([RUNS, RUNS.assign(model=NONE)])
    apart = actlab.contrasts(every, "val_loss", family="model")
    assert apart["p_holm"].notna().all()
    assert apart["p_holm"].iloc[:2].tolist() == apart["p_holm"].iloc[2:].tolist()
    (planned,) = actlab.contrasts(RUNS.assign(model=NONE), "val_loss", planned=[(NONE, "gelu")])["n"]
    assert planned == 3


def test_a_run_is_one_run_as_text_and_as_a_number():
    """Five runs whose labels are numbers on one side of a pair and text on the other are five, not nine."""
    pairs = [
        {"activation": name, "first": a, "second": str(b), "churn": a / b + rise}
        for name, rise in (("relu", 0.0), ("gelu", 0.1))
        for a, b in combinations((1, 2, 3, 4, 5), 2)
    ]
    mixed, text = pd.DataFrame(pairs), pd.DataFrame(pairs).astype({"first": str})
    assert actlab.contrasts(mixed, "churn", by=[])["n"].tolist() == [5]
    pd.testing.assert_frame_equal(actlab.means(mixed, "churn", "activation"), actlab.means(text, "churn", "activation"))
    for one in (np.float32, np.array):  # as single precision, nullable columns and 0-d arrays have it
        odd = mixed.assign(first=pd.Series([one(run) for run in mixed["first"]], dtype=object))
        pd.testing.assert_frame_equal(
            actlab.means(odd, "churn", "activation"), actlab.means(text, "churn", "activation")
        )
    numbers = CURVES.assign(trial=CURVES["trial"].astype(int))
    pd.testing.assert_frame_equal(actlab.equal_loss(numbers, ALONG), actlab.equal_loss(CURVES, ALONG))
    assert not math.isnan(actlab.equal_loss(numbers, ALONG)["difference"][0])


def test_no_line_goes_through_equal_losses_or_one_that_is_missing():
    """Then nothing is known at a lower loss."""
    for losses in ([2.0], [2.0, 2.0, 2.0], [3.0, NONE, 2.0]):
        value, extrapolated = actlab.at_loss(losses, [1.0] * len(losses), 0.5)
        assert (math.isnan(value), extrapolated) == (True, True)


def test_what_is_missing_is_missing_however_it_is_written():
    """A loss of ``pd.NA`` is as one of NaN; so is a group."""
    nullable = [table.convert_dtypes() for table in (CURVES, ALONG)]
    pd.testing.assert_frame_equal(actlab.equal_loss(*nullable), actlab.equal_loss(CURVES, ALONG), check_dtype=False)
    gone = [RUNS.assign(val_loss=RUNS["val_loss"].where(RUNS["seed"] > 1)) for _ in range(2)]
    gone[1]["val_loss"] = gone[1]["val_loss"].astype("Float64")
    plain, of_na = (actlab.contrasts(table, "val_loss") for table in gone)
    assert plain["n"].tolist() == [2, 2]
    pd.testing.assert_frame_equal(plain, of_na)
    assert actlab.means(RUNS.assign(model=pd.NA), "val_loss")["n"].tolist() == [3, 3, 3]


def test_a_pair_is_one_whichever_run_comes_first():
    """At equal loss as in ``contrasts``: pairs that are turned round at some steps change nothing,
    both ways are two."""
    turned = ALONG.rename(columns={"first": "second", "second": "first"})
    half = pd.concat([ALONG[::2], turned[1::2]]).astype({"first": "category", "second": "category"})
    pd.testing.assert_frame_equal(actlab.equal_loss(CURVES, half), actlab.equal_loss(CURVES, ALONG))
    itself = ALONG.assign(second=ALONG["first"]).drop_duplicates(["activation", "first", "iteration"])
    with_itself = pd.concat([ALONG, itself.assign(total_variation=0.0)])
    pd.testing.assert_frame_equal(actlab.equal_loss(CURVES, with_itself), actlab.equal_loss(CURVES, ALONG))
    with pytest.raises(ActlabError, match="expected one row a run or pair"):
        actlab.equal_loss(CURVES, pd.concat([ALONG, turned]))


def test_a_masked_value_is_missing():
    """To whatever takes a row of numbers."""
    hidden = np.ma.array([1.0, 99.0, 3.0], mask=[False, True, False])
    pd.testing.assert_series_equal(actlab.jackknife(hidden), actlab.jackknife([1.0, NONE, 3.0]))


def test_a_level_without_a_name_is_a_reference_too():
    """It is not compared with itself."""
    nameless = RUNS.assign(activation=RUNS["activation"].where(RUNS["activation"] != "relu"))
    found, named = actlab.contrasts(nameless, "val_loss", reference=np.nan), actlab.contrasts(RUNS, "val_loss")
    pd.testing.assert_frame_equal(found, named)


def test_a_column_may_be_named_by_a_number():
    found = actlab.contrasts(RUNS.rename(columns={"val_loss": 0}), 0)
    pd.testing.assert_frame_equal(found, actlab.contrasts(RUNS, "val_loss"))


def test_an_index_changes_nothing():
    """Whatever it is called, and however often a label comes in it."""
    found = actlab.contrasts(RUNS, "val_loss")
    for indexed in (RUNS.set_index("model", drop=False), RUNS.set_index(["seed", "activation"], drop=False)):
        pd.testing.assert_frame_equal(actlab.contrasts(indexed, "val_loss"), found)
    tables = (table.set_index("iteration", drop=False) for table in (CURVES, ALONG))
    pd.testing.assert_frame_equal(actlab.equal_loss(*tables), actlab.equal_loss(CURVES, ALONG))


def test_members_in_a_list_are_those_in_a_tuple():
    """As a table that went through JSON has them."""
    pairs = [
        {"model": "charlm", "activation": "relu", "first": (1, 2), "second": (3, 4), "churn": 0.1},
        {"model": "charlm", "activation": "relu", "first": (1, 3), "second": (2, 4), "churn": 0.2},
    ]
    tuples = pd.DataFrame(pairs)
    lists = tuples.assign(**{side: [list(names) for names in tuples[side]] for side in ("first", "second")})
    pd.testing.assert_frame_equal(actlab.means(lists, "churn"), actlab.means(tuples, "churn"))
    assert actlab.means(lists, "churn")["n"].tolist() == [4]
