"""The guides of the book run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from actlab import paths, store
from actlab.activations import ACTIVATIONS
from actlab.models import MODELS, SCALES, ModelConfig, build_model

BLOCK = re.compile(r"^```(python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_guides_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Activation, model, study, in the page's order; what they claim of the new model holds."""
    blocks = BLOCK.findall((paths.ROOT / "book" / "extend.md").read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks] == ["python", "python", "python", "yaml", "python"]
    for table, name in ((ACTIVATIONS, "squareplus"), (MODELS, "baglm")):
        monkeypatch.setitem(table, name, None)  # type: ignore[arg-type]  # so that it is gone after the test
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params").mkdir()
    space: dict[str, object] = {"__name__": "guide"}
    for kind, text in blocks:
        if kind == "yaml":
            (tmp_path / "params" / "squareplus-quick.yaml").write_text(text)
        else:
            exec(compile(text, "extend.md", "exec"), space)  # the page is ours
    assert "two trials differ by 0." in capsys.readouterr().out
    assert len([r for r in store.load_study("squareplus-quick") if r["kind"] == "trials"]) == 2
    check_model(SCALES["quick"])


def check_model(config: ModelConfig) -> None:
    """It sees no later token, and its activation matters."""
    tokens = torch.randint(config.vocab_size, (2, 16), generator=torch.Generator().manual_seed(0))
    changed = tokens.clone()
    changed[:, 10:] = 0
    with torch.inference_mode():
        made = {
            name: build_model("baglm", config, name, generator_for=lambda _: torch.Generator().manual_seed(1)) for name in ("relu", "gelu", "swiglu")
        }
        out = {name: model(tokens) for name, model in made.items()}
        assert torch.equal(out["relu"][:, :10], made["relu"](changed)[:, :10])
    assert not torch.equal(out["relu"], out["gelu"])
