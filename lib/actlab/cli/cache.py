"""`actlab cache [prune]`: how large the cache is, and what may go from it. Records lie elsewhere and stay."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from typer import Context, Option

from actlab import paths
from actlab.cli.options import AsJson, Yes, console, print_json
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


def files(part: str) -> dict[Path, os.stat_result]:
    """Of one part each file, with size and times, without locks; links are not followed."""
    found = {}
    for folder, _, names in os.walk(paths.cache() / part):
        for path in (Path(folder) / name for name in sorted(names)):
            if path.suffix != ".lock" and not path.is_symlink():
                with suppress(FileNotFoundError):  # a run that goes on has taken it away
                    found[path] = path.stat()
    return found


@app.callback(invoke_without_command=True)
def size(context: Context, as_json: AsJson = False) -> None:
    """How many files and bytes each part of the cache has."""
    if context.invoked_subcommand:
        return
    rows, total = [], 0
    for part, holds in PARTS.items():
        sizes = [status.st_size for status in files(part).values()]
        rows.append({"part": part, "files": len(sizes), "bytes": sum(sizes)})
        total += sum(sizes)
        console.print(f"{part:<8}{len(sizes):>7} files {decimal(sum(sizes)):>10}  {holds}")
    console.print(f"{paths.shown(paths.cache())}: {decimal(total)} (ACTLAB_CACHE moves it)")
    if as_json:
        print_json({"folder": str(paths.cache()), "parts": rows})


@app.command()
def prune(
    days: Annotated[float, Option(min=1, help="Only what has not changed for so many days.")] = 30,
    part: Annotated[list[str] | None, Option(help="Only this part of `actlab cache`; may be repeated.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go, and delete nothing.")] = False,
    yes: Yes = False,
) -> None:
    """Delete old files of the cache. Records stay: a run makes again what it needs and no longer finds."""
    for name in part or ():
        check_name("part", name, PARTS, "--part")
    since = time.time() - days * DAY  # what a process trains now has changed later
    old: dict[Path, int] = {}
    for name in part or PARTS:
        old |= {path: status.st_size for path, status in files(name).items() if status.st_mtime <= since}
    said = f"{len(old)} files, {decimal(sum(old.values()))}"
    if dry_run or not old:
        console.print(f"would delete {said}")
        return
    if not yes:
        typer.confirm(f"delete {said}?", abort=True)
    for path in old:
        path.unlink(missing_ok=True)
    console.print(f"deleted {said}")
