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


class RunLog:
    """A file of what is heard, from the moment at which something is trained; before it there is none."""

    def __init__(self, study: str) -> None:
        day = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        self.path = paths.cache() / "logs" / f"{study}-{day}-{getpid()}.log"
        self.handler: logging.Handler | None = None

    def watch(self, event: Event) -> None:
        """Keep one event; the steps of a training are not kept."""
        if isinstance(event, Started) and event.missing:
            self.begin()
        if not isinstance(event, Training):
            self.say(str(event))

    def begin(self) -> None:
        """Make the file, in which warnings come too; a full disk stops the study elsewhere, not here."""
        if self.handler is None:
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.handler = logging.FileHandler(self.path, encoding="utf-8")
                self.handler.setFormatter(FORM)
                logging.getLogger("actlab").addHandler(self.handler)
                command = shlex.join(["actlab", *sys.argv[1:]])
                self.say(f"actlab {__version__} in {Path.cwd()}: {command}")

    def say(self, text: str, level: int = logging.INFO) -> None:
        """A line, where there is a file."""
        if self.handler is not None and text:
            with suppress(OSError):
                self.handler.handle(logging.LogRecord("actlab.run", level, "", 0, text, (), None))

    def end(self) -> None:
        """Close the file."""
        if self.handler is not None:
            logging.getLogger("actlab").removeHandler(self.handler)
            self.handler.close()


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
        log.end()
        logging.getLogger("actlab").removeHandler(screen)
