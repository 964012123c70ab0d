"""One property over every registry: an unknown name is an error that lists the known ones and suggests one."""

import pytest

from actlab.activations import ACTIVATIONS
from actlab.data.fetch import DATASETS
from actlab.data.images import IMAGES, load_images
from actlab.data.text import TEXTS, load_text
from actlab.errors import UnknownName
from actlab.models import MODELS, SCALES, build_model
from actlab.optimizers import OPTIMIZERS, build_optimizer

REGISTRIES = [
    (lambda name: build_model("charlm", SCALES["quick"], name), ACTIVATIONS, "swigluu", "swiglu"),
    (MODELS.__getitem__, MODELS, "convml", "convlm"),
    (lambda name: build_optimizer(name, [], None), OPTIMIZERS, "adam", "adamw"),
    (load_text, TEXTS, "shakespear", "shakespeare"),
    (load_images, IMAGES, "mnits", "mnist"),
    (DATASETS.__getitem__, DATASETS, "novel", "novels"),
]


@pytest.mark.parametrize(("find", "known", "wrong", "right"), REGISTRIES)
def test_an_unknown_name_lists_the_known_ones(find, known, wrong, right):
    with pytest.raises(UnknownName, match=f"^unknown .* {wrong!r}.*: did you mean {right!r}") as caught:
        find(wrong)
    assert isinstance(caught.value, ValueError)
    assert all(name in str(caught.value) for name in known)
