"""When each claim's rule was last changed, by the history of its lines, and whether its records existed then.

A rule is its row in ``claims.yaml`` and the function that the row names; what all rows share is dated apart.  A commit
whose message has the trailer ``Rules: unchanged`` rewrote rules without a change of any verdict: its lines say nothing,
and the date stays that the file records (``changed``), read from the history of an earlier form.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from actlab.paths import git

SHARED = "shared"
"""Key of what all rows share."""
HERE = Path(__file__).parent
ROWS = "claims.yaml"
NO_RULE = ("ledger.py", "dates.py", "audited_numbers.py")
BLAME = re.compile(r"([0-9a-f]{40}) .*?(\d{4}-\d\d-\d\dT\S+) +\d+\) ?(.*)")
ROW = re.compile(r" *- (?:id|source): (\w+)")
NOT_COMMITTED = "0" * 40


def changed(rules: Mapping[str, Callable[..., Any]], recorded: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Claim -> when its rule last changed (ISO), also ``SHARED``. Missing: unknown (no history, or not yet committed).

    Args:
        rules: claim -> the function that its row names.
        recorded: date -> claims whose rule last changed then by an earlier history.
    """
    stays = git("log", "--format=%H", "--grep=^Rules: unchanged$", "--", ".", root=str(HERE))
    if stays is None or git("rev-parse", "--is-shallow-repository", root=str(HERE)) != "false\n":
        return {}
    ignored = set(stays.split())
    form = max(map(datetime.fromisoformat, recorded))
    files = [path for path in (HERE / ROWS, *HERE.rglob("*.py")) if path.name not in NO_RULE]
    lines = {path: _blamed(path, ignored, form) for path in files}
    found = {claim: [date] for date, claims in recorded.items() for claim in claims}
    row = ""
    for date, line in lines.pop(HERE / ROWS):
        row = start[1] if (start := ROW.match(line)) else row
        found.setdefault(row, []).append(date)
    for claim, rule in rules.items():
        code, first = inspect.getsourcelines(inspect.unwrap(rule))
        own = lines[Path(inspect.getfile(inspect.unwrap(rule)))][first - 1 : first - 1 + len(code)]
        found[claim] += [date for date, _ in own]
    found[SHARED] += [date for each in lines.values() for date, _ in each]
    return {name: max(known, key=datetime.fromisoformat) for name, dates in found.items() if (known := _known(dates))}


def _blamed(path: Path, ignored: set[str], form: datetime) -> list[tuple[str, str]]:
    """(date of the last change, text) of each line; no date: by a commit that left the rules as they are, or before
    they had this form; ``?``: by none."""
    skip = [word for commit in sorted(ignored) for word in ("--ignore-rev", commit)]
    said = git("blame", "--root", "-l", "--date=iso-strict", *skip, "--", str(path), root=str(HERE))
    if said is None:
        return [("?", text) for text in path.read_text(encoding="utf-8").splitlines()]
    found = [match.groups() for line in said.splitlines() if (match := BLAME.match(line))]
    kept = {date for c, date, _ in found if c in ignored or datetime.fromisoformat(date) <= form}
    return [("?" if c == NOT_COMMITTED else "" if date in kept else date, text) for c, date, text in found]


def _known(dates: list[str]) -> list[str]:
    """The dates, none where a line is not committed."""
    return [] if "?" in dates else [date for date in dates if date]


def told(date: str, since: str, verdict: str) -> str:
    """A row's line: when its rule last changed, and whether the records that it reads existed then.

    Args:
        date: of the change (ISO); empty if unknown.
        since: date of the first record that the row reads (ISO); empty if it read none.
        verdict: of the row.
    """
    if not date:
        return "rule last changed: unknown"
    day = f"rule last changed {date[:10]}"
    if not since:
        return f"{day}, {'before any record' if verdict == 'not yet tested' else 'needs no record'}"
    before = datetime.fromisoformat(date) < datetime.fromisoformat(since)
    return f"{day}, {'before' if before else 'after'} its first record"
