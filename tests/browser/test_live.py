"""The live notebook in JupyterLab, driven as a reader would: its widgets change the pictures, training shows progress
and stops."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress

import papermill
import pytest
from faulty import until
from playwright.sync_api import TimeoutError, expect

from actlab import paths

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SLOW = 120_000
"""Milliseconds: a kernel that imports torch on a busy machine."""
TOKEN = "actlab"
ITERATIONS = 20_000
"""More than the test waits for: the run ends because it is stopped."""
OPTIONS = """--no-browser --allow-root --ip=127.0.0.1 --ServerApp.port_retries=0 --LabApp.extension_manager=readonly
--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a JupyterLab of its own, with the explorer's notebook and the repository's records; nothing of the
    user's is read or written."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    root = tmp_path_factory.mktemp("lab")
    (root / "work").mkdir()
    source, live = (str(folder / "explore.ipynb") for folder in (paths.ROOT / "notebooks", root / "work"))
    papermill.execute_notebook(source, live, {"iterations": ITERATIONS}, prepare_only=True)
    settings = root / ".jupyter/lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}')  # cells outside the window are in the page, too
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
    own |= {"HOME": str(root), "ACTLAB_CACHE": str(root / "cache"), "ACTLAB_RESULTS": str(paths.ROOT / "results")}
    words = [*OPTIONS.split(), f"--IdentityProvider.token={TOKEN}", f"--port={port}"]
    command = [sys.executable, "-m", "jupyter", "lab", *words, f"--ServerApp.root_dir={root / 'work'}"]
    with (root / "log").open("w") as log:
        server = subprocess.Popen(command, env=own, stdout=log, stderr=subprocess.STDOUT)
        try:
            there = until(lambda: _answers(f"http://127.0.0.1:{port}/api/status?token={TOKEN}"), SLOW / 1000)
            assert there, f"JupyterLab did not start: {(root / 'log').read_text()[-2000:]}"
            yield f"http://127.0.0.1:{port}/lab/tree/explore.ipynb?token={TOKEN}"
        finally:
            server.terminate()  # it ends its kernels
            server.wait(30)


def _answers(address):
    with suppress(OSError):
        return urllib.request.urlopen(address, timeout=5)


@pytest.fixture(scope="module")
def notebook(browser, lab):
    """The notebook with all its cells run."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(SLOW)
    page.goto(lab)
    page.get_by_text("| Idle").wait_for()  # the status bar's word on the kernel
    _run_all(page)
    page.get_by_role("button", name="Train both and compare").wait_for()
    yield page
    page.close()


def _run_all(page):
    """A click that comes too early is lost, or answered by a dialog; it is repeated until a cell has a number or a
    star."""
    begun = page.locator(".jp-InputArea-prompt").filter(has_text=re.compile(r"\[(\*|\d+)\]")).first
    for _ in range(20):
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        with suppress(TimeoutError):
            return begun.wait_for(timeout=5_000)
    pytest.fail("no cell has run")


def test_moving_a_widget_changes_the_figure(notebook):
    """The charts are drawn; beta bends the activation, computed anew by the kernel."""
    notebook.locator(".chart svg").first.wait_for()
    before = notebook.get_by_role("img", name="smelu_1: function").get_attribute("src")
    notebook.locator(".widget-slider").get_by_role("slider").first.press("ArrowRight")
    notebook.wait_for_function("old => document.querySelector('img[alt^=Smelu_1]')?.src != old", arg=before)


def test_training_shows_progress_and_stops(notebook):
    """Stop ends a run within seconds."""
    start, stop = (
        notebook.get_by_role("button", name="Train one now"),
        notebook.get_by_role("button", name="Stop", exact=True),
    )
    words = notebook.get_by_text(re.compile(r"charlm, gelu, seed 42"))
    expect(stop).to_be_disabled()
    start.click()
    expect(words).to_contain_text(re.compile(r"iteration (\d{3}|[4-9]\d)"), timeout=SLOW)
    asked = time.monotonic()
    stop.click()
    expect(words).to_contain_text("was stopped at iteration", timeout=SLOW)
    assert time.monotonic() - asked < 10
    expect(stop).to_be_disabled()
    expect(notebook.get_by_role("img", name="training loss against the iteration")).to_be_visible()
