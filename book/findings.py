"""The numbers that README, front page, paper and several pages quote: each once, from the records, with its interval,
seeds, unit, study and page. `python book/findings.py` writes the table of book/evidence.md."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from math import isnan, nan

import numpy as np
import pandas as pd

import actlab
from actlab import paths
from actlab.errors import NotHeld
from actlab.files import write_text
from actlab.plans.rules import plan_of
from actlab.statistics.significance import holm

TV, ARM, SIDES = "total_variation", ["model", "activation"], ["estimate", "low", "high"]
POINTS = "points of probability"
"""A hundredth of total variation; a change below 0: two networks agree more."""
SHARE = "% of another seed's effect"
TRANSFORMERS = ["charlm", "minigpt", "nanotransformer"]
Estimate = tuple[float, float, float]
"""Value and the ends of its 95% interval; these are NaN where there is none."""


@dataclass(frozen=True)
class Finding:
    """One fact, with the seeds ``n`` of every configuration that it is about."""

    name: str
    what: str
    found: Estimate
    n: int
    unit: str
    study: str
    page: str
    digits: int = 1
    front: bool = False
    """Whether the evidence page shows it."""

    @property
    def text(self) -> str:
        """As it is quoted."""
        value, low, high = (_rounded(number, self.digits) for number in self.found)
        return value if isnan(self.found[1]) else f"{value} [{low}, {high}]"

    @property
    def typeset(self) -> str:
        """As the paper has it: total variation from 0 to 1, a change without its sign."""
        if self.unit != POINTS:
            return self.text
        sign = -1 if self.found[0] < 0 else 1
        value, *ends = (sign * number / 100 for number in self.found)
        said = _rounded(value, 3)
        return said if isnan(ends[0]) else f"{said} [{', '.join(_rounded(end, 3) for end in sorted(ends))}]"


def _rounded(number: float, digits: int) -> str:
    """To so many decimals, or, below 0, to tens or hundreds; never -0."""
    return f"{round(number, digits) + 0.0:,.{max(digits, 0)}f}"


def estimate(row: pd.Series, scale: float = 1) -> Estimate:
    """Of a contrast, a mean or a jackknife."""
    value = row["difference"] if "difference" in row else row["estimate"]
    low, high = sorted([scale * row["low"], scale * row["high"]])
    return float(scale * value), float(low), float(high)


def alone(value: float) -> Estimate:
    """A number without an interval: a count, a bound, a spread."""
    return float(value), nan, nan


# --- Between seeds: params/answer.yaml -------------------------------------------------------------------------------
@cache
def effects(share: float = 0) -> pd.DataFrame:
    """Differences from ReLU at equal loss, with the outcomes of the plan: at the lowest loss that all activations
    reach, or ``share`` of the way back to the first."""
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram", np.inf)
    return actlab.equal_loss(curves, along, TV, exclude_above=bigram, planned=30, margin=0.005, share=share)


@cache
def effects_at_the_end() -> pd.DataFrame:
    """The same after all steps, whatever the loss."""
    margin = plan_of("answer")["outcomes"][0]["margin"]
    return actlab.contrasts(actlab.load("answer")[1], TV, planned=30, margin=margin)


@cache
def at_equal_loss() -> pd.DataFrame:
    """Total variation at equal loss: a row a seed that is left out ("": none), columns activation and architecture."""
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram", np.inf)
    found = actlab.at_equal_loss(curves, along, TV, exclude_above=bigram, across=True)
    return found.pivot(index="left_out", columns=["activation", "model"], values="value")


@cache
def activations() -> pd.DataFrame:
    """Activation -> its difference from ReLU at equal loss, mean of six architectures, in points."""
    wide = 100 * at_equal_loss()
    others = [name for name in wide.columns.unique("activation") if name != "relu"]
    return pd.DataFrame({name: actlab.jackknife((wide[name] - wide["relu"]).mean(axis=1)) for name in others}).T


OUTCOMES = {"lower": "agree significantly more", "higher": "agree significantly less", "undecided": "are undecided"}


def between_seeds() -> list[Finding]:
    """How far two seeds are apart, and what activations change in it."""
    fact = partial(Finding, n=10, study="answer", page="answer")
    runs, pairs = actlab.load("answer")
    of = "(ReLU, mean of six architectures)"
    moved, switched = (
        estimate(actlab.jackknife(without_each_seed(pairs, metric).mean(axis=1)), 100) for metric in (TV, "churn")
    )
    found = [
        fact(
            "two-seeds",
            f"of the next character's probability moves with another seed {of}",
            moved,
            unit="%",
            front=True,
        ),
        fact(
            "two-seeds-churn", f"of the places get another most probable character {of}", switched, unit="%", front=True
        ),
    ]
    for suffix, when, table in (
        ("", "at the lowest common loss", effects()),
        ("-early", "earlier in training, 90% of the way back to the first common loss", effects(0.9)),
        ("-at-the-end", "at the end of training", effects_at_the_end()),
    ):
        bounds = 100 * table.groupby("model").apply(actlab.bound, include_groups=False)
        what = f"the most that replacing ReLU can change {when} (95% bound)"
        most = {"": bounds.drop("tinylstm").max(), "-lstm": bounds["tinylstm"]}
        where = {"": "in five architectures", "-lstm": "in the LSTM"}
        for name, value in most.items():
            title = f"activation-bound{name}{suffix}"
            front = suffix != "-at-the-end"
            found.append(fact(title, f"{what}, {where[name]}", alone(value), unit=POINTS, front=front))
        for outcome, said in OUTCOMES.items():
            count = alone((table["outcome"] == outcome).sum())
            what = f"of 30 comparisons with ReLU {said} {when}"
            found.append(fact(f"activation-{outcome}{suffix}", what, count, unit="comparisons", digits=0))
    for name, row in activations().iterrows():
        what = f"{name} instead of ReLU, at equal loss (mean of six architectures)"
        found.append(fact(f"activation-{name}", what, estimate(row), unit=POINTS))
    lstm = effects().query("model == 'tinylstm'").sort_values("difference")
    for end, row in (("best", lstm.iloc[0]), ("worst", lstm.iloc[-1])):
        what = f"{row['activation']} instead of ReLU in the LSTM, at equal loss ({end} of five, picked afterwards)"
        found.append(fact(f"lstm-{end}-activation", what, estimate(row, 100), unit=POINTS))
    best = lstm.iloc[0]["activation"]
    last = effects_at_the_end().set_index(ARM).loc[("tinylstm", best)]
    what = f"{best} instead of ReLU in the LSTM, at the end of training"
    found.append(fact("lstm-best-activation-at-the-end", what, estimate(last, 100), unit=POINTS))
    sizes = runs["parameters"] / 1e6
    for name, value in (("smallest", sizes.min()), ("largest", sizes.max())):
        found.append(fact(f"parameters-{name}", f"size of the {name} network", alone(value), unit="million parameters"))
    return found


# --- What makes two trainings agree: params/remedies.yaml, params/remedies-cooldown.yaml (fresh seeds) ------------------
def without_each_seed(pairs: pd.DataFrame, metric: str = TV) -> pd.DataFrame:
    """ReLU's total variation: a row a seed that is left out, a column an architecture."""
    relu = pairs[pairs["activation"] == "relu"]
    return actlab.without_each(relu, metric).pivot(index="left_out", columns="model", values="value")


@cache
def remedies() -> dict[str, pd.DataFrame]:
    """Remedy -> change of ReLU's points between two seeds: a row a seed that is left out, a column an architecture."""
    constant, falling = (actlab.load(study)[1] for study in ("remedies", "remedies-cooldown"))
    averaged, both = (
        actlab.load_pairs(study, of="average").query("decay == 0.99") for study in ("remedies", "remedies-cooldown")
    )
    halves = actlab.load_pairs("remedies", of="equal_compute").query("size == 2")
    plain = without_each_seed(constant)
    made = {"averaging": averaged, "learning-rate-decay": falling, "both": both, "two-half-length-runs": halves}
    return {name: 100 * (without_each_seed(pairs) - plain) for name, pairs in made.items()}


@cache
def jitter() -> pd.DataFrame:
    """Architecture and activation -> how far a run is from itself ten steps earlier, as a percentage (``share``) of how
    far two seeds are apart, and how many points nearer (``change``, below 0)."""
    seeds, itself = actlab.load("jitter")[1], actlab.load_pairs("jitter", of="to_end")
    ten = itself[itself["iterations"] - itself["iteration"] == 10]
    found = actlab.share(ten, seeds, TV).set_index(ARM)
    return pd.DataFrame({"share": 100 * found["estimate"], "change": 100 * (found["value"] - found["reference"])})


@cache
def recipe() -> pd.Series:
    """Activation -> total variation after one bit as a percentage of that between seeds, under the ordinary recipe in
    nanotransformer: a ratio of arithmetic means, as planned."""
    seeds, changed = (actlab.load("recipe", kind)[1] for kind in ("trials", "perturbed"))
    bit = changed[changed["variant"] == "nudge"].groupby("activation")[TV].mean()
    return 100 * bit / seeds.groupby("activation")[TV].mean()


REMEDIES = {
    "averaging": "moving average of the last 100 steps' weights, at a constant rate",
    "learning-rate-decay": "learning rate that falls to 0 over the last half",
    "both": "that average under the falling rate",
    "two-half-length-runs": "mean prediction of two runs of half the steps",
}


def averaging(study: str, decay: float = 0.99) -> pd.DataFrame:
    """What averaging changes between the seeds of a registered study."""
    averaged = actlab.load_pairs(study, of="average").query("decay == @decay").assign(weights="averaged")
    weights = pd.concat([actlab.load(study)[1].assign(weights="raw"), averaged])
    return actlab.contrasts(weights, TV, ARM, "weights", "raw", planned=12)


def constant(metric: str = TV) -> pd.DataFrame:
    """Averaged weights at a constant rate minus those under a falling one, in agreement or in loss (``val_loss``)."""
    load = actlab.load_pairs if metric == TV else actlab.load_losses
    rates = (load(study, of="average").assign(rate=study) for study in ("remedies", "remedies-cooldown"))
    table = pd.concat(rates).query("decay == 0.99")
    return actlab.contrasts(table, metric, ARM, "rate", "remedies-cooldown", planned=12)


def dearer(study: str, decay: float) -> pd.Series:
    """Architecture and activation -> by how many nats averaging raises the mean loss."""
    loss = actlab.load_losses(study, of="average").query("decay == @decay").groupby(ARM).mean(numeric_only=True)
    return loss["val_loss"] - loss["single_loss"]


def agreement() -> list[Finding]:
    """What takes the difference between seeds off, and at which loss."""
    fact = partial(Finding, n=10, page="answer")
    found = []
    for name, table in remedies().items():
        study = "remedies, remedies-cooldown" if name in ("learning-rate-decay", "both") else "remedies"
        what = f"{REMEDIES[name]}: change between two seeds (ReLU"
        mean, front = estimate(actlab.jackknife(table.mean(axis=1))), name != "two-half-length-runs"
        found.append(fact(name, f"{what}, mean of six architectures)", mean, unit=POINTS, study=study, front=front))
        for model in table:
            each = estimate(actlab.jackknife(table[model]))
            found.append(fact(f"{name}-{model}", f"{what}, {model})", each, unit=POINTS, study=study))
    for name, study, rate in (
        ("averaging", "remedies", "constant"),
        ("averaging-after-decay", "remedies-cooldown", "falling"),
    ):
        table = averaging(study).sort_values("difference")
        for end, row in (("most", table.iloc[0]), ("least", table.iloc[-1])):
            where, front = f"{row['model']}, {row['activation']}, {rate} rate", rate == "falling"
            what = f"change between two seeds by averaging, where it is {end} of twelve configurations ({where})"
            found.append(fact(f"{name}-{end}", what, estimate(row, 100), unit=POINTS, study=study, front=front))
    steps = jitter()["share"]
    for end, value in (("least", steps.min()), ("most", steps.max())):
        what = (
            f"of another seed's difference is between a run and itself ten steps earlier, {end} of four configurations"
        )
        found.append(fact(f"jitter-{end}", what, alone(value), n=5, unit="%", study="jitter", digits=0, front=True))
    cost = dearer("remedies", 0.99)
    better = constant().query("p_holm < 0.05")["difference"] < 0
    average = "what averaging changes in the loss at a constant rate (mean of twelve configurations)"
    most = f"the most that averaging raises the loss of a configuration ({cost.idxmax()[0]})"
    raised = "of twelve configurations have a higher loss with averaged weights"
    beats = "of twelve configurations agree significantly more with averaging alone than with both (exploratory)"
    return [
        *found,
        fact("averaging-loss", average, alone(cost.mean()), unit="nats", study="remedies", digits=3),
        fact("averaging-loss-most", most, alone(cost.max()), unit="nats", study="remedies", digits=3),
        fact(
            "averaging-loss-raised", raised, alone((cost > 0).sum()), unit="configurations", study="remedies", digits=0
        ),
        fact("averaging-beats-both", beats, alone(better.sum()), unit="configurations", study="remedies", digits=0),
    ]


# --- From the same seed: params/one-bit.yaml, params/ladder.yaml, params/corner.yaml -------------------------------------
RUNGS = {"nudge": "one bit", "dropout": "dropout masks", "init": "initial weights"}
RUNGS |= {"order": "batch order", "all": "another seed"}


@cache
def one_bit() -> pd.DataFrame:
    """Total variation after one bit as a percentage of that between seeds, both geometric means: five seeds, at ReLU's
    tuned rate; intervals on the logarithmic scale."""
    logs = []
    for kind in ("perturbed", "trials"):
        pairs = actlab.load("one-bit", kind)[1]
        pairs = pairs[pairs[TV] > 0].assign(log=lambda rows: np.log10(rows[TV]))
        if kind == "perturbed":  # a run and itself: leaving it out takes one pair away
            pairs = pairs.drop(columns="seed").assign(second=pairs["first"])
        logs.append(actlab.without_each(pairs, "log").set_index([*ARM, "left_out"])["value"])
    share = (logs[0] - logs[1]).groupby(ARM, sort=False).apply(actlab.jackknife).unstack()
    share[SIDES] = 100 * 10 ** share[SIDES].astype(float)
    return share.reset_index()


@cache
def corners() -> list[pd.DataFrame]:
    """Runs of `params/corner.yaml`, their pairs, and pairs of a run and itself after one bit, with the half-width of
    SmeLU's rounded corner (0: ReLU)."""
    tables = [*actlab.load("corner"), actlab.load("corner", "perturbed")[1]]
    return [
        table.assign(beta=pd.to_numeric(table["activation"].str.partition("smelu_")[2]).fillna(0)) for table in tables
    ]


@cache
def corner() -> pd.DataFrame:
    """Architecture and half-width -> geometric mean, least and largest total variation after one bit, that of two
    seeds, and the mean loss."""
    runs, seeds, bit = (table.groupby(["model", "beta"]) for table in corners())
    log = np.log10(bit[TV].agg(["min", "max"])).assign(mean=bit[TV].agg(lambda found: np.log10(found).mean()))
    return (10**log).assign(seeds=seeds[TV].mean(), loss=runs["val_loss"].mean(), n=bit.size())


@cache
def ladder() -> pd.DataFrame:
    """Architecture and what was changed between two runs at tuned rates -> mean log10 of the total variation, a column
    an activation."""
    runs = pd.concat(actlab.load(study, "perturbed")[1] for study in ("one-bit", "one-bit-own", "ladder"))
    runs = runs.merge(actlab.load("ladder")[0][[*ARM, "learning_rate"]].drop_duplicates())  # of one-bit those at it
    log = runs[runs[TV] > 0].assign(log=lambda rows: np.log10(rows[TV]), what=lambda rows: rows["variant"].map(RUNGS))
    return log.pivot_table("log", ["model", "what"], "activation")


def one_bit_changed() -> list[Finding]:
    """What one bit does, and what a rounder corner does to that."""
    fact = partial(Finding, n=5, unit=SHARE, study="one-bit", page="one-bit", digits=0)
    what = "effect of one bit"
    found = []
    for _, row in one_bit().iterrows():
        name, where = f"one-bit-{row['activation']}-{row['model']}", f"({row['model']}, {row['activation']})"
        found.append(fact(name, f"{what}, at ReLU's tuned rate {where}", estimate(row)))
    relu, gelu = (one_bit().query("activation == @name").sort_values("estimate") for name in ("relu", "gelu"))
    for name, row, where in (
        ("relu-least", relu.iloc[0], f"under ReLU, where it is smallest ({relu.iloc[0]['model']})"),
        ("relu-most", relu.iloc[-1], f"under ReLU, where it is largest ({relu.iloc[-1]['model']})"),
        ("gelu-four", gelu.iloc[3], "under GELU, at most in four of six architectures"),
        ("gelu-fifth", gelu.iloc[4], f"under GELU ({gelu.iloc[4]['model']})"),
        ("gelu-sixth", gelu.iloc[5], f"under GELU ({gelu.iloc[5]['model']})"),
    ):
        digits = 1 if row["estimate"] < 1 else 0
        found.append(fact(f"one-bit-{name}", f"{what} {where}", estimate(row), front=True, digits=digits))
    return [*found, *spread(), *rounder_corner()]


def spread() -> list[Finding]:
    """By how much activations differ after a small and a large change."""
    fact = partial(Finding, unit="times", study="ladder, one-bit, one-bit-own", page="one-bit")
    times = 10 ** (ladder().std(axis=1) ** 2).groupby("what").mean() ** 0.5
    what = "by which four activations differ after"
    larger = alone(times.drop("one bit").max())
    return [
        fact("spread-one-bit", f"{what} one bit (one standard deviation)", alone(times["one bit"]), n=5, digits=0),
        fact("spread-larger", f"{what} anything larger, at most", larger, n=3),
    ]


def rounder_corner() -> list[Finding]:
    """One bit's effect and the loss where ReLU's corner is rounded by 0.3."""
    fact = partial(Finding, n=5, study="corner", page="relu-corner")
    bits = corners()[-1].assign(log=lambda table: np.log10(table[TV]))
    tables = actlab.contrasts(bits, "log", correction=None), actlab.contrasts(corners()[0], "val_loss", correction=None)
    smaller, cost = (table.query("activation == 'smelu_0.3'").set_index("model") for table in tables)
    found = []
    for model, row in smaller.iterrows():
        times = (10 ** -row["difference"], 10 ** -row["high"], 10 ** -row["low"])
        what = f"smaller is one bit's effect with ReLU's corner rounded by 0.3 ({model}, geometric mean)"
        digits = -2 if times[0] > 1000 else 0
        found.append(fact(f"corner-{model}", what, times, unit="times", digits=digits))
        what = f"what that corner changes in the loss ({model})"
        found.append(fact(f"corner-loss-{model}", what, estimate(cost.loc[model]), unit="nats", digits=3))
    return found


# --- Losses, size, and the audit -----------------------------------------------------------------------------------------
@cache
def losses() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Architecture and activation -> nats behind the best of the architecture; the same in words: `best`, `=` where it
    is not significantly behind (paired t over seeds, Holm over all)."""
    runs, _ = actlab.load("answer")
    mean = actlab.means(runs, "val_loss").set_index(ARM)["estimate"].unstack(sort=False)
    best, behind = mean.idxmin(axis=1), mean.sub(mean.min(axis=1), axis=0)
    tests = pd.concat(
        actlab.contrasts(rows, "val_loss", reference=best[model], correction=None)
        for model, rows in runs.groupby("model")
    )
    tied = tests.assign(p=holm(tests["p"])).set_index(ARM)["p"].unstack().reindex_like(mean) >= 0.05
    cells = behind.map("{:.2f}".format).mask(tied, "=")
    return behind, cells.mask(behind == 0, "best")


def loss_and_size() -> list[Finding]:
    """What an activation does for the loss, and what is known of larger networks."""
    fact = partial(Finding, n=10, unit="nats", study="answer", page="losses", digits=3)
    found = []
    behind = actlab.contrasts(actlab.load("answer")[0], "val_loss", planned=30)
    for model, rows in behind.groupby("model", sort=False):
        row = rows.loc[rows["difference"].idxmin()]
        what = f"loss of {row['activation']}, the best of six at constant rates, minus ReLU's ({model})"
        found.append(fact(f"best-loss-{model}", what, estimate(row), front=model in TRANSFORMERS))
    large = partial(Finding, n=3, unit="%", study="repro-full", page="report")
    for _, row in actlab.means(actlab.load("repro-full")[1], TV).iterrows():
        what = "of the probability moves with another seed at 10.8 million parameters, overfitted"
        where = f"({row['model']}, {row['activation']}; exploratory)"
        found.append(large(f"full-{row['activation']}-{row['model']}", f"{what} {where}", estimate(row, 100)))
    return found


@cache
def every() -> list[Finding]:
    """All of them."""
    return [*between_seeds(), *agreement(), *one_bit_changed(), *loss_and_size()]


def table() -> pd.DataFrame:
    """A row a finding; ``text`` as it is quoted."""
    columns = ["name", "what", "value", "low", "high", "n", "unit", "study", "page", "text"]
    rows = [[one.name, one.what, *one.found, one.n, one.unit, one.study, one.page, one.text] for one in every()]
    found = pd.DataFrame(rows, columns=columns)
    if not found["name"].is_unique:
        raise ValueError(f"a name stands twice: {found.loc[found['name'].duplicated(), 'name'].tolist()}")
    return found


BEGIN, END = "<!-- findings: begin -->\n", "<!-- findings: end -->"
"""Around the generated table."""
PAGES = {"book/evidence.md": "studies/{}.ipynb"}
"""Page -> how it links to a page of a finding."""


def shown(link: str) -> str:
    """The findings of a page as a Markdown table."""
    rows = [
        f"| {one.what} | {one.text} | {one.unit} | {one.n} | [{one.page}]({link.format(one.page)}) |"
        for one in every()
        if one.front
    ]
    return "\n".join(["| what | found [95% interval] | unit | seeds | page |", "|---|---|---|---|---|", *rows]) + "\n"


def written(page: str) -> str:
    """A page with the table of today's records in the place of the one that it has."""
    text = (paths.ROOT / page).read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{shown(PAGES[page])}{END}{rest.partition(END)[2]}"


def check() -> None:
    """Stops where a page shows other numbers than the records have.

    Raises:
        NotHeld: with the first line that differs.
    """
    for page in PAGES:
        there = (paths.ROOT / page).read_text(encoding="utf-8").splitlines()
        for line, found in zip_longest(there, written(page).splitlines(), fillvalue=""):
            if line != found:
                raise NotHeld(f"{page} says {line!r}, the records say {found!r}: python book/findings.py")


if __name__ == "__main__":
    for page in PAGES:
        write_text(paths.ROOT / page, written(page))
    print(table().drop(columns="what").to_string())
