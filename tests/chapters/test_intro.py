"""The front page says what the confirmatory study, the perturbed runs and the ledger say."""

import re
from dataclasses import replace
from functools import partial

from tests.records.test_answer import answer, records

from actlab.chapters import intro
from actlab.figures import answer as figures

FLOORS = {"relu": (0.0078, 0.12), "gelu": (1.6e-7, 0.1)}
"""Drawn in the figure's right panel."""
FRONT = partial(
    intro.Front,
    floors=FLOORS,
    repeating="0.02 nats",
    elsewhere="of 7 claims",
    growing=["here, in none", "in minigpt", "in charlm"],
    rounding={"relu": [0.0078, 0.01], "gelu": [1e-7, 1.6e-7]},
    gains="Again",
)


def test_the_front_page_says_what_the_records_say():
    """The planted difference leads; the perturbation, the ensembles and the ledger follow, at most three numbers
    each."""
    front = FRONT(answer(records({"gelu": 0.0, "swiglu": 0.02})))
    told = intro.sentences(front)
    assert told["between"].startswith(
        "**Between seeds the choice of activation changes agreement less than an ensemble"
    )
    assert told["between"].endswith(" and more in 0")
    assert re.search(r"Of 6 differences from relu \d are undecided \(neither [^)]* 0.005\)\. Two", told["between"])
    assert "two runs of a seed end 0.0078 to 0.010 apart under relu, 1.6e-07 at most under gelu" in told["perturbed"]
    grows = "**In small networks at a low learning rate relu amplifies a rounding error"
    also = f"{grows}, smooth activations do not; at tuned rates and in larger networks both can.**"
    assert told["perturbed"].startswith(also)
    assert intro.sentences(replace(front, growing=["in a", "in none", "in none"]))["perturbed"].startswith(
        f"{grows}.**"
    )
    assert told["hypotheses"].startswith("| smooth activations are more reproducible | ")
    assert told["choosing"].startswith("at tuned rates 6 of 6 final losses differ significantly from relu's, 0 of ")
    assert told["choosing"].endswith("Most often lower: gelu, in 3 architectures (higher in 0)")
    assert front.caption.startswith("Left: two seeds of charlm, whose activations lie within 0.0")
    one, two, *costs = (float(word) for word in re.findall(r"[+-]?\d\.\d+", told["agreement"]))
    assert "with an ensemble of two 0.0" in told["agreement"]
    assert two < 0.6 * one
    assert set(costs) == {0.02}
    assert len(intro.LINES.format(**told, figure="", pages="studies").replace("|", " ").split()) < 300
    assert [len(axes.lines) for axes in figures.lead(*front.lead, front.floors).axes] == [4, 2]


def test_little_needs_every_architecture():
    """In charlm the difference exceeds what averaging takes away: the plan's rule leaves the hypothesis undecided."""
    told = intro.sentences(FRONT(answer(records({"swiglu": 0.05}))))
    assert told["between"].startswith("**Between seeds the choice of activation may change agreement more or less")
