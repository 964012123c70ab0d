"""Doors fed with anything: whatever comes in, it is used, or refused with one sentence; nothing hangs and nothing is
written elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from reliability import Doors

from actlab.errors import ActlabError


class Door:
    """Counts what was tried at one door. ``accepts(try)`` is whether the input was used; any error but an
    ``ActlabError`` fails the test."""

    def __init__(self, name: str, doors: Doors) -> None:
        self.counts = doors.at(name)

    def accepts(self, enter: Callable[[], Any], *named: str) -> bool:
        """``named``: words of which a refusal must hold one."""
        self.counts["tried"] += 1
        try:
            enter()
        except ActlabError as error:
            said = str(error)
            assert said.strip(), "an empty message"
            assert len(said) < 20_000, f"a message of {len(said):,} characters"
            assert not named or any(name in said for name in named), f"{said!r} names none of {named}"
            self.counts["refused"] += 1
            return False
        self.counts["used"] += 1
        return True


@pytest.fixture
def door(request: pytest.FixtureRequest, doors: Doors) -> Door:
    """The door that the module's ``DOOR`` names."""
    return Door(request.module.DOOR, doors)


@pytest.fixture
def untouched(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A context in which nothing may appear but below the named folders: everything else in its folder of work is
    watched."""
    root = tmp_path_factory.mktemp("watched")
    (root / "here").mkdir()
    monkeypatch.chdir(root / "here")

    @contextmanager
    def watch(*allowed: Path) -> Iterator[None]:
        def seen() -> set[Path]:
            return {p for p in root.rglob("*") if not any(p == a or a in p.parents or p in a.parents for a in allowed)}

        before = seen()
        yield
        assert seen() == before

    return watch
