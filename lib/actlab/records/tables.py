"""A study's results as tidy pandas tables: ``trials``, a row a training run; ``pairs``, a row a pair of runs of one
arm; ``curves``, a row an evaluation during training. Estimates nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from actlab import paths
from actlab.errors import BadInput, check_name
from actlab.files import read_yaml
from actlab.records import blocks, store
from actlab.records.blocks import Row, change_of
from actlab.records.defect_names import IGNORED
from actlab.records.settings import cell_of, differing, kind_of, named, place, settings_of, text
from actlab.records.store import Record

Arm = tuple[Record, Row]
"""A record, and what its rows share."""
KNOWN = read_yaml(Path(__file__).with_name("columns.yaml"))
COLUMNS: dict[str, tuple[str, str]] = KNOWN["columns"]
"""Column -> (unit, meaning), in the tables' order; a study's own metrics are further columns of ``pairs``."""
ALWAYS: dict[str, list[str]] = KNOWN["tables"]
"""Table -> the columns that it has whatever they hold."""
BLOCKS: dict[str, list[str]] = KNOWN["blocks"]
"""The pairs that ``load_pairs`` can be asked for -> the columns that tell several of two networks apart."""
KINDS = ("trials", "floor", "perturbed", "twins", "defective", "all")
"""What ``load`` can be asked for."""
TEXT = ("name", "text", "hash", "true or false", "names")
"""Units of columns that are no numbers."""
LOSSES = {
    "average": (blocks.averaged, "trials"),
    "equal_compute": (blocks.at_equal_compute, "trials"),
    "published": (blocks.as_published, "defective"),
}
"""What ``load_losses`` can be asked for -> a record's rows, the kind of its arms."""


def load(study: str, kind: str = "trials") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load (trials, pairs) of a recorded study of any kind: a row a training run, and a row a pair of runs of one arm.

    ``COLUMNS`` says what each column means; settings that the study leaves empty are left out, measures are not.
    Where an arm has grown, its larger record counts. An image sweep and an ablation have no pairs.

    Args:
        study: its name, a folder of results/.
        kind: ``trials``; or, only when asked for, ``floor`` (of one seed), ``perturbed`` (of several: a run and the
            same seed with something changed; ``seed`` and ``variant`` say which run and what), ``twins``,
            ``defective`` (under a published defect; see ``protocol``); ``all``.

    Raises:
        UnknownName: no such study with trials, no such kind; the message lists those that there are.
        BadInput: more than one study.
    """
    return trials_of(arms_of(study, kind)), load_pairs(study, "end", kind)


def load_curves(study: str, kind: str = "trials") -> pd.DataFrame:
    """Load a row a run and evaluation during training: the arm's columns, ``seed``, ``trial``, ``iteration`` and
    ``train_loss``, ``val_loss`` (nats), ``val_accuracy`` (%); a run that diverged ends early. Not of image sweeps."""
    return curves_of(arms_of(study, kind))


def load_pairs(study: str, of: str = "end", kind: str = "trials") -> pd.DataFrame:
    """Load a row a pair of networks of one arm, as ``load`` gives them, of another block of the records.

    Args:
        study: its name.
        of: ``end`` (as ``load``); ``along`` (at every snapshot and at the end: column ``iteration``); ``average``
            (of averaged weights: column ``decay``); ``ensembles`` of whole runs and, of shorter ones that cost
            together what one run costs, ``equal_compute`` (column ``size``; ``first`` and ``second`` are tuples of
            members, of which they share none); ``published`` (as ``along``, but each network on inputs of its own, one
            network with itself too; ``coded_pd``: total variation, were the inputs the same); ``to_end`` (each run at a
            snapshot against itself at the end: column ``iteration``); ``steps`` (of twins in lockstep, at column
            ``iteration``; their columns are in ``trainers.twins.train_together``).
        kind: as of ``load``.
    """
    check_name("pairs", of, BLOCKS)
    return pairs_of(arms_of(study, kind), of)


def load_losses(study: str, of: str = "average") -> pd.DataFrame:
    """Load a row a network that is no single run: ``val_loss`` (nats) of every run's averaged weights (columns
    ``seed``, ``decay``, also ``val_accuracy``), or of every ensemble at equal training compute (``size``, ``members``,
    ``iteration``; loss of the mean probabilities on the windows where predictions are compared); ``single_loss``: of
    the same runs as single networks of all steps, on the same text. ``published``: of runs with published defects, as
    the published code measures them."""
    check_name("losses", of, LOSSES)
    rows, kind = LOSSES[of]
    return _table(arms_of(study, kind), rows, ALWAYS[of])


def load_baselines(study: str) -> pd.DataFrame:
    """Load a row a table of character frequencies (``unigram``, ``bigram``): its ``val_loss`` (nats per character) and
    ``val_accuracy`` (%) on the study's validation text; none where it was not measured, or the study has several
    texts."""
    baselines = [record for record in load_records(study) if record["kind"] == "baseline"]
    names = ("unigram", "bigram") if len(baselines) == 1 else ()
    scores = {name: baselines[0][name] for name in names}
    return pd.DataFrame.from_dict(scores, orient="index", columns=["val_loss", "val_accuracy"]).astype(float)


def load_records(study: str) -> list[Record]:
    """Load a study's records, of which some have trials."""
    if not store.arm_files(study):
        check_name("study with trials", study, store.studies(), paths.shown(paths.results()))
    return store.load_study(study)


def of_records(records: Iterable[Record]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the two tables of some records of one study."""
    main = list(filter(kind_of, records))
    names = differing(main)
    arms = [(record, _columns(record, names)) for record in main]
    return trials_of(arms), pairs_of(arms)


def trials_of(arms: Sequence[Arm]) -> pd.DataFrame:
    """Make a table with a row a training run of some arms."""
    always = [*ALWAYS["trials"]]
    for kind in sorted({record["kind"] for record, _ in arms} or {"trials"}):
        always += KNOWN["measured"].get(kind, ["best_val_loss"])
    return _table(arms, blocks.trials, always)


def curves_of(arms: Sequence[Arm]) -> pd.DataFrame:
    """Make a table with a row an evaluation during training of some arms."""
    return _table(arms, blocks.curves, ALWAYS["curves"])


def pairs_of(arms: Sequence[Arm], of: str = "end") -> pd.DataFrame:
    """Make a table with a row a pair of networks of some arms, of one of ``BLOCKS``."""
    apart = BLOCKS[of]

    def rows(record: Record) -> Iterator[Row]:
        for block in blocks.blocks_of(record, of):
            shared = {name: block[name] for name in apart}
            yield from (_pair(pair) | shared for pair in block["pairs"])

    return _table(arms, rows, [*apart, *ALWAYS["pairs"]])


def arms_of(study: str, kind: str) -> list[Arm]:
    """List the study's arms of one kind, in the studies' own order, each told from the others by its settings."""
    check_name("kind", kind, KINDS)
    of_all_kinds = list(filter(kind_of, load_records(study)))
    records = [record for record in of_all_kinds if kind in ("all", _part(record))]
    if not records and kind == "trials":
        kinds = sorted({_part(record) for record in of_all_kinds})
        raise BadInput(
            f"{store.where(study)} has only runs of the kind {' and '.join(kinds)}: load({study!r}, {kinds[0]!r})"
        )
    names = differing(of_all_kinds)
    records.sort(key=lambda record: [place(level) for level in cell_of(record).values()])
    return [(record, _columns(record, names)) for record in records]


def _part(record: Record) -> str:
    """Return of which of ``KINDS`` a record is."""
    if text(settings_of(record)["protocol"], "protocol") != "corrected":
        return "defective"
    return record["kind"] if record["kind"] in KINDS else "trials"


def _table(arms: Sequence[Arm], rows_of: Callable[[Record], Iterable[Row]], always: Sequence[str]) -> pd.DataFrame:
    """Make a table of the rows of some arms. Columns are as in ``COLUMNS``, then a study's own; what is empty is left
    out but for ``always``; numbers are numbers."""
    rows: list[Row] = []
    for record, shared in arms:
        rows += [row | shared for row in rows_of(record)]
    if not rows:
        always = [*{*ALWAYS["empty"], *always}]
    table = pd.DataFrame(rows, columns=None if rows else always)
    known = [name for name in COLUMNS if name in always or (name in table and table[name].notna().any())]
    table = table.reindex(columns=[*known, *(name for name in table if name not in COLUMNS)])
    numbers = [name for name in known if COLUMNS[name][0] not in TEXT and table[name].dtype == object]
    return table.astype(dict.fromkeys(numbers, float))


def _columns(record: Record, names: Sequence[str]) -> Row:
    """Return what an arm's rows share; ``names``: the settings that tell arms apart."""
    settings, cell = settings_of(record), cell_of(record)
    row = {name: settings[name] for name in COLUMNS if name in settings and name != "seed"} | cell
    if record["kind"] == "ablation":
        row["learning_rate"] = record["config"].get("optimizer_settings", {}).get("lr")
    ignored = IGNORED in settings["protocol"] and "activation" in cell
    return row | {
        "study": record["study"],
        "record": record["arm"],
        "kind": record["kind"],
        "setting": named(record, names),
        "model": record["model_name"],
        "activation": record["activation"],
        "activation_used": "relu" if ignored else record["activation"],
        "protocol": text(settings["protocol"], "protocol"),
    }


def _pair(pair: Record) -> Row:
    """Name the two, or their members where they are ensembles, with every number; of a run and its changed repetition
    also the seed and the change."""
    first, second = (tuple(network) if isinstance(network, list) else network for network in pair["between"])
    changed = change_of(second) if isinstance(second, str) and "-" in second else {}
    numbers = {name: value for name, value in pair.items() if isinstance(value, float | int)}
    return numbers | changed | {"first": first, "second": second}
