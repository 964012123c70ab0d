"""A user's own parts: their results are known by what they are, not by what they are called; nothing replaces a
built-in one."""

from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from tiny import typed
from torch import nn

import actlab
from actlab import metrics
from actlab import plugins as parts
from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.models import count_parameters
from actlab.plugins import contracts, guard
from actlab.records import store, tables
from actlab.study import status
from actlab.study.character_study import CharacterStudy
from actlab.study.run import load, run, run_experiment
from actlab.study.tokens import TokenStudy
from actlab.study.workers.pool import run_tasks
from actlab.trainers.seeds import generator

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


def test_a_metric_that_works_in_place_changes_no_built_in_number(write):
    """It is given copies, whatever it does to them."""
    p, q = (torch.softmax(torch.randn(5, 7, generator=generator(n, "p")), 1) for n in (1, 2))
    before = metrics.row_means(p, q)
    write("@actlab.register_metric('own')\ndef own(p, q):\n    return p.sub_(q).abs_().sum(1).mul_(0.5)\n")
    found = metrics.row_means(p, q, ["own"])
    assert {name: found[name] for name in before} == before == metrics.row_means(p, q)
    assert found["own"] == pytest.approx(before["total_variation"])


SETS = {
    "torch.set_default_dtype": "torch.set_default_dtype(torch.float64)",
    "torch.set_default_device": "torch.set_default_device('meta')",
    "torch.set_float32_matmul_precision": "torch.set_float32_matmul_precision('medium')",
    "torch.set_autocast_enabled, an open torch.autocast": "torch.autocast('cpu').__enter__()",
    "an open torch.autocast": "torch.autocast('cpu', enabled=False).__enter__()",
    "torch.nn.modules.module.register_module_forward_hook": (
        "torch.nn.modules.module.register_module_forward_hook(lambda module, given, found: found * 2)"
    ),
    "torch.backends.mkldnn.enabled": "torch.backends.mkldnn.enabled = False",
    "torch.backends.cuda.enable_flash_sdp": "torch.backends.cuda.enable_flash_sdp(False)",
    "torch.set_flush_denormal": "torch.set_flush_denormal(True)",
    "torch.set_grad_enabled": "torch.set_grad_enabled(False)",
    "os.chdir": "import os\nos.chdir('/')",
    "os.environ": "import os\nos.environ['ACTLAB_RESULTS'] = '/elsewhere'",
    "sys.stdout or sys.stderr": "import sys\nsys.stdout = None",
}


NEWER = ("torch.set_float32_matmul_precision", "torch.backends.mkldnn.matmul.fp32_precision = 'bf16'")
"""By its newer name, beside which PyTorch does not read the older one."""
KERNELS = ("os.environ", "import os\nos.environ['ONEDNN_MAX_CPU_ISA'] = 'SSE41'")
"""oneDNN reads it at its first product, after any plug-in."""


@pytest.mark.parametrize(("name", "sets"), [*SETS.items(), NEWER, KERNELS])
def test_a_plug_in_that_changes_the_whole_process_is_refused(name, sets, write):
    """By the name of what it called; the setting is as before, and nothing is registered."""
    before = guard.settings()
    with pytest.raises(BadInput, match=rf"plug-in parts\.py changes {name} for the whole process"):
        write(SWISHLIKE + sets + "\n")
    assert guard.settings() == before
    assert "mine" not in ACTIVATIONS


LATER = """import os, sys, actlab

class Odd(BaseException):
    def __str__(self):
        raise ValueError("no message")

def later():
    STATEMENT

@actlab.register_metric("own")
def own(p, q):
    if len(p) > 64:
        later()
    return (p - q).abs().sum(1)

@actlab.register_model("built")
def built(config, activation, gated_width):
    later()

@actlab.register_text("told")
def told():
    later()
    return "some text " * 99
"""
STATEMENTS = {
    "raise SystemExit(0)": "raises SystemExit: 0",
    "raise Odd": "raises Odd: its message cannot be read (ValueError)",
    "{}['absent']": "raises KeyError: 'absent'",
    "os.chdir('/')": "changes os.chdir for the whole process",
    "return sys.exit(0)": "raises SystemExit: 0",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_a_part_does_when_it_is_used_is_one_sentence(statement, write, tmp_path, capsys):
    """Whatever a metric, a model's factory or a text raises, or changes, once it is registered: `check-plugin` says
    BROKEN of each, `measure` ends in a line and code 2, and the folder is the one of before."""
    write(LATER.replace("STATEMENT", statement), head="")
    assert typed("check-plugin", "parts.py") == 1
    said = capsys.readouterr().out
    assert said.count("BROKEN") == 2 + len(contracts.OF_CELLS)
    for part in ("metric 'own'", "text 'told'"):
        assert f"BROKEN  the {part} {STATEMENTS[statement]}" in said
    for name in ("one.npy", "two.npy"):
        np.save(name, np.full((100, 4), 0.25))
    assert typed("measure", "one.npy", "two.npy", "--plugin", "parts.py") == 2
    assert f"the metric 'own' {STATEMENTS[statement]}" in " ".join(capsys.readouterr().err.split())
    assert Path.cwd() == tmp_path


def test_a_part_that_ends_the_program_elsewhere_ends_it_with_code_2(write, capsys):
    """Also where no place expects it, as in the timing of `status`."""
    write(
        "@actlab.register_activation('mine')\nclass Mine(nn.Module):\n    def forward(self, x):\n"
        "        if x.shape[-1] > 8:\n            raise SystemExit(0)\n        return x.relu()\n"
    )
    Path("mine.yaml").write_text("study: mine\nmodel: nanotransformer\nactivation: mine\nplugins: parts.py\n")
    assert typed("status", "mine.yaml") == 2
    assert "error: plug-in parts.py, line 10: SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("factory", "why"),
    [("lambda config: 3", "raises TypeError"), ("lambda *given: nn.Linear(1, 1)", "must make an .*, not Linear")],
)
def test_a_factory_that_makes_no_model_is_told_in_a_sentence(factory, why, toy, write):
    """Also where its own lines are not reached; `status` then cannot tell the time."""
    write(f"actlab.register_model('mine', {factory})\n")
    with pytest.raises(BadInput, match=f"the model 'mine' {why}"):
        parts.find_part("model", "mine", parts.parts_of(model="mine")[0][1]).factory(None, None, "matched")
    with pytest.raises(BadInput, match=f"the model 'mine' {why}"):
        run(toy.replace(model="mine", activation="relu", plugins="parts.py"))
    assert status.of(toy.replace(model="mine", activation="relu", plugins="parts.py"))["seconds"].isna().all()


def test_a_trial_whose_part_changes_the_whole_process_is_refused(toy, write, tmp_path):
    """By its name, before its numbers are used; the folder is the one of before."""
    write("import os\n\n" + SWISHLIKE.replace("return", "os.chdir('/' if x.shape[0] > 2 else '.')\n        return"))
    with pytest.raises(BadInput, match=r"charlm-mine-42 changes os\.chdir for the whole process"):
        run_experiment("charlm", "mine", toy)
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("name", ["loss", "accuracy", "churn_share", "avg_pd", "weight_distance", "value", "seed"])
def test_the_name_of_another_number_is_refused(name, write):
    with pytest.raises(BadInput, match=f"the metric '{name}' would hide a number or a column"):
        write(f"@actlab.register_metric('{name}')\ndef own(p, q):\n    return (p - q).abs().sum(1)\n")


def test_a_metric_gives_a_real_number_an_input_whatever_the_others_are(write):
    for value, why in (
        ("(p - q).abs().sum(1) * 1j", r"one real, finite value an input, not \(1,\) torch.complex64"),
        ("(p - q).abs().sum(1) / len(p)", r"gives an input 0\.\d+ among others and 0\.\d+ alone"),
        ("(p - q).abs().sum(1)[:1].expand(len(p))", r"gives an input 0\.\d+ among others and \d\.\d+ alone"),
        ("(p - q).abs().sum()", r"not \(\) torch.float32 for two \(1, 64\)"),
        ("0.5", "not float"),
    ):
        with pytest.raises(BadInput, match=why):
            write(f"@actlab.register_metric('own')\ndef own(p, q):\n    return {value}\n")


def changing(task, report):
    """A trial of a part that changes settings as it works: what it found."""
    found = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    torch.set_default_dtype(torch.float64)
    torch.set_float32_matmul_precision("medium")
    return [str(each) for each in found]


def test_settings_are_set_back_before_each_trial():
    """What one trial's part changed, no other is trained with."""
    try:
        found = [result for _, result in run_tasks(changing, [1, 2])]
    finally:
        guard.set_back()
    assert found == 2 * [["torch.float32", "highest"]]


def test_a_part_of_the_session_is_refused():
    """What is typed at a prompt has no file that results could name: the message says what to do instead."""
    for register in (actlab.register_activation, actlab.register_model, actlab.register_text, actlab.register_metric):
        with pytest.raises(BadInput, match=r"belongs in a plug-in file.*%%writefile my_parts.py.*plugins: \[my_p"):
            register("mine", nn.Softplus)
    with pytest.raises(BadInput, match="belongs in a plug-in file"):

        @actlab.register_activation("mine")
        class Mine(nn.Module):
            pass

    assert "mine" not in ACTIVATIONS


LEARNS = """class Learns(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.empty(1))

    def forward(self, x):
        return self.slope * x
"""
WRONG = {
    'activation("mine", nn.GLU)': r"gives \(2, 3, 2\) \(one that halves its input needs gated=True\)",
    'activation("mine", lambda: 3)': "that makes an nn.Module without arguments, .*'int' object",
    'activation("mine", Learns)': r"learns slope: give it a method initialise\(generator\)",
    'activation("My Act", nn.Softplus)': "a name is a small letter and up to 39 small letters",
    'activation("relu", nn.Softplus)': "'relu' is built in and cannot be replaced",
    'activation("smelu_03", nn.Softplus)': "'smelu_03' would be taken for one of a built-in family",
    'activation("mine", lambda: nn.Threshold(0, torch.nan))': "not finite everywhere between",
    'model("mine", nn.Linear)': "must be an actlab.models.LanguageModel, Linear is not",
    'metric("mine", lambda p, q: (p - q).mean())': r"one real, finite value an input, not \(\) torch",
    'metric("mine", lambda p, q: (p - q).sum(1).log())': "one real, finite value an input, not nan",
    'metric("mine", lambda p, q: (p - q).sum(1), label=5)': "label is a text, not 5",
    'metric("val_loss", lambda p, q: (p - q).sum(1))': "'val_loss' would hide a number",
    **{
        f'metric("{name}", lambda p, q: (p - q).sum(1))': f"'{name}' would hide a number or a column"
        for name in (
            *("first", "second", "seed", "model", "activation", "activation_used", "kind", "setting", "members"),
            *("group", "arm", "level"),
        )
    },
    'metric("mine", lambda p, q: (p - q).sum(1) + p[:, 40])': "raises IndexError: index 40 is out of bounds",
    'metric("mine", lambda p, q: (p - q).sum(1) + p[2, 0])': "raises IndexError: index 2 is out of bounds",
    'metric("mine", lambda p, q: (p / q).log().sum(1))': "one real, finite value an input, not ",
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_parts_are_refused_at_once(call, write):
    """A shape that does not fit, a factory that makes no module, a learned number without a start, what is not
    finite, a name that no file could bear, a name that records use."""
    with pytest.raises(BadInput, match=WRONG[call]):
        write(f"{LEARNS}\n\nactlab.register_{call}\n")
    assert ACTIVATIONS.built_in == tuple(ACTIVATIONS)


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
    """Its records and its cached trials are found under any name and in any folder, also in an ablation; a byte-order
    mark and line ends are no content; a study that grows holds its trials to the recorded bits."""
    write("actlab.register_activation('mine', nn.Softplus)\n")
    Path("one.txt").write_text(2 * f"{tiny.CATS}\n")
    one = {"optimizer": "adamw", "symmetry": "symmetric", "activation": "gelu", "dataset": "one.txt"}
    studies = toy.replace(dataset="one.txt", activation="relu"), TokenStudy.parse({**tiny.ABLATION, **one})
    before = [run(study).present for study in studies]
    text, two = Path("one.txt"), "sub/two.txt"
    Path("sub").mkdir()
    Path(two).write_bytes(b"\xef\xbb\xbf" + text.read_bytes().replace(b"\n", b"\r\n"))
    text.unlink()
    with monkeypatch.context() as patch:
        patch.setattr("actlab.trainers.loop.train", lambda *_: pytest.fail("trained"))
        for study, records in zip(studies, before, strict=True):
            renamed = study.replace(dataset=two)
            assert load(renamed).present == records
            again = run(renamed.replace(study="again")).present[-1]
            assert again["trials"] == records[-1]["trials"]
    assert studies[1].replace(dataset=two).arms()[0].id == before[1][0]["arm"]
    assert len(list(store.folder_of("toy").glob("*.json"))) == 2
    run(studies[0].replace(dataset=two, activation="gelu"))
    assert set(tables.load("toy")[0]["setting"]) == {""}
    Path(two).write_text(3 * tiny.CATS)
    run(studies[0].replace(dataset=two, activation="gelu"))
    assert tables.load("toy")[0]["setting"].nunique() == 2
