"""Params files: the real ones with changed, missing and strange entries, and any text and bytes: arms, or one sentence
that names the file."""

import copy
from datetime import timedelta

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from actlab import paths
from actlab.study.params import read_params

DOOR = "params files"
SLOWEST = timedelta(seconds=120)  # of wall time, on a machine that does ten other things
REAL = {path.name: yaml.safe_load(path.read_text()) for path in sorted((paths.ROOT / "params").glob("*.yaml"))}
MORE = "kind protocol varies scales snapshots ensembles shards"
WORDS = " relu swiglu charlm as_published quick lite cuda cuda:99 mnist ablation ../x"
TAGS = "!!int !!float !!bool !!timestamp !!binary !!set !!omap !!pairs !x &a *a !!python/object/apply:os.system"
FIELDS = sorted({*MORE.split()}.union(*REAL.values()))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.sampled_from(WORDS.split(" "))
    | st.text(max_size=5)
    | st.dates()
    | st.binary(max_size=3)
)
values = st.recursive(
    scalars,
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4) | st.integers(), v, max_size=3),
    max_leaves=6,
)
changes = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=6), values, max_size=4)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "study.yaml"


def plan(path):
    """All that comes of a params file before anything is trained: checked values, arms and their ids."""
    params = read_params(path)
    if params.trials > 50 or getattr(params, "rates", None) is not None:  # rates depend on what is recorded
        return
    found = params.arms()
    assert found
    assert all("/" not in arm.id and len(arm.id) < 150 and arm.study == params.study for arm in found)


@settings(deadline=SLOWEST)
@given(name=st.sampled_from(sorted(REAL)), changed=changes, dropped=st.sets(st.sampled_from(FIELDS), max_size=3))
def test_a_real_file_with_other_entries(name, changed, dropped, file, door):
    content = {key: value for key, value in {**copy.deepcopy(REAL[name]), **changed}.items() if key not in dropped}
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    door.accepts(lambda: plan(file), file.name)


odd = st.text(st.sampled_from("0123456789:-_.eE+xtruefalsn ,[]{}'\"~"), max_size=12)


@settings(deadline=SLOWEST)
@given(field=st.sampled_from(FIELDS), tag=st.sampled_from(TAGS.split()), text=odd, other=st.binary(max_size=80))
def test_tags_and_any_bytes(field, tag, text, other, file, door):
    """Tags that PyYAML's own constructors stumble over; one that would run a command is refused like any other."""
    for content in (f"study: x\n{field}: {tag} {text}\n".encode(), other):
        file.write_bytes(content)
        door.accepts(lambda: plan(file))
