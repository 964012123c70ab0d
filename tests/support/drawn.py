"""Every figure of the book over made-up records, and the words in one. Not a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from tests.records.test_mnist import made_up as swept
from tests.records.test_sources import study
from tests.support import ablations, autopsies, grids

from actlab.chapters.autopsy import printed, trained
from actlab.claims.published import numbers
from actlab.figures import ablation, autopsy, sources
from actlab.figures import mnist as sweep_figures
from actlab.figures import repro as grids_figures
from actlab.records import ablation as ablation_records
from actlab.records import mnist, repro
from actlab.records.autopsy import Evidence
from actlab.records.sources import Sources

GRID: dict[str, Callable[[Any], Figure]] = {
    "bars": lambda g: grids_figures.bars(g, "total_variation"),
    "bars of one model": lambda g: grids_figures.bars(g.only("tinylstm"), "val_accuracy"),
    "curves": grids_figures.curves,
    "scatter": grids_figures.scatter,
    "four panels": grids_figures.four_panels,
    "floors": grids_figures.floors,
}
ABLATION: dict[str, Callable[[Any], Figure]] = {
    "arms": lambda f: ablation.by_arm(ablation_records.arms(f)),
    "gains": lambda f: ablation.gains(ablation_records.gains(f), ablation_records.interactions(f)),
    "rates": lambda f: ablation.rates(ablation_records.rates(f)),
    "losses": lambda f: ablation.curves(ablation_records.curves(f, "gelu")),
    "alignment": lambda f: ablation.alignment(
        {mode: ablation_records.alignments(f, "adamw", mode, "gelu") for mode in f.levels("symmetry")}
    ),
}
EVIDENCE: dict[str, Callable[[Any], Figure]] = {
    "identical": autopsy.identical,
    "leak": autopsy.leak,
    "itself": autopsy.itself,
    "drawn": autopsy.drawn,
    "trade-off": lambda e: autopsy.trade_off(trained.points(e)),
    "plateau": autopsy.plateau,
    "swiglu": autopsy.swiglu,
    "sensitivity": lambda e: autopsy.bars(trained.sensitivity_bars(e), 20.26, "CV%"),
}
STREAMS: dict[str, Callable[[Any], Figure]] = {
    f.__name__: f for f in (sources.by_stream, sources.over_time, sources.floors, sources.by_ensemble)
}
SWEEP: dict[str, Callable[[Any], Figure]] = {
    "widths": lambda s: sweep_figures.width_sweep(mnist.by_width(s)),
    "epochs": lambda s: sweep_figures.epochs(mnist.over_epochs(s)),
    "searches": lambda s: sweep_figures.trials_of_searches(mnist.published_searches(s, 0)),
    "bootstrap": lambda s: sweep_figures.bootstrap_histograms(mnist.published_searches(s, 0)),
    "best of k": lambda s: sweep_figures.best_of_k(
        mnist.best_curves(s, np.random.default_rng(0), ks=range(1, 9)), range(1, 9)
    ),
    "differences": lambda s: sweep_figures.differences(
        {"geglu_equal_width": mnist.differences(s, "geglu_equal_width")}
    ),
}
ALONE: dict[str, Callable[[], Figure]] = {
    "pair heat": lambda: grids_figures.pair_heat(grids.grid().arms["charlm", "relu"]),
    "protocol": lambda: ablation.protocol(ablation_records.protocol(ablations.made_up())),
    "last and best": lambda: autopsy.last_and_best(numbers.charlm_trials, numbers.charlm_best),
    "last and best, ours": lambda: autopsy.last_and_best(
        {"relu": (2.0, 2.1), "gelu": (2.2, 2.1)}, {"relu": (1.9, 1.8), "gelu": (1.7, 1.9)}
    ),
    "sizes": lambda: autopsy.printed(printed.sizes(), "trainable parameters", logarithmic=True),
    "minutes": lambda: autopsy.printed(printed.minutes(), "minutes"),
}


def full() -> dict[str, Callable[[], Figure]]:
    """Name -> a function that draws the figure anew, from records that are read anew."""
    made = {
        "": (GRID, grids.grid),
        "of the ablation": (ABLATION, ablations.made_up),
        "of the autopsy": (EVIDENCE, autopsies.evidence),
        "of streams": (STREAMS, study),
        "of the sweep": (SWEEP, swept),
    }
    several = {
        f"{name} {of}".strip(): lambda d=draw, r=read: d(r())
        for of, (table, read) in made.items()
        for name, draw in table.items()
    }
    return several | ALONE


def empty() -> dict[str, Callable[[], Figure]]:
    """The same without any record."""
    none = [
        (GRID, repro.Grid("none", ("charlm",), ("relu",), {}, {})),
        (ABLATION, ablation_records.read([])),
        (EVIDENCE, Evidence()),
        (STREAMS, Sources()),
    ]
    return {name: lambda d=draw, r=records: d(r) for table, records in none for name, draw in table.items()}


def words(figure: Figure) -> str:
    """Every text in a figure."""
    figure.draw_without_rendering()
    return " | ".join(t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text")))
