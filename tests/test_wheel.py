"""What is published: a source archive and a wheel that are whole, and do their work in an empty environment."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from actlab import __version__, paths

SOURCES = ("lib", "params", "results/bits")
NO_SOURCES = ("__pycache__", "*.egg-info")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
TORCH = "torch==2.13.0"
pytestmark = pytest.mark.slow


def call(*command, folder):
    """What a command says; nothing of this checkout or its environment is known to it."""
    own = ("PYTHONPATH", "VIRTUAL_ENV", "ACTLAB_DATA", "ACTLAB_RESULTS", "ACTLAB_CACHE")
    known = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run([*map(str, command)], cwd=folder, env=known, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def environment(folder):
    """The Python of an empty environment."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def brought(python, *words):
    """Install with uv, in the recorded versions; skips where no registry answers."""
    command = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python)
    try:
        return call(*command, "-c", paths.ROOT / "constraints.txt", *words, folder=python.parent)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return pytest.skip(f"no registry has {words}: {str(error)[-300:]}")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folder of the source archive and the wheel, made of a copy of the checkout."""
    root = tmp_path_factory.mktemp("made")
    for name in SOURCES:
        shutil.copytree(paths.ROOT / name, root / "actlab" / name, ignore=shutil.ignore_patterns(*NO_SOURCES))
    for name in FILES:
        shutil.copy(paths.ROOT / name, root / "actlab" / name)
    python = environment(root / "tools")
    brought(python, "build", "twine")
    call(python, "-m", "build", "--outdir", root / "dist", root / "actlab", folder=root)
    call(python, "-m", "twine", "check", "--strict", *(root / "dist").iterdir(), folder=root)
    return root / "dist"


def below(*folders):
    """Names of the files below some folders of the checkout, from ``lib`` on; params lie in the package."""
    found = [path for folder in folders for path in (paths.ROOT / folder).rglob("*") if path.is_file()]
    names = [path.relative_to(paths.ROOT).as_posix() for path in found if "__pycache__" not in path.parts]
    return {name.removeprefix("lib/") if name.startswith("lib/") else f"actlab/{name}" for name in names}


def test_the_wheel_has_every_file_of_the_package(made):
    """Modules, styles, templates, words, the params files of the recorded studies and one record, and nothing else."""
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == below("lib/actlab", "lib/actlab_audit", "params", "results/bits")
    assert [path.name for path in made.glob("*.tar.gz")] == [f"actlab-{__version__}.tar.gz"]


def test_a_wheel_in_an_empty_environment_does_its_work(made, tmp_path):
    """A project is made, its first study trained, reported and compared with a second one, far from any checkout."""
    (wheel,) = made.glob("*.whl")
    python = environment(tmp_path / "environment")
    brought(python, "--torch-backend", "cpu", TORCH, wheel)

    def actlab(*words, folder=tmp_path / "own"):
        return call(python, "-m", "actlab", *words, folder=folder)

    assert "is a project" in actlab("init", "own", folder=tmp_path)
    assert "site-packages" in call(python, "-c", "import actlab; print(actlab.__file__)", folder=tmp_path)
    quick = ("run", "params/first.yaml", "--workers", 1, "--max-iters", 20, "--activation", "relu,gelu")
    assert "2 of 2 records" in actlab(*quick)
    assert "equal bit for bit" in actlab("replay", "--quick")
    actlab(*quick, "--set", "study=second", "--set", "learning_rate=0.01")
    assert "out/first/summary.txt" in actlab("report", "first", "--no-plots")
    assert "second" in actlab("compare", "first", "second")
    assert {path.name for path in (tmp_path / "own" / "results").iterdir()} == {"first", "second"}
