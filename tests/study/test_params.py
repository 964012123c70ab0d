"""Params: everything wrong is refused on entry, with the field, the value and what is allowed."""

import pytest
from pydantic import ValidationError

from actlab.errors import BadInput, UnknownName
from actlab.study.ablation import AblationParams
from actlab.study.mnist import MnistParams
from actlab.study.params import Params, read_yaml
from actlab.study.run import read_params

BAD = [
    ({"model": "convml"}, "unknown model 'convml': did you mean 'convlm'? known are charlm, convlm, hybridlm, minigpt"),
    ({"model": []}, "model="),
    ({"model": 3}, "model.0=3"),
    ({"model": ["charlm", "charlm"]}, "names one thing twice: charlm, charlm"),
    ({"model": ["charlm", None]}, "model.1=None"),
    ({"activations": ["relu", "rleu"]}, "activations.1='rleu': unknown activation 'rleu': did you mean 'relu'?"),
    ({"activations": {"relu": 1}}, "activations.0="),
    ({"trials": 1.5}, "trials=1.5"),
    ({"trials": "3"}, "trials='3'"),
    ({"trials": True}, "trials=True"),
    ({"trials": None}, "trials=None"),
    ({"trails": 3}, "unknown parameter 'trails' in params/x.yaml: did you mean 'trials'?"),
    ({"seed": 2**31}, "seed=2147483648"),
    ({"dataset": "mnist"}, "unknown dataset 'mnist': known are novels, pydoc, shakespeare"),
    ({"scale": "large"}, "unknown scale 'large': known are 101m, 116k, 1m, 33k, 39m, full, lite, partial, quick"),
    ({"scales": ["lite", "large"]}, "unknown scale 'large'"),
    ({"protocol": "published"}, "did you mean 'as_published'? known are as_published, corrected"),
    ({"protocol": {"pading": "both"}}, "unknown protocol switch 'pading': did you mean 'padding'?"),
    ({"protocol": {"padding": "left"}}, "padding must be 'both' (leave it out for the correct way), got 'left'"),
    ({"protocol": {"evaluation": "200 random batches"}}, "needs selection: final"),
    ({"varies": ["init", "weights"]}, "varies.1='weights'"),
    ({"perturbations": ["kick"]}, "perturbations.0='kick'"),
    ({"snapshots": [60]}, "snapshots: 60 does not lie before the last of 60 iterations"),
    ({"equal_compute": [2], "trials": 4}, "equal_compute: 2 networks of 30 steps each need a snapshot there"),
    ({"equal_compute": [0]}, "ensembles: 0 trials cannot be compared"),
    ({"per_arm": {"charlm/rleu": {}}}, "unknown activation 'rleu'"),
    ({"per_arm": {"charlm": {"dataset": "novels"}}}, "unknown setting of a single arm 'dataset'"),
    ({"ensembles": [2]}, "ensembles: 2 trials cannot be compared with 2 others"),
    ({"iterations": float("inf")}, "iterations=inf"),
    ({"batch_size": -4}, "batch_size=-4"),
    ({"learning_rate": 0}, "learning_rate=0"),
    ({"learning_rate": float("nan")}, "learning_rate=nan"),
    ({"learning_rate": "fast"}, "learning_rate='fast'"),
    ({"noise_floor": 1}, "noise_floor=1"),
    ({"gated_width": "triple"}, "unknown gated_width 'triple': known are doubled, matched"),
    ({"order": "random"}, "order='random'"),
    ({"device": "cuda:x"}, "device='cuda:x'"),
    ({"dtype": "float16"}, "unknown dtype 'float16': did you mean 'bfloat16'? known are bfloat16, float32"),
    ({"study": "../elsewhere"}, "study='../elsewhere'"),
    ({"study": "a\n"}, "study='a\\n'"),
    ({"plugins": "missing.py", "activations": "mine"}, "x.yaml: plugins='missing.py': cannot read the plug-in"),
    ({"trials": 0, "seed": -1}, "trials=0: Input should be greater than or equal to 1; seed=-1"),
]
BAD_OF_OTHERS = [
    (MnistParams, {"arms": "geglu"}, "unknown arm 'geglu': did you mean"),
    (MnistParams, {"hidden": [0]}, "hidden.0=0"),
    (MnistParams, {"learning_rates": [0.1, -1]}, "learning_rates.1=-1"),
    (MnistParams, {"dataset": "cifar"}, "unknown dataset 'cifar': known are digits, mnist"),
    (AblationParams, {"optimizers": "adam"}, "unknown optimizer 'adam': did you mean 'adamw'?"),
    (AblationParams, {"symmetry": "bV"}, "unknown symmetry mode 'bV'"),
    (AblationParams, {"rate_factors": [float("inf")]}, "rate_factors.0=inf"),
    (AblationParams, {"vocab_size": 256}, "vocab_size=256"),
]


def test_bad_values_are_refused_with_the_field_named(subtests):
    """Unknown keys and names, wrong types, empty lists and numbers out of range: one line that says which, and
    where."""
    for kind, values, message in [(Params, *bad) for bad in BAD] + BAD_OF_OTHERS:
        with subtests.test(values=repr(values)):
            with pytest.raises(BadInput) as caught:
                kind.parse(values, "params/x.yaml")
            assert message in str(caught.value)
            assert "params/x.yaml" in str(caught.value)
            assert "\n" not in str(caught.value)


def test_one_value_or_a_list_and_whole_numbers_for_decimal_ones():
    """``model: charlm`` and ``model: [charlm]`` mean the same, also in papermill's words; order stays; 1 is 1.0."""
    assert Params.parse({}) == Params()
    assert Params.parse({"model": "convlm"}) == Params.parse({"model": ["convlm"]}) == Params(model=("convlm",))
    assert Params.parse({"activations": '["swish", "relu"]'}).activations == ("swish", "relu")
    assert MnistParams.parse({"learning_rates": 1}).learning_rates == (1.0,)


def test_replace_checks_and_nothing_changes_after_entry():
    """A changed copy is checked like new parameters; None changes nothing; the original stays."""
    params = Params(trials=2)
    assert params.replace(trials=5, seed=None, model="convlm").model == ("convlm",)
    assert params.replace() == params == Params(trials=2)
    with pytest.raises(BadInput, match="trials=0"):
        params.replace(trials=0)
    with pytest.raises(UnknownName, match="unknown parameter 'trails'"):
        params.replace(trails=3)
    with pytest.raises(ValidationError, match="frozen"):
        params.trials = 5


FILES = {
    "trials: [1, 2": "is not YAML",
    "- a\n- b\n": "must hold one `name: value` mapping, found list",
    "": "must hold one `name: value` mapping, found NoneType",
    "1: 2": "must hold one `name: value` mapping",
    "!!python/object/apply:os.getcwd []": "is not YAML",
    "kind: mnits\n": "unknown kind 'mnits'",
    "kind: [repro]\n": "unknown kind",
    "study: x\ntrials: 1.5\n": "trials=1.5",
}


def test_bad_files_are_refused_by_name(tmp_path):
    """A file that is no YAML, no mapping, or holds wrong values; a missing file, a folder, a binary file."""
    file = tmp_path / "study.yaml"
    for text, message in FILES.items():
        file.write_text(text)
        with pytest.raises(BadInput) as caught:
            read_params(file)
        assert message in str(caught.value)
        assert str(file) in str(caught.value)
    file.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.yaml", tmp_path, file):
        with pytest.raises(BadInput, match="cannot read"):
            read_yaml(path)


def test_a_file_is_read_as_its_values(tmp_path):
    """Literals arrive as they stand, and a file without ``kind`` is a study of language models."""
    file = tmp_path / "study.yaml"
    file.write_text("study: mine\nmodel: [charlm, convlm]\nlearning_rate: 1.0e-3\ndevice: cuda:1\n")
    params = read_params(file)
    assert params == Params(study="mine", model=("charlm", "convlm"), learning_rate=1e-3, device="cuda:1")
    file.write_text(file.read_text() + "kind: repro\n")
    assert read_params(file) == params
