"""A folder behind an address of this machine. Not a test."""

from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Silent(SimpleHTTPRequestHandler):
    """Says nothing of what it is asked."""

    def log_message(self, *_):
        """Nothing."""


@contextmanager
def served(folder):
    """``http://127.0.0.1:PORT``, where the files of the folder are."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
