"""What the paper says, held to the records; its figures and tables. ``actlab paper`` runs this, then sets `paper.typ`,
whose numbers are typed: where the records say otherwise, nothing is set and the sentence is named."""

import numpy as np
import pandas as pd

import actlab
from actlab import holds
from actlab.book.prose import script
from actlab.figures import plots
from actlab.plans import arms, plan_of
from actlab.records.cross_hardware import load_cross_hardware
from actlab_audit import ledger

TV, arm = "total_variation", ["model", "activation"]


def rounded(found: pd.Series, digits: int = 3) -> list[float]:
    """Difference or estimate with its interval, as it is written."""
    value = "difference" if "difference" in found else "estimate"
    return [float(round(found[name], digits)) for name in (value, "low", "high")]


# --- 1. Between seeds: params/answer.yaml ---------------------------------------------------------------------------
plan = plan_of("answer")
margin = plan["outcomes"][0]["margin"]
runs, pairs = actlab.load("answer")
courses = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
rule = {"planned": 30, "margin": margin}
bigram = {"exclude_above": actlab.load_baselines("answer")["val_loss"]["bigram"]}
at_loss = actlab.equal_loss(*courses, TV, **rule, **bigram)
at_end, losses = actlab.contrasts(pairs, TV, **rule), actlab.contrasts(runs, "val_loss", planned=30)
words = {name: found["outcome"].value_counts().to_dict() for name, found in (("loss", at_loss), ("end", at_end))}
relu = pairs[pairs["activation"] == "relu"].groupby("model")[[TV, "churn"]].mean()
bound = at_loss.groupby("model").apply(actlab.bound, include_groups=False).round(3)
lower = at_loss[at_loss["outcome"] == "lower"]

holds(round(relu[TV].mean(), 1) == 0.2, "about 20% of its next-character probability moves")
holds(relu["churn"].mean().round(2) == 0.25, "at one place in four")
holds(
    len(at_loss) == 30 and words["loss"] == {"undecided": 24, "lower": 3, "higher": 3},
    "of 30 comparisons three and three, 24 undecided",
)
holds(
    "lower" not in words["end"] and words["end"]["higher"] == 7,
    "at the end none is more reproducible and seven are less",
)
holds(
    bound.drop("tinylstm").max() == 0.028 and bound["tinylstm"] == 0.062,
    "by more than 0.028 in five architectures, or 0.062 in the LSTM",
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

again = [actlab.load_curves("answer-fresh"), actlab.load_pairs("answer-fresh", of="along")]
half = arms("answer-half", "the gains are more than a lower rate")  # the same activations beside ReLU at half its rate
fresh, one_rate = (
    actlab.equal_loss(*two, TV, margin=margin).query("status == 'ok'").set_index(arm).loc[sorted(gains)]
    for two in (again, half)
)
holds((fresh["outcome"] == "lower").all(), "all three are significant again on fresh seeds")
holds(
    (one_rate["outcome"] == "undecided").all() and one_rate["difference"].abs().max().round(3) == 0.007,
    "beside ReLU at that rate none is (at most 0.007)",
)
many = actlab.equal_loss(
    actlab.load_curves("answer-same-rate"), actlab.load_pairs("answer-same-rate", of="along"), TV, margin=margin
).set_index("model")
holds(
    many["n"].eq(26).all() and many["outcome"].to_dict() == {"nanotransformer": "equivalent", "tinylstm": "undecided"},
    "with 26 seeds: equivalent, undecided",
)
wide = actlab.at_equal_loss(*courses, TV, **bigram, across=True).pivot(
    index="left_out", columns=["activation", "model"], values="value"
)
gelu = actlab.jackknife((wide["gelu"] - wide["relu"]).mean(axis=1))
holds(
    rounded(gelu) == [0.013, 0.005, 0.020], "GELU is less reproducible on average, +0.013 [0.005, 0.020]: contradicted"
)
steps = {
    name: actlab.contrasts(table, name) for name, table in zip(("val_loss", TV), actlab.load("repro-lite"), strict=True)
}
holds(
    [(found["p_holm"] < 0.05).sum() for found in steps.values()] == [21, 4],
    "After equal steps at one rate 21 of 30 differ in loss and four in total variation",
)

# --- 2. From the same seed -----------------------------------------------------------------------------------------
bit = actlab.load("rounding-tuned", "perturbed")[1].groupby(arm)[TV].mean()
seed = courses[1][courses[1]["iteration"] == 500].groupby(arm)[TV].mean()
share, ends = (bit / seed).unstack(), bit.unstack()
holds(actlab.load("rounding-tuned", "perturbed")[1]["iterations"].eq(500).all(), "after 500 steps")
holds((share["relu"].min().round(2), share["relu"].max().round(2)) == (0.34, 0.78), "34 to 78% as far")
holds(
    share["gelu"].drop("tinylstm").max().round(2) == 0.02 and share.loc["tinylstm", "gelu"] > 0.5,
    "GELU at most 2%, except in the LSTM",
)
holds((ends["relu"].min().round(3), ends["relu"].max().round(2)) == (0.065, 0.18), "0.065 to 0.18 apart")
holds((ends.drop(columns="relu") > 1e-4).to_numpy().sum() == 20, "20 of the 30 others exceed 0.0001: contradicted")
floor = actlab.load("repro-lite", "floor")[1]
grown = floor[floor["variant"] == "nudge"].set_index(arm)[TV].unstack() > 1e-4
holds(
    grown["relu"].sum() == 5 and not grown.drop(columns="relu").any().any(),
    "at a low rate under ReLU alone, in five of six",
)
holds(floor.loc[floor["variant"] == "repeat", TV].eq(0).all(), "unchanged repetition gives the same bits")
front = script("book/front.py")
near = front["corner"]()
holds(
    (near["n"] == 5).all() and near.loc[[0, 0.01, 0.1], "mean"].round(3).tolist() == [0.088, 0.063, 0.004],
    "0.088; 0.063; 0.004",
)
holds(round(near.loc[0, "mean"] / near.loc[0.3, "mean"], -3) == 6000, "about 6,000 times smaller")
holds(
    round(near.loc[0.3, "loss"] - near.loc[0, "loss"], 3) == 0.002
    and round(near.loc[1, "loss"] - near.loc[0, "loss"], 3) == 0.027,
    "0.002 nats; 0.027 nats at 1",
)
ulp = actlab.load("one-bit", "perturbed")[1].assign(log10=lambda table: np.log10(table[TV]))
by_name = actlab.contrasts(ulp, "log10").set_index(arm)["difference"].round(1)
share = ulp.groupby(arm)[TV].mean() / actlab.load("one-bit")[1].groupby(arm)[TV].mean()
holds(
    ulp.groupby(arm).size().to_list() == [5] * 8
    and share.xs("relu", level=1).round(2).to_dict() == {"charlm": 0.56, "convlm": 0.42},
    "42% and 56% of what another seed does, five seeds, convlm and charlm alone",
)
holds(
    [[*by_name[model][["gelu", "smelu_1", "swiglu"]]] for model in ("convlm", "charlm")]
    == [[-4.9, -4.3, -2.3], [-3.9, -1.3, -2.4]],
    "4.9, 4.3 and 2.3 powers of ten closer; in charlm 3.9, 1.3 and 2.4",
)
rates = runs[runs["model"] == "charlm"].groupby("activation")["learning_rate"].first()
holds(rates["smelu_1"] == rates["relu"], "SmeLU-1 in charlm has the rate that was tuned for it")
higher = actlab.contrasts(actlab.load("one-bit")[0], "val_loss").set_index(arm).loc[("charlm", "smelu_1")]
holds(round(higher["difference"], 3) == 0.184 and higher["p_holm"] < 0.05, "a loss 0.184 nats above ReLU's")
streams = pd.concat(actlab.load(study)[1].query("activation == 'relu'") for study in ("sources", "sources-small"))
parts = streams.groupby(["model", "scale", "varies"])[TV].mean().unstack()
shares = parts.div(parts["all"], axis=0)
holds(
    (shares[["init", "order"]] > 0.5).all().all() and (shares["dropout"] < shares[["init", "order"]].min(axis=1)).all(),
    "initialization and batch order each give more than half; dropout masks give least",
)
first = parts.loc[("charlm", "lite")].round(3)
holds([*first[["all", "init", "order", "dropout"]]] == [0.119, 0.090, 0.093, 0.048], "0.119; 0.090; 0.093; 0.048")
twins = load_cross_hardware(["answer", "answer-fresh"])
of_relu, others = (
    twins.loc[which, "apart"]
    for which in (twins["activation"] == "relu", (twins["activation"] != "relu") & (twins["model"] != "tinylstm"))
)
holds(
    (f"{of_relu.min():.2g}", f"{of_relu.max():.2g}", f"{others.max():.2g}", len(twins))
    == ("0.0044", "0.012", "0.00094", 21),
    "0.0044 to 0.012 nats, at most 0.00094, 21 runs",
)

# --- 3. What makes two trainings agree -----------------------------------------------------------------------------
took = front["remedies"]()
holds(rounded(took.loc["averaged weights"]) == [-0.064, -0.066, -0.063], "by 0.064 [0.063, 0.066]")
holds(rounded(took.loc["two half-trained networks"]) == [-0.052, -0.055, -0.049], "by 0.052 [0.049, 0.055]")
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
registered = {}
for study in ("remedies", "remedies-cooldown"):
    table = pd.concat(
        [
            actlab.load(study)[1].assign(weights="raw"),
            actlab.load_pairs(study, of="average").query("decay == 0.99").assign(weights="averaged"),
        ]
    )
    registered[study] = actlab.contrasts(table, TV, arm, "weights", "raw").set_index(arm)["difference"].round(3)
holds(
    registered["remedies"].tolist() == [-0.078, -0.073, -0.064, -0.065]
    and registered["remedies"].index.get_level_values(0).unique().tolist() == ["charlm", "convlm"],
    "recorded in two architectures: 0.078 and 0.073 in charlm, 0.064 and 0.065 in convlm",
)
holds(
    registered["remedies-cooldown"].to_dict() == {("convlm", "relu"): -0.010, ("convlm", "swiglu"): -0.010},
    "under a falling rate, in convlm alone, 0.010 under both",
)


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
sizes = runs["parameters"].agg(["min", "max"]) / 1e6
holds(
    [*sizes.round(1)] == [0.3, 0.4] and runs.groupby(arm)["trial"].nunique().eq(10).all(),
    "0.3 to 0.4 million parameters, ten seeds",
)

# --- 5. The audit -----------------------------------------------------------------------------------------------------
judged = ledger.judge()
outcomes = judged[judged["kind"] == "outcome"]
counts = outcomes["verdict"].value_counts()
holds(
    (len(outcomes), counts["replicated"], counts["artefact"], counts["excluded, cause open"]) == (104, 8, 24, 22),
    "Of 104 claims about results eight replicate, 24 are artefacts of a named bug, and 22 are excluded, cause open",
)

# --- Figures and tables -----------------------------------------------------------------------------------------------
at = at_loss.assign(significant=at_loss["p_holm"] < 0.05)
both = (
    pd.DataFrame({"one ULP": bit, "another seed": seed})
    .rename_axis(columns="change")
    .stack()
    .rename("value")
    .reset_index()
)
kind, end = "defective", []
for study in ("autopsy-swiglu", "autopsy-models", "autopsy-convlm"):
    read, same = (actlab.load_pairs(study, of, kind) for of in ("published", "along"))
    alone = (read["first"] == read["second"]).map({True: "one network, other inputs", False: "two seeds, other inputs"})
    same["coded_pd"] = same["total_variation"]
    end += [read.assign(compared=alone), same.assign(compared="two seeds, same inputs")]
end = pd.concat(end).query("iteration == iterations")
itself = actlab.means(end, "coded_pd", [*arm, "compared"])
itself["network"] = itself["model"] + ", " + itself["activation"]
figures = {
    **front["figures"](),
    "equal": plots.forest(
        at,
        "total variation minus ReLU's at equal loss (left: more reproducible)",
        filled="significant",
        zero=True,
        margin=margin,
    ),
    "bit": plots.forest(both, "total variation (logarithmic)", value="value", series="change", log=True),
    "itself": plots.forest(
        itself, "mean total variation (0 to 1)", "estimate", panel="", row="network", series="compared", height=2.6
    ),
}
tables = {"verdicts": ledger.table(judged).drop(columns="meaning"), "ledger": judged}
