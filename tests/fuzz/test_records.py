"""Records: damage to the file shows in its checksum; content of another shape, with a right checksum, is named with its
field."""

import shutil
import warnings

import ablations
import grids
import pytest
import sweeps
from damage import DAMAGE, DROP, changed, places
from hypothesis import given
from hypothesis import strategies as st

from actlab.records import store, tables
from actlab_audit import ablation, evidence

DOOR = "records"
MADE = (
    grids.record(),
    grids.floor(),
    sweeps.record("relu", 8, 1e-3, 64),
    ablations.record("ecd", "bQbV", "gelu"),
)
RECORDS = {record["kind"]: grids.identified(record, "fuzz") for record in MADE}
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.just(10**30) | st.floats() | st.text(max_size=3)
junk = leaves | st.lists(leaves, max_size=2) | st.dictionaries(st.text(max_size=3), leaves, max_size=2)


def saved(record, name):
    """The record's file, the only one of its study."""
    path = store.path_of("fuzz", name)
    shutil.rmtree(path.parent, ignore_errors=True)
    return store.save(path, record)


def read_all():
    """What the book does with a folder of records: every reader, and every number that it gives."""
    records = store.load_study("fuzz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of means over nothing, of infinities less infinities
        tables.of_records(records)
        runs = evidence.recorded("fuzz")
        if "symmetry" in runs and (runs := ablation.read("fuzz")) is not None:
            ablation.effect(runs, "random_prelu", "gelu")


@given(kind=st.sampled_from(sorted(RECORDS)), where=st.integers(0, 10**6), put=st.just(DROP) | junk)
def test_one_entry_of_another_shape(kind, where, put, door):
    known = [place for place in places(RECORDS[kind], most=None) if place != ("kind",)]
    read_with(kind, known[where % len(known)], put, door)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_setting_that_may_be_absent(kind, door):
    for place in places(RECORDS[kind], most=None):
        if place[0] == "config":
            read_with(kind, place, DROP, door)


def read_with(kind, place, put, door):
    """Put something in a place of a record of this kind, and read it."""
    record = RECORDS[kind]
    made = changed(record, place, put)
    if place[0] == "config":  # under the name of its settings, so that these are looked at
        made = grids.identified(made | {"arm": kind, "config": made.get("config")}, "fuzz")
    saved(made, made["arm"] if place[0] == "config" else record["arm"])
    door.accepts(read_all)


@given(
    record=st.dictionaries(
        st.sampled_from(["kind", "trials", "config", "arm", "study", "model_name", "network", "provenance"]),
        junk,
        max_size=6,
    )
)
def test_anything_with_a_right_checksum(record, door):
    made = grids.identified({"kind": "trials", "arm": "any", **record}, "fuzz")
    saved(made, str(made["arm"]).replace("/", "-") if "config" in record else "any")
    door.accepts(read_all)


@given(kind=st.sampled_from(sorted(RECORDS)), damage=DAMAGE)
def test_every_damage_is_noticed(kind, damage, door):
    """The record is refused with its name, or reads as what was written (white space, an upper-case exponent)."""
    record = RECORDS[kind]
    path = saved(record, record["arm"])
    path.write_bytes(damage(path.read_bytes()))
    if door.accepts(lambda: store.load(path), str(path)):
        read = store.load(path)
        assert store.canonical({key: read[key] for key in record}) == store.canonical(record)
