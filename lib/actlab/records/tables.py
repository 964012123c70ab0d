"""A study's results as tidy pandas tables: ``trials``, a row a training run; ``pairs``, a row a pair of runs of one
arm; ``curves``, a row an evaluation during training. Estimates nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from actlab.errors import BadInput, UnknownName, check_name
from actlab.files import read_yaml
from actlab.records import store
from actlab.records.defect_names import IGNORED
from actlab.records.settings import cell_of, differing, kind_of, named, place, settings_of, text
from actlab.records.store import Record

Arm = tuple[Record, dict[str, Any]]
"""A record, and what its rows share."""
COLUMNS: dict[str, tuple[str, str]] = read_yaml(Path(__file__).with_name("columns.yaml"))
"""Column -> (unit, meaning), in the tables' order; a study's own metrics are further columns of ``pairs``."""
KINDS = ("trials", "floor", "perturbed", "twins", "defective", "all")
"""What ``load`` can be asked for: the runs of a study (the default), repetitions of one seed, repetitions of several
seeds with something changed, runs under a published defect, everything."""
BLOCKS = {
    "end": [],
    "along": ["iteration"],
    "average": ["decay"],
    "ensembles": ["size"],
    "equal_compute": ["size", "iteration"],
    "published": ["iteration"],
    "steps": ["iteration"],
    "to_end": ["iteration"],
}
"""The pairs that ``load_pairs`` can be asked for -> the columns that tell several of two networks apart."""
MEASURED = {"trials": ["best_val_loss"], "mnist": ["test_loss", "test_accuracy", "collapsed"], "ablation": []}
"""Kind of record -> what its trials have beyond ``SCORES``."""
TEXT = ("name", "text", "hash", "true or false", "names")
"""Units of columns that are no numbers."""
SCORES = ["train_loss", "val_loss", "val_accuracy"]
RUN = ["setting", "seed", "trial"]
PAIR = ["first", "second", "total_variation", "relative_pd", "churn", "jensen_shannon", "label_pd"]
ELSEWHERE = ("iteration", "decay", "size", "members", "single_loss")
"""Columns of the other tables alone."""


def load(study: str, kind: str = "trials") -> tuple[pd.DataFrame, pd.DataFrame]:
    """(trials, pairs) of a recorded study of any kind: a row a training run, and a row a pair of runs of one arm.

    ``COLUMNS`` says what each column means; settings that the study leaves empty are left out, measures are not.
    Where an arm has grown, its larger record counts. An image sweep and an ablation have no pairs.

    Args:
        study: its name, a folder of results/.
        kind: ``trials``; or, only when asked for, ``floor``, ``perturbed`` (a run and the same seed with something
            changed; ``seed`` and ``variant`` say which run and what), ``defective`` (under a published defect; see
            ``protocol``); ``all``.

    Raises:
        UnknownName: no such study with trials, no such kind; the message lists those that there are.
        BadInput: more than one study.
    """
    return tables_of(_arms(study, kind))


def load_curves(study: str, kind: str = "trials") -> pd.DataFrame:
    """A row a run and evaluation during training: the arm's columns, ``seed``, ``trial``, ``iteration`` and
    ``train_loss``, ``val_loss`` (nats), ``val_accuracy`` (%); a run that diverged ends early. Not of image sweeps."""
    return curves_of(_arms(study, kind))


def curves_of(arms: Sequence[Arm]) -> pd.DataFrame:
    """What ``load_curves`` gives, of some arms."""
    rows = [
        arm | _label(trial) | {"iteration": entry["iteration"]} | {name: entry.get(name) for name in SCORES}
        for record, arm in arms
        for trial in record["trials"]
        for entry in trial.get("history", ())
    ]
    return _table(rows, [*RUN, "iteration", *SCORES])


def load_pairs(study: str, of: str = "end", kind: str = "trials") -> pd.DataFrame:
    """A row a pair of networks of one arm, as ``load`` gives them, of another block of the records.

    Args:
        study: its name.
        of: ``end`` (as ``load``); ``along`` (at every snapshot and at the end: column ``iteration``); ``average``
            (of averaged weights: column ``decay``); ``ensembles`` of whole runs and, of shorter ones that cost
            together what one run costs, ``equal_compute`` (column ``size``; ``first`` and ``second`` are tuples of
            members, of which they share none); ``published`` (as ``along``, but each network on inputs of its own, one
            network with itself too; ``coded_pd``: total variation, were the inputs the same); ``to_end`` (each run at a
            snapshot against itself at the end: column ``iteration``); ``steps`` (of twins in lockstep: ``sides_apart``,
            ``gradient_distance``, ``weight_distance`` at column ``iteration``).
        kind: as of ``load``.
    """
    check_name("pairs", of, BLOCKS)
    return pairs_of(_arms(study, kind), of)


def load_losses(study: str, of: str = "average") -> pd.DataFrame:
    """A row a network that is no single run: ``val_loss`` (nats) of every run's averaged weights (columns ``seed``,
    ``decay``, also ``val_accuracy``), or of every ensemble at equal training compute (``size``, ``members``,
    ``iteration``; loss of the mean probabilities on the windows where predictions are compared); ``single_loss``: of
    the same runs as single networks of all steps, on the same text. ``published``: of runs with published defects, as
    the published code measures them."""
    always = {
        "average": [*RUN, "decay", *SCORES[1:], "single_loss"],
        "equal_compute": ["setting", "size", "iteration", "members", "val_loss", "single_loss"],
        "published": [*RUN, *SCORES[1:]],
    }
    check_name("losses", of, always)
    rows = []
    for record, arm in _arms(study, "defective" if of == "published" else "trials"):
        if of == "published":
            rows += [arm | _label(one) | one for one in record.get("as_published", {}).get("trials", ())]
        elif of == "average":
            for trial in record["trials"]:
                for decay, scores in _by_decay(record, trial.get("average")):
                    about = {"decay": decay, "single_loss": trial["final"]["val_loss"]}
                    rows.append(arm | _label(trial) | about | scores)
        else:
            every = [entry | one for entry in record.get("equal_compute", ()) for one in entry["losses"]]
            single = {one["of"][0]: one["loss"] for one in every if one["size"] == 1}
            for one in every:
                alone = sum(single.get(name, math.nan) for name in one["of"]) / len(one["of"])
                about = {"size": one["size"], "iteration": one["iteration"], "members": (*one["of"],)}
                rows.append(arm | about | {"val_loss": one["loss"], "single_loss": alone})
    return _table(rows, always[of])


def load_baselines(study: str) -> pd.DataFrame:
    """A row a table of character frequencies (``unigram``, ``bigram``): its ``val_loss`` (nats per character) and
    ``val_accuracy`` (%) on the study's validation text; none where it was not measured, or the study has several
    texts."""
    first, *others = [r for r in load_records(study) if r["kind"] == "baseline"] or [{}]
    record = {} if others else first
    scores = {name: record[name] for name in ("unigram", "bigram") if name in record}
    return pd.DataFrame.from_dict(scores, orient="index", columns=SCORES[1:]).astype(float)


def load_records(study: str) -> list[Record]:
    """A study's records, of which some have trials."""
    if not isinstance(study, str):
        raise BadInput(f"expected the name of one study, got {study!r}: load each, then join them with pandas.concat")
    records = store.load_study(study) if Path(study).name == study else []  # a path would lead out of the results
    if not any(kind_of(record) for record in records):
        raise UnknownName("study with trials", study, store.studies(), "results/")
    return records


def _part(record: Record) -> str:
    """Of ``KINDS``."""
    if text(settings_of(record)["protocol"], "protocol") != "corrected":
        return "defective"
    return record["kind"] if record["kind"] in KINDS else "trials"


def _arms(study: str, kind: str) -> list[Arm]:
    """The study's arms of one kind, in the studies' own order, each told from the others by its settings."""
    check_name("kind", kind, KINDS)
    every = [record for record in load_records(study) if kind_of(record)]
    records = [record for record in every if kind in ("all", _part(record))]
    if not records and kind == "trials":
        there = sorted({_part(record) for record in every})
        raise BadInput(
            f"results/{study} has only runs of the kind {' and '.join(there)}: load({study!r}, {there[0]!r})"
        )
    names = differing(every)
    records.sort(key=lambda record: [*map(place, cell_of(record).values())])
    return [(record, _columns(record, names)) for record in records]


def of_records(records: Iterable[Record]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of some records of one study."""
    main = [record for record in records if kind_of(record)]
    names = differing(main)
    return tables_of([(record, _columns(record, names)) for record in main])


def tables_of(arms: Sequence[Arm]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What ``load`` gives, of some arms."""
    kinds = {record["kind"] for record, _ in arms} or {"trials"}
    measured = [name for kind in sorted(kinds) for name in MEASURED.get(kind, MEASURED["trials"])]
    rows = [arm | _trial(record, trial) for record, arm in arms for trial in record["trials"]]
    return _table(rows, [*RUN, "status", *SCORES, *measured]), pairs_of(arms)


def pairs_of(arms: Sequence[Arm], of: str = "end") -> pd.DataFrame:
    """Of one of ``BLOCKS``."""
    rows = [
        arm | {name: block[name] for name in BLOCKS[of]} | _pair(record, pair)
        for record, arm in arms
        for block in _blocks(record, of)
        for pair in block["pairs"]
    ]
    return _table(rows, ["setting", *BLOCKS[of], *PAIR])


def _table(rows: Sequence[dict[str, Any]], always: Sequence[str]) -> pd.DataFrame:
    """Columns as in ``COLUMNS``, then a study's own; what is empty is left out but for ``always``; numbers are
    numbers."""
    table = pd.DataFrame(rows)
    known = [name for name in COLUMNS if name in ("record", *always) or (name in table and table[name].notna().any())]
    table = table.reindex(columns=[*known, *(name for name in table if name not in COLUMNS)])
    numbers = [name for name in known if COLUMNS[name][0] not in TEXT and table[name].dtype == object]
    return table.astype(dict.fromkeys(numbers, float))


def _columns(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """What an arm's rows share; ``names``: the settings that tell arms apart."""
    own, optimizer = settings_of(record), record["config"].get("optimizer_settings", {})
    ignored = IGNORED in own["protocol"] and cell_of(record).get("activation") is not None
    return {
        **{name: own[name] for name in COLUMNS if name in own and name != "seed"},
        **cell_of(record),
        **({"learning_rate": optimizer.get("lr")} if record["kind"] == "ablation" else {}),
        "study": record["study"],
        "record": record["arm"],
        "kind": record["kind"],
        "setting": named(record, names),
        "model": record["model_name"],
        "activation": record["activation"],
        "activation_used": "relu" if ignored else str(record["activation"]),
        "protocol": text(own["protocol"], "protocol"),
    }


def _label(trial: Record) -> dict[str, Any]:
    """Its seed, its name and, where it is a changed repetition, the change (else empty)."""
    seed, _, variant = trial["label"].partition("-")
    own = trial.get("seed")
    changed = {"variant": variant} if variant else {}
    return {"seed": int(seed if own is None else own), "trial": trial["label"]} | changed


def _trial(record: Record, trial: Record) -> dict[str, Any]:
    done, spent = trial["status"] == "done", trial.get("seconds", math.nan)
    final = trial.get("final", trial) if done else {}
    return (
        _label(trial)
        | {name: final[name] for name in (*SCORES, "test_loss", "test_accuracy") if name in final}
        | {
            "status": trial["status"],
            "best_val_loss": trial["best"]["val_loss"] if done and "best" in trial else None,
            "collapsed": trial.get("collapsed"),
            "parameters": trial.get("n_parameters", record.get("n_parameters")),
            "seconds": sum(spent.values()) if isinstance(spent, dict) else spent,
            "weights_sha256": trial.get("weights_sha256"),
        }
    )


def _pair(record: Record, pair: Record) -> dict[str, Any]:
    """Names of the two, or their members where they are ensembles, and every number; of a run and its changed
    repetition also the seed and the change."""
    first, second = (tuple(one) if isinstance(one, list) else one for one in pair["between"])
    values = {name: value for name, value in pair.items() if isinstance(value, float | int)}
    changed = {}
    if record["kind"] in ("floor", "perturbed", "twins"):
        seed, _, variant = str(second).partition("-")
        changed = {"seed": int(seed), "variant": variant}
    return changed | {"first": first, "second": second} | values


def _blocks(record: Record, of: str) -> Iterable[Record]:
    """Lists of ``pairs``, each with what tells it apart, of one of ``BLOCKS``."""
    iterations = int(record["config"].get("recipe", {}).get("iterations", 0))
    end = {"iteration": iterations, "pairs": record.get("reproducibility_metrics", [])}
    if of == "along":
        return [*record.get("trajectory", ()), end]
    if of == "to_end":
        return [{"iteration": one["iteration"], "pairs": one.get(of, ())} for one in record.get("trajectory", ())]
    if of == "average":
        return [{"decay": decay, "pairs": pairs} for decay, pairs in _by_decay(record, record.get("average"))]
    if of == "ensembles":
        return [{"size": int(size), "pairs": pairs} for size, pairs in record.get("ensembles", {}).items()]
    if of == "published":
        entries = [one for one in (*record.get("trajectory", ()), record | end) if one.get("as_published")]
        both = [[pair for name in ("pairs", "itself") for pair in one["as_published"].get(name, ())] for one in entries]
        return [{"iteration": one["iteration"], "pairs": pairs} for one, pairs in zip(entries, both, strict=True)]
    return record.get(of, ()) if of in ("equal_compute", "steps") else [end]


def _by_decay(record: Record, average: Any) -> list[tuple[float, Any]]:
    """(decay, what is recorded of averaged weights); of a single decay it stands in the recipe."""
    if not average:
        return []
    single = isinstance(average, list) or "val_loss" in average
    by_decay = {record["config"]["recipe"]["average"]: average} if single else average
    return [(float(decay), one) for decay, one in by_decay.items()]
