"""The image sweep read from records: pairing by seed, sentences that count."""

import pytest
from sweeps import longer, made_up

from actlab.chapters import mnist as chapter
from actlab.records import mnist as mnist_records
from actlab.study.mnist import MnistParams
from actlab.study.run import run


def test_differences_are_paired_by_seed():
    """The effect of the seed that arms share cancels: the interval is far narrower than the scatter."""
    found = mnist_records.differences(made_up(), "geglu_equal_width")[8, 0.001, 64]
    assert found.value == pytest.approx(3.0, abs=0.2)
    assert found.high - found.low < 0.5


def test_sentences_count_cells():
    """Equal width wins everywhere, equal parameters lose everywhere, and the collapsed are counted."""
    found = chapter.sentences(made_up())
    assert "960 networks were trained, 0 diverged and 160 collapsed to one class" in found["mnist_extent"]
    assert "better than ReLU in 32 and worse in 0 of 32" in found["mnist_equal_width"]
    assert "better than ReLU in 0 and worse in 32 of 32" in found["mnist_equal_parameters"]


def test_more_epochs_stand_for_themselves():
    """Longer trainings are compared with the first epoch seed by seed, and enter no other number."""
    once = made_up()
    both = made_up(longer(3) + longer(10))
    found = mnist_records.gains(both, "relu", 8)
    assert {epochs: round(e.value, 6) for epochs, e in found.items()} == {3: 2.0, 10: 9.0}
    assert list(mnist_records.over_epochs(both)["relu"]) == [1, 3, 10]
    said, alone = chapter.sentences(both), chapter.sentences(once)
    assert said.pop("mnist_epochs").startswith("More epochs raise the accuracy of every network, least that of")
    assert said == {name: text for name, text in alone.items() if name != "mnist_epochs"}


def test_cells_are_tabled_by_rate():
    """Equal width wins in all eight cells of a rate, equal parameters lose; both collapse at the largest rate."""
    table = chapter.table(made_up())
    assert list(table.index) == ["rate 0.0001", "rate 0.001", "rate 0.01", "rate 0.1"]
    assert table.iloc[0].tolist() == ["better in 8, worse in 0 of 8", "better in 0, worse in 8 of 8", "0 of 240"]
    assert table.iloc[3, 2] == "160 of 240"


def test_small_sweeps_are_shown_too():
    """Sweeps without the published width, rate or batch, with one trial or without relu: every figure and sentence of
    the page is made."""
    sizes = {"hidden": [8], "learning_rates": [0.01], "batch_sizes": [64], "trials": 3}
    small = (
        {"arms": ["relu"], "hidden": [4], "batch_sizes": [32], "trials": 1},
        {"arms": ["gelu", "geglu_equal_width"], "epochs": [1, 2]},
    )
    for number, changes in enumerate(small):
        found = mnist_records.read(run(MnistParams.parse({"study": f"small{number}", **sizes, **changes})).present)
        assert found.trials["epochs"].nunique() == 1  # longer trainings are no further seeds
        for draw in (chapter.figure_epochs, chapter.figure_differences):
            assert draw(found).axes
        assert all("nan" not in sentence for sentence in chapter.sentences(found).values())
        assert f"{found.cell[0]} hidden units, rate 0.01" in chapter.sentences(found)["mnist_cell"]
        assert len(chapter.table(found)) == 1
