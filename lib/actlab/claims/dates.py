"""When each claim's rule was last changed, by the repository's git history, and whether its records existed then.

A rule is the row that holds it with the functions and constants that the row uses; formatting, docstrings and types
of results are none of it.  What all rows share (classes of tests, ``verdicts.py``) is dated apart.  A commit whose
message has the trailer ``Rules: unchanged`` moved or rewrote rules without a change of any verdict: it leaves the
dates as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from actlab import paths
from actlab.records.registration import git

FOLDER = "lib/actlab/claims"
LOG = (
    "log",
    "--reverse",
    "--format=%x00%aI%x09%d%x09%(trailers:key=Rules,valueonly,separator=%x2C)",
    "-p",
    "-U1000000",
)
"""One call: every commit that touched the folder, the oldest first, each file that it changed in full."""
UNCHANGED = "unchanged"
START = re.compile(r"^(?=(?:@|def |class |[A-Za-z_][\w, ]*(?::[^=\n]+)? = ))", re.MULTILINE)
NAMES = re.compile(r"(?:def|class)\s+(\w+)|([A-Za-z_][\w, ]*?)(?::[^=\n]+)? = ")
CLASS = re.compile(r"class ")
DOCSTRING = re.compile(r'"""(?:.|\n)*?"""')
IN_A_LOOP = {f"S{number}": "LOSSES" for number in range(12, 20)}
"""Claims whose row is made in a loop -> the constant that holds them."""
SHARED = "shared"
"""Key of what all rows share."""
SHARED_FILES = ("__init__.py", "verdicts.py", "evidence.py")
OTHERS = ("ledger.py", "history.py", "dates.py")
"""Files that hold no rule."""

Parts = dict[str, str]


def definitions(files: Mapping[str, str]) -> dict[str, str]:
    """Claim -> its rule as text, and ``SHARED`` -> what all share, from the sources of the folder by name of file."""
    parts = {name: _parts(text) for name, text in files.items() if name not in OTHERS}
    everywhere: Parts = {}
    shared = []
    for name, found in parts.items():
        apart = {key for key, text in found.items() if name in SHARED_FILES or CLASS.match(text)}
        shared += [_plain(found[key]) for key in apart]
        everywhere |= {key: text for key, text in found.items() if key not in apart}
    rules = {SHARED: "\n".join(sorted(shared))}
    for found in parts.values():
        known = everywhere | {key: text for key, text in found.items() if not CLASS.match(text)}
        rows = _rows(found.get("CLAIMS", "")) | {id: found[key] for id, key in IN_A_LOOP.items() if key in found}
        rules |= {id: _closure(text, known) for id, text in rows.items()}
    return rules


@cache
def _parts(text: str) -> Parts:
    """What a file defines at its left margin, by name, as it is written."""
    blocks = START.split(DOCSTRING.sub("", text))
    found: Parts = {}
    for block in blocks:
        if names := NAMES.match(block):
            found |= dict.fromkeys(re.findall(r"\w+", names[1] or names[2]), block)
    return found


@cache
def _rows(claims: str) -> Parts:
    """Claim -> its row in the tuple of them."""
    rows = re.split(r"^    (?=\w+\()", claims, flags=re.MULTILINE)
    return {id[1]: row for row in rows if (id := re.match(r"\w+\(\s*\"([MSRT]\d\d)\"", row))}


@cache
def _plain(text: str) -> str:
    """Code without what formatting changes (blanks, breaks, last commas, cuts in long texts) and types of results."""
    for pattern, kept in ((r"\s+", ""), (r",(?=[)\]}])", ""), (r"\"f?\"", ""), (r"\)->[^:]*:", "):")):
        text = re.sub(pattern, kept, text)
    return text


@cache
def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"\n]*"', '""', text))) - {"CLAIMS"}


def _closure(row: str, known: Parts) -> str:
    """The row's text and that of all it uses, directly or not."""
    used: set[str] = set()
    new = _names(row) & known.keys()
    while new:
        used |= new
        new = frozenset().union(*(_names(known[name]) for name in new)) & known.keys() - used
    return "\n".join([_plain(row), *sorted({_plain(known[name]) for name in used})])


def commits(log: str) -> Iterator[tuple[str, bool, bool, dict[str, str]]]:
    """(date, whether what came before is cut off, whether rules stay, file -> its text after the commit; empty:
    deleted).
    """
    for entry in log.split("\0")[1:]:
        head, _, patch = entry.partition("\n")
        date, refs, rules = head.split("\t")
        files = {}
        for change in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
            name = re.match(r"a/.*? b/(.*)", change)
            lines = change.split("\n@@", 1)[1].split("\n")[1:] if "\n@@" in change else []
            if name and name[1].endswith(".py"):
                files[Path(name[1]).name] = "\n".join(line[1:] for line in lines if line[:1] in ("+", " "))
        yield date, "grafted" in refs, UNCHANGED in rules, files


def changes(log: str) -> tuple[dict[str, str], dict[str, str]]:
    """(claim -> when its rule last changed, claim -> its rule) after the last commit; "" where the history is cut off
    before.
    """
    dates: dict[str, str] = {}
    rules: dict[str, str] = {}
    sources: dict[str, str] = {}
    for date, cut, stays, files in commits(log):
        sources = {name: text for name, text in (sources | files).items() if text}
        now = definitions(sources)
        for id in now.keys() - {id for id, rule in rules.items() if now.get(id) == rule}:
            if not (stays and id in dates):
                dates[id] = "" if cut else date
        rules = now
    return dates, rules


@cache
def changed() -> dict[str, str]:
    """Claim -> when its rule last changed (ISO), also ``SHARED``. Missing or empty: unknown (no history, or not yet
    committed).
    """
    log = git(*LOG, "--", FOLDER)
    if log is None:
        return {}
    dates, rules = changes(log)
    here = {path.name: path.read_text(encoding="utf-8") for path in sorted((paths.ROOT / FOLDER).glob("*.py"))}
    now = definitions(here)
    return {id: date for id, date in dates.items() if date and now.get(id) == rules.get(id)}


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
