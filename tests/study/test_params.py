"""CharacterStudy: everything wrong is refused on entry, with the field, the value and what is allowed."""

from pathlib import Path

import pytest
import yaml

from actlab import paths
from actlab.errors import BadInput
from actlab.study.characters.study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.params import filtered, read_mapping, read_params

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
            assert "\n" not in said
    file.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.yaml", tmp_path, file):
        with pytest.raises(BadInput, match="cannot read"):
            read_mapping(path)


def test_one_value_or_a_list_and_whole_numbers_for_decimal_ones():
    """``model: charlm`` and ``model: [charlm]`` mean the same, also in papermill's words; order stays; 1 is 1.0;
    1e-3, which PyYAML takes for text, is 0.001."""
    assert CharacterStudy.parse({}) == CharacterStudy()
    assert (
        CharacterStudy.parse({"model": "convlm"})
        == CharacterStudy.parse({"model": ["convlm"]})
        == CharacterStudy(model=("convlm",))
    )
    assert CharacterStudy.parse({"activation": '["swish", "relu"]'}).activation == ("swish", "relu")
    assert ImageStudy.parse({"learning_rate": [1, "1e-3"]}).learning_rate == (1.0, 0.001)


def test_a_field_that_is_set_leaves_the_plan():
    """A part of a registered study carries its plan, a changed one does not."""
    registered = read_params(file := paths.ROOT / "params" / "answer-double.yaml")
    assert filtered(registered, "x", {"activation": ["relu"]}).plan == registered.plan
    assert read_params(file, trials=2).plan is None
    assert read_params(file, sets=["plan=null"]).plan is None
    for given in ("plan=true", "plan={version: 2}", "plan.version=2"):
        assert read_params(file, sets=[given]).plan is None, "a plan is what the file held before the runs"


@pytest.mark.usefixtures("no_own_parts")
def test_plugins_that_are_set_come_beside_the_files_own(tmp_path):
    """--set plugins=... is --plugin: the file's own stay."""
    for name in ("one", "two"):
        text = f"import torch, actlab\nactlab.register_activation('{name}', torch.nn.Softplus)\n"
        (tmp_path / f"{name}.py").write_text(text)
    study = tmp_path / "study.yaml"
    study.write_text(f"study: own\nplugins: {tmp_path}/one.py\nactivation: [relu, one]\n")
    settings = read_params(study, sets=["activation=[one, two]", f"plugins=[{tmp_path}/two.py]"])
    assert settings.activation == ("one", "two")
    assert [Path(file).name for file in settings.plugins] == ["one.py", "two.py"]
