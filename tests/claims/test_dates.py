"""When a rule was last changed, from a made-up history of its row and its function."""

import sys
import time
from importlib import import_module

import pytest
from tests.support.history import commit, git

from actlab.claims import dates, ledger

ROWS = "claims:\n  - id: T01\n    reported: {reported}\n  - id: T02\n    reported: 2\n"
RULES = (
    "def shared():\n    return {limit}\n\n\ndef near(value):\n    return value < {near}\n\n\ndef far(value):\n   "
    " return not near(value)\n"
)
DAYS = [f"2026-01-0{day}T12:00:00+00:00" for day in range(1, 8)]
RECORDED = {"2025-12-31T12:00:00+00:00": ["T01", "T02", dates.SHARED]}


class Repository:
    """A repository whose rules are rewritten day by day."""

    def __init__(self, folder):
        self.folder = folder
        git(folder, "init")
        self.days = iter(DAYS)

    def files(self, reported=1, limit=1, near=1):
        """The rows, and a module that has two rules and something that all share."""
        return {
            "claims.yaml": ROWS.format(reported=reported),
            "made_up_rules.py": RULES.format(limit=limit, near=near),
        }

    def commit(self, message="x", **parts):
        """The files; their day."""
        day = next(self.days)
        commit(self.folder, message, day, self.files(**parts))
        return day


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Empty; it holds the rules."""
    monkeypatch.setattr(dates, "HERE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield Repository(tmp_path)
    sys.modules.pop("made_up_rules", None)
    dates.git.cache_clear()


def changed():
    """Read anew: T01 is judged by ``near``, T02 by ``far``."""
    dates.git.cache_clear()
    sys.modules.pop("made_up_rules", None)
    module = import_module("made_up_rules")
    rules = {"T01": module.near, "T02": module.far}
    return dates.changed(rules, RECORDED)


def test_a_rule_is_dated_by_the_last_change_of_its_lines(repository):
    """Its row, its function; what else the files hold is shared. A commit that left the rules as they are dates
    nothing."""
    repository.commit("Rows\n\nRules: unchanged\n")
    day = next(iter(RECORDED))
    assert changed() == {"T01": day, "T02": day, dates.SHARED: day}
    second = repository.commit(reported=3)
    assert changed() == {"T01": second, "T02": day, dates.SHARED: day}
    third = repository.commit(reported=3, near=2)
    assert (changed()["T01"], changed()["T02"]) == (third, day)
    repository.commit("Move\n\nRules: unchanged\n", reported=4, near=2)
    assert changed()["T01"] == third
    for name, text in repository.files(reported=4, near=2, limit=2).items():
        (repository.folder / name).write_text(text)
    assert changed() == {"T01": third, "T02": day}, "what is not committed is not known"
    fifth = repository.commit(reported=4, near=2, limit=2)
    assert changed() == {"T01": third, "T02": day, dates.SHARED: fifth}


def test_without_a_whole_history_nothing_is_told(repository, tmp_path, monkeypatch):
    """A history that is cut off, or none: unknown, no error."""
    repository.commit()
    git(tmp_path, "clone", "--depth", "1", repository.folder.as_uri(), "shallow")
    monkeypatch.setattr(dates, "HERE", tmp_path / "shallow")
    assert changed() == {}
    monkeypatch.setenv("PATH", "")
    assert changed() == {}


def test_a_line_tells_whether_records_existed_then():
    """Before, after, no record read, none yet, unknown; clocks of two time zones."""
    told = dates.told
    day = "2026-01-02T00:30:00+02:00"
    assert told(day, "2026-01-01T22:45:00+00:00", "replicated").endswith("before its first record")
    assert told(day, "2026-01-01T21:45:00+00:00", "replicated").endswith("after its first record")
    assert told(DAYS[0], "", "self-contradiction") == "rule last changed 2026-01-01, needs no record"
    assert told(DAYS[0], "", "not yet tested") == "rule last changed 2026-01-01, before any record"
    assert told("", DAYS[0], "replicated") == "rule last changed: unknown"


def test_every_row_is_found_and_quickly():
    """The file records a date for each row of its first form; the history is read in less than a second of this
    process."""
    recorded = [id for ids in ledger._file()["changed"].values() for id in ids]
    assert sorted(recorded) == sorted({claim.id for claim in ledger.claims()} | {dates.SHARED})
    before = time.process_time()
    ledger.changed()
    assert time.process_time() - before < 1
