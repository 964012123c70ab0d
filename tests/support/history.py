"""A git repository whose history a test writes. Not a test."""

import os
import subprocess


def git(folder, *arguments, date="2026-01-01T12:00:00+00:00"):
    own = ("core.hooksPath=/dev/null", "init.defaultBranch=main", "user.name=a", "user.email=a@b")
    command = ["git", *(word for setting in own for word in ("-c", setting)), *arguments]
    environment = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def commit(folder, message, date, files):
    """Files (name -> text) as they are from that day on."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", message, date=date)


def contents(folder, objects):
    """The bytes of each of some objects (``COMMIT:PATH``), in their order, from one call of git."""
    asked = "".join(f"{name}\n" for name in objects).encode()
    found = subprocess.run(["git", "cat-file", "--batch"], cwd=folder, input=asked, check=True, capture_output=True)
    rest = memoryview(found.stdout)
    while rest:
        end = bytes(rest[:200]).index(b"\n")
        size = int(bytes(rest[:end]).split()[-1])
        yield bytes(rest[end + 1 : end + 1 + size])
        rest = rest[end + 2 + size :]
