"""A record is found by its name, its file, or with its hash; what is not one record is told in a sentence."""

import grids
import pytest

from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.store import find


def saved(study="one", name="charlm-gelu", **more):
    """The file of an arm with these settings."""
    record = grids.record(activation="gelu", **more)
    arm = f"{name}-{store.digest(record['config'])[:10]}"
    return store.save(store.path_of(study, arm), record | {"arm": arm, "study": study})


def test_names_of_a_record():
    """Name, name with hash, with the folder, file: one record; of one that grew the larger; not its noise floor."""
    small, other = saved(losses=(2.0, 2.1)), grids.saved(grids.floor() | {"arm": "charlm-gelu-floor"}, "one")
    assert find("one/charlm-gelu") == small
    large = saved(losses=(2.0, 2.1, 2.2))
    for name in ("one/charlm-gelu", "results/one/charlm-gelu", f"one/{large.stem}", large, str(large)):
        assert find(name) == large
    assert find(f"one/{small.stem}") == small
    assert find("one/charlm-gelu-floor") == other


def test_what_is_not_one_record_is_told():
    """Several settings under one name are listed; a wrong name with what is known, another study's
    damaged record or not."""
    files = saved(iterations=6), saved(iterations=12)
    saved(study="bad").write_text("")
    with pytest.raises(BadInput, match="several configurations") as told:
        find("one/charlm-gelu")
    assert all(file.stem in str(told.value) for file in files)
    for name, message in (
        ("one/charlm", "unknown configuration 'charlm' in .*results/one: did you mean 'charlm-gelu'"),
        ("on/charlm-gelu", "unknown study 'on' in on/charlm-gelu: .* did you mean 'one'"),
        ("charlm-gelu", "a record is named as STUDY/CONFIGURATION: .*known are bad, one"),
    ):
        with pytest.raises(UnknownName, match=message):
            find(name)
