"""Params: everything wrong is refused on entry, with the field, the value and what is allowed."""

from pathlib import Path

import pytest
import yaml

from actlab import paths
from actlab.errors import BadInput
from actlab.study import baselines
from actlab.study.mnist import MnistParams
from actlab.study.overrides import overridden, plugins_in
from actlab.study.params import Params, read_mapping
from actlab.study.run import read_params

REFUSED = Path(__file__).with_name("refused.yaml")


def test_bad_files_are_refused_with_the_field_named(tmp_path, subtests):
    """No YAML, no mapping, unknown keys and names, wrong types, empty lists, numbers out of range: one line that says
    which, and where; a missing file, a folder, a binary file."""
    file = tmp_path / "study.yaml"
    for text, message in yaml.safe_load(REFUSED.read_text(encoding="utf-8")).items():
        with subtests.test(text=text):
            file.write_text(text)
            with pytest.raises(BadInput) as caught:
                read_params(file)
            said = str(caught.value)
            assert message.replace("{file}", str(file)) in said
            assert str(file) in said
            assert "\n" not in said or "is not YAML" in said
    file.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.yaml", tmp_path, file):
        with pytest.raises(BadInput, match="cannot read"):
            read_mapping(path)


def test_one_value_or_a_list_and_whole_numbers_for_decimal_ones():
    """``model: charlm`` and ``model: [charlm]`` mean the same, also in papermill's words; order stays; 1 is 1.0;
    1e-3, which PyYAML takes for text, is 0.001."""
    assert Params.parse({}) == Params()
    assert Params.parse({"model": "convlm"}) == Params.parse({"model": ["convlm"]}) == Params(model=("convlm",))
    assert Params.parse({"activations": '["swish", "relu"]'}).activations == ("swish", "relu")
    assert MnistParams.parse({"learning_rates": [1, "1e-3"]}).learning_rates == (1.0, 0.001)


def test_a_field_that_is_set_leaves_the_plan():
    """A part of a registered study carries its plan, a changed one does not."""
    registered = read_params(paths.ROOT / "params" / "answer-double.yaml")
    assert overridden(registered, "x", {"activation": ["relu"]}).plan == registered.plan
    assert overridden(registered, "x", {}, ["trials=2"]).plan is None


@pytest.mark.usefixtures("no_own_parts")
def test_plugins_that_are_set_come_beside_the_files_own(tmp_path):
    """--set plugins=... is --plugin: the file's own stay."""
    for name in ("one", "two"):
        text = f"import torch, actlab\nactlab.register_activation('{name}', torch.nn.Softplus)\n"
        (tmp_path / f"{name}.py").write_text(text)
    study = tmp_path / "study.yaml"
    study.write_text(f"study: own\nplugins: {tmp_path}/one.py\nactivations: [relu, one]\n")
    plugins, rest = plugins_in(["activations=[one, two]", f"plugins=[{tmp_path}/two.py]"])
    settings = overridden(read_params(study, plugins), "x", {}, rest)
    assert settings.activations == ("one", "two")
    assert [Path(file).name for file in settings.plugins] == ["one.py", "two.py"]


def test_one_study_has_the_tables_of_one_part_of_the_text():
    """The half on which trials are measured decides them; of another half they are refused."""
    for _ in range(2):
        baselines.ensure("toy", "pydoc", part="second")
    with pytest.raises(BadInput, match="tables of another part of pydoc"):
        baselines.ensure("toy", "pydoc")
