"""Where tasks run: in this process, in single-threaded processes of this machine, or on any Dask cluster. Decides
nothing about what they compute."""

from __future__ import annotations

import logging
import os
import queue
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import torch

from actlab.errors import ActlabError, BadInput
from actlab.study import plugins, provenance, startup
from actlab.study.parts import PluginFile, plugin_files

Task = TypeVar("Task")
Result = TypeVar("Result")
Report = Callable[[int, float], None]
"""Called by a task with (iteration, loss)."""

REPORTS_EVERY = 0.2
"""Seconds between the reports of one task that travel to the client."""
SILENCE = 20
"""Seconds without a word after which workers of this machine that Dask has given up are replaced."""
CONNECT = 10
"""Seconds in which a scheduler must answer."""
QUIET = {"admin.tick.interval": "1s", "admin.system-monitor.interval": "5s", "worker.profile.enabled": False}
"""Of Dask's processes: by default they watch themselves 50 to 100 times a second, which takes 4% of a core in each."""
GPU = "GPU"
"""Name of the Dask resource that a task on a GPU takes: start such workers with ``dask worker --resources GPU=1``."""
WORDS = {"trial_code_sha256": "code", "machine": "machine"}


class EngineError(ActlabError):
    """Workers or scheduler that cannot be reached any more; what had ended is kept."""


def run_tasks(
    function: Callable[[Task, Report], Result],
    tasks: Sequence[Task],
    workers: int = 1,
    tell: Callable[[Task, int, float], None] = lambda task, iteration, loss: None,
    *,
    scheduler: str = "",
    gpu: bool = False,
    say: Callable[[str], None] = lambda note: None,
) -> Iterator[tuple[Task, Result]]:
    """Yield (task, result) as tasks end; results do not depend on where they ran.

    Args:
        function: importable by name; called with a task and a ``Report``.
        tasks: what can be pickled; earlier ones are started first.
        workers: processes of this machine, one thread each; 1 runs in this process, without Dask.
        tell: called in this process with (task, iteration, loss).
        scheduler: address of a Dask scheduler (``tcp://host:8786``), in place of processes here; ``workers`` is then
        ignored. gpu: each task takes one ``GPU`` resource of the scheduler's workers.
        say: told the address of the dashboard, where the scheduler has one.

    Raises:
        EngineError: no scheduler answers at that address, or it went away.
        BadInput: a worker has other code or another kind of machine than this process.
    """
    if not scheduler and (workers == 1 or len(tasks) < 2):
        for task in tasks:
            yield task, function(task, partial(tell, task))
        return
    with remote(scheduler) if scheduler else local(min(workers, len(tasks))) as client:
        if scheduler and client.dashboard_link:
            say(f"dashboard: {client.dashboard_link}")
        yield from _on_dask(client, function, tasks, tell, {GPU: 1} if gpu and scheduler else None)


def _on_dask(
    client: Any, function: Any, tasks: Sequence[Any], tell: Any, resources: dict[str, int] | None
) -> Iterator[tuple[Any, Any]]:
    from distributed import KilledWorker

    inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    topic = f"actlab-{uuid.uuid4()}"
    client.subscribe_topic(topic, lambda event: inbox.put(("report", event[1])))
    given = provenance.here(), plugin_files()
    places = {}
    for place, task in enumerate(tasks):
        future = client.submit(
            _call, function, task, place, topic, *given, key=f"{topic}-{place}", priority=-place, resources=resources
        )
        places[future] = place
        future.add_done_callback(lambda done: inbox.put(("done", done)))
    while places:
        try:
            kind, item = inbox.get(timeout=SILENCE)
        except queue.Empty:  # Dask starts no other worker for one that closed by itself (a lost connection, say)
            if client.cluster is not None:
                client.cluster.scale(len(client.cluster.worker_spec))
            continue
        if kind == "report":
            place, *told = item
            tell(tasks[place], *told)
            continue
        place = places.pop(item)
        if item.status not in ("finished", "error"):
            raise EngineError(
                f"the scheduler went away with {len(places) + 1} of {len(tasks)} tasks unfinished; what had ended is "
                "kept: start again"
            )
        try:
            yield tasks[place], item.result()
        except KilledWorker as error:
            raise EngineError(
                f"task {place + 1} of {len(tasks)} ended its worker again and again (out of memory?): "
                "what had ended is kept; start again, with fewer workers or smaller batches"
            ) from error


def _call(function: Any, task: Any, place: int, topic: str, there: dict[str, Any], own: Sequence[PluginFile]) -> Any:
    """Runs in a worker."""
    from distributed import get_worker  # the client's process may never need it

    worker = get_worker()
    for what, mine in provenance.here().items():
        if mine != there[what]:
            raise BadInput(
                f"the worker {worker.address} has another {WORDS[what]} than the process that started the study "
                f"({mine} against {there[what]}): "
                "results would not be comparable bit for bit; start the study on a machine of the workers' kind, "
                "from the same checkout"
            )
    for file in own:
        plugins.execute(file)
    if torch.cuda.is_available() and isinstance(worker.name, int):  # of a local cluster: its own GPU, in turn
        torch.cuda.set_device(worker.name % torch.cuda.device_count())
    last = 0.0

    def report(iteration: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS_EVERY:
            last = time.monotonic()
            worker.log_event(topic, (place, iteration, loss))

    return function(task, report)


def remote(scheduler: str) -> Any:
    """A client of the Dask scheduler at an address, which ends with its context."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {scheduler!r} within {CONNECT} s ({error}); an address looks like "
            "tcp://host:8786"
        ) from None
    for name in ("distributed.client", "asyncio"):  # they would print tracebacks when the scheduler goes away
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return client


@contextmanager
def local(workers: int) -> Iterator[Any]:
    """A client of this machine's processes, which end at once: what they leave is in files that are whole."""
    import dask
    import distributed.utils
    from distributed import Client, LocalCluster

    if (method := dask.config.get("distributed.worker.multiprocessing-method", "spawn")) == "spawn":
        method = startup.METHOD
        startup.start_fork_server()
        distributed.utils._forkserver_preload_set = True  # it would import pandas here, to have it there
    host = "127.0.0.1"
    settings = {"worker.multiprocessing-method": method, "nanny.pre-spawn-environ": startup.ONE_THREAD, **QUIET}
    with dask.config.set({f"distributed.{name}": value for name, value in settings.items()}):
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=host,
            dashboard_address=f"{host}:0",
            scheduler_kwargs={"dashboard": False},  # its libraries take a second to load; `dask scheduler` has one
            silence_logs=logging.CRITICAL,
            memory_limit=0,  # one trial a process: nothing to spill, and pausing would only stall it
            env={**os.environ, **startup.ONE_THREAD},
        )
        client = Client(cluster, set_as_default=False)
        try:
            yield client
        finally:
            _kill(cluster)
            with suppress(Exception):
                client.close(timeout=2)
            with suppress(Exception):
                cluster.close(timeout=2)


def _kill(cluster: Any) -> None:
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)
