"""The whole way on a tiny study: params -> training -> records -> notebook -> book, and what a deleted record does to
the page."""

import json
import re
import sys
from pathlib import Path

import pytest
from books import book_of
from bs4 import BeautifulSoup
from tiny import ran

from actlab import paths

STUDY = """
study: chain-quick
model: convlm
activation: [relu, swiglu]
trials: 3
dataset: pydoc
scale: quick
iterations: 4
evaluate_every: 2
batch_size: 4
prediction_windows: 16
noise_floor: true
"""
BUILD = ["jupyter-book", "build", "book", "-W", "--keep-going"]
PAGES = """
- page: studies/chain
  notebook: repro
  file: params/chain.yaml
  params: {train_missing: false}
  reads: [chain-quick]
"""


@pytest.fixture
def root(tmp_path):
    """A repository of one study, with the real notebook."""
    book = book_of(tmp_path, "studies/chain")
    (book / "pages.yaml").write_text(PAGES)
    notebook = (paths.ROOT / "notebooks" / "repro.ipynb").read_text(encoding="utf-8")
    linkless = re.sub(r"\[([\w ]*)\]\(\w+\.ipynb\)", r"\1", notebook)  # no other study's page is here
    for name, text in {"notebooks/repro.ipynb": linkless, "params/chain.yaml": STUDY}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def command(root, program, *words, fails=False):
    """Run one of the environment's programs in the repository."""
    ran([Path(sys.executable).with_name(program), *words], fails, cwd=root, timeout=280)


def page(root):
    """The visible text of the study's page."""
    html = (root / "book" / "_build" / "html" / "studies" / "chain.html").read_text(encoding="utf-8")
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


@pytest.mark.slow
def test_from_params_to_page(root):
    """The page shows the numbers of the records that training wrote; without a record it says so. No fault of a page is
    forgotten by the next build."""
    command(root, "actlab", "run", "params/chain.yaml", "--workers", "2")
    records = {
        path.name: json.loads(path.read_text()) for path in (root / "results" / "chain-quick").glob("convlm*.json")
    }
    assert len(records) == 4
    command(root, *BUILD)
    mine = next(r for r in records.values() if r["kind"] == "trials" and r["activation"] == "swiglu")
    shown = page(root)
    numbers = [f" {100 * mine['avg_total_variation']:.4f} ", f" {mine['avg_val_loss']:.4f} "]  # in points, and nats
    assert [number for number in numbers if number not in shown] == []
    next((root / "results" / "chain-quick").glob("convlm-swiglu-[0-9a-f]*.json")).unlink()
    command(root, *BUILD)
    shown = page(root)
    assert [number for number in numbers if number in shown] == []
    assert re.search(r"convlm SwiGLU (NaN|0|0\.0|\d[\d.]* )[^a-z]*(NaN[^a-z]*)*missing", shown), "a row that says so"
    (root / "book" / "intro.md").write_text("# Intro\n\n[nowhere](nowhere.md)\n")
    for _ in range(2):
        command(root, *BUILD, fails=True)
