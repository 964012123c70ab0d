"""`actlab cache [prune]`: how large the cache is, and what may go from it."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Context, Option

from actlab.cli.options import AsJson, console, print_json

app = typer.Typer(help="The cache: how large it is, what may go from it.")


@app.callback(invoke_without_command=True)
def size(context: Context, as_json: AsJson = False) -> None:
    """How many files and bytes each part of the cache has."""
    if context.invoked_subcommand:
        return
    from actlab import paths
    from actlab.study.cache_files import PARTS, files

    there = list(files())
    sizes = {part: [file.size for file in there if file.part == part] for part in PARTS}
    if as_json:
        rows = [{"part": part, "files": len(own), "bytes": sum(own)} for part, own in sizes.items()]
        print_json({"folder": str(paths.cache()), "parts": rows})
        return
    for part, own in sizes.items():
        console.print(f"{part:<8}{len(own):>7} files {in_bytes(sum(own)):>10}  {PARTS[part]}")
    total = sum(file.size for file in there)
    console.print(f"{paths.shown(paths.cache())}: {len(there)} files, {in_bytes(total)} (ACTLAB_CACHE moves it)")


@app.command()
def prune(
    days: Annotated[float, Option(min=0, help="Only what has not changed for so many days.")] = 30,
    part: Annotated[list[str] | None, Option(help="Only this part of `actlab cache`; may be repeated.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go, and delete nothing.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete old files of the cache. Records stay: a run makes again what it needs and no longer finds."""
    from actlab.errors import check_name
    from actlab.study.cache_files import PARTS, delete, older

    for name in part or ():
        check_name("part", name, PARTS, "--part")
    old = [file for file in older(days) if file.part in (part or PARTS)]
    by_part = [sum(file.part == name for file in old) for name in PARTS]
    parts = ", ".join(f"{name} {count}" for name, count in zip(PARTS, by_part, strict=True) if count)
    said = f"{len(old)} files, {in_bytes(sum(file.size for file in old))}{f' ({parts})' if parts else ''}"
    if dry_run or not old:
        console.print(f"would delete {said}")
        return
    if not yes:
        typer.confirm(f"delete {said}?", abort=True)
    gone = sum(map(delete, old))
    console.print(f"deleted {gone} of {len(old)} files")


def in_bytes(count: int) -> str:
    """``512 bytes``, ``1.4 MB``."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
