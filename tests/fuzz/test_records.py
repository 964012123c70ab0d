"""Records: damage to the file shows in its checksum."""

import shutil

import ablations
import grids
import sweeps
from damage import DAMAGE
from hypothesis import given
from hypothesis import strategies as st

from actlab.records import store

DOOR = "records"
MADE = (
    grids.record(),
    grids.floor(),
    sweeps.record("relu", 8, 1e-3, 64),
    ablations.record("ecd", "bQbV", "gelu"),
)
RECORDS = {record["kind"]: grids.identified(record, "fuzz") for record in MADE}


@given(kind=st.sampled_from(sorted(RECORDS)), damage=DAMAGE)
def test_every_damage_is_noticed(kind, damage, door):
    """The record is refused with its name, or reads as what was written (white space, an upper-case exponent)."""
    record = RECORDS[kind]
    path = store.path_of("fuzz", record["arm"])
    shutil.rmtree(path.parent, ignore_errors=True)
    store.save(path, record)
    path.write_bytes(damage(path.read_bytes()))
    if door.accepts(lambda: store.load(path), str(path)):
        read = store.load(path)
        assert store.canonical({key: read[key] for key in record}) == store.canonical(record)
