"""Params: everything wrong is refused on entry, with the field, the value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from actlab.errors import BadInput, UnknownName
from actlab.study import kinds
from actlab.study.params import Params, read_yaml

BAD = [
    (
        {"model": "convml"},
        "unknown model 'convml': did you mean 'convlm'? known are charlm, convlm, hybridlm, minigpt, nanotransformer, tinylstm",
    ),
    ({"model": ["charlm", "gpt5"]}, "unknown model 'gpt5'"),
    ({"model": []}, "model="),
    ({"model": 3}, "model=3"),
    ({"model": ["charlm", "charlm"]}, "model names one thing twice: charlm, charlm"),
    ({"model": ["charlm", None]}, "model.1=None"),
    ({"activations": ["relu", "rleu"]}, "unknown activation 'rleu': did you mean 'relu'?"),
    ({"activations": []}, "activations="),
    ({"activations": {"relu": 1}}, "activations="),
    ({"activations": ["gelu", "relu", "gelu"]}, "activations names one thing twice"),
    ({"trials": 1.5}, "trials=1.5"),
    ({"trials": "3"}, "trials='3'"),
    ({"trials": True}, "trials=True"),
    ({"trials": 0}, "trials=0"),
    ({"trials": None}, "trials=None"),
    ({"trails": 3}, "unknown parameter 'trails' in params/x.yaml: did you mean 'trials'?"),
    ({"seed": -1}, "seed=-1"),
    ({"seed": 2**31}, "seed=2147483648"),
    ({"dataset": "mnist"}, "unknown dataset 'mnist': known are novels, pydoc, shakespeare"),
    ({"dataset": "shakespear"}, "did you mean 'shakespeare'?"),
    ({"scale": "large"}, "unknown scale 'large': known are 101m, 116k, 1m, 33k, 39m, full, lite, partial, quick"),
    ({"scales": ["lite", "large"]}, "unknown scale 'large'"),
    ({"scales": ["lite", "lite"]}, "scales names one thing twice: lite, lite"),
    (
        {"protocol": "published"},
        "unknown protocol 'published': did you mean 'as_published'? known are as_published, corrected",
    ),
    ({"protocol": {"pading": "both"}}, "unknown protocol switch 'pading': did you mean 'padding'?"),
    (
        {"protocol": {"padding": "left"}},
        "protocol padding must be 'both' (leave it out for the correct way), got 'left'",
    ),
    ({"protocol": {"evaluation": "200 random batches"}}, "needs selection: final"),
    ({"varies": ["init", "weights"]}, "varies.1='weights'"),
    ({"varies": []}, "varies="),
    ({"varies": ["init", "init"]}, "varies names one thing twice: init, init"),
    ({"perturbations": ["kick"]}, "perturbations.0='kick'"),
    ({"snapshots": [60]}, "snapshots: 60 does not lie before the last of 60 iterations"),
    ({"equal_compute": [2], "trials": 4}, "equal_compute: 2 networks of 30 steps each need a snapshot there"),
    ({"per_arm": {"charlm/rleu": {}}}, "unknown activation 'rleu'"),
    ({"per_arm": {"charlm": {"dataset": "novels"}}}, "unknown setting of a single arm 'dataset'"),
    ({"ensembles": [2]}, "ensembles: 2 trials cannot be compared with 2 others"),
    ({"iterations": 0}, "iterations=0"),
    ({"iterations": float("inf")}, "iterations=inf"),
    ({"evaluate_every": 0}, "evaluate_every=0"),
    ({"batch_size": -4}, "batch_size=-4"),
    ({"learning_rate": 0}, "learning_rate=0.0"),
    ({"learning_rate": float("nan")}, "learning_rate=nan"),
    ({"learning_rate": float("inf")}, "learning_rate=inf"),
    ({"learning_rate": "fast"}, "learning_rate='fast'"),
    ({"learning_rate": True}, "learning_rate=True"),
    ({"weight_decay": -0.1}, "weight_decay=-0.1"),
    ({"prediction_windows": 0}, "prediction_windows=0"),
    ({"noise_floor": "yes"}, "noise_floor='yes'"),
    ({"noise_floor": 1}, "noise_floor=1"),
    ({"gated_width": "triple"}, "unknown gated_width 'triple': known are doubled, matched"),
    ({"order": "random"}, "order='random'"),
    ({"device": "tpu"}, "device='tpu'"),
    ({"device": "cuda:x"}, "device='cuda:x'"),
    ({"dtype": "float16"}, "unknown dtype 'float16': did you mean 'bfloat16'? known are bfloat16, float32"),
    ({"compiled": 0}, "compiled=0"),
    ({"study": "../elsewhere"}, "study='../elsewhere'"),
    ({"study": ""}, "study=''"),
    ({"study": "Repro"}, "study='Repro'"),
    ({"study": "a\n"}, "study='a\\n'"),
]


def test_bad_values_are_refused_with_the_field_named(subtests: pytest.Subtests) -> None:
    """Unknown keys and names, wrong types, empty lists and numbers out of range: one line that says which, and
    where."""
    for values, message in BAD:
        with subtests.test(values=repr(values)):
            with pytest.raises(BadInput) as caught:
                Params.parse(values, "params/x.yaml")
            assert message in str(caught.value)
            assert "params/x.yaml" in str(caught.value)
            assert "\n" not in str(caught.value)


def test_every_wrong_field_is_named_at_once() -> None:
    """Two mistakes are told in one message."""
    with pytest.raises(BadInput, match=r"trials=0.*seed=-1"):
        Params.parse({"trials": 0, "seed": -1})


def test_defaults_are_a_quick_study_without_download() -> None:
    """With nothing said, a study runs on the embedded text at the quick scale."""
    params = Params()
    assert (params.dataset, params.scale, params.model) == ("pydoc", "quick", ("charlm",))
    assert Params.parse({}) == params


def test_one_name_or_a_list() -> None:
    """``model: charlm`` and ``model: [charlm]`` mean the same, and the order of a list stays."""
    assert Params.parse({"model": "convlm", "activations": "gelu"}) == Params.parse(
        {"model": ["convlm"], "activations": ["gelu"]}
    )
    assert Params.parse({"activations": ["swish", "relu"]}).activations == ("swish", "relu")


def test_whole_numbers_may_stand_for_decimal_ones() -> None:
    """``learning_rate: 1`` is 1.0."""
    assert Params.parse({"learning_rate": 1, "weight_decay": 0}).weight_decay == 0.0


def test_replace_checks_and_keeps() -> None:
    """A changed copy is checked like new parameters; None changes nothing; the original stays."""
    params = Params(trials=2)
    assert params.replace(trials=5, seed=None).trials == 5
    assert params.replace() == params == Params(trials=2)
    assert params.replace(model="convlm").model == ("convlm",)
    with pytest.raises(BadInput, match="trials=0"):
        params.replace(trials=0)
    with pytest.raises(UnknownName, match="unknown parameter 'trails'"):
        params.replace(trails=3)


def test_params_do_not_change_after_entry() -> None:
    """Assigning to a field is an error."""
    with pytest.raises(ValidationError, match="frozen"):
        Params().trials = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trials: [1, 2", "is not YAML"),
        ("- a\n- b\n", "must hold one `name: value` mapping, found list"),
        ("", "must hold one `name: value` mapping, found NoneType"),
        ("just words", "must hold one `name: value` mapping, found str"),
        ("1: 2", "must hold one `name: value` mapping"),
        ("!!python/object/apply:os.getcwd []", "is not YAML"),
        ("kind: mnits\n", "unknown kind 'mnits'"),
        ("kind: [repro]\n", "unknown kind"),
        ("study: x\ntrails: 3\n", "unknown parameter 'trails'"),
        ("study: x\ntrials: 1.5\n", "trials=1.5"),
    ],
)
def test_bad_files_are_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    """A file that is no YAML, no mapping, or holds wrong values: the message gives the file."""
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        kinds.load(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    """A missing file, a folder and a binary file are errors of input, not tracebacks."""
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path / "missing.yaml", tmp_path, tmp_path / "binary.yaml"):
        with pytest.raises(BadInput, match="cannot read"):
            read_yaml(file)


def test_a_file_is_read_as_its_values(tmp_path: Path) -> None:
    """Literals arrive as they stand, and a file without ``kind`` is a study of language models."""
    file = tmp_path / "study.yaml"
    file.write_text("study: mine\nmodel: [charlm, convlm]\nlearning_rate: 1.0e-3\ndevice: cuda:1\n")
    params = kinds.load_repro(file)
    assert (params.study, params.model, params.learning_rate, params.device) == (
        "mine",
        ("charlm", "convlm"),
        1e-3,
        "cuda:1",
    )
    file.write_text(file.read_text() + "kind: repro\n")
    assert kinds.load_repro(file) == params


def test_settings_in_words() -> None:
    """Model, size, data, seeds, iterations, optimizer and device of the page."""
    said = Params(trials=5, scale="lite", iterations=1500, batch_size=32, learning_rate=3e-4).in_words()
    for words in (
        "charlm under relu, gelu",
        "lite (width 128, context 128)",
        "text pydoc;",
        "5 trials of each arm (seeds 42 to 46)",
    ):
        assert words in said
    assert (
        "1,500 iterations of 32 windows; AdamW at a constant rate of 0.0003 with weight decay 0.01; cpu, float32"
        in said
    )
    assert "(seed 42)" not in said
    assert "; seed 42, each" in Params(trials=1).in_words()
    assert "pydoc (20% of the training text)" in Params(train_fraction=0.2).in_words()
    assert said.endswith("protocol corrected, gated width matched, the trials' seeds feed every stream")
    flawed = Params(protocol={"padding": "both"}, gated_width="doubled", varies=("all", "init")).in_words()
    assert flawed.endswith(
        "protocol padding: both, gated width doubled, the trials' seeds feed every stream or init alone"
    )
