"""The ablation's notebook through papermill: from parameters to verdicts on a tiny study, and a mistake that ends it
with the known names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from actlab import paths

TINY = (
    "{optimizers: [adamw, ecd], iterations: 2, evaluate_every: 1, vocab_size: 257, validation_windows: 2, workers: 1}"
)


def papermill(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "papermill",
        str(paths.ROOT / "notebooks" / "ablation.ipynb"),
        str(out),
        "--no-progress-bar",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_mistake_ends_the_run(tmp_path: Path) -> None:
    """Exit code not 0, and the message lists what is allowed."""
    done = papermill(tmp_path / "out.ipynb", "-p", "optimizers", "[adam]")
    assert done.returncode != 0
    assert "known are adamw, ecd, sgdm, soap" in done.stderr


@pytest.mark.slow
def test_the_notebook_runs_on_a_part_of_the_factorial(tmp_path: Path) -> None:
    """Eight of sixteen arms are trained, the others are named as missing, and every claim has a verdict."""
    done = papermill(tmp_path / "out.ipynb", "-y", TINY)
    assert done.returncode == 0, done.stderr[-2000:]
    text = json.dumps(json.loads((tmp_path / "out.ipynb").read_text()))
    assert "8 of the 16 arms have records; 8 trials, 0 diverged" in text
    assert "no record yet" in text
    assert all(f"S{n:02d}" in text for n in range(1, 25))
    assert len(list((paths.results() / "ablation-quick").glob("*.json"))) == 8
