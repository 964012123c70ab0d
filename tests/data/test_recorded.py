"""`actlab data get records`: found in a checkout; else downloaded, and held to the hash that the wheel carries."""

import shutil
from email.message import Message

import pooch
import pytest
from served import served

import actlab
from actlab import paths
from actlab.data import recorded
from actlab.data.tree import sha256_of_files
from actlab.errors import DataError

RETRIEVE = pooch.retrieve
"""Before tests take it away."""


@pytest.fixture
def installed(tmp_path, monkeypatch, data_folder):
    """As a wheel has it: no checkout, and the hash of an archive of one small study, whose folder is given."""
    study = tmp_path / "served" / "actlab-0.2.0" / "results" / "gates-eps"
    shutil.copytree(paths.ROOT / "results" / "gates-eps", study)
    package = tmp_path / "package"
    package.mkdir()
    (package / recorded.HASH).write_text(sha256_of_files(study.parent) + "\n")
    monkeypatch.setattr(paths, "PACKAGE", package)
    monkeypatch.setattr(paths, "CHECKOUT", None)
    monkeypatch.setattr(pooch, "retrieve", RETRIEVE)
    monkeypatch.delenv("ACTLAB_RESULTS")
    shutil.make_archive(str(tmp_path / "served" / "v"), "zip", tmp_path / "served", "actlab-0.2.0")
    return tmp_path / "served"


def metadata(*addresses):
    """Of the project."""
    about = Message()
    about["Version"] = "0.2.0"
    for line in addresses:
        about["Project-URL"] = line
    return lambda name: about


def test_a_checkout_has_them():
    assert recorded.get() == paths.ROOT / "results"


def test_they_are_downloaded_checked_and_read(installed, monkeypatch):
    """From the address of the project's metadata; a second call asks for nothing."""
    with served(installed) as address:
        place = f"{address}/archive/refs/tags"
        (installed / "archive/refs/tags").mkdir(parents=True)
        (installed / "v.zip").rename(installed / "archive/refs/tags/v0.2.0.zip")
        monkeypatch.setattr(recorded.metadata, "metadata", metadata(f"Repository, {address}"))
        assert recorded.address() == f"{place}/v0.2.0.zip"
        folder = recorded.get()
    assert folder == paths.data() / "records" == paths.recorded()
    assert recorded.get() == folder
    assert [path.name for path in paths.data().iterdir()] == ["records"]
    monkeypatch.setattr(paths, "project", lambda: installed)  # a project without records of its own
    assert len(actlab.load("gates-eps", "twins")[0]) > 3


def test_others_are_refused(installed):
    """Records of another version, an archive without any, and what is not there; nothing is left behind."""
    (installed / "actlab-0.2.0" / "results" / "more.json").touch()
    shutil.make_archive(str(installed / "other"), "zip", installed, "actlab-0.2.0")
    shutil.make_archive(str(installed / "none"), "zip", installed / "actlab-0.2.0" / "results" / "gates-eps")
    with served(installed) as address:
        for name, said in (
            ("other", "does not hold the records of actlab .*: expected sha256"),
            ("none", "holds no folder `results`"),
            ("absent", "could not be had .*404"),
        ):
            with pytest.raises(DataError, match=said):
                recorded.get(f"{address}/{name}.zip")
    assert [*paths.data().iterdir()] == []
    assert paths.recorded() is None


def test_without_an_address_the_error_says_how_to_give_one(installed, monkeypatch):
    monkeypatch.setattr(recorded.metadata, "metadata", metadata())
    with pytest.raises(DataError, match=r"does not say where its repository is: name its archive \(`actlab data"):
        recorded.get()
    (paths.PACKAGE / recorded.HASH).unlink()
    with pytest.raises(DataError, match=r"has no records\.sha256"):
        recorded.get()
