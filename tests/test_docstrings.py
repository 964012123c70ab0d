"""The examples in docstrings run as they stand, on the committed records; a reader may paste them."""

import doctest
import importlib

import pandas as pd
import pytest

from actlab import paths

PACKAGE = paths.ROOT / "lib" / "actlab"
FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_examples_run(file, committed):
    """Each brings its own imports: nothing of its module is at hand."""
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    examples = [test for test in doctest.DocTestFinder().find(module, globs={}) if test.examples]
    assert examples
    runner, told = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), []
    with pd.option_context("display.width", 120, "display.max_columns", 20):
        for example in examples:
            runner.run(example, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
