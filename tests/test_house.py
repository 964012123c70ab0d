"""The house's own rules: no machine's paths, no large file, one list of dependencies."""

import re
import tomllib

import pytest
import yaml

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


def bare(requirement):
    """A requirement's package name, normalised."""
    return re.split(r"[<>=!~\[; ]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-")


def test_environment_yml_and_constraints_name_the_packages_of_pyproject():
    """conda's list and pip's list cannot drift apart: dependencies and the extras ``test`` and ``lab``, no more and no
    less; and constraints.txt pins each of them."""
    entries = yaml.safe_load((paths.ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    conda = [entry for entry in entries if isinstance(entry, str)]
    pip = [entry for group in entries if isinstance(group, dict) for entry in group["pip"] if not entry.startswith("-")]
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {bare(name) for name in project["dependencies"] + extras["test"] + extras["lab"]}
    assert {bare(name) for name in conda + pip} - {"python", "pip"} == declared
    assert any(re.fullmatch(r"python=3\.1[1-3]", entry) for entry in conda), (
        "repo2docker (Binder) takes a Python of its own for a range"
    )
    lines = (paths.ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert declared <= {bare(line) for line in lines if "==" in line}
    locked = re.split(r"\n(?=\S)", (paths.ROOT / "constraints.lock").read_text(encoding="utf-8").strip())
    assert [entry.partition(" \\")[0] for entry in locked] == [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"\S+==.*( \\\n +--hash=sha256:[0-9a-f]{64})+", entry) for entry in locked)


def test_what_make_and_the_workflows_bring_is_known_by_its_hash():
    """Every installation is held to constraints.lock, or brings nothing; every action is a commit."""
    make = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nLOCKED := --only-binary :all: -c constraints.lock\n" in make
    installs = re.findall(r"(?:\$\(PIP\)|uv pip install)([^|\n]*)", make)
    assert len(installs) >= 6
    assert all(re.search(r"\$\(LOCKED\)|--require-hashes|--no-deps --no-build-isolation", words) for words in installs)
    for file in (paths.ROOT / ".github").rglob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert "pip install" not in text
        assert re.findall(r"uses: (.*)", text) == re.findall(r"uses: ([\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+)", text)
