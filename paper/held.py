"""What the paper alone says, held to the records, and its figures and tables. `builder.py` runs this, then sets
`paper.typ`, which takes what others quote too from the findings by name: where the records say otherwise, nothing is
set and the statement is named."""

import numpy as np
import pandas as pd
from scipy import stats

import actlab
import findings as front
from actlab import holds, paths
from actlab.figures import plots
from actlab.figures.style import GREY, LOOK
from actlab.files import read_yaml
from actlab.plans.rules import RULES, arms, judge, plan_of
from actlab.statistics.significance import holm
from actlab_audit import ledger

TV, arm = "total_variation", ["model", "activation"]
NAMES = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish", "swiglu": "SwiGLU", "smelu_05": "SmeLU-0.5"}
NAMES["smelu_1"] = "SmeLU-1"  # As the field spells them, with the look that they have on the pages
LOOK.update({name.lower(): LOOK[code] for code, name in NAMES.items()})


def along(study: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evaluations of a study's runs, and of their pairs, as ``equal_loss`` takes them."""
    return actlab.load_curves(study), actlab.load_pairs(study, of="along")


def rounded(found: pd.Series, digits: int = 3) -> list[float]:
    """Difference or estimate with its interval, as it is written."""
    value = "difference" if "difference" in found else "estimate"
    return [float(round(found[name], digits)) for name in (value, "low", "high")]


# --- 1. Between seeds: params/answer.yaml ---------------------------------------------------------------------------
plan = plan_of("answer")
margin = plan["outcomes"][0]["margin"]
runs, pairs = actlab.load("answer")
courses = along("answer")
bigram = {"exclude_above": actlab.load_baselines("answer")["val_loss"]["bigram"]}
at_loss, losses = front.effects(), actlab.contrasts(runs, "val_loss", planned=30)
bound = at_loss.groupby("model").apply(actlab.bound, include_groups=False).round(3)
lower = at_loss[at_loss["outcome"] == "lower"]

size = runs.groupby(arm)["parameters"].first().unstack()
holds(
    size.div(size["relu"], axis=0).sub(1).abs().max(axis=None) < 0.01,
    "the same number of parameters within one per cent",
)
devices = read_yaml(paths.ROOT / "params" / "answer.yaml")["per_arm"]
holds(sum(each.get("device") == "cuda" for each in devices.values()) == 3, "three on a CPU and three on a GPU")
length = runs.groupby("model")["iterations"].first()
holds(
    length.pop("tinylstm") == 1500 and {*length} == {750} and runs["batch_size"].eq(32).all(),
    "ten seeds, 750 steps of 32 windows (1,500 in tinylstm)",
)
holds(at_loss["outcome"].ne("equivalent").all() and margin == 0.005, "none is equivalent within 0.005")
most = at_loss.set_index(arm).loc[("convlm", "swiglu")]
holds(
    rounded(most) == [0.024, 0.019, 0.029] and at_loss.loc[at_loss["p_holm"].idxmin(), "activation"] == "swiglu",
    "surest: SwiGLU in convlm, +0.024 [0.019, 0.029]",
)
lead = losses[losses["p_holm"] < 0.05]
holds(
    (len(lead), (lead["difference"] < 0).sum()) == (18, 6),
    "18 of 30 differences of final loss are significant, six in favour of the other activation",
)
best = losses.loc[losses.groupby("model")["difference"].idxmin()].set_index("model")
holds(
    best["activation"].to_dict()
    == {
        "charlm": "swiglu",
        "minigpt": "swiglu",
        "nanotransformer": "swiglu",
        "convlm": "gelu",
        "hybridlm": "smelu_05",
        "tinylstm": "smelu_1",
    },
    "SwiGLU in the three Transformers, GELU in convlm, SmeLU in the LSTM",
)
holds(best.drop("hybridlm")["p_holm"].max() < 0.05 < best.loc["hybridlm", "p_holm"], "significant in all but hybridlm")
holds(round(-best["difference"].min(), 3) == 0.057, "at most 0.057 nats")
rates = runs.groupby(arm)["learning_rate"].first()
gains = {*map(tuple, lower[arm].to_numpy())}
holds(
    gains == {("nanotransformer", "swish"), ("nanotransformer", "smelu_1"), ("tinylstm", "smelu_1")},
    "Swish and SmeLU-1 in nanotransformer, SmeLU-1 in tinylstm",
)
holds(all(rates[cell] == rates[cell[0], "relu"] / 2 for cell in gains), "trained at half of ReLU's learning rate")

half = arms("answer-half", "the gains are more than a lower rate")  # the same activations beside ReLU at half its rate
fresh, one_rate = (
    actlab.equal_loss(*two, TV, margin=margin).query("status == 'ok'").set_index(arm).loc[sorted(gains)]
    for two in (along("answer-fresh"), half)
)
holds((fresh["outcome"] == "lower").all(), "all three are significant again on fresh seeds")
holds(
    (one_rate["outcome"] == "undecided").all() and one_rate["difference"].abs().max().round(3) == 0.007,
    "beside ReLU at that rate none is (at most 0.007)",
)
many = actlab.equal_loss(*along("answer-same-rate"), TV, margin=margin).set_index("model")
holds(
    many["n"].eq(26).all() and many["outcome"].to_dict() == {"nanotransformer": "equivalent", "tinylstm": "undecided"},
    "with 26 seeds: equivalent, undecided",
)
wide = front.at_equal_loss()
even = actlab.at_equal_loss(*courses, TV, **bigram, across=True, equal_seeds=True)
even = even.pivot(index="left_out", columns=["activation", "model"], values="value")
even = actlab.jackknife((even["gelu"] - even["relu"]).mean(axis=1))
holds(abs(even["estimate"]) < 5e-4, "where these are equal too, its mean difference vanishes")
swish = actlab.jackknife((wide["swish"] - wide["relu"]).mean(axis=1))
beyond = (margin - abs(swish["estimate"])) / swish["se"]
holds(stats.t.sf(beyond, swish["df"]) < 0.05, "Swish is equivalent to ReLU on average")
over = wide.T.groupby("model")
ratio = actlab.jackknife(np.log(over.mean().T.std(axis=1) / np.sqrt(over.var().T.mean(axis=1))))
holds(np.exp(ratio[["estimate", "low", "high"]]).round(1).tolist() == [1.2, 0.8, 1.8], "a ratio of 1.2 [0.8, 1.8]")
rule = {"planned": 30, "margin": margin, **bigram}
earlier = [actlab.equal_loss(*courses, TV, **rule, share=share)["outcome"] for share in (0.1, 0.25, 0.5)]
holds(
    [((found == "lower").sum(), (found == "higher").sum()) for found in earlier] == [(2, 4), (3, 3), (2, 5)],
    "At three earlier losses two or three are more reproducible and three to five less",
)
churn = actlab.equal_loss(*courses, "churn", planned=30, **bigram)
holds(churn["p_holm"].min() > 0.05, "In churn none of the 30 differs")
shannon = actlab.equal_loss(*courses, "jensen_shannon", planned=30, **bigram).query("p_holm < 0.05")["difference"]
holds(((shannon < 0).sum(), (shannon > 0).sum()) == (3, 4), "in Jensen-Shannon divergence three are more and four less")
other = {}
for study in ("answer-novels", "answer-rate"):
    here = {"exclude_above": actlab.load_baselines(study).loc["bigram", "val_loss"]}
    other[study] = actlab.equal_loss(*along(study), TV, planned=9, margin=margin, **here).set_index(arm)
signs = np.sign(other["answer-novels"]["difference"]) == np.sign(at_loss.set_index(arm)["difference"]).reindex(
    other["answer-novels"].index
)
holds((len(signs), signs.sum()) == (9, 8), "On novels eight of nine differences have the sign that they have here")
holds(
    other["answer-rate"]["difference"].gt(0).all() and (other["answer-rate"]["outcome"] == "higher").sum() == 6,
    "At ReLU's rate all nine differences are above 0, six significantly",
)
back = actlab.equal_loss(*along("answer-same-rate"), TV, share=0.25, planned=2).set_index("model")
holds(
    round(back.loc["tinylstm", "difference"], 3) == -0.018 and back.loc["tinylstm", "p_holm"] < 0.05,
    "earlier in tinylstm's training it is still more reproducible, by 0.018",
)
tuning = actlab.load("answer-tuning")[0].merge(runs[[*arm, "learning_rate"]].drop_duplicates())
luck = tuning.groupby(arm)["val_loss"].agg(lambda found: found.mean() - found.min())
lag = [(row.model, row.activation if row.difference > 0 else "relu") for row in losses.itertuples()]
left = (losses["difference"].abs() - luck.loc[lag].to_numpy()).clip(lower=0)
holds((holm(2 * stats.t.sf(left / losses["se"], losses["df"])) < 0.05).sum() == 12, "12 without tuning's luck")
steps = {
    name: actlab.contrasts(table, name) for name, table in zip(("val_loss", TV), actlab.load("repro-lite"), strict=True)
}
holds(
    [(found["p_holm"] < 0.05).sum() for found in steps.values()] == [21, 4],
    "After equal steps at one rate 21 of 30 differ in loss and four in total variation",
)

# --- 2. From the same seed -----------------------------------------------------------------------------------------
bit = actlab.load("rounding-tuned", "perturbed")[1]
holds(bit["iterations"].eq(500).all(), "after 500 steps")
bit = bit.groupby(arm)[TV].mean()
seed = courses[1][courses[1]["iteration"] == 500].groupby(arm)[TV].mean()
share, ends = (bit / seed).unstack(), bit.unstack()
holds((share["relu"].min().round(2), share["relu"].max().round(2)) == (0.34, 0.78), "34 to 78% as far")
holds(
    share["gelu"].drop("tinylstm").max().round(3) == 0.022 and share.loc["tinylstm", "gelu"] > 0.5,
    "GELU at most 2.2%, except in the LSTM",
)
holds(
    share["swiglu"].max().round(2) == 0.08 and {*share.drop("tinylstm").max().nsmallest(2).index} == {"gelu", "swiglu"},
    "SwiGLU networks at most 8%, and no other activation so little",
)
fast = runs.groupby(arm)["learning_rate"].first().loc["minigpt"]
holds(
    {*share.columns[share.loc["minigpt"] > share.loc["minigpt", "relu"]]} == {"swish", "smelu_1"}
    and {*fast.index[fast == 2 * fast["relu"]]} == {"swish", "smelu_1"},
    "In minigpt Swish and SmeLU-1 exceed ReLU, at twice its rate",
)
holds((ends.drop(columns="relu") > 1e-4).to_numpy().sum() == 20, "20 of the 30 others exceed 0.0001: contradicted")
floor = actlab.load("repro-lite", "floor")[1]
grown = floor[floor["variant"] == "nudge"].set_index(arm)[TV].unstack() > 1e-4
holds(
    grown["relu"].sum() == 5 and not grown.drop(columns="relu").any().any() and floor["learning_rate"].eq(3e-4).all(),
    "at a rate of 0.0003 under ReLU alone, in five of six",
)
holds(floor.loc[floor["variant"] == "repeat", TV].eq(0).all(), "unchanged repetition gives the same bits")
near = front.corner()
dear = actlab.contrasts(actlab.load("corner")[0], "val_loss", correction=None)
dear = dear.assign(beta=dear["activation"].str.removeprefix("smelu_").astype(float)).set_index(["model", "beta"])
rounded_corner = {}
for model in near.index.unique("model"):  # another architecture is another row below, and another sentence
    at, nats = near.loc[model, "mean"], dear.loc[model, "difference"].round(3)
    times = float(f"{at[0] / at[0.3]:.0e}")
    rounded_corner[model] = (*at[[0, 0.01, 0.1]].round(3), times, nats[0.3], nats[1])
holds(
    rounded_corner
    == {
        "charlm": (0.104, 0.085, 0.002, 2000, 0.012, 0.184),
        "convlm": (0.088, 0.063, 0.004, 6000, 0.002, 0.027),
        "nanotransformer": (0.160, 0.140, 0.073, 30, 0.020, 0.161),
    },
    "convlm: 0.088, 0.063 at 0.01, 0.004 at 0.1; about 6,000 times closer at 0.3, for 0.002; 0.027 nats at 1; "
    "charlm: about 2,000 times closer at 0.3, for 0.012; 0.184 nats at 1, where the error grows again; "
    "nanotransformer: 30 times closer at 0.3, for 0.020",
)
ulp, between = (actlab.load("one-bit", kind)[1] for kind in ("perturbed", "trials"))
holds(ulp.groupby(arm).size().to_list() == [5] * 24, "five pairs, at ReLU's rate, in all six architectures")
spread = ulp.query("model == 'nanotransformer' and activation == 'gelu'")[TV]
holds((f"{spread.min():.0e}", round(spread.max(), 3)) == ("4e-05", 0.107), "scatter from 0.00004 to 0.107")
spread = near.loc[("nanotransformer", 0.3)]
holds((f"{spread['min']:.0e}", round(spread["max"], 2)) == ("1e-04", 0.09), "scatter from 0.0001 to 0.09")
closer = actlab.contrasts(ulp.assign(log10=np.log10(ulp[TV])), "log10", correction=None).query("low > -2")
holds(
    {*map(tuple, closer[arm].to_numpy())}
    == {(model, name) for model in ("nanotransformer", "tinylstm") for name in ("swiglu", "smelu_1")}
    | {("tinylstm", "gelu")},
    "contradicted, by SwiGLU and SmeLU-1 in nanotransformer and the LSTM",
)
compared = pd.concat([ulp.drop(columns="seed").assign(second=ulp["first"], of="bit"), between.assign(of="seed")])
less = actlab.contrasts(compared, TV, arm, "of", "seed", planned=24)
holds((less["p_holm"] < 0.05).all() and (less["difference"] < 0).all() and len(less) == 24, "less in all 24 cases")
rates = runs[runs["model"] == "charlm"].groupby("activation")["learning_rate"].first()
holds(rates["smelu_1"] == rates["relu"], "SmeLU-1 in charlm has the rate that was tuned for it")
higher = actlab.contrasts(actlab.load("one-bit")[0], "val_loss").set_index(arm).loc[("charlm", "smelu_1")]
holds(round(higher["difference"], 3) == 0.184 and higher["p_holm"] < 0.05, "a loss 0.184 nats above ReLU's")
both = "sources", "sources-small"
again = pd.concat(actlab.load(study, "perturbed")[1] for study in both).query("variant == 'nudge'")
streams = pd.concat([*(actlab.load(study)[1] for study in both), again.assign(varies="nudge")])
rungs = streams.pivot_table(TV, ["scale", "model", "activation"], "varies")
parts = rungs.dropna(subset="dropout")
shares = parts.div(parts["all"], axis=0)
holds(
    (shares[["init", "order"]] > 0.5).all().all() and (shares["dropout"] < shares[["init", "order"]].min(axis=1)).all(),
    "initialization and batch order each give more than half; dropout masks give least",
)
closer = again.query("scale == 'lite'").assign(log10=lambda table: np.log10(table[TV]))
closer = actlab.contrasts(closer, "log10")
alike = rungs.loc["lite", "all"].groupby("model").agg(["min", "max"])
holds(
    round(closer["difference"].max(), 1) == -4.7 and (alike["max"] < 4 / 3 * alike["min"]).all(),
    "at least 4.7 powers of ten closer than ReLU after one ULP, and within a third of each other after another seed",
)
gated = rungs.loc[("lite", "convlm")]
holds(
    gated.loc[["swiglu", "relu"], "dropout"].round(3).tolist() == [0.111, 0.049]
    and gated.loc[["swiglu", "relu"], "all"].round(3).tolist() == [0.174, 0.159],
    "With other dropout masks alone 0.111 and 0.049; with another seed 0.174 and 0.159",
)


def hold_the_cause() -> None:
    """params/gates.yaml: with the first network's pattern of ReLUs."""
    twins = actlab.load("gates", "twins")[1].assign(log10=lambda table: np.log10(table[TV]))
    copied = actlab.contrasts(twins, "log10", factor="variant", reference="own", correction=None)
    copied = copied[copied["variant"] == "copied"].set_index("model")
    times = 10 ** -copied[["difference", "high", "low"]]  # how many times closer, at least, at most
    holds(set(copied["n"]) == {5}, "geometric means of five seeds")
    closer_by = [round(times.loc[model, "difference"], digits) for model, digits in (("convlm", -4), ("charlm", -2))]
    closer_by += times.loc[["hybridlm", "nanotransformer"], "difference"].round(-1).to_list()
    holds(closer_by == [140_000, 1_700, 430, 310], "140,000 times closer in convlm, 1,700, 430 and 310 times closer")
    in_minigpt = [round(value, digits) for value, digits in zip(times.loc["minigpt"], (0, 1, -1), strict=True)]
    holds(in_minigpt == [29, 0.8, 1010], "29 times [0.8, 1,010] in minigpt")
    holds(times.loc["tinylstm"].round(2).to_list() == [0.89, 0.77, 1.03], "0.89 times [0.77, 1.03]")
    holds(
        (times["high"] > 1000).sum() == 1 and (times["low"] > 1000).sum() == 5, "a thousand times in four is undecided"
    )
    steps = actlab.load_pairs("gates", of="steps", kind="twins").query("model != 'tinylstm'")
    wide = steps.pivot(
        index=["model", "seed", "iteration"], columns="variant", values=["sides_apart", "gradient_distance"]
    )
    turned = wide["sides_apart", "own"] > 0
    parted = wide["gradient_distance", "own"] >= 10 * wide["gradient_distance", "copied"]
    first = [
        found[found].reset_index("iteration").groupby(["model", "seed"])["iteration"].min()
        for found in (turned, parted)
    ]
    holds([len(first[0]), (first[0] == first[1]).sum()] == [25, 22], "in 22 of 25 seeds at the very step")


def hold_the_rate() -> None:
    """params/phase.yaml: six learning rates."""
    after_bit = actlab.load("phase", "perturbed")[1].assign(log10=lambda pairs: np.log10(pairs[TV]))
    cells = ["setting", "model", "activation", "learning_rate"]
    after_bit["setting"] = after_bit["setting"].str.extract(r"warmup=(\d+)", expand=False)
    level = after_bit.groupby(cells)["log10"].mean()  # six rates of each architecture
    smooth_ones = level.drop("relu", level="activation")
    lowest = smooth_ones.groupby(cells[:-1]).head(2)
    holds((lowest < -4).all() and len(lowest) == 36, "less than 0.0001 at the two lowest rates, in three architectures")
    rises = smooth_ones.loc["0"].groupby(arm).diff().groupby(arm).max()
    few, rises = rises["convlm"], rises.drop("convlm")
    holds(rises.between(2, 4).all(), "two to four powers of ten more within one doubling, in two architectures")
    holds([round(few.min(), 1), round(few.max(), 1)] == [1.3, 1.7], "in convlm by 1.3 to 1.7 powers of ten at most")
    jumps = (rises >= 3).groupby("model").sum().to_dict() | {"convlm": (few >= 3).sum()}
    holds(jumps == {"charlm": 3, "nanotransformer": 2, "convlm": 0}, "three jump in charlm, two, and none in convlm")
    verdict = judge("phase", next(iter(RULES["phase"])), pd.Series(jumps).to_frame("jumps"))
    holds(verdict == "contradicted", "that two of three jump, in each architecture, is contradicted")
    under_relu = 10 ** level.xs("relu", level="activation")
    holds([round(under_relu.min(), 3), round(under_relu.max(), 2)] == [0.007, 0.20], "0.007 to 0.20 at all six rates")


hold_the_cause()
hold_the_rate()

# --- 3. What makes two trainings agree -----------------------------------------------------------------------------
changed = {name: table / 100 for name, table in front.remedies().items()}
pair = arms("answer-half", "a lower rate is more reproducible")  # ReLU at its rate and at half of it
halved = actlab.at_equal_loss(*pair, TV, factor="study").pivot(
    index="left_out", columns=["study", "model"], values="value"
)
halved = halved["answer-half"] - halved["answer-fresh"]
holds(
    rounded(actlab.jackknife(halved.mean(axis=1))) == [-0.009, -0.014, -0.005]
    and [*halved] == ["nanotransformer", "tinylstm"],
    "half the rate 0.009, in two architectures",
)
beside = {}
for of, rows in (("average", "decay == 0.99"), ("equal_compute", "size == 2")):
    tables = (load("answer", of=of).query(rows) for load in (actlab.load_pairs, actlab.load_losses))
    found = actlab.beside_training(*(table[table["activation"] == "relu"] for table in (*courses, *tables)), metric=TV)
    beside[of] = found.pivot(index="left_out", columns="model", values=["end", "equal_loss"])
read = [found["equal_loss"].loc[""].mean() - found["end"].loc[""].mean() for found in beside.values()]
holds(max(map(abs, read)) < 0.005, "Read at equal loss they change by less than 0.005")
takes = changed["averaging"].apply(actlab.jackknife).T
few = takes.drop("tinylstm")
holds(
    (-few["high"] > bound[few.index]).all(), "in five architectures more than the 95% bound on any activation's effect"
)
level = actlab.jackknife(beside["average"]["equal_loss", "tinylstm"])
holds(rounded(level) == [-0.031, -0.068, 0.005], "extrapolated to equal loss 0.031 [-0.005, 0.068]")
largest = {
    model: (rows := wide.xs(model, axis=1, level="model")).sub(rows["relu"], axis=0).abs().max(axis=1)
    for model in bound.index
}
beyond = -beside["equal_compute"]["end"] - pd.DataFrame(largest)
holds(
    beyond.notna().all(axis=None) and (beyond.loc[""] > 0).all() and actlab.jackknife(beyond.mean(axis=1))["low"] > 0,
    "An ensemble of two does more than the activation: supported",
)
longer = front.averaging("remedies-cooldown", 0.997).set_index(arm)
beyond = stats.t.sf((longer["difference"].abs() - 0.01) / longer["se"], longer["df"])
dearer = front.dearer("remedies-cooldown", 0.997)
holds(
    (round(longer["difference"].min(), 3), round(dearer.max(), 3)) == (-0.036, 0.220),
    "A longer average (about 300 steps) adds up to 0.036, at a loss up to 0.220 nats higher",
)
holds(
    (holm(beyond, planned=12) < 0.05).sum() == 10,
    "that averaging then adds less than 0.01 is contradicted, by ten of twelve configurations",
)
averaged = (
    actlab.load_losses("answer", of="average")
    .query("decay == 0.99")
    .melt([*arm, "seed"], ["val_loss", "single_loss"], "weights", "loss")
)
cost = actlab.contrasts(averaged, "loss", arm, "weights", "single_loss", correction=None)
holds(
    (len(cost), (cost["high"] < 0).sum(), (cost["low"] > 0).sum()) == (36, 29, 5),
    "lowers the loss in 29 of 36 arms and raises it in five",
)
holds({*cost.loc[cost["low"] > 0, "model"]} == {"minigpt"}, "all of them minigpt")
halves = actlab.load_losses("answer", of="equal_compute").query("size == 2 and activation == 'relu'")
pair_loss = (halves["val_loss"] - halves["single_loss"]).groupby(halves["model"]).mean()
holds(round(pair_loss.mean(), 3) == 0.088, "0.088 nats higher on average")
tested = front.averaging("remedies").set_index("model")
holds(
    len(tested) == 12 and tested["p_holm"].max() < 0.05, "in all six architectures, under ReLU and SwiGLU, is supported"
)
five = -tested["difference"].drop("tinylstm")
holds(round(five.min(), 3) == 0.057, "at least 0.057 in the five other architectures")
late = front.averaging("remedies-cooldown").set_index("model")
off = -late["difference"].round(3)
holds(
    (off.drop("tinylstm").agg(["min", "max"]).tolist(), off["tinylstm"].tolist()) == ([0.009, 0.019], [0.001, 0.002])
    and late["p_holm"].max() < 0.05,
    "to one that falls over the last half it adds 0.009 to 0.019 in five architectures, 0.001 to 0.002 in the LSTM",
)
alone = (tested["reference"].to_numpy() - late["reference"]).round(3)
holds(
    [*tested.index] == [*late.index] and (len(alone), alone.min(), alone.max()) == (12, 0.026, 0.073),
    "A rate that falls to zero over the last half takes off 0.026 to 0.073 by itself, in all six architectures",
)
gain = changed["two-half-length-runs"] - changed["averaging"]
holds(
    rounded(actlab.jackknife(gain.mean(axis=1))) == [0.012, 0.009, 0.014]
    and [*gain.columns[gain.loc[""] < 0]] == ["minigpt", "tinylstm"],
    "0.012 more than two networks of half the steps [0.009, 0.014], less in minigpt and the LSTM: supported",
)
harm = front.dearer("remedies", 0.99).round(3)
holds(
    harm[harm > 0].to_dict() == {("minigpt", "relu"): 0.016, ("minigpt", "swiglu"): 0.009},
    "The loss rises in minigpt alone, by 0.016 and 0.009 nats",
)
closer = front.constant().query("p_holm < 0.05")["difference"].round(3)
holds(
    (len(closer), closer.max(), closer.min()) == (9, -0.001, -0.021),
    "end significantly closer than under a falling one in nine of twelve (0.001 to 0.021), in none significantly further",
)
lower = front.constant("val_loss")["difference"]
holds(((lower < 0).sum(), len(lower)) == (11, 12), "at a lower mean loss in eleven")


# --- 4. Further studies ---------------------------------------------------------------------------------------------
images = actlab.load("mnist")[0]
cells = actlab.contrasts(images, "val_accuracy", ["hidden", "learning_rate", "batch_size"], "network", family="network")
cells = (
    cells.assign(side=np.sign(cells["difference"]) * (cells["p_holm"] < 0.05))
    .groupby("network")["side"]
    .value_counts()
    .unstack()
)
holds(
    cells.loc["geglu_equal_width", [1, -1]].tolist() == [16, 4]
    and cells.loc["geglu_equal_parameters", [1, -1]].tolist() == [2, 16],
    "at equal width better in 16 and worse in 4 of 32; at equal parameters better in 2 and worse in 16",
)
gpt = actlab.load("ablation-tuned")[0].pivot(
    index="seed", columns=["symmetry", "activation", "optimizer"], values="val_loss"
)
effect = (gpt["bQbV"] - gpt["symmetric"]).mean(axis=1, skipna=False).reset_index(name="nats").assign(of="bQ+bV")
holds(rounded(actlab.means(effect, "nats", "of").iloc[0]) == [0.022, 0.014, 0.029], "by +0.022 nats [0.014, 0.029]")
small = actlab.load("ablation-tuned")[0]["parameters"].max()
holds(round(small, -4) == 170_000, "a network of 170 thousand parameters")

# --- 5. The audit -----------------------------------------------------------------------------------------------------
judged = ledger.judge()
outcomes = judged[judged["kind"] == "outcome"]
count = ledger.statements(outcomes)["verdict"].value_counts()
verdicts = pd.DataFrame({"rows": outcomes["verdict"].value_counts(), "statements": count})
verdicts = ledger.table(judged).droplevel("group")[["meaning"]].join(verdicts, how="inner")
decided = count[["replicated", "contradicted", "artefact", "self-contradiction", "its files say otherwise"]]
holds(
    (count.sum(), decided.sum(), count["artefact"], count["replicated"], count["differs, cause not shown"])
    == (106, 46, 22, 12, 15),
    "Of 106 statements about results 46 are decided: 22 are artefacts, 12 replicate; 15 are differs, cause not shown",
)
leaking = actlab.load("autopsy-partial", "defective")[0].query("model == 'convlm'")["val_loss"]
holds((round(leaking.mean(), 4), len(leaking)) == (0.0097, 3), "at the smaller published size 0.0097 nats, three seeds")


# --- Figures and tables -----------------------------------------------------------------------------------------------
def spelled(table: pd.DataFrame) -> pd.DataFrame:
    """Activations as the text names them."""
    return table.assign(activation=table["activation"].map(NAMES))


names = {"averaging": "averaged weights", "learning-rate-decay": "rate falling to 0", "both": "both"}
names["two-half-length-runs"] = "mean of two half-length runs"
remedies = {said: changed[name] for name, said in names.items()} | {"half the rate, at equal loss": halved}
sides = ["estimate", "low", "high"]
rows = [
    [name, model, *actlab.jackknife(table[model])[sides]] for name, table in remedies.items() for model in table.columns
]
rows += [[name, "mean of six", *actlab.jackknife(remedies[name].mean(axis=1))[sides]] for name in names.values()]
best = at_loss.loc[at_loss.groupby("model", sort=False)["difference"].idxmin()]
rows += (
    best.assign(made="best activation, at equal loss")[["made", "model", "difference", "low", "high"]]
    .to_numpy()
    .tolist()
)
ladder = pd.DataFrame(rows, columns=["made", "model", *sides])
apart = pd.DataFrame({"one ULP": bit, "another seed": seed}).rename_axis(columns="change").stack().rename("value")

# Another architecture that is recorded is another line in the first, another panel in the second.
widths, drawn = near.index.unique("beta"), []
for panel, table, sides in (
    ("total variation after one ULP", near, ["mean", "min", "max"]),
    ("loss minus ReLU's (nats)", dear, ["difference", "low", "high"]),
):
    for i, (model, rows) in enumerate(table.sort_index().groupby("model")):
        places = widths.get_indexer(rows.index.get_level_values("beta")) + 0.15 * i
        limits = rows[sides].set_axis(["value", "low", "high"], axis=1)
        drawn.append(limits.assign(panel=panel, network=model, beta=places))
        if table is near:
            seeds = pd.DataFrame({"value": rows["seeds"]})
            drawn.append(seeds.assign(panel=panel, network=f"another seed, {model}", beta=places))
drawn, below = pd.concat(drawn), ("half-width of the rounded corner (0: ReLU)", "")
shape = {"kind": "bars", "zero": True, "share": False, "columns": 2}
corner = plots.curves(drawn, "beta", "value", below, "panel", "network", **shape)
corner.axes[0].set_yscale("log")
for axes in corner.axes:
    axes.set_xticks(range(len(widths)), [f"{width:g}" for width in widths], fontsize=8)

changes = {"nudge": "one ULP", "dropout": "dropout masks", "order": "batch order", "init": "initial weights"}
changes["all"] = "another seed"
two = actlab.load("ladder", "perturbed")[1].pivot_table(TV, arm, "variant")
two = (100 * two.div(two["all"], axis=0)).round()
masks = two.loc[two["dropout"] > 0, "dropout"]
holds(two.index.unique("model").size == 6 and len(two) == 24, "At tuned rates, in six architectures")
holds(len(masks) == 20 and (masks.min(), masks.max()) == (58, 91), "dropout masks alone give 58 to 91% at tuned rates")
holds((two["order"].min(), two["order"].max()) == (88, 116), "batch order 88 to 116%")
spread = front.ladder().std(axis=1).unstack("what")  # powers of ten, at tuned rates
planned = ["another seed", "initial weights", "batch order", "dropout masks", "one bit"]  # falls from right to left
trend = stats.page_trend_test(spread[planned].dropna())
typical = (spread**2).mean() ** 0.5
ratio = pd.DataFrame({"ratio": typical["one bit"] / typical.drop("one bit"), "trend": trend.pvalue})
holds(judge("ladder", next(iter(RULES["ladder"])), ratio) == "supported", "the smaller the disturbance, is supported")
five = (spread.drop("tinylstm")["one bit"] ** 2).mean() ** 0.5
holds(round(five, 1) == 1.9, "1.9 without the LSTM")
holds(
    (round(typical.pop("one bit"), 1), round(typical.max(), 2)) == (1.8, 0.07),
    "over 1.8 powers of ten after one ULP, and over 0.07 at most after anything larger",
)
own = actlab.load("one-bit-own", "perturbed")[1].groupby(arm)[TV].mean()
at_relu = ulp.groupby(arm)[TV].mean()
times = (at_relu / own)["nanotransformer"].dropna()
holds(times.between(1900, 9500).all() and len(times) == 2, "thousands of times closer in nanotransformer")
holds(0.9 < own["minigpt", "smelu_1"] / at_relu["minigpt", "relu"] < 1.1, "SmeLU-1 in minigpt as far as ReLU")
growth, longer = (actlab.load_pairs(study, "along", "perturbed") for study in ("growth", "growth-long"))
first = growth.query("variant == 'nudge' and iteration == 100").assign(
    log=lambda rows: np.log10(rows["weight_distance"])
)
first = 10 ** first.groupby(arm)["log"].mean().unstack()
smooth = first[["gelu", "smelu_1"]].max(axis=1)
holds(
    [*first.loc[["charlm", "convlm"], "relu"].round(1)] == [0.8, 1.8]
    and round((first["relu"] / smooth).min(), -1) == 580,
    "0.8 and 1.8 apart within 100 steps, at least 580 times further than under GELU and SmeLU-1",
)
late = growth.query("activation == 'relu' and iteration == 500").groupby(["model", "variant"])[TV].mean().unstack()
late = (100 * late["nudge-250"] / late["nudge"]).round()
holds((late["convlm"], late["charlm"]) == (51, 72), "still does 51% and 72%")
end = longer[longer["iteration"] == 3000].assign(log=lambda rows: np.log10(rows[TV])).groupby(arm)["log"].mean()
end = 10 ** end.unstack("model")[["convlm", "charlm"]]
holds(
    [round(near, 6 - 2 * i) for i, near in enumerate(end.loc["gelu"])] == [6e-6, 8e-4]
    and [*end.loc["relu"].round(3)] == [0.169, 0.118]
    and (end.loc["gelu"] < end.loc["relu"] / 100).all(),
    "After 3,000 steps 0.000006 against 0.169 in convlm, and 0.0008 against 0.118 in charlm",
)
holds(longer.groupby("model")["seed"].nunique()["charlm"] == 1, "in charlm (one seed)")
course = {}
for kind in ("perturbed", "trials"):
    apart_then = actlab.load_pairs("growth-long", "along", kind).query("model == 'convlm' and activation == 'relu'")
    course[kind] = np.log10(apart_then[TV]).groupby(apart_then["iteration"]).mean()
course = (100 * 10 ** (course["perturbed"] - course["trials"])).round()
holds(course[[500, 2000, 3000]].to_list() == [43, 72, 78], "from 43% at step 500 to 78% after 3,000, still rising")
on_gpu = growth.query("variant == 'nudge' and iteration == 500").set_index([*arm, "seed"])[TV]
closer = (ulp.set_index([*arm, "seed"])[TV] / on_gpu).loc["charlm", "smelu_1"].dropna()
holds([float(f"{times:.2g}") for times in closer.agg(["min", "max"])] == [13, 410], "a GPU: 13 to 410 times closer")
jump = longer.query("model == 'convlm' and activation == 'smelu_1'").pivot_table("weight_distance", "iteration", "seed")
jump = [float(f"{times:.2g}") for times in (jump.loc[1000] / jump.loc[500]).agg(["min", "max"])]
holds(jump == [260, 1700], "by a factor of 260 to 1,700 between steps 500 and 1,000")
steps = {f"{model}, rate 0.0003": rungs.loc["lite", model] for model in ("charlm", "convlm")}
one = pd.concat(actlab.load(study, "perturbed")[1] for study in ("ladder", "one-bit", "one-bit-own"))
one = one.merge(actlab.load("ladder")[0][[*arm, "learning_rate"]].drop_duplicates())  # at the rate of the ladder
one = one.pivot_table(TV, arm, "variant")
steps |= {f"{model}, tuned rate": rows.droplevel("model") for model, rows in one.groupby("model")}
drawn = pd.concat({panel: rows.reindex(columns=[*changes]) for panel, rows in steps.items()}, names=["panel"])
drawn = drawn.set_axis(range(len(changes)), axis=1).rename(index=NAMES, level="activation")
drawn = drawn.melt(var_name="change", value_name=TV, ignore_index=False).dropna().reset_index()
disturbed = plots.curves(drawn, "change", TV, ("", "total variation"), "panel", columns=4, height=4.4)
for axes in disturbed.axes:
    axes.set_yscale("log")
    axes.set_xticks(range(len(changes)), changes.values(), rotation=35, ha="right")

kind, parts = "defective", []
for study in ("autopsy-swiglu", "autopsy-models", "autopsy-convlm"):
    read, same = (actlab.load_pairs(study, of, kind) for of in ("published", "along"))
    alone = (read["first"] == read["second"]).map({True: "one network, other inputs", False: "two seeds, other inputs"})
    same["coded_pd"] = same["total_variation"]
    parts += [read.assign(compared=alone), same.assign(compared="two seeds, same inputs")]
parts = pd.concat(parts).query("iteration == iterations")
lstm = actlab.load("autopsy-models", kind)[0].query("model == 'tinylstm'")["val_loss"].mean()
unigram = actlab.load_baselines("autopsy-models")["val_loss"]["unigram"]
holds(lstm > unigram, "The LSTM has learned character frequencies alone")
itself = spelled(actlab.means(parts, "coded_pd", [*arm, "compared"]))
itself["network"] = itself["model"] + ", " + itself["activation"]
equal = plots.forest(
    spelled(at_loss).assign(significant=at_loss["p_holm"] < 0.05),
    "total variation minus ReLU's at equal loss (left: more reproducible)",
    filled="significant",
    zero=True,
)
for axes in equal.axes:
    axes.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
figures = {
    "equal": equal,
    "remedies": plots.forest(
        ladder,
        "change of total variation between two seeds (left: they agree more)",
        "estimate",
        panel="",
        row="model",
        series="made",
        zero=True,
        height=2.7,
    ),
    "bit": plots.forest(
        spelled(apart.reset_index()), "total variation (logarithmic)", value="value", series="change", log=True
    ),
    "corner": corner,
    "ladder": disturbed,
    "itself": plots.forest(
        itself, "mean total variation (0 to 1)", "estimate", panel="", row="network", series="compared", height=2.4
    ),
}
tables = {"verdicts": verdicts, "ledger": judged}
