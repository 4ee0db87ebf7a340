"""The desktop's owner, who sends the calls: messages to and from it, and what it may be asked for during a call.

A message is its length in four bytes and that many bytes of JSON.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any, List, Optional

from refusal import Refused

LENGTH = struct.Struct(">I")
_owner: List[socket.socket] = []


def connect() -> None:
    """Talk over the socket that is the standard input. Programs that are started from here must not hold it."""
    _owner[:] = [socket.socket(fileno=os.dup(0))]
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)


def send(message: Any) -> None:
    data = json.dumps(message).encode()
    _owner[0].sendall(LENGTH.pack(len(data)) + data)


def receive() -> Any:
    """The next message; None at the end."""
    head = _exactly(LENGTH.size)
    body = None if head is None else _exactly(LENGTH.unpack(head)[0])
    return None if body is None else json.loads(body)


def browser_pipe() -> socket.socket:
    """The pipe to the running browser, which process 1 of the episode holds."""
    send({"want": "devtools"})
    head, fds, _flags, _address = socket.recv_fds(_owner[0], LENGTH.size, 1)
    answer = json.loads(_exactly(LENGTH.unpack(head)[0]) or b"{}")
    if not fds:
        raise Refused(answer.get("error") or "there is no browser")
    return socket.socket(fileno=fds[0])


def _exactly(size: int) -> Optional[bytes]:
    data = bytearray()
    while len(data) < size:
        chunk = _owner[0].recv(size - len(data))
        if not chunk:
            return None
        data += chunk
    return bytes(data)
