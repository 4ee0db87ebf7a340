"""Messages with file descriptors over a SOCK_SEQPACKET pair, spoken on both sides of the sandbox wall.

A message is a JSON object; what is too long for one packet travels in a memfd. Knows nothing of what
the messages mean. Only the two ends of a socketpair can talk, so nothing here has a name in any
file system that a third program could connect to.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

PACKET = 64 * 1024
MAX_FDS = 16
FD_BYTES = 4


class Closed(Exception):
    """The other end is gone."""


def send(sock: socket.socket, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
    data = json.dumps(message).encode()
    memfd = -1
    if len(data) > PACKET:
        memfd = os.memfd_create("message")
        with os.fdopen(os.dup(memfd), "wb") as file:
            file.write(data)
        data = b"%d" % len(data)
    try:
        socket.send_fds(sock, [data], (*fds, memfd) if memfd >= 0 else fds)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed from error
    finally:
        if memfd >= 0:
            os.close(memfd)


def receive_packet(sock: socket.socket) -> tuple[bytes, list[int]]:
    """The bytes and the descriptors of the next packet."""
    try:
        # Not socket.recv_fds, which ignores its flags: what comes in must not go on to every program started.
        room = socket.CMSG_LEN(MAX_FDS * FD_BYTES)
        data, ancillary, _flags, _address = sock.recvmsg(PACKET, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError as error:
        raise Closed from error
    fds: list[int] = []
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            count = len(content) // FD_BYTES
            fds += struct.unpack("=%di" % count, content[: count * FD_BYTES])
    return data, fds


def receive(sock: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, fds = receive_packet(sock)
    if not data:
        raise Closed
    if data[:1] != b"{":
        memfd = fds.pop()
        data = os.pread(memfd, int(data), 0)
        os.close(memfd)
    message = json.loads(data)
    assert isinstance(message, dict)
    return message, fds
