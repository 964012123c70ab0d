"""What every test shares: one thread, folders of its own, and a word where real data is absent. No network."""

import os
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("ACTLAB_RESULTS", None)


import pytest
import tiny
import torch
from hypothesis import HealthCheck, settings

from actlab import paths
from actlab.data import text
from actlab.models import MODELS, SCALES
from actlab.study.characters.study import CharacterStudy

torch.set_num_threads(1)
SHARED = [HealthCheck.function_scoped_fixture]  # folders and patches that all examples of a test may share
settings.register_profile(
    "house", deadline=None, derandomize=True, database=None, max_examples=60, suppress_health_check=SHARED
)
settings.register_profile("few", settings.get_profile("house"), max_examples=12)
settings.register_profile("many", settings.get_profile("house"), max_examples=200)
settings.load_profile("house")


def pytest_collection_modifyitems(items):
    """Slow tests begin first, and of these whole runs, so that none is left alone at the end."""
    slow, quick = [], []
    for item in items:
        (slow if "slow" in item.keywords else quick).append(item)
    items[:] = [*reversed(slow), *quick]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """``@pytest.mark.data("mnist", ...)`` names what the test needs below the data folder."""
    for mark in item.iter_markers("data"):
        absent = [name for name in mark.args if not (paths.data() / name).exists()]
        if absent:
            pytest.skip(f"no {', '.join(absent)} in {paths.data()}: set ACTLAB_DATA, or run `actlab data get`")


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Records and cached trials of a test lie in its temporary folder; the data folder stays the environment's."""
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def committed(monkeypatch):
    """The records that are read are the repository's own."""
    monkeypatch.delenv("ACTLAB_RESULTS")


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty one."""
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """A test that tries to download something fails with this message."""

    def refuse(url, *args, **kwargs):
        raise ConnectionError(f"tests use no network, but something asked for {url}")

    monkeypatch.setattr("pooch.retrieve", refuse)


@pytest.fixture(params=MODELS)
def architecture(request):
    """The name of every model, one after another."""
    return request.param


@pytest.fixture
def fresh_texts():
    """The texts are loaded anew in this test and after it: for tests that replace one."""
    text._load.cache_clear()
    yield
    text._load.cache_clear()


@pytest.fixture
def toy(monkeypatch, fresh_texts):
    """Parameters of a study whose trials take a blink."""
    monkeypatch.setitem(SCALES, "quick", replace(tiny.CONFIG))
    for name in ("pydoc", "treasure"):
        monkeypatch.setitem(text.TEXTS.built_in, name, lambda: tiny.FOX)
    return CharacterStudy(
        **tiny.STUDY | {"study": "toy", "activation": ("relu", "gelu"), "trials": 3, "prediction_windows": 5}
    )


@pytest.fixture
def cats(monkeypatch):
    """The text of an ablation is short, and tokenized anew for each test."""
    from actlab.study import tokens

    for name in ("pydoc", "treasure"):
        monkeypatch.setitem(text.TEXTS.built_in, name, lambda: tiny.CATS)
    tokens.text_shards.cache_clear()
    yield
    tokens.text_shards.cache_clear()


@pytest.fixture
def no_own_parts():
    """What a test registers is gone after it."""
    from actlab import plugins

    yield
    for table in plugins.TABLES.values():
        table.clear()
    plugins.PARTS.clear()
