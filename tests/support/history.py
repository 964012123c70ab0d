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
