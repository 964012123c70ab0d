"""The kinds of study: which parameters class a params file is checked against. A file says its own `kind`; `repro` where it is silent."""

from __future__ import annotations

from pathlib import Path

from actlab.errors import BadInput, UnknownName
from actlab.study.params import Params, StudyParams, read_yaml

KINDS: dict[str, type[StudyParams]] = {"repro": Params}


def load(path: Path) -> StudyParams:
    """Checked parameters from a YAML file, of the kind that it names.

    Raises:
        BadInput: no such file, not a mapping, or a wrong value (the message names the field and what is allowed).
    """
    values = read_yaml(path)
    kind = values.get("kind", "repro")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownName("kind", kind, KINDS, str(path))
    return KINDS[kind].parse({key: value for key, value in values.items() if key != "kind"}, str(path))


def load_repro(path: Path) -> Params:
    """The same, for a study of language models only."""
    params = load(path)
    if not isinstance(params, Params):
        raise BadInput(f"{path} is not a study of language models")
    return params
