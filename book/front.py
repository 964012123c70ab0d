"""The front page: its prose is typed in README.md and book/intro.md, held here to the records when the book is built.
`python book/front.py` draws its figures."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import actlab
from actlab import paths
from actlab.book.checks import holds
from actlab.figures import plots
from actlab.figures.style import canvas, keep, look, styled, svg
from actlab.files import write_text
from actlab.plans import plan_of
from actlab.records import store
from actlab.records.labels import words
from actlab.statistics.significance import holm

PICTURE = "book/_static/front-{}.svg"
TV, ARM, SIDES = "total_variation", ["model", "activation"], ["estimate", "low", "high"]

RUNGS = {"nudge": "one bit", "dropout": "dropout masks", "init": "initial weights"}
RUNGS |= {"order": "batch order", "all": "another seed"}
TITLES = {
    "corner": "A rounder corner shrinks one bit's effect, up to 0.3",
    "ladder": "One bit sets activations apart, a new seed does not",
    "remedies": "Average weights, or let the rate fall, for agreement",
    "losses": "At constant rates SwiGLU leads in transformers",
}


@cache
def taken() -> dict[str, pd.DataFrame]:
    """Remedy -> what it takes off the total variation of two ReLU networks: a row a seed that is left out ("": none), a
    column an architecture, at the ``end`` of training and at ``equal_loss``."""
    ours = (actlab.load_curves("answer"), actlab.load_pairs("answer", of="along"))
    falling, run = actlab.load("answer-decay")
    constant = actlab.load("answer")[0].set_index([*ARM, "trial"])["val_loss"].rename("single_loss")
    tables = {"averaged weights": (*both("average", "decay", 0.99), *ours)}
    tables["rate that falls to 0"] = (run, falling.join(constant, on=constant.index.names), *ours)
    tables["mean of two half-length runs"] = (*both("equal_compute", "size", 2), *ours)
    made = {}
    for name, every in tables.items():
        one, other, curves, along = (table[table["activation"] == "relu"] for table in every)
        found = actlab.beside_training(curves, along, one, other, metric=TV)
        made[name] = found.pivot(index="left_out", columns="model", values=["end", "equal_loss"])
    return made


@cache
def remedies() -> pd.DataFrame:
    """A row a remedy: its mean over architectures (jackknife over seeds); and the largest effect of an activation at
    equal loss, of one architecture."""
    made = {name: actlab.jackknife(table["end"].mean(axis=1))[SIDES] for name, table in taken().items()}
    largest = effects().loc[effects()["difference"].idxmin(), ["difference", "low", "high"]]
    made["best activation (LSTM)"] = largest.rename({"difference": "estimate"})
    return pd.DataFrame(made).T.astype(float)


def both(of: str, column: str, level: float) -> list[pd.DataFrame]:
    """Pairs and losses of a remedy of `params/answer.yaml`, at one level of its strength."""
    tables = (load("answer", of=of) for load in (actlab.load_pairs, actlab.load_losses))
    return [table[table[column] == level] for table in tables]


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
    return (loss["val_loss"] - loss["single_loss"]).round(3)


@cache
def effects() -> pd.DataFrame:
    """Differences from ReLU at equal loss, of ``params/answer.yaml``, with the outcomes of its plan."""
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram", np.inf)
    return actlab.equal_loss(curves, along, TV, exclude_above=bigram, planned=30, margin=0.005)


@cache
def corners() -> list[pd.DataFrame]:
    """Runs of `params/corner.yaml`, their pairs, and pairs of a run and itself after one ULP, with the half-width of
    SmeLU's rounded corner (0: ReLU)."""
    tables = [*actlab.load("corner"), actlab.load("corner", "perturbed")[1]]
    return [
        table.assign(beta=pd.to_numeric(table["activation"].str.partition("smelu_")[2]).fillna(0)) for table in tables
    ]


@cache
def corner() -> pd.DataFrame:
    """Architecture and half-width -> geometric mean, least and largest total variation after one ULP, that of two
    seeds, and the mean loss."""
    runs, seeds, ulp = (table.groupby(["model", "beta"]) for table in corners())
    log = np.log10(ulp[TV].agg(["min", "max"])).assign(mean=ulp[TV].agg(lambda found: np.log10(found).mean()))
    return (10**log).assign(seeds=seeds[TV].mean(), loss=runs["val_loss"].mean(), n=ulp.size())


@cache
def one_bit() -> pd.DataFrame:
    """Architecture and activation -> total variation after one ULP as a share of that between seeds, means over five
    seeds, at ReLU's tuned rate."""
    ulp, seeds = (actlab.load("one-bit", kind)[1].groupby(ARM)[TV] for kind in ("perturbed", "trials"))
    holds((ulp.size() == 5).all(), "One bit: arithmetic means of five pairs, all at ReLU's tuned rate")
    return (ulp.mean() / seeds.mean()).unstack()


@cache
def ladder() -> pd.DataFrame:
    """Architecture and what was changed between two runs at tuned rates -> mean log10 of the total variation, a column
    an activation."""
    runs = pd.concat(actlab.load(study, "perturbed")[1] for study in ("one-bit", "one-bit-own", "ladder"))
    runs = runs.merge(actlab.load("ladder")[0][[*ARM, "learning_rate"]].drop_duplicates())  # of one-bit those at it
    log = runs[runs[TV] > 0].assign(log=lambda rows: np.log10(rows[TV]), what=lambda rows: rows["variant"].map(RUNGS))
    sizes = log.groupby([*ARM, "what"]).size().groupby("what").agg(["min", "max"])
    holds(
        sizes.loc["one bit"].eq(5).all() and sizes.drop("one bit").eq(3).all(axis=None), "five pairs at one bit, three"
    )
    return log.pivot_table("log", ["model", "what"], "activation")


def check() -> None:
    """Stops where the records do not say what the two pages do."""
    runs, pairs = actlab.load("answer")
    relu = pairs[pairs["activation"] == "relu"].groupby("model")[[TV, "churn"]].mean().mean()
    holds(0.19 < relu[TV] < 0.21, "about 20% of its next character's probability moves")
    holds(0.225 < relu["churn"] < 0.275, "its top choice at one place in four")
    bound = effects().groupby("model").apply(actlab.bound, include_groups=False)
    bound = (100 * bound).round(1)
    holds(bound.drop("tinylstm").max() == 2.8, "At equal loss none moves these 20 points by more than 2.8")
    holds(bound["tinylstm"] == 6.2, "(95%; LSTM: 6.2)")
    end = actlab.contrasts(pairs, TV, planned=30, margin=plan_of("answer")["outcomes"][0]["margin"])
    holds(
        end["outcome"].value_counts().to_dict() == {"undecided": 23, "higher": 7},
        "no activation agrees significantly more and seven of 30 less",
    )
    bound = (100 * end.groupby("model").apply(actlab.bound, include_groups=False)).round(1)
    holds((bound.pop("tinylstm"), bound.max()) == (7.4, 3.4), "(at most 3.4 points; LSTM: 7.4)")
    took = remedies()["estimate"]
    holds(round(100 * took["averaged weights"]) == -6, "it takes off 6 points")
    slower, averaged = (taken()[name].loc[""] for name in ("rate that falls to 0", "averaged weights"))
    most = slower.mean() / averaged[slower.index].mean()  # of the same architectures
    holds(0.7 < most < 0.9, "A falling rate does most of that")
    tried = actlab.load("answer-decay")[0].query("activation == 'relu'").groupby("model")["seed"].nunique()
    holds((tried == 5).all() and len(tried) == 2, "(the falling rate: two architectures, five seeds)")
    moved = 100 * effects().query("model == 'tinylstm'")["difference"]
    holds(
        (round(moved.min(), 1), round(moved.max(), 1)) == (-3.4, 3.5),
        "In the LSTM they move, at equal loss, the 20 points by -3.4 to +3.5",
    )
    best = effects().loc[effects()["difference"].idxmin()]
    holds(
        (best["model"], best["activation"]) == ("tinylstm", "smelu_1"),
        "the largest gain of any activation anywhere, picked afterwards: smelu_1's at equal loss",
    )
    rate = runs.groupby(ARM)["learning_rate"].first()["tinylstm"]
    holds(rate["smelu_1"] == rate["relu"] / 2, "at half of ReLU's rate")
    last = actlab.contrasts(pairs, TV).set_index(ARM).loc[("tinylstm", "smelu_1"), "difference"]
    holds(round(-100 * last, 1) == 1.4, "(at the end of training 1.4)")
    lstm = taken()["averaged weights"].xs("tinylstm", axis=1, level="model")
    end, level = (-100 * actlab.jackknife(lstm[at])[["estimate", "high", "low"]] for at in ("end", "equal_loss"))
    holds(
        [round(end["estimate"], 1), *level.round(1)] == [3.6, 3.1, -0.5, 6.8],
        "averaging takes off 3.6 at the end, extrapolated to equal loss 3.1 [-0.5, 6.8]",
    )
    average = actlab.load_losses("answer", of="average").query("decay == 0.99").groupby(ARM).mean(numeric_only=True)
    holds((average["val_loss"] < average["single_loss"]).mean() > 0.75, "usually at lower loss")
    share = (100 * one_bit()).round()
    holds(
        (share["relu"].min(), share["relu"].max()) == (40, 80),
        "Two ReLU networks end 40 to 80% as far apart as two seeds",
    )
    few = share["gelu"].drop("tinylstm")
    holds(few.pop("nanotransformer") == 23, "under GELU it does 23% [0, 47] of a seed's effect in nanotransformer")
    holds(few.max() == 4 and len(few) == 4, "GELU's at most 4% in four of six")
    holds(share.loc["tinylstm", "gelu"] == 92, "else 23 and 92%")
    own, at_relu = (actlab.load(study, "perturbed")[1].groupby(ARM) for study in ("one-bit-own", "one-bit"))
    of = own["learning_rate"].first() / at_relu["learning_rate"].first()
    smaller = (at_relu[TV].mean() / own[TV].mean())["nanotransformer"].dropna()
    holds(
        of["minigpt", "smelu_1"] == 2 and {*of["nanotransformer"].dropna()} == {0.5} and (own.size() == 5).all(),
        "at half of ReLU's one bit",
    )
    holds(
        {*smaller.index} == {"swiglu", "smelu_1"} and 1900 < smaller.min() < smaller.max() < 9500, "thousands of times"
    )
    level = own[TV].mean()["minigpt", "smelu_1"] / at_relu[TV].mean()["minigpt", "relu"]
    holds(0.9 < level < 1.1, "in minigpt smelu_1 at twice ReLU's rate moves as far as ReLU at its own (five pairs each")
    near = corner()
    rising = near["mean"].unstack()[[0.001, 0.003, 0.01, 0.03, 0.1, 0.3]].diff(axis=1).iloc[:, 1:]
    holds((rising < 0).all(axis=None), "From a half-width of 0.001 to 0.3, the wider")
    mean, loss = (near[name].unstack() for name in ("mean", "loss"))
    closer = mean[0] / mean[0.3]
    holds(
        round(closer.pop("nanotransformer"), -1) == 30 and closer.min() > 2000,
        "thousands of times smaller in convlm and charlm (95%: at least 300), about 30 times",
    )
    holds((loss[0.3] - loss[0]).max().round(3) == 0.020, "at a mean loss at most 0.020 nats higher")
    cost = actlab.contrasts(corners()[0], "val_loss", reference="relu", correction=None)
    holds(cost.query("activation == 'smelu_0.3'")["high"].max().round(3) == 0.042, "(95%: up to 0.042)")
    bits = corners()[-1].assign(log=lambda table: np.log10(table[TV]))
    ends = {name: actlab.contrasts(bits, "log", reference=name, correction=None) for name in ("relu", "smelu_0.3")}
    down, up = ends["relu"].query("activation == 'smelu_0.3'"), ends["smelu_0.3"].query("activation == 'smelu_1'")
    least = 10 ** -down.set_index("model")["high"].drop("nanotransformer").astype(float).max()
    holds(300 <= least < 400, "(95%: at least 300)")
    down = 10 ** -down.set_index("model").loc["nanotransformer", ["high", "low"]].astype(float)
    holds((round(down["high"], 1), round(down["low"], -1)) == (1.4, 640), "30 times (95%: 1.4 to 640)")
    holds(
        [*up.loc[up["low"] > 0, "model"]] == ["charlm"],
        "At 1 the effect grows again in charlm (in nanotransformer not significantly)",
    )
    holds((near["n"] == 5).all(), "five seeds (small marks) and their geometric means")
    holds(runs.groupby(ARM)["trial"].nunique().eq(10).all() and runs["model"].nunique() == 6, "six architectures")
    holds(runs["activation"].nunique() == 6, "six activations, ten seeds")
    sizes = (runs["parameters"] / 1e6).round(1)
    holds((sizes.min(), sizes.max()) == (0.3, 0.4), "Networks of 0.3 to 0.4 million parameters")
    less, falling = map(averaging, ("remedies", "remedies-cooldown"))
    off = (-100 * less["difference"]).agg(["min", "max"]).round(1)
    holds([*off] == [3.4, 10.1] and less["p_holm"].max() < 0.05, "On fresh seeds it takes off 3.4 to 10.1 points")
    holds(len(less) == 12, "at a constant rate, in all six architectures under ReLU and SwiGLU")
    one = constant().query("p_holm < 0.05")["difference"]
    holds(len(one) == 9, "does significantly more than the two combined in nine of twelve configurations")
    holds((one < 0).all(), "significantly less in none")
    every = [[one for one in store.load_study(study) if "arm" in one] for study in ("remedies", "remedies-cooldown")]
    gpu = [{one["arm"].rpartition("-")[0] for one in found if one["provenance"]["machine"]["gpu"]} for found in every]
    holds(len(gpu[0] ^ gpu[1]) == 3, "three compare a CPU with a GPU")
    alone = 100 * (less.set_index(ARM)["reference"] - falling.set_index(ARM)["reference"])
    holds([*alone.agg(["min", "max"]).round(1)] == [2.6, 7.3], "it takes off 2.6 to 7.3 by itself")
    holds(
        (alone > -50 * less.set_index(ARM)["difference"]).all() and len(alone) == 12, "A falling rate does most of that"
    )
    cost = dearer("remedies", 0.99)
    holds(cost[cost > 0].to_list() == [0.016, 0.009], "though in minigpt the loss rises by 0.009 to 0.016 nats")
    more = -100 * falling.set_index("model")["difference"]
    holds({*more.drop("tinylstm").round()} == {1, 2} and len(more) == 12, "averaging 1 to 2 more")
    holds([*more["tinylstm"].round(1)] == [0.1, 0.2], "(LSTM: 0.1 to 0.2)")
    most, cost = averaging("remedies-cooldown", 0.997)["difference"].min(), dearer("remedies-cooldown", 0.997).max()
    holds(
        (round(-100 * most, 1), cost) == (3.6, 0.220),
        "a longer average up to 3.6, against the plan's guess, at a loss up to 0.220 nats higher",
    )
    at_relus = at_relu[TV].apply(lambda pair: np.log10(pair).mean()).unstack().std(axis=1)
    holds(
        round(10 ** (at_relus**2).mean() ** 0.5, -1) == 20 and 10 ** at_relus["tinylstm"] < 1.2,
        "(20 at ReLU's, where the LSTM has none)",
    )
    rungs = ladder()
    apart = 10 ** (rungs.std(axis=1) ** 2).groupby("what").mean() ** 0.5
    holds(float(f"{apart.pop('one bit'):.1g}") == 60, "(one standard deviation) is a factor of 60 after one bit")
    holds(round(apart.max(), 1) == 1.2 and len(rungs) == 29, "1.2 at most after anything larger")
    typical = rungs.groupby("what").mean().agg(["min", "max"], axis=1).diff(axis=1)["max"]
    holds(typical.pop("one bit") > 2 and typical.max() < 0.1, "powers of ten apart; after any larger change they meet")
    behind = losses()[0]
    best, worst = behind.idxmin(axis=1), behind.idxmax(axis=1)
    transformers = best[["charlm", "minigpt", "nanotransformer"]]
    holds((transformers == "swiglu").all(), "At constant rates SwiGLU predicts best in the three transformers")
    holds(worst["tinylstm"] == "swiglu", "worst in the LSTM")
    late = (actlab.load(study)[0].query("model == 'charlm'") for study in ("answer-decay", "remedies-cooldown"))
    gained = [actlab.contrasts(table, "val_loss").set_index("activation").loc["swiglu"] for table in late]
    holds(all(row["high"] > 0 for row in gained), "Where the rate falls SwiGLU's lead in charlm is gone")
    kept = actlab.contrasts(actlab.load("remedies-cooldown")[0], "val_loss").set_index("model")["high"]
    holds((kept[["minigpt", "nanotransformer"]] < 0).all(), "in minigpt and nanotransformer it stays")
    bits = [actlab.load("repro-partial", kind)[1].query("model == 'nanotransformer'") for kind in ("floor", "trials")]
    bits[0] = bits[0][bits[0]["variant"] == "nudge"]
    ulp, seed = (table.groupby("activation")[TV].mean() for table in bits)
    holds((ulp / seed)["swiglu"] >= (ulp / seed)["relu"], "one bit does as much under SwiGLU as under ReLU")
    larger = actlab.load("repro-partial")[0].query("model == 'nanotransformer'")["parameters"].max()
    own = runs.query("model == 'nanotransformer'")["parameters"].max()
    holds(round(larger / own) == 4, "In a nanotransformer four times as large")
    full, apart = actlab.load("repro-full")
    holds({*(full["parameters"] / 1e6).round(1)} == {10.8}, "At 10.8 million parameters")
    holds((full["val_loss"] > full["best_val_loss"]).groupby(full["record"]).any().all(), "trained until they overfit")
    points = (100 * apart.groupby(ARM)[TV].mean()).round()
    holds(points.pop(("nanotransformer", "relu")) == 42, "by 42 in nanotransformer (three seeds, exploratory)")
    holds({*points.index.unique("model")} == {"charlm", "minigpt"}, "in charlm and minigpt")
    holds((points.min(), points.max()) == (17, 21), "two seeds differ by 17 to 21 points")


def figures() -> dict[str, Figure]:
    """Name -> figure of both pages."""
    near = corner()
    with styled():
        figure, (axes,) = canvas(1, 1, 4.3, 3.0)
        bits = corners()[-1]
        for (model, part), mark in zip(near.groupby("model"), "so^", strict=True):
            part, each = part.droplevel("model"), bits[bits["model"] == model]
            at = range(len(part))
            (line,) = axes.plot(at, part["mean"], marker=mark)
            places = part.index.get_indexer(each["beta"])
            axes.plot(places, each[TV], mark, color=line.get_color(), markersize=2, alpha=0.5)
            end = (at[-1], part["mean"].iloc[-1])
            axes.annotate(model, end, xytext=(6, -3), textcoords="offset points", color=line.get_color())
        axes.plot(at, near["seeds"].groupby("beta").mean(), color="grey", linestyle=":")
        axes.annotate("another seed's effect", (0, 0.25), xytext=(0, 3), textcoords="offset points")
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.set_xlim(right=at[-1] + 3)
        axes.set_xticks(at, ["0 (ReLU)", *map("{:g}".format, part.index[1:])], rotation=45)
        axes.set_xlabel("half-width of the rounded corner")
        axes.set_ylabel("total variation after one bit")
    rungs = ladder()
    with styled():
        steps, (axes,) = canvas(1, 1, 4.3, 3.0)
        for at, name in enumerate(("relu", "gelu", "smelu_1", "swiglu")):
            colour, mark, dashes = look(name)
            each = rungs[name].unstack("model").reindex([*RUNGS.values()])
            axes.plot(range(len(each)), 10 ** each.mean(axis=1), color=colour, dashes=dashes, label=words(name))
            beside = np.arange(len(each)) + 0.12 * (at - 1.5)
            axes.plot(beside, 10**each, mark, color=colour, markersize=3, alpha=0.6)
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.set_xticks(range(len(RUNGS)), RUNGS.values(), rotation=45)
        axes.legend(loc="lower right", fontsize=9)
        axes.set_ylabel("total variation")
    alone = actlab.jackknife(taken()["averaged weights"]["end", "tinylstm"]).to_frame("averaged weights (LSTM)").T
    drawn = pd.concat([remedies().iloc[:-1], alone, remedies().iloc[-1:]]).rename_axis("remedy").reset_index()
    drawn[SIDES] = 100 * drawn[SIDES].astype(float)
    label = "change of ReLU's 20 points (left: two seeds agree more)"
    found = {
        "corner": keep(figure, near.reset_index().to_dict("records")),
        "ladder": keep(steps, rungs.reset_index().to_dict("records")),
        "remedies": plots.forest(drawn, label, value="estimate", panel="", row="remedy", zero=True, columns=1),
        "losses": plots.heat(losses()[0], "nats behind the best", losses()[1]),
    }
    axes, colours = found["losses"].axes
    colours.remove()  # the words say it
    axes.tick_params("x", rotation=45)
    axes.set_xlabel("nats behind the best")
    for name, figure in found.items():  # side by side
        figure.set_size_inches(4.3, 3.0)
        figure.suptitle(TITLES[name], x=0.01, ha="left", fontsize=10)
    return found


def main() -> None:
    """Check the prose, then draw."""
    check()
    for name, figure in figures().items():
        write_text(paths.ROOT / PICTURE.format(name), svg(figure).decode() + "\n")


if __name__ == "__main__":
    main()
