"""What a reader moves with the mouse: the explorer of the records, live in a notebook and on the published page, and
the live notebook's panels."""

from urllib.parse import urlencode


def link(study: str, view: str = "values", **state: object) -> str:
    """The address of the explorer in a state, from any page below studies/: ``explore.html#study=...&view=...``.

    Args:
        study: folder below results/.
        view: values (at the end of training), loss (at equal loss), through, ulp, drift, bend, two, texts.
        state: what is not the default: ``metric``, ``minus`` (a reference, or none), ``x`` (iteration, or a metric),
        ``along`` (a factor), ``level`` (of loss: 0, the lowest that all reach, to 90, in tens), ``step`` (an
        evaluation's iteration), ``bend`` (a corner's half-width), ``a`` and ``b`` (a configuration's levels, joined by
        /), any factor (its level; of activations, several with commas between).
    """
    return "explore.html#" + urlencode({"study": study, "view": view, **state}, safe=",/")
