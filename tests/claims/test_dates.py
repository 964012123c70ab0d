"""When a rule was last changed, from made-up histories of the rules' folder."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from actlab import paths
from actlab.claims import dates, ledger

ROWS = '''"""Rows."""
LIMIT = {limit}


def near(value){type}:
    """{doc}"""
    return value < LIMIT


CLAIMS = (
    row("T01", "a place", "a claim", "{reported}", near),
    row("T02", "a place", "another claim", "2", Check({other})),
)
'''
VERDICTS = 'WORDS = {"a": "b"}\n'
DAYS = [f"2026-01-0{day}T12:00:00+00:00" for day in range(1, 8)]


def git(folder: Path, *arguments: str, date: str = DAYS[0]) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environment = {**os.environ, **who, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


class Repository:
    """A repository whose rules are rewritten day by day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / dates.FOLDER
        self.place.mkdir(parents=True)
        git(folder, "init")
        self.days = iter(DAYS)

    def write(self, verdicts: str = VERDICTS, **parts: object) -> None:
        """The folder's files; ``parts`` of the rows differ from the first day's."""
        kept = {"limit": 1, "doc": "Near.", "type": "", "reported": "1", "other": 2} | parts
        (self.place / "rows.py").write_text(ROWS.format(**kept), encoding="utf-8")
        (self.place / "verdicts.py").write_text(verdicts, encoding="utf-8")

    def commit(self, message: str = "x") -> str:
        """Its day."""
        day = next(self.days)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-m", message, date=day)
        return day


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Empty; it is the project's root."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return Repository(tmp_path)


def changed() -> dict[str, str]:
    """Read anew."""
    dates.git.cache_clear()
    dates.changed.cache_clear()
    return dates.changed()


@pytest.fixture(autouse=True)
def _forget() -> object:
    yield
    dates.git.cache_clear()
    dates.changed.cache_clear()


def test_a_rule_is_dated_by_its_last_change(repository: Repository) -> None:
    """A row, a constant that its test uses, what all share: each dates what rests on it. Formatting dates nothing."""
    repository.write()
    first = repository.commit()
    assert changed() == {"T01": first, "T02": first, dates.SHARED: first}
    repository.write(other=3)
    second = repository.commit()
    assert changed() == {"T01": first, "T02": second, dates.SHARED: first}
    repository.write(other=3, limit=2)
    third = repository.commit()
    assert changed() == {"T01": third, "T02": second, dates.SHARED: first}
    repository.write(other="\n        3,\n    ", limit=2, doc="Other words.", type=" -> bool")
    repository.commit()
    assert changed() == {"T01": third, "T02": second, dates.SHARED: first}
    repository.write('WORDS = {"a": "c"}\n', other=3, limit=2)
    fifth = repository.commit()
    assert changed() == {"T01": third, "T02": second, dates.SHARED: fifth}


def test_a_move_that_says_so_keeps_the_dates(repository: Repository) -> None:
    """With the trailer, rewritten rules keep their days; without it they do not."""
    repository.write()
    first = repository.commit()
    repository.write(limit=2)
    repository.commit("Move\n\nRules: unchanged\n")
    assert changed()["T01"] == first
    repository.write(limit=3)
    assert repository.commit() == changed()["T01"] != first


def test_what_is_not_known_is_not_told(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is not committed, a history that is cut off before the change, no history: unknown, no error."""
    repository.write()
    first = repository.commit()
    repository.write(other=3)
    assert changed() == {"T01": first, dates.SHARED: first}
    second = repository.commit()
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--depth", "1", repository.folder.as_uri(), str(shallow))
    monkeypatch.setattr(paths, "ROOT", shallow)
    assert changed() == {}
    git(shallow, "fetch", "--depth", "2")
    assert changed() == {"T02": second}
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setattr(paths, "ROOT", nowhere)
    assert changed() == {}
    monkeypatch.setenv("PATH", "")
    assert changed() == {}


def test_a_line_tells_whether_records_existed_then() -> None:
    """Before, after, no record read, none yet, unknown; clocks of two time zones."""
    told = dates.told
    assert told("2026-01-02T00:30:00+02:00", "2026-01-01T22:45:00+00:00", "replicated").endswith(
        "before its first record"
    )
    assert told("2026-01-02T01:30:00+02:00", "2026-01-01T22:45:00+00:00", "replicated").endswith(
        "after its first record"
    )
    assert told(DAYS[0], "", "self-contradiction") == "rule last changed 2026-01-01, needs no record"
    assert told(DAYS[0], "", "not yet tested") == "rule last changed 2026-01-01, before any record"
    assert told("", DAYS[0], "replicated") == "rule last changed: unknown"


def test_every_claim_of_the_ledger_is_found_and_quickly() -> None:
    """The files as they are name each row; the whole history is read in less than a second of this process."""
    folder = paths.ROOT / dates.FOLDER
    found = dates.definitions({path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")})
    assert {claim.id for source in ledger.SOURCES for claim in source.claims} <= set(found)
    before = time.process_time()
    changed()
    assert time.process_time() - before < 1
