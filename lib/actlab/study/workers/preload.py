"""Loaded once, in the process that workers are forked from (``startup``): the libraries, and the hash of the code as it
was then."""

import signal

from actlab.study.workers.startup import loading

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
with loading():
    import typer  # noqa: F401  # of the command line, which is every worker's main module

    from actlab.study import cache, images, run, tokens  # noqa: F401
    from actlab.study.characters import twins  # noqa: F401

    cache.code()
