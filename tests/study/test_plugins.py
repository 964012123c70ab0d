"""Plug-in files: loaded in every worker, known by their text, refused with a way out; and what else is refused before
any training."""

from pathlib import Path
from unittest.mock import Mock

import pytest
import tiny
import torch
from faulty import essence
from typer.testing import CliRunner

import actlab
from actlab import plugins, report
from actlab.activations import ACTIVATIONS
from actlab.cli import app
from actlab.data.text import TEXTS, _load
from actlab.errors import BadInput
from actlab.plugins.contracts import check
from actlab.records import store
from actlab.records import tables as tidy
from actlab.report import summary
from actlab.study.character_study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.progress import Ended
from actlab.study.run import load, run
from actlab.study.tokens import TokenStudy

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


def test_a_part_that_a_new_version_does_not_register_is_gone(mine):
    actlab.load_plugins(["my_parts.py"])
    mine.write_text(MINE.format(formula=SWISH).replace('"mine"', '"other"'))
    actlab.load_plugins(["my_parts.py"])
    assert ("mine" in ACTIVATIONS, "other" in ACTIVATIONS) == (False, True)


def test_files_that_are_refused(mine):
    """What is wrong, in which line, and what is allowed."""
    (mine.parent / "helpers.py").write_text("beta = 2\n")
    (mine.parent / "beside.py").write_text("beta = 2\n")
    for content, message in (
        ("import os\n", r"plug-in wrong\.py registers nothing: it may call actlab\.register_activation"),
        (
            "import torch\n\n1 / 0\n",
            r"wrong\.py raises ZeroDivisionError: division by zero \(plug-in wrong\.py, line 3\)",
        ),
        ("def f(:\n", r"plug-in wrong\.py raises SyntaxError: .*\(wrong\.py, line 1\)"),
        ("from .helpers import beta\n", r"line 1 imports \.helpers, a file that no hash follows: put all into one"),
        ("import torch\nimport helpers\n", r"line 2 imports helpers, a file that no hash follows"),
        (
            "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport beside\n",
            r"line 3 imports beside, a file that no hash follows",
        ),
        (
            "import nosuchpackage\n",
            r"ModuleNotFoundError: No module named 'nosuchpackage' \(plug-in wrong\.py, line 1\)",
        ),
        (MINE.format(formula=WAVE), r"'mine' is already registered by my_parts\.py: choose another name"),
        ("import actlab\n" + 2 * "actlab.register_text('two', bytes)\n", r"'two' is already registered by wrong\.py"),
    ):
        actlab.load_plugins(["my_parts.py"])
        (mine.parent / "wrong.py").write_text(content)
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(mine.parent if "beside" not in content else mine.parent / "nowhere")
            with pytest.raises(BadInput, match=message):
                actlab.load_plugins(["wrong.py"])
    (mine.parent / "wrong.py").write_text("import actlab\nactlab.register_text('two', bytes)\n")
    with pytest.raises(BadInput, match="'two' must be a str, not bytes"):
        CharacterStudy.parse({"plugins": "wrong.py", "dataset": "two"})


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
    assert "half L1 (0 to 1)" in summary.text(report.load("toy"))


def test_the_metrics_of_the_last_run_are_shown(toy, mine, caplog):
    """A metric that is changed while another is left out: its values, and no study that is gone. One that is changed
    back has its record already, which tables do not show: it is told."""
    text = "import actlab\n@actlab.register_metric('half')\ndef half(p, q):\n    return FACTOR * (p - q).abs().sum(1)\n"
    both = text + text.replace("half", "other")
    study, shown = toy.replace(activation=("relu",)), []
    for content in (both, text.replace("FACTOR", "2"), both):
        mine.write_text(content.replace("FACTOR", "0.5"))
        actlab.load_plugins(["my_parts.py"])
        run(study.replace(plugins=("my_parts.py",)))
        pairs = tidy.load("toy")[1]
        shown.append((pairs["half"] / pairs["total_variation"]).round(6).unique().tolist())
    assert shown == [[1.0], [4.0], [4.0]]
    assert "is recorded, but tables show charlm-relu-" in caplog.text


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


def test_own_and_built_in_activations_stay_comparable_on_another_text(mine, cats):
    """In one study of two texts each group has its own reference: the hash of an activation is no setting of its
    group."""
    one = {**tiny.ABLATION, "optimizer": "adamw", "symmetry": "symmetric", "activation": ["gelu", "mine"]}
    for dataset in ("pydoc", text_file(mine, 2 * tiny.CATS)):
        run(TokenStudy.parse({**one, "plugins": "my_parts.py", "dataset": dataset}))
    found = report.load("ablation-quick").differences.query("metric == 'val_loss'")
    assert set(found["group"]) == {f"adamw, symmetric, x1, dataset={name}" for name in ("pydoc", "my_text.txt")}
    assert found["arm"].tolist() == ["mine", "mine"]


def test_check_plugin_tells_right_from_wrong(mine):
    """Exit code 0 where all contracts hold, 1 where one is broken: a model that ignores its activation, or sees the
    future; a gated one of another size; an activation that looks ahead, mixes a batch, is random, flat, or lies about
    its derivative; a text that changes; a metric that is not 0 for equal predictions."""
    done = CliRunner().invoke(app, ["check-plugin", "my_parts.py"])
    assert (done.exit_code, "BROKEN" in done.output) == (0, False), done.output
    held = {each.contract for each in check("my_parts.py")}
    assert held == {"reach", "causality", "batch", "state", "gradient", "count", "identity", "metric"}
    (mine.parent / "bad.py").write_text(BAD)
    assert CliRunner().invoke(app, ["check-plugin", "bad.py"]).exit_code == 1
    broken = {f"{each.part}: {each.contract}" for each in check("bad.py") if not each.holds}
    assert broken == {
        "model deaf: reach",
        "model seer: causality",
        "model fat: count",
        "activation peek: causality",
        "activation mixes: batch",
        "activation noisy: batch",
        "activation noisy: causality",
        "activation noisy: gradient",
        "activation noisy: identity",
        "activation noisy: state",
        "activation wrong: gradient",
        "activation flat: gradient",
        "dataset moody: text",
        "metric odd: metric",
    }


SEER = """import torch
from torch import nn
import actlab
from actlab.models import LanguageModel

@actlab.register_model("seer")
class Seer(LanguageModel):
    def __init__(self, config, activation, gated_width="matched"):
        super().__init__(config)
        self.tokens, self.act = nn.Embedding(config.vocab_size, config.vocab_size), activation.make(features=1)

    def forward(self, tokens):
        return self.act(self.tokens({tokens}))
"""


def test_a_model_that_sees_the_future_is_not_trained(toy, mine, monkeypatch):
    """`run` says so before any training, and of one that keeps more than its weights, draws random numbers or counts
    its calls, which sees nothing ahead; mended, the model trains."""
    study = {"study": "seer", "plugins": ["my_parts.py"], "model": ["seer"], "activation": ["relu"], "trials": 2}
    mine.write_text(SEER.format(tokens="tokens.roll(-1, 1)"))
    with monkeypatch.context() as patch:
        patch.setattr("actlab.study.run._trained", Mock(side_effect=AssertionError("trained")))
        with pytest.raises(BadInput, match="seer with relu: position 0 or before sees position 1 or later: it would"):
            run(toy.replace(**study))
        mine.write_text(SEER.format(tokens="self.register_buffer('kept', tokens) or tokens"))
        with pytest.raises(BadInput, match=r"seer with relu: a new one does not take its weights: .*kept"):
            run(toy.replace(**study))
        counted = "tokens.roll(vars(self).setdefault('n', []).append(1) or len(self.n))"
        for unsteady in ("torch.randint_like(tokens, 9)", counted):
            mine.write_text(SEER.format(tokens=unsteady))
            with pytest.raises(BadInput, match=r"other logits.*: it would predict otherwise than it trained"):
                run(toy.replace(**study))
    mine.write_text(SEER.format(tokens="tokens"))
    assert [trial["status"] for trial in run(toy.replace(**study)).present[0]["trials"]] == ["done"] * 2


BAD = """import itertools
import torch
from torch import nn
import actlab
from actlab.models import LanguageModel
from actlab.models.layers import FeedForward

class Base(LanguageModel):
    def __init__(self, config, activation, gated_width="matched"):
        super().__init__(config)
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.layer = self.made(config, activation, gated_width)
        self.head = nn.Linear(config.n_embd, config.vocab_size)

    def made(self, config, activation, gated_width):
        return FeedForward(config.n_embd, 8, activation, gated_width)

    def forward(self, tokens):
        return self.head(self.layer(self.tokens(tokens)))

@actlab.register_model("deaf")
class Deaf(Base):
    def made(self, config, activation, gated_width):
        return nn.Linear(config.n_embd, config.n_embd)

@actlab.register_model("seer")
class Seer(Base):
    def forward(self, tokens):
        return self.head(self.layer(self.tokens(tokens).flip(1)))

@actlab.register_model("fat")
class Fat(Base):
    def made(self, config, activation, gated_width):
        return FeedForward(config.n_embd, 64, activation, "doubled")

@actlab.register_activation("noisy")
class Noisy(nn.Module):
    def forward(self, x):
        return x.relu() * torch.rand(())

@actlab.register_activation("peek")
class Peek(nn.Module):
    def forward(self, x):
        return x + x.flip(-2)

@actlab.register_activation("mixes")
class Mixes(nn.Module):
    def forward(self, x):
        return x.relu() + x.roll(1, 0)

@actlab.register_metric("odd")
def odd(p, q):
    return (p - q).abs().sum(1) + p[:, 0]

class Lies(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.tanh()

    @staticmethod
    def backward(ctx, gradient):
        return gradient

@actlab.register_activation("wrong")
class Wrong(nn.Module):
    def forward(self, x):
        return Lies.apply(x)

@actlab.register_activation("flat")
class Flat(nn.Module):
    def forward(self, x):
        return x.sign()

moods = itertools.count()

@actlab.register_text("moody")
def moody():
    return f"{next(moods)} " * 100
"""


def test_own_texts_that_are_refused(tmp_path, monkeypatch):
    """Missing, a folder, empty, too short, binary, one character, too short for the context: what it is and what is
    needed, before any training."""
    events = []
    monkeypatch.chdir(tmp_path)
    files = {
        "empty.txt": (b"", r"empty\.txt: a corpus needs at least 100 characters, got 0"),
        "short.txt": (b"x y" * 33, r"short\.txt: a corpus needs at least 100 characters, got 99"),
        "one.txt": (b"a" * 2000, r"one\.txt is not a text: its 2,000 characters are all 'a'"),
        "latin.txt": ("é ".encode("latin-1") * 900, r"latin\.txt is not a text in UTF-8: byte 0 is 0xe9"),
        "nul.txt": (b"abc\0" * 900, r"nul\.txt is not a text: character 3 is NUL"),
    }
    for name, (content, message) in files.items():
        Path(name).write_bytes(content)
        with pytest.raises(BadInput, match=message):
            CharacterStudy.parse({"dataset": name})
    Path("brief.txt").write_bytes(b"ab cd " * 50)
    with pytest.raises(BadInput, match="the text has 30 characters; a context of 64 needs at least 65"):
        run(CharacterStudy.parse({"dataset": "brief.txt", "study": "brief"}), watch=events.append)
    assert (events, store.load_study("brief")) == ([], [])
    for name in ("missing.txt", "./"):
        with pytest.raises(
            BadInput, match=r"is not a file: a dataset is one of pydoc, shakespeare, novels, or the path"
        ):
            CharacterStudy.parse({"dataset": name})


def test_a_copy_of_a_built_in_text_is_that_text(toy, mine):
    """Under any name, also of a function, it has the ids of the built-in one and retrains nothing; another Python's
    version of that is another text, which a study does not mix with its own."""
    (one,) = run(toy.replace(activation="relu")).present
    mine.write_text(f"import actlab\n\n@actlab.register_text('fox')\ndef fox():\n    return {tiny.FOX!r}\n")
    for name in (text_file(mine, tiny.FOX), "fox"):
        found = load(toy.replace(plugins="my_parts.py", dataset=name, activation="relu"))
        assert found.present == [one]
    TEXTS._built_in["pydoc"] = lambda: tiny.CATS
    _load.cache_clear()
    with pytest.raises(BadInput, match=r"another part or version of pydoc .*characters differ\): give this study"):
        run(toy.replace(activation="gelu"))


def test_what_cannot_be_trained_here_is_refused(toy, monkeypatch):
    """One sentence before any training: a GPU that is not here."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    events = []
    with pytest.raises(BadInput, match=r"^device=cuda:1: PyTorch .* finds no GPU here; use device=cpu"):
        run(toy.replace(device="cuda:1"), watch=events.append)
    assert (events, store.load_study(toy.study)) == ([], [])
