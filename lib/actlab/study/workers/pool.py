"""Where tasks run: in this process; in single-threaded processes of this machine; on a Dask cluster. The last two are
executors of ``concurrent.futures`` under one loop. Decides nothing about what tasks compute."""

import logging
import multiprocessing
import os
import signal
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import torch

from actlab.errors import ActlabError, BadInput, needs
from actlab.plugins import PluginFile, execute, plugin_files
from actlab.study.trial import Report
from actlab.study.workers import startup

LISTENS_EVERY = 0.1
"""Seconds between looks at what has been reported."""
MOST_BREAKDOWNS = 3
"""Killed worker processes, one after the other without a finished task between them, before a study is given up."""
CONNECT = 10
"""Seconds in which a scheduler must answer."""

Function = Callable[[Any, Report], Any]
"""What is done with a task, importable by name; it reports."""
Engine = tuple[Executor, Callable[..., Any], Any]
"""An executor, what it runs in a worker, and the queue in which reports arrive: place of the task in the list,
iteration, loss."""


class EngineError(ActlabError):
    """Workers or scheduler that cannot be reached any more; what had ended is kept."""


def run_tasks(
    function: Function,
    tasks: Sequence[Any],
    workers: int = 1,
    on_report: Callable[[Any, int, float], None] = lambda *report: None,
    *,
    scheduler: str = "",
    gpu: bool = False,
) -> Iterator[tuple[Any, Any]]:
    """Yield (task, result) as tasks end; results do not depend on where they ran.

    Args:
        function: called with each task.
        tasks: what can be pickled; earlier ones are started first.
        workers: processes of this machine, one thread (and, where there are GPUs, one of these in turn) each; 1 runs in
            this process.
        on_report: called in this process with (task, iteration, loss).
        scheduler: address of a Dask scheduler (``tcp://host:8786``), in place of processes here; ``workers`` is then
            ignored.
        gpu: each task takes one ``GPU`` resource of the scheduler's workers.

    Raises:
        EngineError: no scheduler answers at that address, or it went away; workers ended again and again.
        BadInput: a Dask worker runs several tasks in threads.
    """
    if not scheduler and (workers == 1 or len(tasks) < 2):
        for task in tasks:
            yield task, function(task, partial(on_report, task))
        return
    waiting, breakdowns = [*range(len(tasks))], 0
    while waiting:
        try:
            with cluster(scheduler, gpu) if scheduler else processes(min(workers, len(waiting))) as engine:
                executor, work, reports = engine
                plugins = plugin_files()
                running = {executor.submit(work, place, function, tasks[place], plugins): place for place in waiting}
                while running:
                    ended, _ = wait(running, LISTENS_EVERY, FIRST_COMPLETED)
                    while not reports.empty():
                        place, iteration, loss = reports.get()
                        on_report(tasks[place], iteration, loss)
                    for future in ended:
                        place, result = running.pop(future), future.result()
                        waiting.remove(place)
                        breakdowns = 0
                        yield tasks[place], result
        except BrokenProcessPool:  # a process was killed, and the others with it: they go on from their checkpoints
            breakdowns += 1
            if breakdowns == MOST_BREAKDOWNS:
                raise EngineError(GIVEN_UP) from None


GIVEN_UP = (
    "a worker process was killed again and again (out of memory?): what had ended is kept; start again, with fewer "
    "workers or smaller batches"
)


@contextmanager
def processes(count: int) -> Iterator[Engine]:
    """Start processes of this machine; they end at once with this context, since what they leave is in files that are
    whole."""
    startup.start_fork_server()
    context = multiprocessing.get_context(startup.METHOD)
    inbox, number = context.SimpleQueue(), context.Value("i", 0)
    pool = ProcessPoolExecutor(count, context, begin, (number, inbox, dict(os.environ)))
    try:
        yield pool, in_process, inbox
    finally:
        for process in [*(pool._processes or {}).values()]:
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)


outbox: Any = None
"""In a process of this machine: where its reports go."""


def begin(number: Any, inbox: Any, settings: dict[str, str]) -> None:
    """Set up a process once: an interruption is for the one that started it, with which it ends."""
    global outbox
    outbox = inbox
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()
    Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    os.environ.clear()  # that of the process that this one was forked from
    os.environ.update(settings | startup.ONE_THREAD)
    with number.get_lock():
        own, number.value = number.value, number.value + 1
    if torch.cuda.is_available():
        torch.cuda.set_device(own % torch.cuda.device_count())


def in_process(place: int, *call: Any) -> Any:
    """Run a task in a process of this machine."""
    return in_worker(lambda *report: outbox.put((place, *report)), *call)


@contextmanager
def cluster(scheduler: str, gpu: bool) -> Iterator[Engine]:
    """Connect to a Dask cluster, which itself tries a task again on other workers. ``gpu``: each task takes one ``GPU``
    of the workers; start such ones with ``dask worker --resources GPU=1``."""
    with needs("cluster", "a Dask cluster"):
        from distributed import Client, KilledWorker
    for name in ("distributed.client", "asyncio"):  # they would print tracebacks when the scheduler goes away
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=CONNECT, set_as_default=False)
    except Exception as error:  # of Dask, of the network, or of TLS
        raise EngineError(
            f"no Dask scheduler answers at {scheduler!r} within {CONNECT} s ({error}); an address looks like "
            "tcp://host:8786"
        ) from None
    topic, inbox = f"actlab-{uuid.uuid4()}", SimpleQueue[tuple[int, int, float]]()
    client.subscribe_topic(topic, lambda event: inbox.put(event[1]))
    try:
        yield client.get_executor(pure=False, resources={"GPU": 1} if gpu else None), partial(on_cluster, topic), inbox
    except KilledWorker:
        raise EngineError(GIVEN_UP) from None
    except CancelledError:
        raise EngineError("the scheduler went away; what had ended is kept: start again") from None
    finally:
        client.close()


def on_cluster(topic: str, place: int, *call: Any) -> Any:
    """Run a task in a worker of a Dask cluster."""
    from distributed import get_worker

    worker = get_worker()
    if (threads := worker.state.nthreads) > 1:
        raise BadInput(
            f"the worker {worker.address} runs {threads} tasks in threads, which share their random numbers: start it "
            "with `dask worker ADDRESS --nthreads 1 --nworkers N`"
        )
    return in_worker(lambda *report: worker.log_event(topic, (place, *report)), *call)


def in_worker(
    send: Report,
    function: Function,
    task: Any,
    plugins: Sequence[PluginFile],
) -> Any:
    """Run a task after loading the user's own parts."""
    for file in plugins:
        execute(file)
    return function(task, send)
