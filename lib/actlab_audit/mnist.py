"""Rules of the claims on image networks: GeGLU against ReLU by width, best of k, one epoch. Each reads a ``Sweep``."""

from __future__ import annotations

from actlab.records.defects import DOUBLED
from actlab.records.mnist import (
    CELL,
    PUBLISHED_BATCH,
    PUBLISHED_RATE,
    Sweep,
    differences,
    gains,
)
from actlab.records.wording import signed
from actlab.statistics.estimate import Estimate
from actlab_audit.verdicts import Finding, absent, decided

EQUAL_WIDTH, EQUAL_PARAMETERS = "geglu_equal_width", "geglu_equal_parameters"
WIDTHS = (2, 4, 8, 16)


def lacks(sweep: Sweep) -> str:
    """What is missing for any verdict: the published cells, on the published images."""
    seeds = sweep.trials.groupby(CELL).size()
    networks = ("relu", EQUAL_WIDTH, EQUAL_PARAMETERS)
    counts = [seeds.get((n, h, PUBLISHED_RATE, PUBLISHED_BATCH), 0) for n in networks for h in WIDTHS]
    there = set(sweep.trials["dataset"]) == {"mnist"} and min(counts) > 1
    return "" if there else "these records are not of MNIST, or not of every width"


def _over_relu(sweep: Sweep) -> tuple[list[Estimate], list[Estimate], str]:
    """Accuracy minus ReLU's by rising width, at equal width and at equal parameters, at the published rate and batch;
    the same in words."""
    wide, fair = (
        {h: e for (h, *cell), e in sorted(differences(sweep, n).items()) if cell == [PUBLISHED_RATE, PUBLISHED_BATCH]}
        for n in (EQUAL_WIDTH, EQUAL_PARAMETERS)
    )
    wide_said, fair_said = (", ".join(f"h={h}: {signed(e, 1)}" for h, e in found.items()) for found in (wide, fair))
    said = f"points over ReLU, equal width (the study's own arms) {wide_said}; equal parameters {fair_said}"
    return [*wide.values()], [*fair.values()], said


def geglu_wins(sweep: Sweep) -> Finding:
    """M01: an artefact if GeGLU wins at three widths when it is as wide, but not with as many parameters."""
    *both, said = _over_relu(sweep)
    widely, fairly = (sum(e.low > 0 for e in found) > 2 for found in both)
    return Finding("artefact", said, defect=DOUBLED) if widely and not fairly else decided(fairly, said)


def relu_wins(sweep: Sweep) -> Finding:
    """M02: at every width, as it says; the study's own arms (equal width) can refute it."""
    wide, fair, said = _over_relu(sweep)
    if all(e.low > 0 for e in wide):
        return Finding("contradicted", said)
    everywhere = all(e.high < 0 for e in fair) and not any(e.low > 0 for e in wide)
    return Finding("replicated" if everywhere else "undecided", said, lacks="more trials")


def small_widths_favour_relu(sweep: Sweep) -> Finding:
    """M11: in the study's own arms there must be an advantage of ReLU to explain, and it must shrink with width."""
    wide, _, said = _over_relu(sweep)
    if not any(e.high < 0 for e in wide):
        return Finding("not testable", f"{said}: ReLU has no advantage to explain at equal width")
    shrinks = wide[0].high < 0 and wide[-1].low > wide[0].high
    return Finding("replicated" if shrinks else "undecided", said, lacks="more trials")


def rises_after_one_epoch(sweep: Sweep) -> Finding:
    """M13: accuracy after the longest training minus that after one epoch, for each network and width published."""
    found = [gains(sweep, n, h) for n in ("relu", EQUAL_WIDTH) for h in WIDTHS]
    if not all(found):
        return absent("no record of more than one epoch at every width")
    last = [by_epochs[max(by_epochs)] for by_epochs in found]
    rising, values = sum(e.low > 0 for e in last), [e.value for e in last]
    said = f"{rising} of {len(last)} networks are significantly better than after one"
    said = f"after {max(found[0])} epochs {said}, by {min(values):.1f} to {max(values):.1f} points"
    return decided(rising == len(last), said)
