"""A user's own parts: their results are known by what they are, not by what they are called; nothing replaces a
built-in one."""

from pathlib import Path

import pytest
import tiny
from torch import nn

import actlab
from actlab import plugins as parts
from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.models import count_parameters
from actlab.records import store, tables
from actlab.study.characters.study import CharacterStudy
from actlab.study.run import load, run, run_experiment
from actlab.study.tokens import TokenStudy

pytestmark = pytest.mark.usefixtures("no_own_parts")
HEAD = "import torch\nfrom torch import nn\nimport actlab\n\n\n"
SWISHLIKE = """@actlab.register_activation("mine")
class Mine(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
"""
WAVE = SWISHLIKE.replace("x * torch.sigmoid(x)", "3 * torch.sin(x)")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes ``parts.py`` in the current folder and loads it."""
    monkeypatch.chdir(tmp_path)

    def write(text, head=HEAD):
        Path("parts.py").write_text(head + text)
        actlab.load_plugins(["parts.py"])

    return write


def test_a_redefined_activation_is_another_arm(toy, write):
    """x sigmoid(x), then 3 sin x under the same name: another id, another cached trial (also under another study's
    name); the first comes back with its own numbers."""
    found = []
    for text, study in ((SWISHLIKE, "toy"), (WAVE, "toy-two"), (WAVE, "toy"), (SWISHLIKE, "toy")):
        write(text)
        found.append(run_experiment("charlm", "mine", toy.replace(study=study)))
    first, elsewhere, second, again = found
    assert first["arm"] != second["arm"] == elsewhere["arm"]
    assert first["avg_val_loss"] != elsewhere["avg_val_loss"] == second["avg_val_loss"]
    assert again["trials"] == first["trials"]
    assert "3 * torch.sin(x)" in second["provenance"]["plugins"]["parts.py"]["source"]
    assert len(store.load_study("toy")) == 3, "two arms and the text's baselines"


def test_identity_is_the_hash_of_the_file(write):
    """Every character counts, also a default, a constant beside the class, and a comment; how lines end does not."""

    def identity(text):
        write(text)
        return parts.parts_of(activation="mine")[0][1]

    first = identity(SWISHLIKE)
    assert identity(SWISHLIKE.replace("\n", "\r\n")) == first == identity(SWISHLIKE)
    others = {identity(SWISHLIKE + more) for more in ("BETA = 2.0\n", "BETA = 3.0\n", "# a comment\n")}
    others |= {identity(SWISHLIKE.replace("self, x", f"self, x, scale={n}")) for n in (1, 2)} | {identity(WAVE)}
    assert len(others | {first}) == 7


def test_a_part_of_the_session_is_refused():
    """What is typed at a prompt has no file that results could name: the message says what to do instead."""
    for register in (actlab.register_activation, actlab.register_model, actlab.register_text, actlab.register_metric):
        with pytest.raises(BadInput, match=r"belongs in a plug-in file.*%%writefile my_parts.py.*plugins: \[my_p"):
            register("mine", nn.Softplus)
    assert "mine" not in ACTIVATIONS


LEARNS = """class Learns(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.empty(1))

    def forward(self, x):
        return self.slope * x
"""
WRONG = {
    'activation("mine", nn.GLU)': r"gives \(2, 3, 2\)",
    'activation("mine", Learns)': r"learns slope: give it a method initialise\(generator\)",
    'activation("My Act", nn.Softplus)': "a name is a small letter and up to 39 small letters",
    'activation("relu", nn.Softplus)': "'relu' is built in and cannot be replaced",
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_parts_are_refused_at_once(call, write):
    """A shape that does not fit, a learned number without a start, a name that no file
    could bear, a built-in name."""
    with pytest.raises(BadInput, match=WRONG[call]):
        write(f"{LEARNS}\n\nactlab.register_{call}\n")
    assert tuple(ACTIVATIONS.built_in) == tuple(ACTIVATIONS)


def test_a_trial_has_the_part_that_was_planned(write):
    """With the start that its ``initialise`` sets, over which the models' common rule does not draw; another function
    of the same name is not trained in its place."""
    start = "\n    def initialise(self, generator=None):\n        nn.init.constant_(self.slope, 0.7)\n"
    write(f'{LEARNS}{start}\n\nactlab.register_activation("mine", Learns)\n')
    spec = CharacterStudy(activation=("mine",), noise_floor=False).arms()[0].trials[0]
    slopes = [value for name, value in spec.fresh().named_parameters() if name.endswith("act.slope")]
    assert [slope.item() for slope in slopes] == [pytest.approx(0.7)] * 2
    write(WAVE)
    with pytest.raises(BadInput, match=r"'mine' is not the one that was planned \(hash .*\), but another \(hash "):
        spec.fresh()


def test_the_gated_width_of_a_study_reaches_the_network():
    """Doubled has more parameters than matched."""
    arms = [CharacterStudy(activation=("swiglu",), gated_width=width).arms()[0] for width in ("matched", "doubled")]
    matched, doubled = map(count_parameters, [arm.trials[0].fresh() for arm in arms])
    assert matched < doubled


def test_a_renamed_text_is_the_same_text(toy, write, monkeypatch):
    """Its records and its cached trials are found under any name and in any folder, also in an ablation; another text
    is another setting."""
    write("actlab.register_activation('mine', nn.Softplus)\n")
    text = Path("one.txt")
    text.write_text(2 * f"{tiny.CATS}\n")
    one = {"optimizer": "adamw", "symmetry": "symmetric", "activation": "gelu", "dataset": "one.txt"}
    studies = toy.replace(dataset="one.txt", activation="relu"), TokenStudy.parse({**tiny.ABLATION, **one})
    before = [run(study).present for study in studies]
    Path("sub").mkdir()
    text.rename("sub/two.txt")
    renamed = [study.replace(dataset="sub/two.txt") for study in studies]
    with monkeypatch.context() as patch:
        patch.setattr("actlab.trainers.loop.train", lambda *_: pytest.fail("trained"))
        for study, records in zip(renamed, before, strict=True):
            assert load(study).present == records
            assert run(study.replace(study="again")).present[-1]["trials"] == records[-1]["trials"]
    Path("sub/two.txt").write_text(3 * tiny.CATS)
    run(renamed[0])
    assert tables.load("toy")[0]["setting"].nunique() == 2
