"""Where tasks run: in this process, in single-threaded processes of this machine (``concurrent.futures``), or on any
Dask cluster. Decides nothing about what they compute."""

import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Any

import torch

from actlab.errors import ActlabError, BadInput
from actlab.plugins import PluginFile, execute, plugin_files, set_back
from actlab.study import provenance
from actlab.study.cache import Report
from actlab.study.workers import startup

REPORTS_EVERY = 0.2
"""Seconds between the reports of one task that travel to the client."""
WORDS = {"trial_code_sha256": "code", "machine": "machine"}
GIVEN_UP = (
    "task {} of {} ended its worker again and again (out of memory?): what had ended is kept; start again, with fewer "
    "workers or smaller batches"
)
LISTENS_EVERY = 0.1
"""Seconds between looks at what processes of this machine report."""
MOST_DEATHS = 3
"""Of the process that works on one task, before the task is given up."""


class EngineError(ActlabError):
    """Workers or scheduler that cannot be reached any more; what had ended is kept."""


def run_tasks(
    function: Callable[[Any, Report], Any],
    tasks: Sequence[Any],
    workers: int = 1,
    tell: Callable[[Any, int, float], None] = lambda *report: None,
    *,
    scheduler: str = "",
    gpu: bool = False,
) -> Iterator[tuple[Any, Any]]:
    """Yield (task, result) as tasks end; results do not depend on where they ran.

    Args:
        function: importable by name; called with a task and a ``Report``.
        tasks: what can be pickled; earlier ones are started first.
        workers: processes of this machine, one thread (and, where there are GPUs, one of these in turn) each; 1 runs in
            this process.
        tell: called in this process with (task, iteration, loss).
        scheduler: address of a Dask scheduler (``tcp://host:8786``), in place of processes here; ``workers`` is then
        ignored. gpu: each task takes one ``GPU`` resource of the scheduler's workers.

    Raises:
        EngineError: no scheduler answers at that address, or it went away.
        BadInput: a worker has other code or another kind of machine than this process.
    """
    if not scheduler and (workers == 1 or len(tasks) < 2):
        for task in tasks:
            set_back()
            yield task, function(task, partial(tell, task))
        return
    if not scheduler:
        yield from _on_processes(function, tasks, min(workers, len(tasks)), tell)
        return
    from actlab.study.workers import dask

    with dask.connected(scheduler) as client:
        yield from dask.on_cluster(client, function, tasks, tell, gpu)


class Worker:
    """One process of this machine: a pool of its own, with a pipe for its reports. One that is killed takes nothing but
    its own task with it, which another process goes on with."""

    def __init__(self, number: int) -> None:
        context = multiprocessing.get_context(startup.METHOD)
        settings = {name: value for name, value in os.environ.items() if name.startswith("ACTLAB_")}
        self.inbox, outbox = context.Pipe(duplex=False)
        self.pool = ProcessPoolExecutor(1, context, _begin, (number, outbox, settings))

    def reports(self) -> Iterator[tuple[int, int, float]]:
        """(place of the task, iteration, loss): what it has sent since it was last asked."""
        while self.inbox.poll():
            yield self.inbox.recv()

    def kill(self) -> None:
        """At once: what it leaves is in files that are whole."""
        for process in [*(self.pool._processes or {}).values()]:
            process.kill()
        self.pool.shutdown(wait=False, cancel_futures=True)


def _on_processes(function: Any, tasks: Sequence[Any], workers: int, tell: Any) -> Iterator[tuple[Any, Any]]:
    startup.start_fork_server()
    pool, given = [Worker(number) for number in range(workers)], (provenance.here(), plugin_files())
    waiting, deaths = deque(range(len(tasks))), Counter[int]()
    running: dict[Future[Any], tuple[int, int]] = {}
    try:
        while waiting or running:
            idle = {*range(workers)} - {number for number, _ in running.values()}
            for number, place in zip(sorted(idle), [*waiting], strict=False):
                waiting.popleft()
                running[pool[number].pool.submit(_work, function, tasks[place], place, *given)] = number, place
            ended, _ = wait(running, LISTENS_EVERY, FIRST_COMPLETED)
            for place, *report in chain(*(worker.reports() for worker in pool)):
                tell(tasks[place], *report)
            for future in ended:
                number, place = running.pop(future)
                try:
                    yield tasks[place], future.result()
                except BrokenProcessPool:
                    deaths[place] += 1
                    if deaths[place] == MOST_DEATHS:
                        raise EngineError(GIVEN_UP.format(place + 1, len(tasks))) from None
                    pool[number] = Worker(number)
                    waiting.appendleft(place)
    finally:
        for worker in pool:
            worker.kill()


_outbox: Any = None
"""Of a process of this machine: where its reports go."""


def _begin(number: int, outbox: Any, settings: dict[str, str]) -> None:
    """Once in each process: an interruption is for the one that started it, with which it ends."""
    global _outbox
    _outbox = outbox
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()
    os.environ.update({**settings, **startup.ONE_THREAD})
    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())


def _work(function: Any, task: Any, place: int, *given: Any) -> Any:
    return work(function, task, place, _outbox.send, f"process {os.getpid()}", *given)


def work(
    function: Callable[[Any, Report], Any],
    task: Any,
    place: int,
    send: Callable[[tuple[int, int, float]], None],
    who: str,
    there: Mapping[str, Any],
    own: Sequence[PluginFile],
) -> Any:
    """The function of a task, whose reports are sent every ``REPORTS_EVERY`` seconds, with the task's place in front.
    A user's own parts are loaded before, and what such a part has changed in all PyTorch is set back.

    Raises:
        BadInput: this worker has other code or another machine than the client, which is ``there``.
    """
    for what, mine in provenance.here().items():
        if mine != there[what]:
            raise BadInput(
                f"the worker {who} has another {WORDS[what]} than the process that started the study "
                f"({mine} against {there[what]}): "
                "results would not be comparable bit for bit; start the study on a machine of the workers' kind, "
                "from the same checkout"
            )
    for file in own:
        execute(file)
    last = 0.0

    def report(iteration: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS_EVERY:
            last = time.monotonic()
            send((place, iteration, loss))

    set_back()
    return function(task, report)
