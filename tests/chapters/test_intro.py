"""The front page says what the confirmatory study, the perturbed runs and the ledger say."""

import re

from tests.records.test_answer import answer, records

from actlab.chapters import intro
from actlab.chapters.answer import NOT_YET
from actlab.figures import answer as figures

FLOORS = {"relu": (0.0078, 0.12), "gelu": (1.6e-7, 0.1)}


def test_the_front_page_says_what_the_records_say():
    """The planted difference leads; the perturbation, the ensembles and the ledger follow, at most three numbers
    each."""
    front = intro.Front(answer(records({"gelu": 0.0, "swiglu": 0.02})), FLOORS, "relu moves", "of 7 claims", "It grows")
    told = intro.sentences(front)
    assert told["between"].startswith("**Between seeds, less than averaging two networks takes away.**")
    assert "On average over architectures swiglu networks differ more, +0.0" in told["between"]
    assert re.search(
        r"Of the single differences \d are significantly positive, 0 negative, \d+ undecided; ", told["between"]
    )
    assert "relu networks end 0.0078 apart in total variation, gelu networks 1.6e-07" in told["perturbed"]
    assert told["perturbed"].endswith("one untuned rate). It grows")
    assert "Its hypotheses: smooth activations are more reproducible: " in told["extent"]
    assert told["choosing"].startswith("6 of 6 final losses differ significantly from relu's, 0 of them higher. ")
    assert told["choosing"].endswith("Most often lower: gelu, in 3 architectures")
    assert front.caption.startswith("Left: between two seeds of charlm; its activations span 0.0")
    assert told["elsewhere"] == "of 7 claims"
    assert told["repeating"] == "relu moves"
    one, two, *costs = (float(word) for word in re.findall(r"[+-]?\d\.\d+", told["agreement"]))
    assert "two half-trained networks averaged" in told["agreement"].lower()
    assert two < 0.6 * one
    assert set(costs) == {0.02}
    assert len(intro.LINES.format(**told, figure="", pages="studies").split()) < 240
    assert [len(axes.lines) for axes in figures.lead(*front.lead, front.floors).axes] == [4, 2]


def test_little_needs_every_architecture():
    """In charlm the difference exceeds what averaging takes away: the plan's rule leaves the hypothesis undecided."""
    told = intro.sentences(intro.Front(answer(records({"swiglu": 0.05})), {}, "", ""))
    assert told["between"].startswith("**Between seeds, undecided")


def test_without_records_it_says_so():
    told = intro.sentences(intro.Front(answer([]), {}, "", ""))
    assert told["between"] == NOT_YET
    assert told["perturbed"] == "No perturbed run has a record yet"
