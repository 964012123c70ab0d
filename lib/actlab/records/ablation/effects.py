"""What the factors of the ablation do to the validation loss: arms, gains of bQ+bV, interactions, learning rates, with
intervals over seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from actlab.records.ablation.reading import (
    ARM,
    BASE,
    BROKEN,
    LOSS,
    LOSS_LABEL,
    ORDER,
    PUBLISHED,
    Factorial,
    Values,
    words,
)
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, paired_difference
from actlab.wording import with_interval


def arms(f: Factorial, metric: str = LOSS) -> dict[tuple[str, str, str], Estimate]:
    """(optimizer, symmetry, activation) -> mean at the published rate, with a t interval over seeds."""
    cells = f.trials[f.trials["rate_factor"] == 1.0][list(ARM[:3])].drop_duplicates().itertuples(index=False, name=None)
    found = {(o, m, a): mean_interval(f.values(o, m, a, metric=metric)) for o, m, a in cells}
    return dict(sorted(found.items(), key=lambda item: [ORDER.index(v) if v in ORDER else len(ORDER) for v in item[0]]))


def gain_values(f: Factorial, optimizer: str, activation: str, rate_factor: float = 1.0) -> Values:
    """(seeds,) symmetric less bQ+bV loss (nats), seed by seed: the arms share start and batches. Positive: bQ+bV
    helps."""
    return f.values(optimizer, BASE, activation, rate_factor) - f.values(optimizer, BROKEN, activation, rate_factor)


def gains(f: Factorial) -> dict[tuple[str, str], Estimate]:
    """(optimizer, activation) -> gain of bQ+bV with a t interval over shared seeds."""
    return {(o, a): mean_interval(gain_values(f, o, a)) for o in f.levels("optimizer") for a in f.levels("activation")}


def interactions(f: Factorial) -> dict[str, Estimate]:
    """Optimizer -> gain of bQ+bV under random PReLU less that under GELU (nats), paired by seed; ``all``: of the
    optimizers' average."""
    by_optimizer = {o: gain_values(f, o, "random_prelu") - gain_values(f, o, "gelu") for o in f.levels("optimizer")}
    found = {o: mean_interval(values) for o, values in by_optimizer.items()}
    return found | ({"all": mean_interval(np.mean(list(by_optimizer.values()), axis=0))} if by_optimizer else {})


def main_effects(f: Factorial) -> dict[str, Estimate]:
    """Averages over the other factors, seed by seed (nats): ``symmetry`` the gain of bQ+bV, ``activation`` GELU's loss
    less random PReLU's.

    A seed that misses a cell has no average.
    """
    optimizers, activations, modes = f.levels("optimizer"), f.levels("activation"), (BASE, BROKEN)
    if not optimizers:
        return {}
    symmetry = np.mean([gain_values(f, o, a) for o in optimizers for a in activations], axis=0)
    gelu, prelu = (
        np.mean([f.values(o, m, a) for o in optimizers for m in modes], axis=0) for a in ("gelu", "random_prelu")
    )
    return {"symmetry": mean_interval(symmetry), "activation": paired_difference(gelu, prelu)}


def main_effects_table(f: Factorial) -> pd.DataFrame:
    """``main_effects`` in words."""
    named = {"symmetry": "gain of bQ+bV", "activation": "loss of GELU less that of random PReLU"}
    return pd.DataFrame.from_dict(
        {named[name]: {"nats": str(effect)} for name, effect in main_effects(f).items()}, orient="index"
    )


def rates(f: Factorial, activation: str = "gelu") -> dict[tuple[str, str], dict[float, Estimate]]:
    """(optimizer, symmetry) -> rate factor -> loss, over the seeds that were run at that factor."""
    found: dict[tuple[str, str], dict[float, Estimate]] = {}
    for optimizer in f.levels("optimizer"):
        for mode in f.levels("symmetry"):
            by_factor = {
                factor: mean_interval(f.values(optimizer, mode, activation, factor))
                for factor in f.levels("rate_factor")
            }
            found[optimizer, mode] = {
                factor: e
                for factor, e in by_factor.items()
                if f.record(optimizer, mode, activation, factor) is not None
            }
    return found


def curves(f: Factorial, activation: str) -> dict[tuple[str, str], tuple[Values, list[Estimate]]]:
    """(optimizer, symmetry) -> tokens seen, and the validation loss there, over seeds."""
    found = {}
    for optimizer in f.levels("optimizer"):
        for mode in f.levels("symmetry"):
            if (record := f.record(optimizer, mode, activation)) is None or not (done := f.done(record)):
                continue
            tokens = [entry["tokens"] for entry in done[0]["history"]]
            losses = [[trial["history"][i][LOSS] for trial in done] for i in range(len(tokens))]
            found[optimizer, mode] = (np.array(tokens, float), [mean_interval(values) for values in losses])
    return found


def published_table() -> pd.DataFrame:
    """The published losses with random PReLU, and the gain of bQ+bV that they imply (nats; positive: bQ+bV helps)."""
    rows = {
        words(o): {words(BASE): f"{one:.4f}", words(BROKEN): f"~{two:.2f}", "gain": f"{one - two:+.2f}"}
        for o, (one, two) in PUBLISHED.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def arms_table(f: Factorial) -> pd.DataFrame:
    """One row an arm: loss with interval, accuracy (%), standard error of one trial's loss over windows, trials
    done."""
    rows = {}
    for cell, loss in arms(f).items():
        record = f.record(*cell)
        assert record is not None
        error, accuracy = (f.values(*cell, metric=m) for m in ("val_standard_error", "val_accuracy"))
        rows[tuple(map(words, cell))] = {
            LOSS_LABEL: with_interval(loss, 3),
            "accuracy (%)": with_interval(mean_interval(accuracy), 1),
            "standard error over windows": f"{np.nanmean(error):.3f}" if loss.n else "no value",
            "trials (n)": f"{loss.n} of {len(record['trials'])}",
        }
    for cell in f.missing:
        rows[tuple(map(words, cell))] = dict.fromkeys(
            (LOSS_LABEL, "accuracy (%)", "standard error over windows", "trials (n)"), "no record yet"
        )
    return pd.DataFrame.from_dict(rows, orient="index")
