"""What a run has said and done, kept as a file in the cache: for a run that ended while nobody looked."""

from __future__ import annotations

import logging
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from os import getpid
from pathlib import Path

from actlab import __version__, paths
from actlab.study.progress import Event, Started, Training

FORM = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
FORM.converter = time.gmtime


class RunLog(logging.FileHandler):
    """A file of what is heard, warnings too, from the moment at which something is trained; before it there is none."""

    def __init__(self, study: str) -> None:
        day = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        self.path = paths.cache() / "logs" / f"{study}-{day}-{getpid()}.log"
        super().__init__(self.path, encoding="utf-8", delay=True)
        self.setFormatter(FORM)
        self.begun = False

    def watch(self, event: Event) -> None:
        """Keep one event; the steps of a training are not kept."""
        if isinstance(event, Started) and event.missing and not self.begun:
            self.begin()
        if not isinstance(event, Training):
            self.say(str(event))

    def begin(self) -> None:
        """Make the file; a full disk stops the study elsewhere, not here."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.begun = True
            logging.getLogger("actlab").addHandler(self)
            self.say(f"actlab {__version__} in {Path.cwd()}: {shlex.join(['actlab', *sys.argv[1:]])}")

    def say(self, text: str, level: int = logging.INFO) -> None:
        """A line, where there is a file."""
        if self.begun and text:
            with suppress(OSError):
                self.handle(logging.LogRecord("actlab.run", level, "", 0, text, (), None))


@contextmanager
def kept(study: str) -> Iterator[RunLog]:
    """The log of one study's run, with how it ended."""
    log, screen = RunLog(study), logging.StreamHandler()
    screen.setLevel(logging.WARNING)  # a logger with a file of its own would keep warnings from the terminal
    logging.getLogger("actlab").addHandler(screen)
    try:
        yield log
        log.say("ended")
    except BaseException as error:
        log.say(f"ended by {type(error).__name__}: {error}", logging.ERROR)
        raise
    finally:
        for handler in (log, screen):
            logging.getLogger("actlab").removeHandler(handler)
        log.close()
