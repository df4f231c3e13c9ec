"""Recordings in the browser: the page of the report, served on this machine by a small HTTP server.

Whoever knows the address may look and command. It ends in a random word, which no other page can guess, and the name of
the host must be this machine's: a page elsewhere that lets its own name lead here is refused. The number of connections
and what they send are bounded.
"""

from __future__ import annotations

import json
import queue
import secrets
import threading
import time as clock
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from footfall.arguments import public
from footfall.errors import FootfallError
from footfall.record import Record
from footfall.show.frames import labelled
from footfall.show.report import render_report

# ---- the server: the page, a stream of events, and commands ---------------------------------------------------------


#: Pages are served to this machine alone; from another, forward the port: ssh -L 8080:localhost:8080.
HOST = "127.0.0.1"
#: Most events that wait for a slow browser; then the oldest are dropped.
WAITING = 64
#: Time after which a silent stream is kept alive, s.
HEARTBEAT = 5.0
#: Bytes of the longest command.
LONGEST_COMMAND = 100_000
#: Time after which a connection that sends nothing, or takes nothing, is closed, s.
PATIENCE = 10.0
#: Most connections at a time: several browsers with a handful each.
CONNECTIONS = 32

#: Takes what a page commands, and answers what JSON can hold; a ``FootfallError`` is shown on the page.
Command = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class PageServer:
    """Serves one page at ``address``; ``send`` reaches all browsers that show it.

    ``port`` 0 takes any free one. The page may post to ``/command`` if ``command`` is given.
    """

    def __init__(self, page: str, port: int, command: Command | None = None) -> None:
        self.page, self.command = page.encode("utf-8"), command
        self.home = f"/{secrets.token_urlsafe(16)}/"
        self.listeners: list[queue.Queue[bytes | None]] = []
        self.kept: dict[str, bytes] = {}  # the last event of each kind, the latest at the end, for whoever comes later
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        try:
            self.server = _Server((HOST, port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FootfallError(
                f"the view cannot be served at {HOST}:{port} ({reason}); choose another port, or 0 for any free one"
            ) from error
        self.address = f"http://{HOST}:{self.server.server_address[1]}{self.home}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.1,), name="footfall-view", daemon=True)
        self.thread.start()

    def send(self, event: Mapping[str, Any], *, kind: str = "") -> None:
        """Send an event to every browser that listens, and the last one of a ``kind`` to those that come later, too."""
        text = json.dumps(event, separators=(",", ":"), allow_nan=False)
        part = f"data: {text}\n\n".encode()
        with self.lock:
            if kind:
                self.kept.pop(kind, None)
                self.kept[kind] = part
            self._tell(part)

    def _tell(self, part: bytes | None) -> None:
        """Hand a part to every stream; a full one loses its oldest."""
        for listener in self.listeners:
            if listener.full():
                listener.get_nowait()
            listener.put_nowait(part)

    def stop(self) -> None:
        """End the server, and the streams of its browsers."""
        with self.lock:
            self._tell(None)
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(2.0)


class _Server(ThreadingHTTPServer):
    def __init__(self, *given: Any) -> None:
        self.free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(*given)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, or close the connection where there are too many."""
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that goes away in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    owner: PageServer
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def do_GET(self) -> None:
        if not _is_ours(self.headers.get("Host") or ""):
            self._answer(403, b"refused", "text/plain")
        elif self.path == self.owner.home:
            self._answer(200, self.owner.page, "text/html; charset=utf-8")
        elif self.path == f"{self.owner.home}events" and self.owner.command is not None:
            self._stream()
        else:
            self._answer(404, b"not found", "text/plain")

    def do_POST(self) -> None:
        # Pages of other sites may post here too; their browsers say where they come from.
        host, origin = self.headers.get("Host") or "", self.headers.get("Origin")
        known = self.path == f"{self.owner.home}command" and self.owner.command is not None
        length = self.headers.get("Content-Length") or ""
        size = int(length) if length.isdecimal() and len(length) < 10 else -1
        self.close_connection = True  # what a refused command has sent is not read
        if not known or not _is_ours(host) or origin not in (None, f"http://{host}"):
            self._answer(403, b"refused", "text/plain")
        elif not 0 <= size <= LONGEST_COMMAND:
            self._answer(413, b"too long", "text/plain")
        else:
            self.close_connection = False
            self._answer(200, json.dumps(self._obey(self.rfile.read(size))).encode(), "application/json")

    def _obey(self, text: bytes) -> dict[str, Any]:
        """Do what a page commands; what is wrong with it is an answer too."""
        assert self.owner.command is not None
        try:
            return dict(self.owner.command(json.loads(text, parse_constant=_refuse)))
        except (FootfallError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
            return {"error": str(error)}
        except RecursionError:
            return {"error": "the command is nested too deeply"}

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        listener: queue.Queue[bytes | None] = queue.Queue(WAITING)
        with self.owner.lock:
            self.owner.listeners.append(listener)
            for kept in self.owner.kept.values():
                listener.put_nowait(kept)
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            while True:
                try:
                    part = listener.get(timeout=HEARTBEAT)
                except queue.Empty:
                    part = b": still here\n\n"
                if part is None:
                    break
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:  # the browser went away
            pass
        finally:
            self.close_connection = True
            with self.owner.lock:
                self.owner.listeners.remove(listener)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the user."""


def _is_ours(host: str) -> bool:
    """Whether the host that a browser asks for is this machine: no page elsewhere may let its own name lead here."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return name in (HOST, "localhost", "[::1]")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that a command may hold")


# ---- views ----------------------------------------------------------------------------------------------------------


@public
def view(
    recordings: Record | Sequence[Record],
    *,
    port: int = 8080,
    labels: Sequence[str] | None = None,
    open_browser: bool = True,
    block: bool = True,
) -> Viewer:
    """Show recordings in the browser, side by side or, at a click, in one place.

    ``port`` 0 takes any free one. With ``block`` it returns when the user presses Ctrl-C; without, the viewer
    is handed back at once and runs until its ``stop()``.
    """
    viewer = Viewer(recordings, port=port, labels=labels)
    print(f"footfall: the view is at {viewer.address}" + (" (Ctrl-C ends it)" if block else ""), flush=True)
    if open_browser:
        webbrowser.open(viewer.address)
    if block:
        try:
            while True:
                clock.sleep(3600)
        except KeyboardInterrupt:
            viewer.stop()
    return viewer


@public
class Viewer(PageServer):
    """Recordings at an address of this machine, until ``stop()``: replay, plots and tables of the report."""

    def __init__(
        self,
        recordings: Record | Sequence[Record],
        *,
        port: int = 8080,
        labels: Sequence[str] | None = None,
    ) -> None:
        super().__init__(render_report(labelled(recordings, "the view", labels)), port)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
