"""Loaded once, in the process that workers are forked from (``startup``): the libraries, and the hash of the code as it
was then."""

import signal

from actlab.study.workers.startup import expect_no_garbage

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
expect_no_garbage()
import typer  # noqa: E402, F401  # of the command line, which is every worker's main module

from actlab.study import cache, images, run, tokens  # noqa: E402, F401
from actlab.study.characters import twins  # noqa: E402, F401

cache.code()
