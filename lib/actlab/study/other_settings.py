"""Whether new arms would stand beside recorded ones of other settings, said before they train: a study that is run
again after an edit of its params file keeps the arms from before, and tables show both."""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from actlab import paths
from actlab.errors import RecordError
from actlab.records import store
from actlab.records.settings import MAIN, cell_of, labels_of, settings_of, text, without_trials
from actlab.study.trial import Arm

warning = logging.getLogger("actlab").warning
Told = tuple[dict[str, str], dict[str, str]]
"""Settings of an arm in words: those by which tables tell it apart, and what has no name in a table."""
ALONE = (*MAIN, "twins")
"""Kinds of arms that no other one of their settings goes with, as a noise floor does."""


def warn(
    study: str, arms: Sequence[Arm], of_each: Collection[str] = (), tell: Callable[[str], object] = warning
) -> None:
    """One line where arms that are to be trained would join recorded ones of their cell which the study does not plan
    any more. More seeds, models, activations or levels of an axis say nothing.

    Args:
        study: its name.
        arms: all that it plans.
        of_each: settings in which its arms differ by their nature, as the rates of a tuning.
        tell: takes the line.
    """
    files = {path.stem: path for path in sorted(store.folder_of(study).glob(paths.RECORDS))}
    new = [arm for arm in arms if arm.kind in ALONE and arm.id not in files]
    if not new:
        return
    old = defaultdict[str, dict[str, Told]](dict)
    for record in _not_planned(files, arms):
        old[_cell(record)][record["arm"]] = _told(record, of_each)
    joined, differ = set[str](), dict[str, tuple[set[str], set[str]]]()
    for arm in new:
        own = _told(arm.as_record, of_each)
        every = {name: _departures(recorded, own) for name, recorded in old[_cell(arm.as_record)].items()}
        departures = {name: differing for name, differing in every.items() if differing}
        joined |= departures.keys()
        for name, (before, after) in min(departures.values(), key=len, default={}).items():
            there, here = differ.setdefault(name, (set(), set()))
            there.add(before)
            here.add(after)
    if joined:
        sides = {name: [" | ".join(sorted(values)) for values in both] for name, both in differ.items()}
        told = [f"{name} {was}, now {now}" for name, (was, now) in sides.items()]
        count = "1 arm" if len(joined) == 1 else f"{len(joined)} arms"
        tell(
            f"{store.where(study)} has {count} of other settings ({'; '.join(told)}), and tables will show old and new "
            "ones together; `study: NAME` gives the new ones a study of their own (--set study=NAME), "
            f"`actlab mv {study} NAME` the old ones"
        )


def _not_planned(files: Mapping[str, Path], arms: Sequence[Arm]) -> Iterator[store.Record]:
    """The recorded arms, of these files by their ids, whose settings none of these arms has, with however many trials;
    what cannot be read is told of elsewhere."""
    ids = {arm.id for arm in arms}
    planned = {_known_by(arm.as_record) for arm in arms}
    found = []
    for name, path in files.items():
        if name not in ids:
            with suppress(RecordError):
                found.append(store.load(path))
    for record in store.current(found):
        if record["kind"] in ALONE and _known_by(record) not in planned:
            yield record


def _known_by(record: store.Record) -> str:
    """What an arm keeps when it grows."""
    return store.canonical([record["kind"], labels_of(record)[:1], without_trials(record["config"])])


def _cell(record: store.Record) -> str:
    return store.canonical([record["kind"], cell_of(record)])


def _told(record: store.Record, of_each: Collection[str]) -> Told:
    """``of_each`` left out."""
    named = {name: text(value, name) for name, value in settings_of(record).items() if name not in of_each}
    nameless = ("parts", "optimizer_settings")  # versions of own parts, and what an optimizer has of its own
    return named, {name: text(record["config"].get(name, {}), name) for name in nameless}


def _departures(old: Told, new: Told) -> dict[str, tuple[str, str]]:
    """Setting -> (its value in a recorded arm, in a new one), where the two differ; what has no name where nothing else
    does."""
    for before, now in zip(old, new, strict=True):
        if before == now:
            continue
        differ = {}
        for name in before | now:
            there, here = (told.get(name, text(None, name)) for told in (before, now))
            if there != here:
                differ[name] = there, here
        if differ:
            return differ
    return {}
