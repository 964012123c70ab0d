"""Real processes in trouble: the reference that they are compared with, and the server that forks them."""

import pytest
from faulty import Server, Study


@pytest.fixture(scope="session")
def server():
    """Forks runs from a warm process."""
    started = Server()
    yield started
    started.close()


@pytest.fixture(scope="session")
def undisturbed(server, tmp_path_factory):
    """The records of an undisturbed run: file name -> essence."""
    study = Study(tmp_path_factory.mktemp("undisturbed"))
    server.run(study)
    found = study.records()
    assert len(found) == 3, "two arms and the text's baselines"
    return found
