"""A study's results as tidy pandas tables: ``trials``, a row a training run; ``pairs``, a row a pair of runs of one
arm; ``curves``, a row an evaluation during training. Estimates nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.files import read_yaml
from actlab.records import store
from actlab.records.defect_names import IGNORED
from actlab.records.settings import cell_of, differing, kind_of, named, place, settings_of, text
from actlab.records.store import Record

COLUMNS: dict[str, tuple[str, str]] = read_yaml(Path(__file__).with_name("columns.yaml"))
"""Column -> (unit, meaning), in the tables' order; a study's own metrics are further columns of ``pairs``."""
KINDS = ("trials", "floor", "perturbed", "defective", "all")
"""What ``load`` can be asked for: the runs of a study (the default), repetitions of one seed, repetitions of several
seeds with something changed, runs under a published defect, everything."""
BLOCKS = ("end", "along", "average", "ensembles", "equal_compute", "published")
"""The pairs that ``load_pairs`` can be asked for."""
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
    records, names = _chosen(study, kind)
    return of_records(records, names)


def load_curves(study: str, kind: str = "trials") -> pd.DataFrame:
    """A row a run and evaluation during training: the arm's columns, ``seed``, ``trial``, ``iteration`` and
    ``train_loss``, ``val_loss`` (nats), ``val_accuracy`` (%); a run that diverged ends early. Not of image sweeps."""
    rows = [
        arm | _label(trial) | {"iteration": entry["iteration"]} | {name: entry.get(name) for name in SCORES}
        for record, arm in _arms(*_chosen(study, kind))
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
            network with itself too; ``coded_pd``: total variation, were the inputs the same).
        kind: as of ``load``.
    """
    _known("pairs", of, BLOCKS)
    rows = [
        arm | about | _pair(record, pair)
        for record, arm in _arms(*_chosen(study, kind))
        for about, pairs in _blocks(record, of)
        for pair in pairs
    ]
    about = {"end": [], "along": ["iteration"], "average": ["decay"], "ensembles": ["size"], "published": ["iteration"]}
    return _table(rows, ["setting", *about.get(of, ["iteration", "size"]), *PAIR])


def load_losses(study: str, of: str = "average") -> pd.DataFrame:
    """A row a network that is no single run: ``val_loss`` (nats) of every run's averaged weights (columns ``seed``,
    ``decay``, also ``val_accuracy``), or of every ensemble at equal training compute (``size``, ``members``,
    ``iteration``; loss of the mean probabilities on the windows where predictions are compared); ``single_loss``: of
    the same runs as single networks of all steps, on the same text. ``published``: of runs with published defects, as
    the published code measures them."""
    _known("losses", of, ("average", "equal_compute", "published"))
    arms, rows = _arms(*_chosen(study, "defective" if of == "published" else "trials")), []
    if of == "published":
        rows = [arm | _label(one) | one for r, arm in arms for one in r.get("as_published", {}).get("trials", ())]
        return _table(rows, [*RUN, *SCORES[1:]])
    for record, arm in arms if of == "average" else ():
        for trial in record["trials"]:
            found = trial.get("average") or {}
            found = {record["config"]["recipe"]["average"]: found} if "val_loss" in found else found
            about = arm | _label(trial) | {"single_loss": trial["final"]["val_loss"] if found else None}
            rows += [about | {"decay": float(decay)} | scores for decay, scores in found.items()]
    for record, arm in arms if of != "average" else ():
        ran = record.get("equal_compute", ())
        single = {one["of"][0]: one["loss"] for entry in ran if entry["size"] == 1 for one in entry["losses"]}
        for entry in ran:
            about = arm | {"size": entry["size"], "iteration": entry["iteration"]}
            for one in entry["losses"]:
                alone = sum(single.get(name, math.nan) for name in one["of"]) / len(one["of"])
                rows.append(about | {"members": (*one["of"],), "val_loss": one["loss"], "single_loss": alone})
    ensemble = ["setting", "size", "iteration", "members", "val_loss", "single_loss"]
    return _table(rows, [*RUN, "decay", *SCORES[1:], "single_loss"] if of == "average" else ensemble)


def load_baselines(study: str) -> pd.DataFrame:
    """A row a table of character frequencies (``unigram``, ``bigram``): its ``val_loss`` (nats per character) and
    ``val_accuracy`` (%) on the study's validation text; none where it was not measured."""
    found = next((r for r in load_records(study) if r["kind"] == "baseline"), {})
    scores = {name: found[name] for name in ("unigram", "bigram") if name in found}
    return pd.DataFrame.from_dict(scores, orient="index", columns=SCORES[1:]).astype(float)


def load_records(study: str) -> list[Record]:
    """A study's records, of which some have trials."""
    if not isinstance(study, str):
        raise BadInput(f"expected the name of one study, got {study!r}: load each, then join them with pandas.concat")
    records = store.load_study(study) if Path(study).name == study else []  # a path would lead out of the results
    if not any(kind_of(record) for record in records):
        raise UnknownName("study with trials", study, studies(), "results/")
    return records


def studies() -> list[str]:
    """Folders below results/ whose records hold trials."""
    return sorted(
        f.name for f in paths.results().glob("*") if any(kind_of(store.load(path)) for path in f.glob("*.json"))
    )


def _known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)


def _part(record: Record) -> str:
    """Of ``KINDS``."""
    if text(settings_of(record)["protocol"], "protocol") != "corrected":
        return "defective"
    return record["kind"] if record["kind"] in KINDS else "trials"


def _chosen(study: str, kind: str) -> tuple[list[Record], list[str]]:
    """The study's records of trials of one kind, in the studies' own order, and the settings that tell its arms
    apart."""
    _known("kind", kind, KINDS)
    every = [record for record in load_records(study) if kind_of(record)]
    found = [record for record in every if kind in ("all", _part(record))]
    if not found and kind == "trials":
        there = sorted({_part(record) for record in every})
        raise BadInput(
            f"results/{study} has only runs of the kind {' and '.join(there)}: load({study!r}, {there[0]!r})"
        )
    return sorted(found, key=lambda record: [*map(place, cell_of(record).values())]), differing(every)


def of_records(records: Iterable[Record], names: Sequence[str] | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of some records of one study; ``names``: the settings that tell arms apart."""
    found = [record for record in records if kind_of(record)]
    arms = _arms(found, differing(found) if names is None else names)
    kinds = {record["kind"] for record in found} or {"trials"}
    measured = [name for kind in sorted(kinds) for name in MEASURED.get(kind, MEASURED["trials"])]
    trials = _table([row for arm in arms for row in _trials(*arm)], [*RUN, "status", *SCORES, *measured])
    pairs = [arm | _pair(record, pair) for record, arm in arms for pair in record.get("reproducibility_metrics", [])]
    return trials, _table(pairs, ["setting", *PAIR])


def _table(rows: Sequence[dict[str, Any]], always: Sequence[str]) -> pd.DataFrame:
    """Columns as in ``COLUMNS``, then a study's own; what is empty is left out but for ``always``; numbers are
    numbers."""
    table = pd.DataFrame(rows)
    known = [name for name in COLUMNS if name in always or (name in table and table[name].notna().any())]
    table = table.reindex(columns=[*known, *(name for name in table if name not in COLUMNS)])
    numbers = [name for name in known if COLUMNS[name][0] not in TEXT and table[name].dtype == object]
    return table.astype(dict.fromkeys(numbers, float))


def _arms(records: Iterable[Record], names: Sequence[str]) -> list[tuple[Record, dict[str, Any]]]:
    return [(record, _arm(record, named(record, names))) for record in records]


def _arm(record: Record, setting: str) -> dict[str, Any]:
    own, optimizer = settings_of(record), record["config"].get("optimizer_settings", {})
    return {
        **{name: own[name] for name in COLUMNS if name in own and name != "seed"},
        **cell_of(record),
        **({"learning_rate": optimizer.get("lr")} if record["kind"] == "ablation" else {}),
        "study": record["study"],
        "record": record["arm"],
        "kind": record["kind"],
        "setting": setting,
        "model": record["model_name"],
        "activation": record["activation"],
        "activation_used": used(record),
        "protocol": text(own["protocol"], "protocol"),
    }


def used(record: Record) -> str:
    """The activation that an arm's network had: relu where the published defect ignored the one asked for."""
    ignored = IGNORED in settings_of(record)["protocol"] and cell_of(record).get("activation") is not None
    return "relu" if ignored else str(record["activation"])


def _label(trial: Record) -> dict[str, Any]:
    """Its seed, its name and, where it is a changed repetition, the change (else empty)."""
    seed, _, variant = trial["label"].partition("-")
    own = trial.get("seed")
    changed = {"variant": variant} if variant else {}
    return {"seed": int(seed if own is None else own), "trial": trial["label"]} | changed


def _trials(record: Record, arm: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for trial in record["trials"]:
        done = trial["status"] == "done"
        final = trial.get("final", trial) if done else {}
        names = ("train_loss", "val_loss", "val_accuracy", "test_loss", "test_accuracy")
        spent = trial.get("seconds", math.nan)
        yield (
            arm
            | _label(trial)
            | {name: final[name] for name in names if name in final}
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
    if record["kind"] in ("floor", "perturbed"):
        seed, _, variant = str(second).partition("-")
        changed = {"seed": int(seed), "variant": variant}
    return changed | {"first": first, "second": second} | values


def _blocks(record: Record, of: str) -> Iterator[tuple[dict[str, Any], list[Record]]]:
    """(what tells a list of pairs apart, the pairs), of one of ``BLOCKS``."""
    end = record.get("reproducibility_metrics", [])
    last = {"iteration": int(record["config"].get("recipe", {}).get("iterations", 0))}
    if of == "end":
        yield {}, end
    elif of == "along":
        yield from (({"iteration": entry["iteration"]}, entry["pairs"]) for entry in record.get("trajectory", ()))
        yield last, end
    elif of == "average":
        found = record.get("average") or {}
        found = found if isinstance(found, dict) else {record["config"]["recipe"]["average"]: found}
        yield from (({"decay": float(decay)}, pairs) for decay, pairs in found.items())
    elif of == "published":
        for entry in (*record.get("trajectory", ()), last | record):
            if found := entry.get("as_published"):
                yield {"iteration": entry["iteration"]}, [*found.get("pairs", ()), *found.get("itself", ())]
    elif of == "ensembles":
        yield from (({"size": int(size)}, pairs) for size, pairs in record.get("ensembles", {}).items())
    else:
        for entry in record.get("equal_compute", ()):
            yield {"size": entry["size"], "iteration": entry["iteration"]}, entry["pairs"]
