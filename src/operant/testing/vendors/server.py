"""A real HTTP server on the loopback interface that speaks vendors' protocols, one conversation per address.

It counts bytes and time of every exchange and may fail on purpose (``faults``). Knows no vendor: what a request must
look like and what is answered is the protocol's business.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from operant.errors import ActionNotExpressible
from operant.testing.vendors.faults import Fault, FaultPlan
from operant.testing.vendors.problem import ApiProblem, invalid
from operant.testing.vendors.protocol import ApiRequest, VendorProtocol

__all__ = ["Exchange", "VendorConversation", "VendorServer"]

GARBAGE = b"<html><body>502 Bad Gateway \xff\xfe</body></html>"
STALL_S = 60.0
"""How long a stalled request is held, unless the server closes before."""


@dataclass(frozen=True)
class Exchange:
    """One request and its reply."""

    status: int
    sent: int
    """Bytes of the request's body."""
    received: int
    """Bytes of the reply's body."""
    seconds: float
    """From the first byte of the request's body to the reply."""


@dataclass
class VendorConversation:
    """A protocol under an address of its own, and what was exchanged there."""

    protocol: VendorProtocol
    url: str
    faults: FaultPlan | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    problems: list[ApiProblem] = field(default_factory=list)
    """What was declined, faults on purpose not included."""

    @property
    def base_url(self) -> str:
        """What a client of the vendor's SDK is given."""
        return self.url + self.protocol.base


class VendorServer:
    """Serves any number of conversations until it is closed. Use it as a context manager."""

    def __init__(self) -> None:
        self._conversations: dict[str, VendorConversation] = {}
        self._lock = threading.Lock()
        self._opened = 0
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="vendor-server", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def open(self, protocol: VendorProtocol, faults: FaultPlan | None = None) -> VendorConversation:
        """Serve a conversation under an address of its own."""
        with self._lock:
            self._opened += 1
            name = f"c{self._opened}"
            opened = VendorConversation(protocol, f"{self.url}/{name}", faults)
            self._conversations[name] = opened
        return opened

    def shut(self, conversation: VendorConversation) -> None:
        """Serve it no more."""
        with self._lock:
            self._conversations.pop(conversation.url.rpartition("/")[2], None)

    def find(self, path: str) -> tuple[VendorConversation | None, str]:
        """The conversation that a path belongs to, and the rest of the path."""
        name, slash, rest = path.lstrip("/").partition("/")
        with self._lock:
            return self._conversations.get(name), slash + rest

    def stall(self) -> None:
        self._closing.wait(STALL_S)

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> VendorServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_FAULTY: dict[Fault, ApiProblem] = {
    "rate_limit": ApiProblem(
        429, "rate_limit_error", "Slow down.", code="slow_down", headers={"retry-after": "0"}
    ),
    "overloaded": ApiProblem(503, "overloaded_error", "Overloaded", code="server_is_overloaded"),
    "server_error": ApiProblem(500, "api_error", "Internal server error"),
}


def _handler(server: VendorServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a small reply would wait 40 ms for the client's acknowledgement
        wbufsize = -1

        def do_GET(self) -> None:
            conversation, rest = server.find(self.path.partition("?")[0])
            if conversation is None:
                self._reply(404, b'{"error": {"message": "Not found"}}')
                return
            protocol = conversation.protocol
            try:
                protocol.check_key(self._names())
                self._reply(200, json.dumps(protocol.look_up(rest)).encode())
            except ApiProblem as problem:
                self._reply(problem.status, json.dumps(protocol.problem(problem)).encode())

        def do_POST(self) -> None:
            began = time.perf_counter()
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path, _, query = self.path.partition("?")
            conversation, rest = server.find(path)
            if conversation is None:
                self._reply(404, b'{"error": {"message": "Not found"}}')
                return
            fault = conversation.faults.next() if conversation.faults is not None else None
            if fault in ("garbage", "cut", "stall"):
                self._spoil(fault)
                return
            status, reply, headers = self._answer(conversation, rest, query, raw, fault)
            # Noted before it is sent: the client may look at the list as soon as it has the reply.
            taken = time.perf_counter() - began
            conversation.exchanges.append(Exchange(status, len(raw), len(reply), taken))
            self._reply(status, reply, headers)

        def _names(self) -> dict[str, str]:
            return {name.lower(): value for name, value in self.headers.items()}

        def _answer(
            self, conversation: VendorConversation, path: str, query: str, raw: bytes, fault: Fault | None
        ) -> tuple[int, bytes, dict[str, str]]:
            protocol = conversation.protocol
            headers = self._names()
            try:
                if fault is not None:
                    raise _FAULTY[fault]
                protocol.check_key(headers)
                if len(raw) > protocol.most_bytes:
                    raise protocol.too_large()
                request = ApiRequest(path, query, headers, _object(raw), len(raw))
                return 200, json.dumps(protocol.answer(request)).encode(), {}
            except ActionNotExpressible as error:
                # Not the client's fault: the table of substitutes lacks a line.
                problem = invalid(error.message)
                conversation.problems.append(problem)
                return problem.status, json.dumps(protocol.problem(problem)).encode(), problem.headers
            except ApiProblem as problem:
                if fault is None:
                    conversation.problems.append(problem)
                return problem.status, json.dumps(protocol.problem(problem)).encode(), problem.headers

        def _spoil(self, fault: Fault) -> None:
            self.close_connection = True
            if fault == "stall":
                server.stall()
                return
            self.send_response(200)
            kind = "text/html" if fault == "garbage" else "application/json"
            self.send_header("Content-Type", kind)
            # A body that is cut off is shorter than announced.
            self.send_header("Content-Length", str(len(GARBAGE) if fault == "garbage" else 100_000))
            self.end_headers()
            self.wfile.write(GARBAGE if fault == "garbage" else b'{"id": "')

        def _reply(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass  # tests need no access log

    return Handler


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise invalid("The request body is not valid JSON") from error
    if not isinstance(body, dict):
        raise invalid("The request body is not a JSON object")
    return body
