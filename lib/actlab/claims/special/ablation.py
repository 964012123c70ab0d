"""Claims S01 to S24: GELU against PReLU in GPT-2 with four optimizers and broken attention symmetry. Each test reads
a ``Factorial``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from actlab.claims import ITS_STUDY, Claim, Finding
from actlab.records.ablation import BASE, BROKEN, PUBLISHED, Factorial, batches, gains, interactions, words
from actlab.statistics.means import mean_interval

PUBLISHED_SCALE, PUBLISHED_TOKENS, PUBLISHED_VOCABULARY = "124m", 500_000_000, 50_304
LAYERS, WIDTH, CONTEXT = 12, 768, 512
"""Of the published model."""


def gpt2_parameters(vocab_size: int, layers: int = LAYERS, width: int = WIDTH, context: int = CONTEXT) -> int:
    """Parameters of a GPT-2 with GELU, biases, learned positions and a tied head: V C + T C + L (12 C^2 + 13 C) + 2
    C.
    """
    return vocab_size * width + context * width + layers * (12 * width**2 + 13 * width) + 2 * width


def _normal(x: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def needs_records(test: Callable[[Factorial], Finding]) -> Callable[[Factorial], Finding]:
    """Without records there is no verdict."""
    return lambda f: replace(test(f), since=ITS_STUDY) if len(f.trials) else Finding("not yet tested", "no record yet")


def _scale(f: Factorial) -> str:
    """What the records are of, in words."""
    one = f.trials.iloc[0]
    return f"{_parameters(f)}, {one['iterations'] * one['batch_size'] * one['context']:,} tokens"


def _parameters(f: Factorial) -> str:
    return f"{f.trials['n_parameters'].min():,} parameters"


def _as_published(f: Factorial) -> bool:
    """Whether the records are of the published model and budget."""
    t = f.trials
    return (
        bool(len(t)) and bool((t["scale"] == PUBLISHED_SCALE).all()) and t["tokens"].max() >= 0.999 * PUBLISHED_TOKENS
    )


@needs_records
def eight_runs(f: Factorial) -> Finding:
    """S01: all eight GELU cells, and what one run a cell cannot tell."""
    cells = [(o, m) for o in PUBLISHED for m in (BASE, BROKEN) if f.record(o, m, "gelu") is not None]
    spreads = [e.std(ddof=1) for o, m in cells if len(e := f.values(o, m, "gelu")) > 1 and not math.isnan(e.sum())]
    luck = (
        f"; the standard deviation between seeds is {min(spreads):.3f} to {max(spreads):.3f} nats, which one run a "
        "cell cannot show"
        if spreads
        else ""
    )
    verdict = "replicated" if len(cells) == 8 else "not yet tested"
    return Finding(verdict, f"{len(cells)} of the 8 cells are recorded ({_scale(f)}){luck}")  # type: ignore[arg-type]


def size(f: Factorial) -> Finding:
    """S02: counted by formula, which a test compares with the model."""
    count = gpt2_parameters(PUBLISHED_VOCABULARY)
    slopes = LAYERS * 4 * WIDTH
    return Finding(
        "replicated" if round(count / 1e6) == 124 else "contradicted",
        f"{count:,} parameters with GELU; random PReLU adds {slopes:,} slopes",
    )


def vocabulary(f: Factorial) -> Finding:
    """S03: of two vocabularies only one fits the published size."""
    ours, other = gpt2_parameters(PUBLISHED_VOCABULARY) / 1e6, gpt2_parameters(65_536) / 1e6
    fits = round(ours) == 124 and round(other) != 124
    return Finding(
        "replicated" if fits else "contradicted",
        f"{ours:.1f} million parameters with 50,304 tokens; {other:.1f} million with 65,536",
    )


def recorded(what: str, wanted: Any, unit: str) -> Callable[[Factorial], Finding]:
    """A setting is replicated once a record has run it."""

    @needs_records
    def test(f: Factorial) -> Finding:
        have = f.levels(what)
        return Finding(
            "replicated" if wanted in have else "not yet tested",
            f"recorded {unit}: {', '.join(f'{v:,}' for v in have)}",
        )

    return test


@needs_records
def budget(f: Factorial) -> Finding:
    """S04: 500 million tokens in one trial."""
    most = int(f.trials["tokens"].max())
    return Finding(
        "replicated" if _as_published(f) else "not yet tested",
        f"longest recorded trial: {most:,} tokens, with {_parameters(f)}",
    )


@needs_records
def batch_and_context(f: Factorial) -> Finding:
    """S05: both must be run."""
    pairs = sorted(set(zip(f.trials["batch_size"], f.trials["context"], strict=True)))
    said = ", ".join(f"{batch} / {context}" for batch, context in pairs)
    return Finding("replicated" if (8, 512) in pairs else "not yet tested", f"recorded batch / context: {said}")


@needs_records
def one_setting(f: Factorial) -> Finding:
    """S07: the published settings cannot be read from the text; ours can be compared key by key."""
    compared, differ = 0, set()
    for optimizer in f.levels("optimizer"):
        for mode in f.levels("symmetry"):
            one, two = (f.record(optimizer, mode, a) for a in ("gelu", "random_prelu"))
            if one is not None and two is not None:
                compared += 1
                differ |= {
                    key for key in one["config"] if key != "activation" and one["config"][key] != two["config"][key]
                }
    same = "in nothing but the activation" if not differ else f"also in {', '.join(sorted(differ))}"
    return Finding(
        "not testable",
        f"the configuration of the PReLU runs is not published with them; our GELU and PReLU arms differ {same} "
        f"({compared} pairs)",
    )


SETTINGS = {
    "lr": "learning rate {:g}",
    "eta": "eta {:g}",
    "F0": "F0 {:g}",
    "weight_decay": "weight decay {:g}",
    "momentum": "momentum {:g}",
    "init_velocity_std": "initial velocity of standard deviation {:g}",
    "precondition_frequency": "new bases every {} steps",
}
"""Key of an optimizer's settings -> how it is told."""


def _setting(key: str, value: Any) -> str:
    """A recorded setting in words; only ``betas`` and ``nesterov`` hold no number."""
    if key == "betas":
        return "betas " + " and ".join(f"{beta:g}" for beta in value)
    if key == "nesterov":
        return "Nesterov's form" if value else "without Nesterov's form"
    return SETTINGS[key].format(value)


def settings(optimizer: str, wanted: dict[str, Any], more: str = "") -> Callable[[Factorial], Finding]:
    """The recorded settings of an optimizer at its published rate are the published ones."""

    @needs_records
    def test(f: Factorial) -> Finding:
        records = [r for r in f.records if r["optimizer"] == optimizer and r["rate_factor"] == 1.0]
        if not records:
            return Finding("not yet tested", f"no record of {words(optimizer)} at its published rate")
        used = [r["config"]["optimizer_settings"] for r in records]
        fits = all(s.get(key) == value for s in used for key, value in wanted.items())
        said = ", ".join(_setting(key, used[0][key]) for key in wanted if key in used[0])
        return Finding("replicated" if fits else "not yet tested", f"{len(records)} arms ran with {said}{more}")

    return test


def published_loss(optimizer: str, mode: str) -> Callable[[Factorial], Finding]:
    """S12 to S19: replicated if our interval at the published size and budget contains the published loss to its
    digits.
    """
    reported = PUBLISHED[optimizer][mode == BROKEN]
    rounding = 0.005 if mode == BROKEN else 0.00005

    @needs_records
    def test(f: Factorial) -> Finding:
        ours = mean_interval(f.values(optimizer, mode, "random_prelu"))
        if not _as_published(f):
            return Finding(
                "not yet tested", f"needs {PUBLISHED_TOKENS:,} tokens at 124 million parameters; at {_scale(f)}: {ours}"
            )
        if math.isnan(ours.low):
            return Finding("not yet tested", f"{ours}: one seed has no interval")
        inside = ours.low - rounding <= reported <= ours.high + rounding
        return Finding("replicated" if inside else "contradicted", f"{ours} nats, whole validation sample")

    return test


@needs_records
def effects(f: Factorial) -> Finding:
    """S20: signs of the four gains at the published size; below it, ours beside what single batches can resolve."""
    found = {o: e for (o, a), e in gains(f).items() if a == "random_prelu" and e.n}
    said = (
        "; ".join(f"{words(o)} {-e.value:+.3f} [{-e.high:+.3f}, {-e.low:+.3f}]" for o, e in found.items())
        or "no pair of arms yet"
    )
    noise = batches(f)
    spread = f"; single batches of one model differ by {noise.spread:.2f} nats (sd)" if noise else ""
    if not _as_published(f) or len(found) < len(PUBLISHED) or any(math.isnan(e.low) for e in found.values()):
        return Finding("not yet tested", f"bQ+bV less symmetric with PReLU at {_scale(f)}: {said}{spread}")
    agree = all(e.low <= PUBLISHED[o][0] - PUBLISHED[o][1] <= e.high for o, e in found.items())
    return Finding("replicated" if agree else "contradicted", f"bQ+bV less symmetric with PReLU: {said}{spread}")


@needs_records
def prelu_contributes(f: Factorial) -> Finding:
    """S21: the interaction of bQ+bV with the activation; only records of the published size and budget decide."""
    found = interactions(f).get("all")
    if found is None or math.isnan(found.low):
        return Finding("not yet tested", "not all arms are recorded with two seeds or more")
    said = (
        f"gain under PReLU less gain under GELU: {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}] nats, n = "
        f"{found.n}, at {_scale(f)}"
    )
    if not found.excludes(0) or not _as_published(f):
        return Finding(
            "not yet tested", f"{said}: {'of another size and budget' if found.excludes(0) else 'undecided'}"
        )
    return Finding("replicated" if found.value > 0 else "contradicted", said)


@needs_records
def slopes(f: Factorial) -> Finding:
    """S22: one slope a feature, counted in records; what N(0.2, 1) means for them."""
    pairs = [
        (f.record(o, m, "gelu"), f.record(o, m, "random_prelu"))
        for o in f.levels("optimizer")
        for m in f.levels("symmetry")
    ]
    found = [(one, two) for one, two in pairs if one is not None and two is not None]
    if not found:
        return Finding("not yet tested", "no pair of arms yet")
    fits = True
    for one, two in found:
        extra = two["n_parameters"] - one["n_parameters"]
        fits &= extra == one["config"]["model_size"]["n_layer"] * 4 * one["config"]["model_size"]["n_embd"]
    negative, steep = _normal(-0.2), _normal(-0.8)
    said = (
        f"one slope a hidden feature in {len(found)} arms, drawn from N(0.2, 1): {100 * negative:.0f}% start "
        f"negative, {100 * steep:.0f}% above 1"
    )
    return Finding("replicated" if fits else "contradicted", said)


@needs_records
def gelu_is_symmetric(f: Factorial) -> Finding:
    """S23: symmetric between features, which PReLU's slopes tell apart; not the evenness or oddness of the function."""
    found = [
        r for o in f.levels("optimizer") for m in f.levels("symmetry") if (r := f.record(o, m, "gelu")) is not None
    ]
    if not found:
        return Finding("not yet tested", "no arm with GELU yet")
    extra = {r["n_parameters"] - _plain_parameters(r) for r in found}
    said = (
        f"{len(found)} arms with GELU have {max(extra)} parameters more than a GPT-2 whose activation has none: all "
        "features share one function"
    )
    return Finding("contradicted" if any(extra) else "replicated", said)


def _plain_parameters(record: dict[str, Any]) -> int:
    """Of the recorded size, without any of the activation."""
    size = record["config"]["model_size"]
    return gpt2_parameters(
        record["provenance"]["data"]["vocab_size"], size["n_layer"], size["n_embd"], size["block_size"]
    )


@needs_records
def four_gpus(f: Factorial) -> Finding:
    """S24: a statement about the authors' machines."""
    machines = {r["provenance"]["machine"]["gpu"] or r["provenance"]["machine"]["processor"] for r in f.records}
    return Finding(
        "not testable",
        "8 runs on 4 GPUs are 2 rounds by arithmetic; what they need depends on the machine (ours: "
        f"{', '.join(sorted(machines))})",
    )


def _loss_claim(number: int, optimizer: str, mode: str) -> Claim:
    value = PUBLISHED[optimizer][mode == BROKEN]
    reported = f"~{value:.2f}" if mode == BROKEN else f"{value:.4f}"
    rule = (
        "replicated if the 95% interval over seeds at 124 million parameters and 500 million tokens contains it; "
        "contradicted if not"
    )
    return Claim(
        f"S{number}",
        f"Validation loss of {words(optimizer)}, {words(mode)}, random PReLU",
        reported,
        rule,
        published_loss(optimizer, mode),
        section="Paper PReLU results",
    )


RAN = "replicated if a record has run it"
LOSSES = tuple(_loss_claim(12 + i, o, m) for i, (o, m) in enumerate((o, m) for o in PUBLISHED for m in (BASE, BROKEN)))
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "S01",
        "Eight GELU runs: four optimizers, symmetric and bQ+bV, one run each",
        "8 runs",
        "replicated if all eight cells are recorded",
        eight_runs,
        section="Experiments",
        kind="setting",
    ),
    Claim(
        "S02",
        "The model has 124 million parameters",
        "124M",
        "replicated if the count rounds to 124 million",
        size,
        section="Configuration",
        kind="count",
    ),
    Claim(
        "S03",
        "The vocabulary has 50,304 tokens",
        "50304",
        "replicated if the published size fits 50,304 and not 65,536",
        vocabulary,
        section="Configuration",
        kind="count",
    ),
    Claim("S04", "Each run sees 500 million tokens", "500M", RAN, budget, section="Configuration", kind="setting"),
    Claim(
        "S05",
        "Batches of 8 sequences of 512 tokens",
        "8 / 512",
        RAN,
        batch_and_context,
        section="Configuration",
        kind="setting",
    ),
    Claim("S06", "The seed is 42", "42", RAN, recorded("seed", 42, "seeds"), section="Configuration", kind="setting"),
    Claim(
        "S07",
        "All runs share every hyper-parameter with the PReLU runs",
        "stated",
        "not testable: their configurations are not published",
        one_setting,
        section="Configuration",
        kind="setting",
    ),
    Claim(
        "S08",
        "ECD: lr 1, eta 100, F0 2, no weight decay",
        "1.0; 100; 2; 0",
        RAN,
        settings(
            "ecd", {"lr": 1.0, "eta": 100.0, "F0": 2.0, "weight_decay": 0.0}, "; a step is lr / sqrt(eta) = 0.1 long"
        ),
        section="Optimizer table",
        kind="setting",
    ),
    Claim(
        "S09",
        "AdamW: lr 1e-4, betas 0.9 and 0.999, no weight decay",
        "1e-4; .9/.999; 0",
        RAN,
        settings(
            "adamw", {"lr": 1e-4, "betas": [0.9, 0.999], "weight_decay": 0.0}, "; without weight decay it is Adam"
        ),
        section="Optimizer table",
        kind="setting",
    ),
    Claim(
        "S10",
        "SOAP: lr 3e-4, betas 0.95, weight decay 0.01, bases every 10 steps",
        "3e-4; .95/.95; .01; 10",
        RAN,
        settings(
            "soap",
            {"lr": 3e-4, "betas": [0.95, 0.95], "weight_decay": 0.01, "precondition_frequency": 10},
            "; its first call only sets up the bases",
        ),
        section="Optimizer table",
        kind="setting",
    ),
    Claim(
        "S11",
        "SGDM: lr 0.03, momentum 0.95, Nesterov, initial velocity of standard deviation 0.1",
        ".03; .95; yes; .1",
        RAN,
        settings(
            "sgdm",
            {"lr": 0.03, "momentum": 0.95, "nesterov": True, "init_velocity_std": 0.1},
            "; the start alone moves a weight by 0.54 times its velocity, 2.7 times the initialisation",
        ),
        section="Optimizer table",
        kind="setting",
    ),
    *LOSSES,
    Claim(
        "S20",
        "bQ+bV changes the loss by -0.20 (ECD), -0.01 (AdamW), +0.01 (SGDM), +0.14 (SOAP)",
        "; ".join(f"{two - one:+.2f}" for one, two in PUBLISHED.values()),
        "replicated if all four lie in the 95% intervals of paired seeds at the published size; contradicted if not",
        effects,
        section="Paper PReLU results",
    ),
    Claim(
        "S21",
        "PReLU may contribute to the benefit of broken symmetry",
        "hypothesis",
        "replicated if the gain is larger under PReLU at the published size and budget (95%, paired by seed, all "
        "optimizers), contradicted if smaller",
        prelu_contributes,
        section="Purpose",
    ),
    Claim(
        "S22",
        "PReLU's slopes start at mean 0.2, standard deviation 1",
        "0.2; 1.0",
        "replicated if each hidden feature has one slope",
        slopes,
        section="Key difference",
        kind="count",
    ),
    Claim(
        "S23",
        "GELU has no learnable parameters and is a symmetric function",
        "stated",
        "symmetric between features, since the text sets it against one slope a feature: replicated if the "
        "recorded arms with GELU have no parameter of "
        "the activation, contradicted if they have one",
        gelu_is_symmetric,
        section="Key difference",
        kind="count",
    ),
    Claim(
        "S24",
        "All eight runs need 4 GPUs and two rounds",
        "4 / 2",
        "not testable: it speaks of the authors' machines",
        four_gpus,
        section="Running",
    ),
)
