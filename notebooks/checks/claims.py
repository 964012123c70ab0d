"""Numbers of notebooks/claims.ipynb and of claims.yaml: counts of verdicts, headlines, and what claims quote of ours."""

import numpy as np
import pandas as pd

import actlab
from actlab.checks import agrees, holds
from actlab_audit import ledger, numbers
from actlab_audit.text_rules import total
from actlab_audit.verdicts import expected

LARGE = {"T61", "T70", "T71", "T72", "T81b"}
"""Replicated claims of 10.8 million parameters."""
SMALLER = {"T31b", "T83b", "T83c", "T83d", "T83e"}
"""Other losses and accuracies that replicate."""
HEADLINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "T12": ("artefact", ("nanotransformer 0.07, hybridlm 0.0087", "with the flaw", "nanotransformer 0, hybridlm 0")),
    "T14": ("artefact", ("in %: 1.133; with the flaw", "in %: 3.885")),
    "T74": ("replicated", ("minus relu -0.080", "minus gelu -0.096")),
    "T15": ("arithmetic error", ("0.0186",)),
    "T16": ("arithmetic error", ("0.02694",)),
    "M01": ("artefact", ("+20.5", "+1.8", "-21.6", "+0.2")),
    "M02": ("contradicted", ()),
    "T13": ("arithmetic error", ("33", "95")),
    "T43": ("undecided", ("6.288 [0.337, 117.368]",)),
    "T94": ("contradicted", ("charlm, churn 0.164, total variation 0.119",)),
    "T25": ("differs, cause not shown", ("churn 0.437",)),
    "T62b": ("differs, cause not shown", ("total variation 0.425",)),
    "T30b": ("undecided", ("33.054 to 36.732", "33.186 to 36.911")),
    "T20": ("artefact", ("1.762", "0.0097 [0.0094, 0.0099]")),
    "T21": ("artefact", ("199.77",)),
    "T33": ("undecided", ("0.54 (significant from 0.886)",)),
    "T19b": ("self-contradiction", ("0.3 (of the five",)),
    "R03": ("artefact", ("-7.522", "SwiGLU's shorter runs", ": 43.742")),
    "R04": ("no run behind it", ("0.0006",)),
    "R05": ("artefact", ("tinylstm 0.35", "tinylstm 4.6e-06")),
    "R06": ("self-contradiction", ("relu", "swish")),
    "R07": ("not run", ("convlm relu, hybridlm relu",)),
    "R21": ("no run behind it", ("5.601 [4.320, 7.262]",)),
    "S21": ("not run", ("-0.005 [-0.018, +0.007]",)),
    "S21b": ("not run", ("+0.025 [+0.018, +0.033]",)),
}
"""Row -> verdict, and what our number says."""


def check_counts(statements: pd.DataFrame) -> None:
    """Statements about results, by verdict."""
    results = statements[statements["kind"] == "outcome"]
    count = results["verdict"].value_counts()
    known = ["artefact", "differs, cause not shown", "contradicted", "self-contradiction", "its files say otherwise"]
    agrees([*count[known]], [22, 15, 2, 9, 1], "artefacts, excluded, contradicted, denied by texts or files")
    agrees((len(results), count["replicated"], count[known].sum()), (106, 12, 49), "replicate, do not stand")
    agrees((count["not run"], count["no run behind it"] + count["not testable"]), (22, 10), "open: no run, none could")
    agrees(count["undecided"] + count["compatible"], 13, "open: our runs cannot tell")
    groups = results["verdict"].map(ledger.groups()).value_counts()
    in_order = groups[["come out again", "do not come out again", "were not run", "cannot be told"]]
    agrees([*in_order], [12, 49, 22, 23], "come out again, do not, were not run, cannot be told")
    agrees(groups[["come out again", "do not come out again"]].sum(), 61, "could be checked")
    agrees(groups[["were not run", "cannot be told"]].sum(), 45, "could not be checked")
    agrees(count[known].drop("differs, cause not shown").sum(), 34, "explained or contradicted")
    holds(count["artefact"] > count["replicated"], "more are artefacts of named bugs")
    replicated = {*results.index[results["verdict"] == "replicated"]}
    agrees(sorted(replicated), sorted({"M13", "T74", *LARGE, *SMALLER}), "what replicates")
    agrees((len(LARGE | SMALLER), len(LARGE)), (10, 5), "losses and accuracies; of 10.8 million parameters")


def check_headlines(judged: pd.DataFrame) -> None:
    """Each headline's verdict, and the numbers that it quotes."""
    for claim, (verdict, parts) in HEADLINES.items():
        agrees(judged.loc[claim, "verdict"], verdict, f"verdict of {claim}")
        holds(all(part in judged.loc[claim, "ours"] for part in parts), f"{claim}: {', '.join(parts)}")


def check_broken_symmetry() -> None:
    """Beside S21: what random vectors change at tuned rates, and how much less under PReLU."""
    loss = actlab.load("ablation-tuned")[0].pivot_table("val_loss", ["activation", "seed"], ["symmetry", "optimizer"])
    effect = (loss["bQbV"] - loss["symmetric"]).mean(axis=1).unstack("activation")
    agrees(effect["gelu"].mean(), 0.027, "nats under GELU", digits=3)
    less = (effect["gelu"] - effect["random_prelu"]).rename("nats").reset_index().assign(of="all")
    less = actlab.means(less, "nats", "of").iloc[0]
    agrees(less[["estimate", "low", "high"]].astype(float), [0.011, 0.004, 0.019], "less under PReLU", digits=3)


def check_the_lowest_losses() -> None:
    """Of charlm at full scale, beside T14 and T74."""
    full = actlab.load("repro-full")[0]
    cells = full.groupby(["model", "activation"]).ngroups
    agrees((cells, full["model"].nunique()), (7, 3), "seven configurations of 30 are recorded, of three models")
    charlm = full.query("model == 'charlm' and activation in ['relu', 'gelu', 'swish']")
    for at in ("val_loss", "best_val_loss"):
        best = charlm.pivot(index="seed", columns="activation", values=at).idxmin(axis=1)
        holds((best == "swish").all(), f"Swish has the lowest {at} in ours (T74)")
    lowest = charlm.groupby("activation")["best_val_loss"].mean()
    agrees(100 * (lowest.max() / lowest.min() - 1), 1.0, "at their lowest they lie within about 1%", digits=1)


def check_what_rows_say_of_our_runs(judged: pd.DataFrame) -> None:
    """Numbers of ours that claims and rules quote in words."""
    read = actlab.load_losses("autopsy-partial", "published").query("model in ['minigpt', 'charlm']")
    charlm = read.query("model == 'charlm'")["val_accuracy"]
    agrees([charlm.mean(), charlm.min(), charlm.max()], [36.6, 27.6, 41.2], "charlm read as published (T28b)", digits=1)
    ours = actlab.load("repro-partial")[0].query("model == 'charlm' and activation == 'relu'")["val_accuracy"]
    agrees(ours.mean(), 41.1, "charlm at every position (T28b)", digits=1)
    minigpt = read.query("model == 'minigpt'")["val_accuracy"]
    agrees((minigpt.mean().round(2), len(minigpt)), (33.17, 3), "minigpt read as published (T30b)")
    again = actlab.load("autopsy-partial", "defective")[0].query("model == 'minigpt'")
    noise = 100 * (0.3313 * (1 - 0.3313) / numbers.accuracy_positions / 3) ** 0.5
    low = expected(actlab.means(again, "val_accuracy", "model").iloc[0], 3, noise).low
    agrees(low, 33.19, "the range of the second set begins (T30b)", digits=2)
    split = actlab.load("autopsy-split", "defective")[0]
    other = split["val_loss"].max() < 2.3 and split["val_accuracy"].between(33, 35).all()
    holds(len(split) == 3 and other, "three runs at the 80/20 split have neither loss nor accuracy (R60, R61, R61b)")
    tokens = total([[[123_500_000, 124_500_000]], [-512, 768], [-12, 12, 768, 768], [-12, 13, 768], [-2, 768]], 768)
    agrees([int(np.ceil(tokens[0])), int(tokens[1])], [49_546, 50_847], "tokens for which 124 million leave room (S03)")
    time = pd.Series({"convlm": 408, "charlm": 1622, "hybridlm": 764, "minigpt": 1287, "nanotransformer": 1238})
    accuracy = pd.DataFrame(numbers.full).loc["val_accuracy"]
    agrees(time.corr(accuracy, "spearman"), 0.7, "rank correlation of time and accuracy (T19b)", digits=1)
    table = pd.DataFrame(numbers.cross_model)
    cv = 100 * table.std(ddof=0) / table.mean()
    agrees([*cv.sort_values().index[:2]], ["gelu", "swish"], "GELU varies least over the five models (R04b)")
    agrees(cv[["gelu", "swish"]], [11.9, 12.8], "their CVs (R04b)", digits=1)


def check_sizes(judged: pd.DataFrame) -> None:
    """Of networks, and what was put back in them."""
    sizes = pd.DataFrame(numbers.our_parameters).T / 1e6
    agrees([sizes["lite"].min(), sizes["lite"].max(), sizes["full"].max()], [0.3, 0.4, 10.8], "lite; full", digits=1)
    holds(0.35 < sizes["lite"].mean() < 0.45 and 1.4 < sizes["partial"].mean() < 1.6, "about 0.4 and 1.5 million")
    leaking = actlab.load("autopsy-partial", "defective")[0].query("model == 'convlm'")
    agrees(leaking["val_loss"].mean(), 0.0097, "with the convolution that sees the next character", digits=4)
    agrees((round(leaking["parameters"].iloc[0] / 1e6, 1), len(leaking)), (1.2, 3), "its size in millions, its runs")
    holds("124 million" in judged.loc["S02", "claim"], "claims of 124 million parameters")


def check_limits(judged: pd.DataFrame, statements: pd.DataFrame, counts: pd.DataFrame) -> None:
    """What could be wrong, and the picture by document."""
    rests = judged["rule"].str.contains("eight of the 25 cells of the table behind it")
    agrees(rests.sum(), 9, "statements that rest on a table of which eight of 25 cells have no run")
    holds(rests[rests].index.isin(statements.index).all(), "they are statements of their own")
    dated = judged["changed"].str.contains(" its first record")
    agrees(dated.sum(), 128, "rows that read records")
    holds(judged.loc[dated, "changed"].str.contains("after its").all(), "their rules are younger than some records")
    failed = statements["rule"].str.contains(" had failed")
    agrees((failed.sum(), {*statements["verdict"][failed]}), (5, {"artefact"}), "a cause tried after another failed")
    report = counts.loc[next(name for name in counts.index if "REPORT" in name)]
    holds(report["do not come out again"] > report.sum() / 2, "most of the report's results do not come out again")
    agrees((report["come out again"], report.sum()), (11, 68), "of the report's results come out again")
    told = ledger.groups()
    doubted = [told[HEADLINES[claim][0]] for claim in ("T12", "R05", "T20", "T94", "R03", "M01", "T19b", "R06", "T13")]
    agrees({*doubted}, {"do not come out again"}, "eight headline claims, and one not shown by its own numbers")
    holds(set(ledger.parts()["meanings"]) >= set(statements["verdict"]), "every verdict's meaning is on the page")
