"""A user's own parts: their results are known by what they are, not by what they are called; nothing replaces a
built-in one."""

import pytest
import torch
from torch import nn

import actlab
from actlab import metrics
from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.records import store
from actlab.study import part_hashes as parts
from actlab.study import trial_repro
from actlab.study.arms import arms_of
from actlab.study.params import Params
from actlab.study.run import run_experiment

pytestmark = pytest.mark.usefixtures("no_own_parts")


class Swishlike(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class Wave(nn.Module):
    def forward(self, x):
        return 3 * torch.sin(x)


def test_a_redefined_activation_is_another_arm(toy):
    """x sigmoid(x), then 3 sin x under the same name: another id, another cached trial (also under another study's
    name); the first comes back with its own numbers."""
    found = []
    for thing, study in ((Swishlike, "toy"), (Wave, "toy-two"), (Wave, "toy"), (Swishlike, "toy")):
        actlab.register_activation("mine", thing)
        found.append(run_experiment("charlm", "mine", toy.replace(study=study)))
    first, elsewhere, second, again = found
    assert first["arm"] != second["arm"] == elsewhere["arm"]
    assert first["avg_val_loss"] != elsewhere["avg_val_loss"] == second["avg_val_loss"]
    assert again["trials"] == first["trials"]
    assert "class Wave" in str(second["provenance"]["plugins"])
    assert len(store.load_study("toy")) == 3, "two arms and the text's baselines"


def scaled(by):
    class Scaled(nn.Module):
        def forward(self, x):
            return by * torch.tanh(x)

    return Scaled


def helper(x):
    return x.sin()


BETA = 2.0


class Helped(nn.Module):
    def forward(self, x):
        return BETA * helper(x)


def identity(thing):
    actlab.register_activation("mine", thing)
    return parts.hash_of("activation", "mine")


def test_identity_follows_what_a_function_refers_to(monkeypatch):
    """Closure, default, helper and constant are part of what a function is; comments of its neighbours are not."""
    assert identity(scaled(1.0)) == identity(scaled(1.0)) != identity(scaled(2.0))
    assert identity(lambda scale=1.0: nn.Softplus(scale)) != identity(lambda scale=2.0: nn.Softplus(scale))
    before = identity(Helped)
    monkeypatch.setitem(globals(), "BETA", 3.0)
    with pytest.raises(BadInput, match=r"'mine', or something that it refers to, has changed since it was registered"):
        parts.hash_of("activation", "mine")
    after = identity(Helped)
    assert before != after
    monkeypatch.setitem(globals(), "helper", lambda x: x.cos())
    assert identity(Helped) not in (before, after)


def test_what_no_hash_can_follow_is_refused():
    """What is typed at a prompt or made by ``exec`` has no source; an object with a state of its own is no constant."""
    space = {"nn": nn, "__name__": "typed"}
    exec("class Typed(nn.Module):\n    def forward(self, x):\n        return x", space)
    with pytest.raises(
        BadInput, match=r"source of the activation 'mine' cannot be read.*write it into a file and name"
    ):
        actlab.register_activation("mine", space["Typed"])
    network = nn.Linear(4, 4)

    class Hidden(nn.Module):
        def forward(self, x):
            return network(x)

    with pytest.raises(BadInput, match="refers to an object of type Linear, whose content no hash can follow"):
        actlab.register_activation("mine", Hidden)
    assert "mine" not in ACTIVATIONS


class Learns(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.empty(1))

    def forward(self, x):
        return self.slope * x


def test_wrong_parts_are_refused_at_once():
    """A shape that does not fit, a factory that makes no module, a learned number without a start, what is not
    finite, a name that no file could bear, a name that records use."""
    wrong = (
        (
            actlab.register_activation,
            "mine",
            nn.GLU,
            r"gives \(2, 3, 2\) \(one that halves its input needs gated=True\)",
        ),
        (actlab.register_activation, "mine", lambda: 3, "that makes an nn.Module without arguments, .*'int' object"),
        (actlab.register_activation, "mine", Learns, r"learns slope: give it a method initialise\(generator\)"),
        (actlab.register_activation, "My Act", Wave, "a name is a small letter and up to 39 small letters"),
        (actlab.register_activation, "mine", lambda: nn.Threshold(0, torch.nan), "not finite everywhere between"),
        (actlab.register_metric, "mine", lambda p, q: (p - q).mean(), r"one finite value an input, not \(\) for two"),
        (actlab.register_metric, "mine", lambda p, q: (p - q).sum(1).log(), "one finite value an input, not nan"),
        (actlab.register_metric, "val_loss", metrics.total_variation_rows, "'val_loss' would hide a number"),
    )
    for register, name, thing, message in wrong:
        with pytest.raises(BadInput, match=message):
            register(name, thing)
    assert ACTIVATIONS.built_in == tuple(ACTIVATIONS)


def test_a_trial_has_the_part_that_was_planned():
    """With the start that its ``initialise`` sets, over which the models' common rule does not draw; another function
    of the same name is not trained in its place."""

    class Started(Learns):
        def initialise(self, generator=None):
            nn.init.constant_(self.slope, 0.7)

    actlab.register_activation("mine", Started)
    spec = arms_of(Params(activations=("mine",), noise_floor=False))[0].trials[0]
    slopes = [value for name, value in trial_repro.fresh_model(spec).named_parameters() if name.endswith("act.slope")]
    assert [slope.item() for slope in slopes] == [pytest.approx(0.7)] * 2
    actlab.register_activation("mine", Wave)
    with pytest.raises(BadInput, match=r"'mine' is not the one that was planned \(hash .*\), but another \(hash "):
        trial_repro.fresh_model(spec)
