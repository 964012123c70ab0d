"""The page on running, extending and trusting: what runs cost beside named peers (the newest records of `python -m
tests.speed`), what studies survive (the tests of faults and of bad input), every replay of a recorded run, and the
quick study of this machine. No torch; trains nothing."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab import paths
from actlab.chapters.processors import PROCESSOR
from actlab.chapters.template import folded, frame
from actlab.errors import BadInput
from actlab.figures.primitives import points
from actlab.records import repro, store
from actlab.records.settings import date_of
from actlab.records.store import Record
from actlab.records.wording import bullets, extremes, moment, small
from actlab.statistics.estimate import Array, Estimate
from actlab.statistics.means import mean_interval

SPEED, TRUST = "performance", "reliability"
"""Folders of what was measured, and of what the tests of faults did."""
TIMED = ("answer", "repro-partial", "repro-partial-cpu")
"""Studies whose runs' durations are told: on CPUs and on a GPU."""
OURS, HALF, REFERENCE = "ours", "ours in bfloat16", "plain reference"
PEERS = {
    HALF: "ours, training in bfloat16",
    REFERENCE: "plain PyTorch",
    "PyTorch Lightning, our model": "Lightning",
    "nanoGPT-style loop and layers": "nanoGPT-style loop",
}
"""A way -> its name in the figure."""
CODE = "the code that trains"
"""How a replay names that this changed since its record was made."""


def newest(study: str, name: str | None = None) -> Record:
    """The last record of that name.

    Raises:
        BadInput: there is none.
    """
    found = [record for record in store.load_study(study) if record.get("name") == name]
    if not found:
        raise BadInput(f"results/{study} has no record{f' of {name}' if name else ''} yet")
    return max(found, key=date_of)


def _runs() -> Iterator[tuple[str, str, Any, Array, Array, Array]]:
    """(model, way, its parts, CPU seconds of a run, those of a run with the published evaluations, those of a run of
    ours), one value a round."""
    found = newest(SPEED, "peers")["measured"]

    def run(way: Any, positions: str) -> Array:
        steps, million = np.array(way["iteration"]), np.array(way["million_positions"])
        return np.asarray(found["iterations"] * steps + found["evaluations"] * found[positions] / 1e6 * million)

    for model, row in found["models"].items():
        ours = run(row["ways"][OURS], "positions")
        for name, way in row["ways"].items():
            yield model, name, way, run(way, "positions"), run(way, "published_positions"), ours


def against_peers() -> dict[tuple[str, str], Estimate]:
    """(model, way) -> CPU time of a run at equal protocol minus ours, in % of ours, over the rounds."""
    return {
        (model, name): mean_interval(list(100 * (run / ours - 1)))
        for model, name, _, run, _, ours in _runs()
        if name != OURS
    }


def figure() -> Figure:
    """CPU time of a run at equal protocol, minus ours: a row a model, a mark a way."""
    found = {("", model, PEERS.get(way, way)): estimate for (model, way), estimate in against_peers().items()}
    return points(found, "CPU time of a run minus ours (%); right of 0: slower than ours", zero=True, height=3.0)


def peers() -> pd.DataFrame:
    """One row a model and way: a run at equal protocol, how many times as long as ours one with the published
    evaluations takes, and what both consist of."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for model, name, way, run, published, ours in _runs():
        rows[model, name] = {
            "run, s": f"{np.median(run):.0f}",
            "as published": f"{np.median(published) / np.median(ours):.1f}" if name == REFERENCE else "",
            "step, ms": f"{1e3 * np.median(way['iteration']):.0f}",
            "memory, MB": f"{way['peak_mb']:.0f}",
            "rounds": str(len(run)),
        }
    return frame(rows, ("model", "way"))


def timed() -> dict[str, Record]:
    """Kind of processor with bfloat16 arithmetic -> its last record of whole commands."""
    found = [r for r in store.load_study(SPEED) if r["name"] == "commands" and r["measured"]["bfloat16"]]
    return {
        "{processor}, {capability}".format(**record["provenance"]["machine"]): record
        for record in sorted(found, key=date_of)
    }


def commands() -> pd.DataFrame:
    """One row a kind of processor and model: wall-clock seconds of the reference's command and of ours, and ratios."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for kind, record in timed().items():
        for model, ways in record["measured"]["models"].items():
            theirs = median(ways["reference"])
            row = rows[kind, model] = {"reference, s": f"{theirs:.0f}"}
            for way, seconds in ((way, median(values)) for way, values in ways.items() if way != "reference"):
                row |= {f"ours in {way}, s": f"{seconds:.0f}", f"times faster in {way}": f"{theirs / seconds:.1f}"}
    return frame(rows, ("processor", "model"))


def halves() -> dict[str, float]:
    """Kind of processor -> seconds of a whole command in float32 over those in bfloat16, median over models."""
    return {
        kind: median(
            median(ways["float32"]) / median(ways["bfloat16"]) for ways in record["measured"]["models"].values()
        )
        for kind, record in timed().items()
    }


def speed() -> str:
    """What the figure shows, and what bfloat16 does to a whole command."""
    named = [estimate for (_, way), estimate in against_peers().items() if way != HALF]
    return (
        f"At equal protocol plain PyTorch, Lightning and a nanoGPT-style loop take {median(e.value for e in named):.0f}"
        "% more CPU time than actlab in the median; the 95% interval includes 0 in "
        f"{sum(e.low < 0 < e.high for e in named)} of {len(named)} comparisons. Training in bfloat16 makes a whole "
        f"command {extremes(halves(), '{:.1f}'.format)} times as fast as in float32 (median over architectures)"
    )


def trust(record: Record) -> str:
    """What faults and bad input did; an input that was neither used nor refused is a traceback."""
    kinds, inputs = pd.DataFrame(record["faults"]).sum(), pd.DataFrame(record["doors"]).sum(axis=1)
    return (
        f"Of {kinds['times']} faults injected by tests (kills, full disks, damaged files) {kinds['lost'] or 'none'} "
        f"lost a result; of {inputs['tried']:,} bad or odd inputs "
        f"{inputs['tried'] - inputs['used'] - inputs['refused'] or 'none'} ended in a traceback"
    )


def replays() -> list[Record]:
    """Every run that was trained again, of all studies."""
    return [r for path in sorted(paths.results().glob("*")) if path.is_dir() for r in store.load_replays(path.name)]


def on_another_processor(replay: Record) -> bool:
    """Whether it ran on another kind of processor than its record: by name or vector instructions."""
    return any(change.partition(" ")[0] in PROCESSOR for change in replay["changed"])


def cause(replay: Record) -> str:
    """What had changed since its record that bears most on the bits."""
    if on_another_processor(replay):
        return "the kind of processor: equal bits are not to be expected"
    if CODE in replay["changed"]:
        return CODE
    return "versions" if replay["changed"] else "nothing"


def by_cause(every: list[Record]) -> pd.DataFrame:
    """One row a cause: replays, those that gave the recorded bits, and how far the losses of the others were off."""
    rows = {}
    for name in sorted(set(map(cause, every))):
        mine = [replay for replay in every if cause(replay) == name]
        off = [abs(r["val_loss"]["now"] - r["val_loss"]["recorded"]) for r in mine if "val_loss" in r]
        rows[name] = {
            "replays": len(mine),
            "the recorded bits": sum(r["equal"] for r in mine),
            "largest difference of validation loss (nats)": small(max(off, default=0.0)),
        }
    return frame(rows)


def replayed(every: list[Record]) -> str:
    """How many runs that were trained again gave the recorded bits, where that is promised."""
    promised = [r["equal"] for r in every if not on_another_processor(r)]
    return f"On the recorded kind of processor {sum(promised)} of {len(promised)} replays gave the recorded bits"


def answer() -> Any:
    """What a run costs, what a study survives, whether it repeats: a sentence each, for a notebook."""
    return bullets([speed(), trust(newest(TRUST)), replayed(replays())])


def durations(*studies: str) -> pd.DataFrame:
    """One row a study and model: on what its runs under relu were trained, and how long one took in the median."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for study in studies:
        for arm in (arm for arm in repro.read_study(study).arms.values() if arm.activation == "relu"):
            recipe, machine = arm.recipe, arm.record["provenance"]["machine"]
            spent = pd.DataFrame([trial["seconds"] for trial in arm.record["trials"]]).median()
            rows[study, arm.model] = {
                "trained on": machine["gpu" if recipe["device"].startswith("cuda") else "processor"],
                "steps": f"{recipe['iterations']:,}",
                **{f"{name}, s": f"{seconds:.0f}" for name, seconds in spent.items()},
            }
    return frame(rows, ("study", "model"))


def tables() -> Any:
    """Every table, and the machines, folded."""
    records = {"peers": newest(SPEED, "peers"), "faults": newest(TRUST)}
    records |= {f"commands on {kind}": record for kind, record in timed().items()}
    machines = {
        name: {"processor": made["machine"]["processor"], "torch": made["machine"].get("torch", "")}
        | {"date": moment(made["date"]), "commit": (made["git_commit"] or "none")[:10]}
        for name, made in ((name, record["provenance"]) for name, record in records.items())
    }
    return folded(
        {
            "CPU time at equal protocol, every way": peers(),
            "Whole commands: two runs from the shell, wall clock, each side with its own protocol": commands(),
            "How long recorded runs under relu took (median; on the GPU beside 15 to 40 others)": durations(*TIMED),
            "Machines": frame(machines),
        }
    )
