"""Plug-in files: loaded in every worker, known by their text, refused with a way out; and what else is refused before
any training."""

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest
import tiny
import torch
from faulty import essence

import actlab
from actlab import paths, plugins, report
from actlab.errors import BadInput
from actlab.records import store
from actlab.records import tables as tidy
from actlab.study.characters.study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.run import Ended, run
from actlab.study.tokens import TokenStudy
from actlab.trainers.determinism import weights_sha256

pytestmark = pytest.mark.usefixtures("no_own_parts")
MINE = """import torch
from torch import nn
import actlab

@actlab.register_activation("mine")
class Mine(nn.Module):
    def forward(self, x):
        return {formula}

@actlab.register_metric("half", label="half L1 (0 to 1)", note="lower is more reproducible")
def half(p, q):
    return (p - q).abs().sum(1) / 2
"""
SWISH, WAVE = "x * torch.sigmoid(x)", "3 * torch.sin(x)"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """``my_parts.py`` in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my_parts.py"
    path.write_text(MINE.format(formula=SWISH))
    return path


def test_two_workers_give_the_bits_of_one(toy, mine):
    """The file reaches every worker, and what it trains there is what it trains here, but for times and dates."""
    settings = toy.replace(activation=("mine",), plugins=("my_parts.py",), dataset=text_file(mine))
    heard = []
    (one,), (two,) = (run(settings.replace(study=f"toy-{n}"), n, heard.append).present for n in (1, 2))
    assert essence({**one, "study": "toy-2"}) == essence(two)
    assert len({trial["weights_sha256"] for trial in one["trials"]}) == 3
    assert one["provenance"]["plugins"]["my_parts.py"]["source"] == mine.read_text()
    assert one["provenance"]["data"]["path"] == one["config"]["dataset"] == "my_text.txt"
    assert list(store.folder_of("toy-1").glob("baseline-my_text.txt-*.json"))
    assert [type(event) for event in heard].count(Ended) == 2 * 3


def text_file(beside, content=tiny.CATS):
    (beside.parent / "my_text.txt").write_text(content)
    return "my_text.txt"


def test_files_that_are_refused(mine):
    """What is wrong, and what is allowed."""
    for content, message in (
        ("import torch\n\n1 / 0\n", r"plug-in wrong\.py, line 3: ZeroDivisionError: division by zero"),
        ("import os\n", r"plug-in wrong\.py registers nothing: it may call actlab\.register_activation"),
        (MINE.format(formula=WAVE), r"'mine' is already registered by my_parts\.py: choose another name"),
    ):
        actlab.load_plugins(["my_parts.py"])
        (mine.parent / "wrong.py").write_text(content)
        with pytest.raises(BadInput, match=message):
            actlab.load_plugins(["wrong.py"])
        with pytest.raises(BadInput, match=message) as refused:  # and no word of the names that it would register
            CharacterStudy.parse({"activation": "hers", "plugins": "wrong.py"})
        assert "hers" not in str(refused.value)


def test_own_metric_is_read_without_the_plug_in(toy, mine):
    """Half the L1 distance is the total variation: in pairs and tables, by its label; records that lack it show
    nothing for it. It is in the id, and no trial is trained for it; its record supersedes the one without."""
    (plain,) = run(toy.replace(activation=("relu",))).present
    record, _ = run(toy.replace(plugins=("my_parts.py",), activation=("relu", "mine"))).present
    assert record["arm"] != plain["arm"]
    assert record["trials"] == plain["trials"]
    assert record["avg_half"] == pytest.approx(record["avg_total_variation"])
    assert record["config"]["metrics"] == {"half": plugins.parts_of(metric="half")[0][1]}
    for table in plugins.TABLES.values():
        table.clear()
    pairs = tidy.load("toy")[1]
    assert pairs["half"].tolist() == pytest.approx(pairs["total_variation"].tolist())
    assert report.load("toy").metrics["half"].label == "half L1 (0 to 1)"


def test_an_edited_activation_is_another_arm_beside_the_same_reference(toy, mine):
    """A report tells the two by the hashes of their file, in one group with what both are compared with."""
    own = toy.replace(plugins=("my_parts.py",), activation=("relu", "mine"))
    hashes = []
    for formula in (SWISH, WAVE):
        mine.write_text(MINE.partition("@actlab.register_metric")[0].format(formula=formula))
        run(own.replace())
        hashes.append(plugins.parts_of(activation="mine")[0][1][:8])
    found = report.load("toy")
    assert {*found.runs["group"]} == {"charlm"}
    assert {*found.differences["arm"]} == {f"mine {sha256}" for sha256 in hashes}


def test_image_sweep_and_ablation_take_own_parts(mine):
    """The other kinds train an own activation: the sweep as swish does, the ablation on a file of text."""
    own = {"plugins": "my_parts.py"}
    sweep = run(ImageStudy.parse({**tiny.SWEEP, "study": "sweep", "network": ["mine", "swish"], **own}))
    assert [set(r["config"].get("parts", {})) for r in sweep.present] == [{"activation"}, set()]
    losses = {r["activation"]: [t["val_loss"] for t in r["trials"]] for r in sweep.present}
    assert losses["mine"] == pytest.approx(losses["swish"], rel=1e-3)
    one = {"optimizer": "adamw", "symmetry": "symmetric", "activation": "mine", **own}
    ablation = TokenStudy.parse({**tiny.ABLATION, **one, "dataset": text_file(mine, 2 * tiny.CATS)})
    (record,) = run(ablation).present
    assert set(record["config"]["parts"]) == {"activation", "dataset"}
    assert record["config"]["dataset"] == "my_text.txt"


SEER = """import random
import numpy as np
import torch
from torch import nn
import actlab
from actlab.models import LanguageModel

@actlab.register_model("seer")
class Seer(LanguageModel):
    def __init__(self, config, activation, gated_width="matched"):
        super().__init__(config)
        self.tokens, self.act = nn.Embedding(config.vocab_size, config.vocab_size), activation.make(features=1)
        self.drawn = float(np.random.rand()) + random.random()
        self.weight = nn.Parameter(torch.rand(1) + self.drawn)

    def initialise(self, generator_for):
        pass

    def failing(self):
        raise ValueError("no number\\nMore information at ...")

    def forward(self, tokens):
        return {logits}
"""


WRONG = {
    "self.act(self.tokens(tokens.roll(-1, 1)))": "position 0 or before sees position 1 or later: it would",
    "self.tokens(tokens)": "its logits do not depend on its activation",
    "self.act(self.tokens(tokens)) + np.random.default_rng().random()": "two networks of one seed give two results",
    "self.act(self.tokens(tokens))[:, :-1]": "it gives logits of shape",
    "self.act(self.tokens(tokens)) / 0 * 0": "it gives NaN, or numbers beyond float32",
}


@pytest.mark.parametrize("logits", WRONG)
def test_a_part_that_breaks_the_science_is_not_trained(logits, toy, mine, monkeypatch):
    """A model that sees the future or ignores its activation, gives NaN or a wrong shape, draws without a seed."""
    study = {"study": "seer", "plugins": ["my_parts.py"], "model": ["seer"], "activation": ["relu"], "trials": 2}
    mine.write_text(SEER.format(logits=logits))
    monkeypatch.setattr("actlab.study.run._trained", Mock(side_effect=AssertionError("trained")))
    with pytest.raises(BadInput, match=f"seer with relu: {WRONG[logits]}"):
        run(toy.replace(**study))


def test_random_parts_of_the_user_are_those_of_the_seed(toy, mine):
    """Whatever draws from the global streams of PyTorch, NumPy or Python: on one worker, on two, and once more, the
    weights are the same, and each seed has its own."""
    mine.write_text(SEER.format(logits="self.act(self.tokens(tokens)) * self.weight"))
    study = {"plugins": ["my_parts.py"], "model": ["seer"], "activation": ["relu"], "dataset": text_file(mine)}
    study |= {"scale": "lite", "batch_size": 2}  # of every process, as that of the toy is not
    torch.rand(3)
    hashes = []
    for name, workers in (("one", 1), ("two", 2)):
        (record,) = run(toy.replace(study=name, **study), workers).present
        hashes.append([trial["weights_sha256"] for trial in record["trials"]])
        shutil.rmtree(paths.cache())
    assert hashes[0] == hashes[1]
    assert len({*hashes[0]}) == 3


def test_an_error_in_training_fails_its_arm_alone(toy, mine):
    """With the first line of its message; the other arms go on."""
    mine.write_text(SEER.format(logits="self.failing() if self.training else self.act(self.tokens(tokens))"))
    found = run(toy.replace(plugins=["my_parts.py"], model=["seer", "charlm"], activation=["relu"], trials=1))
    (failed,) = found.failed
    assert failed[1]["error"] == "ValueError: no number"
    assert [trial["status"] for record in found.present for trial in record["trials"]] == ["failed", "done"]


TIED = """import torch
from torch import nn
import actlab
from actlab.models import LanguageModel

@actlab.register_model("tied")
class Tied(LanguageModel):
    def __init__(self, config, activation, gated_width="matched"):
        super().__init__(config)
        self.tokens, self.act = nn.Embedding(config.vocab_size, config.n_embd), activation.make(features=1)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        return self.head(self.act(self.tokens(tokens)))
"""


def test_a_model_with_tied_weights_is_kept_and_comes_back(toy, mine):
    """The matrix of its embedding is that of its head."""
    mine.write_text(TIED)
    (record,) = run(toy.replace(plugins=["my_parts.py"], model=["tied"], activation=["relu"])).present
    assert [trial["status"] for trial in record["trials"]] == ["done"] * 3
    assert weights_sha256(actlab.load_model(record)) == record["trials"][0]["weights_sha256"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("é ".encode("latin-1") * 900, r"own\.txt is not a text in UTF-8: .* byte 0xe9 in position 0"),
        (None, r"is not a file: a dataset is one of pydoc, shakespeare, novels, treasure, or the path"),
    ],
)
def test_own_texts_that_are_refused(content, message, tmp_path, monkeypatch):
    """Not in UTF-8, missing: what it is and what is needed."""
    monkeypatch.chdir(tmp_path)
    if content:
        Path("own.txt").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        CharacterStudy.parse({"dataset": "own.txt"})


def test_a_text_shorter_than_a_context_is_refused_before_training(tmp_path, monkeypatch):
    """No event is told, and nothing is recorded."""
    events = []
    monkeypatch.chdir(tmp_path)
    Path("brief.txt").write_bytes(b"ab cd " * 50)
    with pytest.raises(BadInput, match="the text has 30 characters; a context of 64 needs at least 65"):
        run(CharacterStudy.parse({"dataset": "brief.txt", "study": "brief"}), watch=events.append)
    assert (events, store.load_study("brief")) == ([], [])


def test_what_cannot_be_trained_here_is_refused(toy, monkeypatch):
    """One sentence before any training: a GPU that is not here."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    events = []
    with pytest.raises(BadInput, match=r"^device=cuda:1: PyTorch .* finds no GPU here; use device=cpu"):
        run(toy.replace(device="cuda:1"), watch=events.append)
    assert (events, store.load_study(toy.study)) == ([], [])
