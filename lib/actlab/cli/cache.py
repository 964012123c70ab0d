"""`actlab cache [prune]`: how large the cache is, and what may go from it. Records lie elsewhere and stay."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from typer import Context, Option

from actlab import paths
from actlab.cli.options import AsJson, console, print_json
from actlab.errors import check_name

app = typer.Typer(help="The cache: how large it is, what may go from it.")
PARTS = {
    "trials": "finished trials with their weights and predictions, snapshots, checkpoints",
    "tokens": "token shards of texts",
    "tables": "tables of large studies",
    "book": "executed pages",
    "logs": "what runs have said",
}
"""Folder in the cache -> what it holds; nothing else in it is ours to delete."""
DAY = 86_400


@dataclass(frozen=True)
class CacheFile:
    """One file."""

    part: str
    path: Path
    size: int
    """Bytes."""
    changed: float
    """Seconds since 1970."""


def files() -> Iterator[CacheFile]:
    """All of them, without locks and what is being written; links are not followed."""
    for part in PARTS:
        for folder, _, names in os.walk(paths.cache() / part):
            for path in (Path(folder) / name for name in sorted(names)):
                if path.suffix != ".lock" and path.name[0] != "." and not path.is_symlink():
                    with suppress(FileNotFoundError):  # a run that goes on has taken it away
                        found = path.stat()
                        yield CacheFile(part, path, found.st_size, found.st_mtime)


@app.callback(invoke_without_command=True)
def size(context: Context, as_json: AsJson = False) -> None:
    """How many files and bytes each part of the cache has."""
    if context.invoked_subcommand:
        return
    there = list(files())
    sizes = {part: [file.size for file in there if file.part == part] for part in PARTS}
    if as_json:
        rows = [{"part": part, "files": len(own), "bytes": sum(own)} for part, own in sizes.items()]
        print_json({"folder": str(paths.cache()), "parts": rows})
        return
    for part, own in sizes.items():
        console.print(f"{part:<8}{len(own):>7} files {decimal(sum(own)):>10}  {PARTS[part]}")
    total = sum(file.size for file in there)
    console.print(f"{paths.shown(paths.cache())}: {len(there)} files, {decimal(total)} (ACTLAB_CACHE moves it)")


@app.command()
def prune(
    days: Annotated[float, Option(min=1, help="Only what has not changed for so many days.")] = 30,
    part: Annotated[list[str] | None, Option(help="Only this part of `actlab cache`; may be repeated.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go, and delete nothing.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete old files of the cache. Records stay: a run makes again what it needs and no longer finds."""
    for name in part or ():
        check_name("part", name, PARTS, "--part")
    since = time.time() - days * DAY  # what a process trains now has changed later
    old = [file for file in files() if file.changed <= since and file.part in (part or PARTS)]
    counts = Counter(file.part for file in old)
    parts = ", ".join(f"{name} {counts[name]}" for name in PARTS if counts[name])
    said = f"{len(old)} files, {decimal(sum(file.size for file in old))}{f' ({parts})' if parts else ''}"
    if dry_run or not old:
        console.print(f"would delete {said}")
        return
    if not yes:
        typer.confirm(f"delete {said}?", abort=True)
    for file in old:
        file.path.unlink(missing_ok=True)
    console.print(f"deleted {said}")
