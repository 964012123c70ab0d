"""The command line, as typed: what it prints, what it exits with."""

import re
from unittest.mock import Mock

import pytest
import tiny
import yaml
from tiny import typed as run

import actlab
from actlab import paths
from actlab.records import store

TINY = {"study": "tiny-quick", "model": "nanotransformer", "activation": ["relu", "gelu"], **tiny.STUDY}


@pytest.fixture
def params(tmp_path, toy):
    """A file of a study whose trials take a blink."""
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY))
    return path


def test_the_quick_replay_says_yes_or_no(capsys):
    """Of the recorded run of seconds that the package ships, whatever processor this is."""
    assert run("replay", "--quick") in (0, 1)
    assert re.search(r"\nthis machine repeats the recorded bits: (yes|no)\n", capsys.readouterr().out)


def test_run_report_replay(params, tmp_path, capsys, monkeypatch):
    """A study is trained, reported and replayed bit for bit by three commands; other weights than recorded exit
    with 1."""
    assert run("run", params, "--workers", 1, "--activation", "gelu") == 0
    assert "\nnanotransformer-gelu: loss " in capsys.readouterr().out
    assert run("report", "tiny-quick", "--no-plots", "--out", tmp_path / "out") == 0
    assert "nanotransformer" in (tmp_path / "out" / "summary.txt").read_text()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("report", "tiny-quick", "--no-plots", "--out=~/home") == 0
    assert (tmp_path / "home" / "summary.txt").exists()
    (record,) = (paths.results() / "tiny-quick").glob("nano*.json")
    capsys.readouterr()
    assert run("replay", "tiny-quick/nanotransformer-gelu", "--trial", 43) == 0
    assert "equal bit for bit" in capsys.readouterr().out
    assert store.load_below("tiny-quick", "replays") == []
    assert run("replay", "--all", "--study", "tiny-quick", "--sample", 2, "--workers", 1, "--keep") == 0
    said = capsys.readouterr().out
    assert said.count("equal bit for bit") == 2
    assert "2 of 2 trials trained again; 0 contradict what replay promises" in said
    assert len(store.load_below("tiny-quick", "replays")) == 2
    seeds = ("--seed", 43, "--seed", 42)
    assert run("sample", "tiny-quick/nanotransformer-gelu", *seeds, "--length", 20, "--prompt", "the ") == 0
    written = re.findall(r"^seed (\d+):\nthe (.{20})\n\n", capsys.readouterr().out, re.MULTILINE | re.DOTALL)
    assert [label for label, _ in written] == ["43", "42"]
    changed = store.load(record)
    changed["trials"][0]["weights_sha256"] = "0"
    record.unlink()
    store.save(record, changed)
    assert run("replay", record) == 1
    assert "NOT equal in weights_sha256" in capsys.readouterr().out


def test_options_override_the_file(params):
    """--trials, --max-iters, --set and then filters change what runs, also where the file has a value for one model,
    or a wrong one."""
    params.write_text(yaml.safe_dump(TINY | {"trials": 0, "per_arm": {"convlm": {"iterations": 4}}}))
    changed = ("--trials", 1, "--max-iters", 2, "--set", "model=[convlm, charlm]", "--set", "seed=7")
    assert run("run", params, "--workers", 1, "--activation", "relu", *changed, "--model", "convlm") == 0
    (record,) = [r for r in store.load_study("tiny-quick") if r["kind"] == "trials"]
    found = (record["model_name"], record["config"]["trials"], record["config"]["recipe"]["iterations"])
    assert found == ("convlm", ["7"], 2)


def test_several_files_in_one_call(params, tmp_path, capsys):
    """All are checked before one trains."""
    (other := tmp_path / "other.yaml").write_text(yaml.safe_dump(TINY | {"study": "other"}))
    asked = ("--workers", 1, "--activation", "gelu")
    assert run("run", params, tmp_path / "nowhere.yaml", *asked) == 2
    assert not paths.results().exists()
    assert run("run", params, other, *asked) == 0
    said = capsys.readouterr().out
    assert "results/tiny-quick: 1 of 1 records" in said
    assert "results/other: 1 of 1 records" in said
    assert run("status", params, other, *asked) == 0
    assert capsys.readouterr().out.count("2 trials of 1 arms: 2 recorded") == 2


MISTAKES = yaml.safe_load("""
run sub/nowhere.yaml: cannot read sub/nowhere.yaml
run zzz.yaml: "no such file: zzz.yaml"
status repro-ligth: "did you mean 'repro-lite'?"
run PARAMS iteration=3: did you mean 'iterations'?
run PARAMS dataset=sub/nowhere.txt: sub/nowhere.txt
run study=mine: name a params file too
run PARAMS --activation rleu: unknown activation 'rleu'
run PARAMS --model convlm: unknown model 'convlm' in  # a filter only takes away
run PARAMS --model nanotransformer,convlm: known are nanotransformer
run PARAMS --activation relu,gleu: did you mean 'gelu'? known are gelu, relu
run ABLATION --model charlm: is a study without it
run ABLATION --set optimizer=adam: known are adamw, ecd, sgd, sgdm, soap
run PARAMS --set optimizer.betsa=1: "unknown setting 'betsa': did you mean 'betas'?"
run PARAMS -p rates.stdy=x: did you mean 'study'? known are of, study
run PARAMS --set iteration=3: unknown setting 'iteration'
run PARAMS --set iterations=many: iterations='many'
run PARAMS --set iterations: expected name=value
run PARAMS --track wanbd: did you mean 'wandb'? known are tensorboard, wandb
run PARAMS --device tpu: device='tpu'
status PARAMS --model convlm: unknown model 'convlm' in
list activation: did you mean 'activations'? known are
compare nothing nil: unknown study with trials
sample nowhere.json: cannot be read as a record
report nothing: unknown study with trials
replay nowhere.json: cannot be read as a record
replay: give a record, --quick, or --all
replay nowhere.json --all: give a record, --quick, or --all
replay nowhere.json --quick: give a record, --quick, or --all
replay --all --study nowhere: unknown study 'nowhere'
replay --all: none of 0 trials
data get shakespear: did you mean 'shakespeare'?
data tokenize mnist: unknown dataset 'mnist'
""")


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_ends_in_one_line_and_code_2(words, params, capsys):
    """What was given and what is allowed, without a traceback."""
    files = {"PARAMS": params, "ABLATION": paths.ROOT / "params" / "ablation-quick.yaml"}
    assert run(*(files.get(word, word) for word in words.split())) == 2
    said = capsys.readouterr().err
    assert MISTAKES[words] in " ".join(said.split())
    assert "Traceback" not in said


@pytest.mark.parametrize("file", ["remedies", "mnist", "ablation-quick", "ablation-novels"])
def test_status_needs_no_data(file, committed, data_folder, monkeypatch, capsys):
    """Without data and network: every arm that no record holds is missing, and nothing is asked for."""
    asked = Mock()
    monkeypatch.setattr("pooch.retrieve", asked)
    assert run("status", paths.ROOT / "params" / f"{file}.yaml") == 0
    assert "trials of" in capsys.readouterr().out
    assert not asked.called


def test_version_and_names(committed, no_own_parts, tmp_path, capsys):
    """Every list has its names, own ones beside ours."""
    assert run("--version") == 0
    assert capsys.readouterr().out == f"actlab {actlab.__version__}\n"
    (own := tmp_path / "own.py").write_text(
        "import actlab, torch\nactlab.register_activation('mine', torch.nn.Tanh)\n"
        "actlab.register_metric('half', lambda p, q: (p - q).abs().sum(1) / 4, note='half of it')\n"
    )
    for what, name in yaml.safe_load(
        "{studies: repro-lite, activations: mine, models: tinylstm, scales: lite, texts: pydoc, metrics: half}"
    ).items():
        assert run("list", what, "--plugin", own) == 0
        assert name in [line.split()[0] for line in capsys.readouterr().out.splitlines()]


def test_compare_says_which_minus_which(committed, capsys):
    """Direction and level of the intervals, and of each metric what is better."""
    assert run("compare", "ablation-novels", "ablation-tuned") == 0
    said = capsys.readouterr().out
    assert "ablation-tuned (estimate) minus ablation-novels (reference), with its 95% interval" in said
    assert "val_loss: nats; " in said
    assert "lower is better" in said


def test_a_failed_trial_is_told_and_exits_1(params, monkeypatch, capsys):
    monkeypatch.setattr("actlab.trainers.loop.train", Mock(side_effect=RuntimeError("no more memory")))
    assert run("run", params, "--workers", 1) == 1
    assert "no more memory" in capsys.readouterr().err


def test_tokenize_writes_shards(tmp_path, capsys):
    """A built-in text becomes a tokenizer, shards of both splits and a manifest."""
    assert run("data", "tokenize", "pydoc", "--vocab-size", 300, "--out", tmp_path / "shards") == 0
    assert "300 tokens in the vocabulary" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "shards").iterdir()} == {
        "tokenizer.json",
        "manifest.json",
        "train_000.bin",
        "val_000.bin",
    }
