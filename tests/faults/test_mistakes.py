"""Wrong params files and records end in one sentence, soon, in little memory."""

import pytest
from bench import mistakes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("measure", "least"), [(mistakes.params_files, 120), (mistakes.records, 100)])
def test_a_mistake_is_cheap(measure, least, tmp_path, row):
    """A wrong params file or record (every field with what it does not take, damaged files, 3 GB, no end; a record's
    entries replaced in turn, under a right checksum): one sentence, exit code 2, below 2 s and 500 MB."""
    row.times, used, longest = measure(tmp_path)
    row.note = f"{used} others are read; at most {longest:.2f} s of processor time"
    assert row.times >= least
