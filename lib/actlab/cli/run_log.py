"""What a run has said and done, kept as a file in the cache: for a run that ended while nobody looked."""

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
from actlab.study.progress import Event, Started, Training, Watch

FORM = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
FORM.converter = time.gmtime


class RunLog(logging.FileHandler):
    """A file of what is heard, warnings too, from the moment at which something is trained; before it there is none.
    Every event goes to the watcher ``also`` first."""

    def __init__(self, study: str, also: Watch) -> None:
        day = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        self.path = paths.cache() / "logs" / f"{study}-{day}-{getpid()}.log"
        super().__init__(self.path, encoding="utf-8", delay=True)
        self.setFormatter(FORM)
        self.also, self.begun = also, False

    def watch(self, event: Event) -> None:
        """Keep one event; the steps of a training are not kept."""
        self.also(event)
        if isinstance(event, Started) and event.missing and not self.begun:
            self.begun = True
            self.say(f"actlab {__version__} in {Path.cwd()}: {shlex.join(['actlab', *sys.argv[1:]])}")
        if not isinstance(event, Training):
            self.say(str(event))

    def say(self, text: str, level: int = logging.INFO) -> None:
        """A line of its own."""
        self.handle(logging.LogRecord("actlab.run", level, "", 0, text, (), None))

    def emit(self, record: logging.LogRecord) -> None:
        """A line, where there is a file; a full disk stops the study elsewhere, not here."""
        if self.begun:
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                super().emit(record)


@contextmanager
def kept(study: str, also: Watch) -> Iterator[RunLog]:
    """The log of one study's run, with how it ended."""
    log, screen = RunLog(study, also), logging.StreamHandler()
    screen.setLevel(logging.WARNING)  # a logger with a file of its own would keep warnings from the terminal
    logger = logging.getLogger("actlab")
    logger.addHandler(log)
    logger.addHandler(screen)
    try:
        yield log
        log.say("ended")
    except BaseException as error:
        log.say(f"ended by {type(error).__name__}: {error}", logging.ERROR)
        raise
    finally:
        logger.removeHandler(log)
        logger.removeHandler(screen)
        log.close()
