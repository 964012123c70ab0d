"""Doors fed with anything: whatever comes in, it is used, or refused with one sentence; nothing hangs and nothing is
written elsewhere."""

import pytest
from bench.reliability import DOORS

from actlab.errors import ActlabError


class Door:
    """Counts what was tried at one door. ``accepts(try)`` is whether the input was used; any error but an
    ``ActlabError`` fails the test."""

    def __init__(self, name):
        self.counts = DOORS[name]

    def tried(self, used):
        """Count an input that was used, or refused."""
        self.counts["tried"] += 1
        self.counts["used" if used else "refused"] += 1
        return used

    def accepts(self, enter, *named):
        """``named``: words of which a refusal must hold one."""
        try:
            enter()
        except ActlabError as error:
            said = str(error)
            assert 0 < len(said.strip()) < 20_000, f"a message of {len(said):,} characters"
            assert not named or any(name in said for name in named), f"{said!r} names none of {named}"
            return self.tried(False)
        return self.tried(True)


@pytest.fixture
def door(request):
    """The door that the module's ``DOOR`` names."""
    return Door(request.module.DOOR)
