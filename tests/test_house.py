"""The house's own rules: no machine's paths, no large file, one list of dependencies."""

import re
import runpy
import tomllib

import pytest

from actlab import paths

MACHINE = r"/[w]ork/|/[h]ome/[a-z]|/[U]sers/[a-z]|/[r]oot/|\b[A-Z]:\\\\"
"""The brackets keep the pattern from finding itself."""


def test_no_path_of_a_machine():
    """No committed text names a folder that exists on one machine only."""
    if not paths.git("grep", "-l", "def test_no_path_of_a_machine"):
        pytest.skip("no git history here")
    assert paths.git("grep", "-nIE", MACHINE) is None


def test_no_committed_file_is_large():
    """Weights and records are the largest; a wheel or a build's output that slipped in is refused."""
    listed = paths.git("ls-tree", "-rl", "HEAD") or pytest.skip("no git history here")
    assert max(int(line.split()[3]) for line in listed.splitlines()) < 2 << 20


def text_of(name):
    return (paths.ROOT / name).read_text(encoding="utf-8")


def bare(requirements):
    """Requirements' package names, normalised."""
    return {re.match(r"[\w.-]+", each)[0].lower().replace("_", "-") for each in requirements}


def test_environment_yml_and_constraints_name_the_packages_of_pyproject():
    """conda's list is made of pip's; constraints.txt pins every declared package, constraints.lock has their hashes."""
    made = runpy.run_path(str(paths.ROOT / ".ci" / "dependencies.py"))["environment"]
    assert made(text_of("environment.yml")) == text_of("environment.yml"), "python .ci/dependencies.py"
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    chosen = ("book", "data", "explore", "cluster", "lab", "test")
    pinned = re.findall(r"^[^#\n].*", text_of("constraints.txt"), re.MULTILINE)
    assert bare(project["dependencies"] + [name for extra in chosen for name in extras[extra]]) <= bare(pinned)
    locked = re.findall(
        r"^(\S+==.*?)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", text_of("constraints.lock"), re.MULTILINE
    )
    assert [name for name, _ in locked] == pinned


def test_what_make_and_the_workflows_bring_is_known_by_its_hash():
    """Every installation is held to constraints.lock, or brings nothing; every action is a commit."""
    make = text_of("Makefile")
    assert "\nLOCKED := --only-binary :all: -c constraints.lock\n" in make
    installs = re.findall(r"(?:\$\(PIP\)|\$\(UV\))([^|\n]*)", make)
    assert len(installs) >= 6
    assert all(re.search(r"\$\(LOCKED\)|--require-hashes|--no-deps --no-build-isolation", words) for words in installs)
    for file in (paths.ROOT / ".github").rglob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert "pip install" not in text
        assert re.findall(r"uses: (.*)", text) == re.findall(r"uses: ([\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+)", text)
