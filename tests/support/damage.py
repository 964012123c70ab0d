"""Damage to a file's bytes, drawn at random: a flipped bit, a missing end, something after it. Not a test."""

from functools import partial

from bench.mistakes import DROP, changed, places  # noqa: F401
from hypothesis import strategies as st


def damaged(content, place, bit, cut, extra):
    found = bytearray(content)
    found[place % len(found)] ^= 1 << bit
    return bytes(found[: len(found) - cut % len(found)]) + extra


cuts = st.just(0) | st.integers(0, 10**5)
ends = st.just(b"") | st.binary(max_size=9)
DAMAGE = st.builds(partial, st.just(damaged), place=st.integers(0, 10**6), bit=st.integers(0, 7), cut=cuts, extra=ends)
"""Called with bytes, each gives damaged ones."""
