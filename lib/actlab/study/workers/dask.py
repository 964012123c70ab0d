"""Tasks on a Dask cluster, by the address of its scheduler."""

import asyncio
import logging
import sys
import uuid
from collections.abc import Iterator, Sequence
from threading import Thread
from typing import Any

from actlab.plugins import plugin_files
from actlab.study import provenance
from actlab.study.workers.pool import GIVEN_UP, EngineError, work

CONNECT = 10
"""Seconds in which a scheduler must answer."""
GPU = "GPU"
"""Name of the Dask resource that a task on a GPU takes: start such workers with ``dask worker --resources GPU=1``."""


def on_cluster(client: Any, function: Any, tasks: Sequence[Any], tell: Any, gpu: bool) -> Iterator[tuple[Any, Any]]:
    """Yield (task, result) as tasks end; ``gpu``: each takes one ``GPU`` of the workers."""
    from distributed import KilledWorker, as_completed

    def heard(event: tuple[float, Any]) -> None:
        place, *report = event[1]
        tell(tasks[place], *report)

    topic = f"actlab-{uuid.uuid4()}"
    client.subscribe_topic(topic, heard)
    given, resources = (provenance.here(), plugin_files()), {GPU: 1} if gpu else None
    places = {}
    for place, task in enumerate(tasks):
        key = f"{topic}-{place}"
        call = (_call, function, task, place, topic, *given)
        places[client.submit(*call, key=key, priority=-place, resources=resources)] = place
    for future in as_completed([*places], loop=client.loop):
        place = places.pop(future)
        if future.status not in ("finished", "error"):
            raise EngineError(
                f"the scheduler went away with {len(places) + 1} of {len(tasks)} tasks unfinished; what had ended is "
                "kept: start again"
            )
        try:
            yield tasks[place], future.result()
        except KilledWorker as error:
            raise EngineError(GIVEN_UP.format(place + 1, len(tasks))) from error


def _call(function: Any, task: Any, place: int, topic: str, *given: Any) -> Any:
    """Runs in a worker."""
    from distributed import get_worker  # the client's process may never need it

    worker = get_worker()
    return work(function, task, place, lambda event: worker.log_event(topic, event), worker.address, *given)


def unanswered(scheduler: str) -> str:
    """Why no Dask scheduler answers at an address; empty if one does. A client alone would wait for minutes at a port
    that belongs to something else; the thread has a loop of its own, also in a notebook."""
    said = ["no answer"]

    def ask() -> None:
        try:
            asyncio.run(asyncio.wait_for(_identity(scheduler), CONNECT))
            said[0] = ""
        except TimeoutError:
            pass
        except Exception as error:  # whatever else listens there may answer anything
            said[0] = str(error) or type(error).__name__

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT)
    return said[0]


async def _identity(scheduler: str) -> None:
    from distributed import Security
    from distributed.core import connect

    comm = await connect(scheduler, timeout=CONNECT, **Security().get_connection_args("client"))
    await comm.write({"op": "identity", "reply": True})
    answer = await comm.read()
    comm.abort()
    if answer.get("type") != "Scheduler":
        raise ValueError(f"a Dask {answer.get('type')} is there")


def connected(scheduler: str) -> Any:
    """A client of the Dask scheduler at an address, which ends with its context."""
    from distributed import Client

    if fault := unanswered(scheduler):
        raise EngineError(
            f"no Dask scheduler answers at {scheduler!r} within {CONNECT} s ({fault}); an address looks like "
            "tcp://host:8786"
        )
    if not scheduler.startswith(("tls://", "inproc://")):
        print(
            f"warning: {scheduler} is neither encrypted nor protected: whoever reaches this port can run code as you; "
            "use tls:// outside of a network that you trust",
            file=sys.stderr,
        )
    client = Client(scheduler, timeout=CONNECT, set_as_default=False)
    for name in ("distributed.client", "asyncio"):  # they would print tracebacks when the scheduler goes away
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return client
