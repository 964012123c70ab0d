"""No notebook is a dead end: each runs on a study of one's own, with one seed or two, with an arm missing, with one
setting, and with every documented "" or []; where a page cannot be about a study, one line says what it needs."""

import warnings
from dataclasses import replace

import cells
import pytest
import tiny
from filelock import FileLock

from actlab import paths
from actlab.data import text
from actlab.errors import ActlabError
from actlab.models import SCALES
from actlab.study.params import study_of
from actlab.study.run import run

pytestmark = pytest.mark.slow
FULL = {
    "model": ["charlm", "convlm"],
    "activation": ["relu", "gelu", "smelu_0.3"],
    "trials": 4,
    "iterations": 6,
    "evaluate_every": 3,
    "batch_size": 2,
    "prediction_windows": 5,
    "snapshots": [2, 3],
    "equal_compute": [2],
    "average": [0.99],
    "perturbations": ["nudge", "order"],
}
FEW = {"equal_compute": []}  # an ensemble of two needs four trials
STUDIES = {
    "own": FULL,
    "two-seeds": FULL | FEW | {"trials": 2},
    "one-seed": FULL | FEW | {"trials": 1},
    "one-setting": FULL | FEW | {"model": ["charlm"], "activation": ["relu"], "trials": 3},
    "an-arm-less": FULL | FEW | {"trials": 3},
    "quick": {name: FULL[name] for name in ("iterations", "evaluate_every", "batch_size", "prediction_windows")},
    "tried": FULL,
}
"""Studies of language models; ``quick``: without snapshots, averages and perturbations, as most are; ``tried``: with an
experiment in it."""
EXPERIMENT = {"iterations": 5, "trials": 2} | FEW
"""What differs in the experiment: its arms lie beside those of the study."""
TWINS = {name: FULL[name] for name in ("model", "iterations", "evaluate_every", "batch_size", "prediction_windows")}
TWINS |= {"kind": "twins", "activation": ["relu"]}
ALL = [*STUDIES]


IMAGES = {
    "study": "own-images",
    "hidden": [2, 4],
    "learning_rate": [0.01],
    "batch_size": [64],
    "trials": 3,
    "workers": 1,
}
TOKENS = {"study": "own-tokens", "optimizer": ["adamw", "sgdm"], "workers": 1, **tiny.ABLATION}


def named(study):
    """What a notebook that trains must be told to show one of ``STUDIES``."""
    return {name: value for name, value in STUDIES[study].items() if name in FULL}


def made(values):
    """Train a study of these fields."""
    values = dict(values)
    run(study_of(values.pop("kind", "repro")).parse(values))


@pytest.fixture(scope="session")
def studies(tmp_path_factory, worker_id):
    """Folder of the committed records, of ``STUDIES`` and of twins; made once for all processes."""
    folder = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    with FileLock(folder / "studies.lock"), pytest.MonkeyPatch.context() as patch:
        results = folder / "no-dead-end"
        patch.setenv("ACTLAB_RESULTS", str(results))
        patch.setenv("ACTLAB_CACHE", str(folder / "no-dead-end-cache"))
        if not results.exists():
            shrink(patch)
            for name, values in STUDIES.items():
                made({"study": name, **values})
            made({"study": "tried", **FULL, **EXPERIMENT})
            for path in (results / "an-arm-less").glob("convlm-gelu-*.json"):
                path.unlink()
            for trials in (1, 2):
                made({"study": f"twins-{trials}", **TWINS, "trials": trials})
            for name in {path.split("/")[1] for path in (paths.git("ls-files", "results") or "").splitlines()}:
                (results / name).symlink_to(paths.ROOT / "results" / name)
    return folder


def shrink(patch):
    """Networks and a text with which a trial takes a blink."""
    text._load.cache_clear()
    patch.setitem(SCALES, "quick", replace(tiny.CONFIG))
    patch.setitem(text.TEXTS._built_in, "pydoc", lambda: tiny.CATS)


@pytest.fixture
def reader(studies, tmp_path, monkeypatch):
    """A reader of these studies, in a folder of their own."""
    shrink(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACTLAB_RESULTS", str(studies / "no-dead-end"))
    monkeypatch.setenv("ACTLAB_CACHE", str(studies / "no-dead-end-cache"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one value or none: a page may draw an empty picture
        yield
    text._load.cache_clear()


NOTEBOOKS = {
    "answer": [{"study": each} for each in ALL],
    "losses": [{"study": each, "tuning": "", "elsewhere": []} for each in ALL],
    "remedies": [{"study": each, "falling": "", "planned": [], "jitter": ""} for each in ALL] + [{"study": "own"}],
    "relu-corner": [{"study": each} for each in ("twins-1", "own")],
    "one-bit": [dict.fromkeys(("one_rate", "tuned", "low"), each) | {"fast": [each]} for each in ALL],
    "same": [dict.fromkeys(("low", "larger", "one_rate"), each) for each in ALL],
    "report": [{"study": each, "other": "", "sizes": "", "tuned": ""} for each in ALL]
    + [{"study": "own", "other": "two-seeds", "tuned": "own", "sizes": ""}],
    "methods": [{"study": each} for each in ALL],
    "phase": [{"study": each} for each in ("own", "quick")],
    "running": [{"quick": each} for each in ALL],
    "autopsy": [{"corrected": each, "overfit": each, "longer": each} for each in ALL],
    "explore": [{"studies": [each]} for each in ALL],
    "takehome": [{"seeds": seeds, "steps": 20} for seeds in (1, 2)],
    "repro": [{"study": each, "train_missing": False, **named(each)} for each in ALL],
    "mnist": [
        {**IMAGES, **more}
        for more in (
            {},
            {"trials": 1},
            {"trials": 2},
            {"hidden": [2], "batch_size": [64], "learning_rate": [0.001]},
            {"network": ["relu"]},
            {"network": ["relu"], "hidden": [2], "batch_size": [64], "learning_rate": [0.001], "trials": 1},
        )
    ],
    "ablation": [
        {**TOKENS, **more}
        for more in (
            {},
            {"trials": 2},
            {"optimizer": ["adamw"]},
            {"symmetry": ["symmetric"]},
            {"optimizer": ["adamw"], "symmetry": ["symmetric"], "activation": ["gelu"]},
        )
    ],
}
CALLS = [
    pytest.param(name, given, id=f"{name}-{next(iter(given.values()))}")
    for name, every in NOTEBOOKS.items()
    for given in every
]
NEEDS = {
    ("answer", "one-seed"): "has 1 of the 2 seeds",
    ("answer", "one-setting"): "has 1 of the 2 activations",
    ("answer", "quick"): "set `snapshots`",
    ("losses", "one-setting"): "has 1 of the 2 activations",
    ("remedies", "one-seed"): "has 1 of the 2 seeds",
    ("remedies", "quick"): "set `average` or `equal_compute`",
    **{("relu-corner", each): "unknown study 'control'" for each in ("twins-1", "own")},
    ("one-bit", "one-seed"): "has 1 of the 2 seeds",
    ("one-bit", "quick"): "no records of kind perturbed",
    ("same", "one-seed"): "has 1 of the 2 seeds",
    ("methods", "one-seed"): "has 1 of the 2 seeds",
    ("autopsy", "one-seed"): "has 1 of the 2 seeds",
    ("autopsy", "one-setting"): "has 1 of the 2 activations",
    **{("autopsy", each): "unknown model 'tinylstm'" for each in ("own", "two-seeds", "an-arm-less", "quick")},
    **{("phase", each): "no records that differ in warmup" for each in ("own", "quick")},
    ("takehome", "1"): "two runs or more",
    **{
        (page, "tried"): "has arms that differ in iterations"
        for page in ("answer", "losses", "remedies", "methods", "same", "autopsy")
    },
}
"""(notebook, study) -> what the one line says that a page ends with where it cannot be about the study."""


def test_no_notebook_is_left_out():
    """But for the one that has no parameters and reads every record."""
    assert {path.stem for path in (paths.ROOT / "notebooks").glob("*.ipynb")} == {*NOTEBOOKS, "claims"}


@pytest.mark.parametrize(("notebook", "given"), CALLS)
def test_a_notebook_runs_on_any_study(reader, notebook, given):
    """To its end, or to one line that says what it needs."""
    needs = NEEDS.get((notebook, str(next(iter(given.values())))))
    if needs:
        with pytest.raises(ActlabError, match=needs):
            cells.executed(notebook, **given)
    else:
        cells.executed(notebook, **given)
