"""Where tasks run: in this process; in single-threaded processes of this machine; on a Dask cluster. The last two are
executors of ``concurrent.futures`` under one loop. Decides nothing about what tasks compute."""

import logging
import math
import multiprocessing
import os
import signal
import sys
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from multiprocessing.connection import wait as wait_for
from queue import SimpleQueue
from threading import Thread
from typing import Any

import torch

from actlab.errors import ActlabError, BadInput, needs
from actlab.plugins import PluginFile, execute, plugin_files
from actlab.plugins.guard import set_back
from actlab.study import provenance
from actlab.study.trial import Report
from actlab.study.workers import startup

REPORTS_EVERY = 0.2
"""Seconds between the reports of one task that travel to the process that started it."""
LISTENS_EVERY = 0.1
"""Seconds between looks at what has been reported."""
MOST_DEATHS = 3
"""Of the process that works on one task, before the task is given up."""
CONNECT = 10
"""Seconds in which a scheduler must answer."""
WORDS = {"trial_code_sha256": "code", "machine": "machine"}


class EngineError(ActlabError):
    """Workers or scheduler that cannot be reached any more; what had ended is kept."""


Told = tuple[int, int, float]
"""A report: place of the task in the list, iteration, loss."""


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
        EngineError: no scheduler answers at that address, or it went away; a task ended its worker again and again.
        BadInput: a worker has other code or another kind of machine than this process.
    """
    if not scheduler and (workers == 1 or len(tasks) < 2):
        for task in tasks:
            set_back()
            yield task, function(task, partial(tell, task))
        return
    given = provenance.here(), plugin_files()
    waiting, deaths, running = deque(range(len(tasks))), Counter[int](), dict[Future[Any], int]()
    with closing(Cluster(scheduler, gpu) if scheduler else Processes(min(workers, len(tasks)))) as engine:
        while waiting or running:
            while waiting and len(running) < engine.at_once:
                place = waiting.popleft()
                running[engine.submit(place, function, tasks[place], *given)] = place
            ended, _ = wait(running, LISTENS_EVERY, FIRST_COMPLETED)
            for place, iteration, loss in engine.reports():
                tell(tasks[place], iteration, loss)
            for future in ended:
                place = running.pop(future)
                try:
                    result = future.result()
                except engine.killed:
                    deaths[place] += 1
                    if deaths[place] == engine.most_deaths:
                        raise EngineError(
                            f"task {place + 1} of {len(tasks)} ended its worker again and again (out of memory?): what "
                            "had ended is kept; start again, with fewer workers or smaller batches"
                        ) from None
                    waiting.appendleft(place)
                except CancelledError:
                    raise EngineError(
                        f"the scheduler went away with {len(running) + 1} of {len(tasks)} tasks unfinished; what had "
                        "ended is kept: start again"
                    ) from None
                else:
                    yield tasks[place], result


class Processes:
    """Processes of this machine, each an executor of its own: one that is killed takes nothing but its own task with
    it, which another process goes on with."""

    killed, most_deaths = BrokenProcessPool, MOST_DEATHS

    def __init__(self, count: int) -> None:
        startup.start_fork_server()
        self.at_once = count
        self.workers = [Worker(number) for number in range(count)]

    def submit(self, place: int, *call: Any) -> Future[Any]:
        """To the first that is idle; in place of a killed one a new one is started."""
        worker = next(worker for worker in self.workers if worker.task is None or worker.task.done())
        if worker.task and isinstance(worker.task.exception(), BrokenProcessPool):
            worker = self.workers[worker.number] = Worker(worker.number)
        worker.task = worker.executor.submit(_in_process, place, *call)
        return worker.task

    def reports(self) -> Iterator[Told]:
        """What has been sent since the last look."""
        for worker in self.workers:
            while worker.inbox.poll():
                yield worker.inbox.recv()

    def close(self) -> None:
        """At once: what a process leaves is in files that are whole."""
        for worker in self.workers:
            for process in [*(worker.executor._processes or {}).values()]:
                process.kill()
            worker.executor.shutdown(wait=False, cancel_futures=True)


class Worker:
    """One process, with a pipe for its reports and the task that it was last given."""

    def __init__(self, number: int) -> None:
        context = multiprocessing.get_context(startup.METHOD)
        self.number = number
        self.task: Future[Any] | None = None
        self.inbox, outbox = context.Pipe(duplex=False)
        self.executor = ProcessPoolExecutor(1, context, _begin, (number, outbox, dict(os.environ)))


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
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    os.environ.clear()  # of the process that this one was forked from
    os.environ.update(settings | startup.ONE_THREAD)
    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())


def _end_with(sentinel: int) -> None:
    """This process ends when the one of this sentinel has."""
    wait_for([sentinel])
    os._exit(1)


def _in_process(place: int, *call: Any) -> Any:
    return work(lambda *report: _outbox.send((place, *report)), f"process {os.getpid()}", *call)


class Cluster:
    """A Dask cluster, which itself tries a task again on other workers. ``gpu``: each task takes one ``GPU`` of the
    workers; start such ones with ``dask worker --resources GPU=1``."""

    at_once, most_deaths = math.inf, 1

    def __init__(self, scheduler: str, gpu: bool) -> None:
        from distributed import KilledWorker

        self.killed = KilledWorker
        self.client, self.topic = connected(scheduler), f"actlab-{uuid.uuid4()}"
        self.heard = SimpleQueue[Told]()
        self.client.subscribe_topic(self.topic, lambda event: self.heard.put(event[1]))
        self.executor = self.client.get_executor(pure=False, resources={"GPU": 1} if gpu else None)

    def submit(self, place: int, *call: Any) -> Future[Any]:
        """Earlier tasks go first."""
        task: Future[Any] = self.executor.submit(_on_cluster, self.topic, place, *call, priority=-place)
        return task

    def reports(self) -> Iterator[Told]:
        """What has been heard since the last look."""
        while not self.heard.empty():
            yield self.heard.get()

    def close(self) -> None:
        """Leave the cluster."""
        self.client.close()


def _on_cluster(topic: str, place: int, *call: Any) -> Any:
    from distributed import get_worker

    worker = get_worker()
    return work(lambda *report: worker.log_event(topic, (place, *report)), worker.address, *call)


def connected(scheduler: str) -> Any:
    """A client of the Dask scheduler at an address. It connects in a thread: at a port of something else it would wait
    for minutes."""
    with needs("cluster", "a Dask cluster"):
        from distributed import Client

    for name in ("distributed.client", "asyncio"):  # they would print tracebacks when the scheduler goes away
        logging.getLogger(name).setLevel(logging.CRITICAL)
    found: list[Any] = []

    def connect() -> None:
        client: Any = Client.__new__(Client)
        try:
            client.__init__(scheduler, timeout=CONNECT, set_as_default=False)
            found.append(client)
        except Exception as error:  # whatever else listens there may answer anything
            client.status = "closed"  # it would wait 20 s for a connection that it never had, to close it
            found.append(str(error) or type(error).__name__)

    thread = Thread(target=connect, daemon=True)
    thread.start()
    thread.join(CONNECT)
    client = found[0] if found else "no answer"
    if not isinstance(client, Client):
        raise EngineError(
            f"no Dask scheduler answers at {scheduler!r} within {CONNECT} s ({client}); an address looks like "
            "tcp://host:8786"
        )
    if not scheduler.startswith(("tls://", "inproc://")):
        print(
            f"warning: {scheduler} is neither encrypted nor protected: whoever reaches this port can run code as you; "
            "use tls:// outside of a network that you trust",
            file=sys.stderr,
        )
    return client


def work(
    send: Callable[[int, float], None],
    who: str,
    function: Callable[[Any, Report], Any],
    task: Any,
    there: Mapping[str, Any],
    own: Sequence[PluginFile],
) -> Any:
    """In a worker: the function of a task, whose reports are sent every ``REPORTS_EVERY`` seconds. A user's own parts
    are loaded before, and what such a part has changed in all PyTorch is set back.

    Raises:
        BadInput: this worker has other code or another machine than the process that started the study, which is
            ``there``.
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
            send(iteration, loss)

    set_back()
    return function(task, report)
