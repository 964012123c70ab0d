"""A git repository whose history a test writes. Not a test."""

import os
import subprocess


def git(folder, *arguments, date="2026-01-01T12:00:00+00:00"):
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environment = {**os.environ, **who, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def commit(folder, message, date, files):
    """Files (name -> text) as they are from that day on."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", message, date=date)
