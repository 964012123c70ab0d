"""Rules of the claims on image networks: GeGLU against ReLU by width, best of k, one epoch. Each reads a ``Sweep``."""

from __future__ import annotations

import numpy as np

from actlab.claims.verdicts import Finding, decided, ran
from actlab.records.defects import DOUBLED
from actlab.records.mnist import (
    ACCURACY,
    CELL,
    PUBLISHED_BATCH,
    PUBLISHED_RATE,
    Sweep,
    differences,
    gains,
    optimism,
)
from actlab.records.tables import levels
from actlab.records.wording import signed
from actlab.statistics.best_of_k import bootstrap_maximum, interval_coverage
from actlab.statistics.estimate import Estimate

EQUAL_WIDTH, EQUAL_PARAMETERS = "geglu_equal_width", "geglu_equal_parameters"
WIDTHS = (2, 4, 8, 16)
COVERAGE_SEED = 2026


def lacks(sweep: Sweep) -> str:
    """What is missing for any verdict: the published cells, on the published images."""
    seeds = sweep.trials.groupby(CELL).size()
    networks = ("relu", EQUAL_WIDTH, EQUAL_PARAMETERS)
    counts = [seeds.get((n, h, PUBLISHED_RATE, PUBLISHED_BATCH), 0) for n in networks for h in WIDTHS]
    there = set(sweep.trials["dataset"]) == {"mnist"} and min(counts) > 1
    return "" if there else "these records are not of MNIST, or not of every width"


def _over_relu(sweep: Sweep, network: str) -> tuple[list[Estimate], str]:
    """By rising width at the published rate and batch: accuracy minus ReLU's, paired by seed; the same in words."""
    published = (PUBLISHED_RATE, PUBLISHED_BATCH)
    found = {hidden: e for (hidden, *cell), e in differences(sweep, network).items() if tuple(cell) == published}
    return list(found.values()), ", ".join(f"h={hidden}: {signed(e, 1)}" for hidden, e in sorted(found.items()))


def geglu_wins(sweep: Sweep) -> Finding:
    """M01: an artefact if GeGLU wins at three widths when it is as wide, but not with as many parameters."""
    (wide, wide_said), (fair, fair_said) = (_over_relu(sweep, n) for n in (EQUAL_WIDTH, EQUAL_PARAMETERS))
    said = f"percentage points over ReLU, equal width {wide_said}; equal parameters {fair_said}"
    fairly, widely = (sum(e.low > 0 for e in found) > 2 for found in (fair, wide))
    if widely and not fairly:
        return Finding("artefact", said, defect=DOUBLED)
    return decided(fairly, said)


def relu_wins(sweep: Sweep) -> Finding:
    """M02: at every width, as it says; the study's own arms (equal width) can refute it."""
    (wide, wide_said), (fair, fair_said) = (_over_relu(sweep, n) for n in (EQUAL_WIDTH, EQUAL_PARAMETERS))
    said = f"GeGLU over ReLU, equal parameters {fair_said}; at equal width, as in the study's own arms, {wide_said}"
    if all(e.low > 0 for e in wide):
        return Finding("contradicted", said)
    everywhere = all(e.high < 0 for e in fair) and not any(e.low > 0 for e in wide)
    return Finding("replicated" if everywhere else "not yet tested", said)


def small_widths_favour_relu(sweep: Sweep) -> Finding:
    """M11: in the study's own arms there must be an advantage of ReLU to explain, and it must shrink with width."""
    (wide, wide_said), (_, fair_said) = (_over_relu(sweep, n) for n in (EQUAL_WIDTH, EQUAL_PARAMETERS))
    leads = any(e.high < 0 for e in wide)
    none = "" if leads else ": ReLU has no advantage to explain"
    said = f"GeGLU over ReLU at equal width, as in the study's arms, {wide_said}{none}; equal parameters {fair_said}"
    if wide[0].high < 0 and wide[-1].low > wide[0].high:
        return Finding("replicated", said)
    return Finding("not yet tested" if leads else "not testable", said)


def rates(sweep: Sweep, stated: list[float]) -> Finding:
    """M06: the rates ran; what they do to the arms stands beside it."""
    means, said = sweep.trials.groupby(CELL)[ACCURACY].mean(), []
    for rate in levels(sweep.trials, "learning_rate"):
        relu, geglu = (means.get((n, 8, rate, PUBLISHED_BATCH), np.nan) for n in ("relu", EQUAL_WIDTH))
        said.append(f"{rate:g} ({relu:.1f} / {geglu:.1f})")
    what = "recorded rates, with the mean accuracy of ReLU / GeGLU at h=8, batch 64"
    return ran(set(stated) <= set(levels(sweep.trials, "learning_rate")), f"{what}: {'; '.join(said)}")


def one_value_a_trial(sweep: Sweep) -> Finding:
    """M08: one epoch gives one validation accuracy."""
    values = int(sweep.trials.groupby([*CELL, "seed"]).size().max())
    said = f"validation values in a one-epoch trial: {values}; a maximum needs two"
    return Finding("self-contradiction" if values == 1 else "replicated", said)


def bootstrap_covers(sweep: object, repeats: int = 2000) -> Finding:
    """M09: coverage of E[best of 8 normal scores] by simulation; it needs no record."""
    generator = np.random.default_rng(COVERAGE_SEED)
    truth = 1.423600306  # E of the largest of 8 standard normal values

    def interval(scores: np.ndarray) -> Estimate:
        return bootstrap_maximum(scores, generator, resamples=1000)

    found = interval_coverage(lambda g: g.normal(size=8), interval, truth, generator, repeats)
    percent = f"{100 * found.value:.0f}% [{100 * found.low:.0f}, {100 * found.high:.0f}]"
    return decided(found.high >= 0.93, f"covers the expected best of k = 8 in {percent} of {repeats} simulations")


def three_matrices(sweep: Sweep, ratio: tuple[float, float]) -> Finding:
    """M10: parameters of the equal-width GeGLU over ReLU's lie in a range (from, to)."""
    counts = sweep.trials.groupby(["network", "hidden"])["parameters"].first()
    found = {hidden: counts[EQUAL_WIDTH, hidden] / counts["relu", hidden] for hidden in (2, 16)}
    said = f"GeGLU at equal width has {found[2]:.3f} times ReLU's parameters at h=2, {found[16]:.3f} at h=16"
    return decided(all(ratio[0] < value < ratio[1] for value in found.values()), said)


def no_test_accuracy(sweep: Sweep) -> Finding:
    """M12: which images were validated on is in code that is not published with the text."""
    said = (
        "the code that says which images it validated on is not published with the text; with images held out, the "
        f"selected trial looks {signed(optimism(sweep), 2)} points better than on test"
    )
    return Finding("not testable", said)


def rises_after_one_epoch(sweep: Sweep) -> Finding:
    """M13: accuracy after the longest training minus that after one epoch, for each network and width published."""
    found = [gains(sweep, n, h) for n in ("relu", EQUAL_WIDTH) for h in WIDTHS]
    if not all(found):
        return Finding("not yet tested", "no record of more than one epoch at every width")
    last = [by_epochs[max(by_epochs)] for by_epochs in found]
    rising, values = sum(e.low > 0 for e in last), [e.value for e in last]
    said = f"{rising} of {len(last)} networks are significantly better than after one"
    said = f"after {max(found[0])} epochs {said}, by {min(values):.1f} to {max(values):.1f} points"
    return decided(rising == len(last), said)
