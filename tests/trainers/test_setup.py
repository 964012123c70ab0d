"""A process keeps what it frees: fewer page faults, the same bits."""

import platform
import sys

import pytest
from tiny import ran

from actlab.trainers import setup

FAULTS = """
import resource, sys, torch
from actlab.trainers import setup
if sys.argv[1] == "kept":
    setup.keep_freed_memory()
count = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for step in range(30):
    if step == 25:
        before = count()
    x = torch.ones(9_000_000)
    y = x + 1
    del x
    z = 2 * y
    del y, z
print(count() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
@pytest.mark.slow
def test_freed_memory_is_not_faulted_in_again():
    """Blocks of 36 MB, beyond any size that glibc keeps by itself: each use faults their pages in; where memory is
    kept, none after a while."""
    kept, given_back = (
        int(ran([sys.executable, "-W", "ignore", "-c", FAULTS, way]).stdout) for way in ("kept", "given back")
    )
    assert kept < 100 < 1000 < given_back


def test_another_c_library_is_no_error(monkeypatch):
    """Where there is no ``mallopt``, nothing happens."""
    monkeypatch.setattr(setup.ctypes, "CDLL", lambda name: object())
    setup.keep_freed_memory()
