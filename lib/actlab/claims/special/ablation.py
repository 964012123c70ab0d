"""Rules of the claims on GPT-2 with GELU or PReLU, four optimizers and broken symmetry. Each reads a ``Factorial``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from actlab.claims.verdicts import Between, Finding, absent, decided, ran
from actlab.records.ablation import BASE, BROKEN, PUBLISHED, Factorial, batches, interaction
from actlab.records.ablation import effects as effects_of
from actlab.records.labels import words
from actlab.records.store import Record
from actlab.records.tables import levels
from actlab.records.wording import measured, signed
from actlab.statistics.means import mean_interval

PUBLISHED_SCALE, PUBLISHED_TOKENS, PUBLISHED_VOCABULARY = "124m", 500_000_000, 50_304
LAYERS, WIDTH, CONTEXT = 12, 768, 512
"""Of the published model."""


def lacks(f: Factorial) -> str:
    """What is missing for any verdict."""
    return "" if len(f.trials) else "no record yet"


def gpt2_parameters(vocab_size: int, layers: int = LAYERS, width: int = WIDTH, context: int = CONTEXT) -> int:
    """Of a GPT-2 with GELU, biases, learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2 C."""
    return (vocab_size + context) * width + layers * (12 * width**2 + 13 * width) + 2 * width


def _parameters(f: Factorial) -> str:
    return f"{f.trials['parameters'].min():,} parameters"


def _scale(f: Factorial) -> str:
    """What the records are of, in words."""
    one = f.trials.iloc[0]
    return f"{_parameters(f)}, {one['iterations'] * one['batch_size'] * one['context']:,} tokens"


def _as_published(f: Factorial) -> bool:
    """Whether the records are of the published model and budget."""
    return set(f.trials["scale"]) == {PUBLISHED_SCALE} and _longest(f) >= 0.999 * PUBLISHED_TOKENS


def _longest(f: Factorial) -> int:
    """Tokens of the longest trial."""
    return max((t["final"]["tokens"] for r in f.records for t in r["trials"] if t["status"] == "done"), default=0)


def _pairs(f: Factorial) -> list[tuple[Record, Record]]:
    """The arms with GELU and with PReLU that differ in nothing else by their names."""
    cells = [(o, m) for o in levels(f.trials, "optimizer") for m in levels(f.trials, "symmetry")]
    found = [(f.record(*cell, "gelu"), f.record(*cell, "random_prelu")) for cell in cells]
    return [(gelu, prelu) for gelu, prelu in found if gelu is not None and prelu is not None]


def eight_runs(f: Factorial) -> Finding:
    """S01: all eight GELU cells, and what one run a cell cannot tell."""
    cells = [(o, m) for o in PUBLISHED for m in (BASE, BROKEN) if f.record(o, m, "gelu") is not None]
    values = [f.values(*cell, "gelu") for cell in cells]
    spreads = [v.std(ddof=1) for v in values if len(v) > 1 and not np.isnan(v).any()]
    between = (
        f"the standard deviation between seeds is {min(spreads):.3f} to {max(spreads):.3f} nats" if spreads else ""
    )
    said = f"{len(cells)} of the 8 cells are recorded ({_scale(f)})"
    return ran(len(cells) == 8, said + (f"; {between}, which one run a cell cannot show" if spreads else ""))


def size(f: object, million: int) -> Finding:
    """S02: counted by formula, which a test compares with the model."""
    count = gpt2_parameters(PUBLISHED_VOCABULARY)
    said = f"{count:,} parameters with GELU; random PReLU adds {LAYERS * 4 * WIDTH:,} slopes"
    return decided(round(count / 1e6) == million, said)


def vocabulary(f: object, million: int, other: int) -> Finding:
    """S03: of two vocabularies only one fits the published size."""
    ours, theirs = (gpt2_parameters(size) / 1e6 for size in (PUBLISHED_VOCABULARY, other))
    said = f"{ours:.1f} million parameters with {PUBLISHED_VOCABULARY:,} tokens; {theirs:.1f} million with {other:,}"
    return decided(round(ours) == million != round(theirs), said)


def budget(f: Factorial) -> Finding:
    """S04: 500 million tokens in one trial."""
    return ran(_as_published(f), f"longest recorded trial: {_longest(f):,} tokens, with {_parameters(f)}")


def one_setting(f: Factorial) -> Finding:
    """S07: the published settings cannot be read from the text; ours can be compared key by key."""
    pairs = [(one["config"], two["config"]) for one, two in _pairs(f)]
    differ = {key for one, two in pairs for key in one if key != "activation" and one[key] != two[key]}
    same = "in nothing but the activation" if not differ else f"also in {', '.join(sorted(differ))}"
    said = "the configuration of the PReLU runs is not published with them; our GELU and PReLU arms differ"
    return Finding("not testable", f"{said} {same} ({len(pairs)} pairs)")


def settings(f: Factorial, optimizer: str, stated: Mapping[str, Any], says: str) -> Finding:
    """S08 to S11: the recorded settings of an optimizer at its published rate are the published ones."""
    records = [r for r in f.records if r["optimizer"] == optimizer and r["rate_factor"] == 1.0]
    if not records:
        return absent(f"no record of {words(optimizer)} at its published rate")
    used = [r["config"]["optimizer_settings"] for r in records]
    fits = all(found.get(key) == value for found in used for key, value in stated.items())
    return ran(fits, f"{len(records)} arms ran with {says.format(**used[0])}")


def loss(f: Factorial, optimizer: str, symmetry: str, published: tuple[float, float]) -> Finding:
    """S12 to S19: at the published size our interval meets the published loss, from and to by its digits."""
    ours = mean_interval(f.values(optimizer, symmetry, "random_prelu"))
    if not _as_published(f):
        return absent(f"needs {PUBLISHED_TOKENS:,} tokens at 124 million parameters; at {_scale(f)}: {measured(ours)}")
    if math.isnan(ours.low):
        return absent(f"{measured(ours)}: one seed has no interval")
    meets = Between(ours.low, ours.high).meets(Between(*published))
    return decided(meets, f"{measured(ours)} nats, whole validation sample")


def effects(f: Factorial) -> Finding:
    """S20: signs of the four gains at the published size; below it, ours beside what single batches can resolve."""
    found = {o: e for (o, a), e in effects_of(f).items() if a == "random_prelu" and e.n}
    said = "; ".join(f"{words(o)} {signed(e)}" for o, e in found.items()) or "no pair of arms yet"
    if noise := batches(f):
        said += f"; single batches of one model differ by {noise.spread:.2f} nats (sd)"
    if not _as_published(f) or len(found) < len(PUBLISHED) or any(math.isnan(e.low) for e in found.values()):
        return absent(f"bQ+bV minus symmetric with PReLU at {_scale(f)}: {said}")
    agree = not any(e.excludes(PUBLISHED[o][1] - PUBLISHED[o][0]) for o, e in found.items())
    return decided(agree, f"bQ+bV minus symmetric with PReLU: {said}")


def prelu_contributes(f: Factorial) -> Finding:
    """S21: the interaction of bQ+bV with the activation; only records of the published size and budget decide."""
    found = interaction(f)
    if math.isnan(found.low):
        return absent("not all arms are recorded with two seeds or more")
    said = f"effect of bQ+bV under PReLU minus that under GELU: {signed(found)} nats, n = {found.n}, at {_scale(f)}"
    if not found.excludes(0) or not _as_published(f):
        return absent(f"{said}: {'of another size and budget' if found.excludes(0) else 'undecided'}")
    return decided(found.value < 0, said)


def slopes(f: Factorial) -> Finding:
    """S22: one slope a feature, counted in records; what N(0.2, 1) means for them."""
    pairs = _pairs(f)
    if not pairs:
        return absent("no pair of arms yet")
    sizes = [gelu["config"]["model_size"] for gelu, _ in pairs]
    features = [one["n_layer"] * 4 * one["n_embd"] for one in sizes]
    fits = features == [prelu["n_parameters"] - gelu["n_parameters"] for gelu, prelu in pairs]
    negative, steep = (100 * special.ndtr(x) for x in (-0.2, -0.8))
    said = f"one slope a hidden feature in {len(pairs)} arms, drawn from N(0.2, 1): {negative:.0f}% start negative"
    return decided(fits, f"{said}, {steep:.0f}% above 1")


def gelu_is_symmetric(f: Factorial) -> Finding:
    """S23: symmetric between features, which PReLU's slopes tell apart; not the evenness or oddness of the function."""
    found = [r for r in f.records if r["activation"] == "gelu"]
    if not found:
        return absent("no arm with GELU yet")
    extra = {r["n_parameters"] - _plain_parameters(r) for r in found}
    said = f"{len(found)} arms with GELU have {max(extra)} parameters more than a GPT-2 whose activation has none"
    return decided(not any(extra), f"{said}: all features share one function")


def _plain_parameters(record: Record) -> int:
    """Of the recorded size, without any of the activation."""
    size = record["config"]["model_size"]
    vocab_size = record["provenance"]["data"]["vocab_size"]
    return gpt2_parameters(vocab_size, size["n_layer"], size["n_embd"], size["block_size"])


def machines(f: Factorial) -> Finding:
    """S24: a statement about the authors' machines."""
    used = {r["provenance"]["machine"]["gpu"] or r["provenance"]["machine"]["processor"] for r in f.records}
    said = "8 runs on 4 GPUs are 2 rounds by arithmetic; what they need depends on the machine"
    return Finding("not testable", f"{said} (ours: {', '.join(sorted(used))})")
