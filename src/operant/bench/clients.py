"""Clients of a service that ask as fast as they are answered. Written for this: httpx takes 3 ms of a core for a
question, more than the service's own HTTP does, and on a small machine that is what would be measured.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from operant.bench.record import percentile

__all__ = ["Load", "load", "predict_question"]

PREDICT = "/api/v1/agent/predict"
INSTRUCTION = "Write hello into the editor and save the file."
BOUNDARY = "operant-bench"
WARM_UP_S = 2.0


@dataclass
class Load:
    """What clients saw."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    errors: int = 0

    def __iadd__(self, other: Load) -> Load:
        self.latencies += other.latencies
        self.seconds += other.seconds
        self.errors += other.errors
        return self

    @property
    def rps(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p95_ms(self) -> float:
        return 1000 * percentile(self.latencies, 0.95)


async def load(url: str, clients: int, seconds: float, question: bytes) -> Load:
    """Each client asks again as soon as it has its answer."""
    await asyncio.gather(
        *(_ask_until(url, question, time.perf_counter() + WARM_UP_S) for _ in range(clients))
    )
    began = time.perf_counter()
    heard = await asyncio.gather(*(_ask_until(url, question, began + seconds) for _ in range(clients)))
    result = Load(seconds=time.perf_counter() - began)
    for statuses, latencies in heard:
        result.latencies += latencies
        result.errors += sum(status != 200 for status in statuses)
    return result


async def _ask_until(url: str, question: bytes, until: float) -> tuple[list[int], list[float]]:
    """One client on one connection: the statuses that it got, and the seconds that each took."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    statuses, latencies = list[int](), list[float]()
    try:
        while (began := time.perf_counter()) < until:
            writer.write(question)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
            statuses.append(int(head.split()[1]))
            latencies.append(time.perf_counter() - began)
    finally:
        writer.close()
    return statuses, latencies


def predict_question(picture: bytes) -> bytes:
    """The whole request, as a browser would send it."""
    fields = {"instruction": INSTRUCTION, "deterministic": "true"}
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    file = 'Content-Disposition: form-data; name="screenshot"; filename="screen.jpg"'
    body = "".join(parts) + f"--{BOUNDARY}\r\n{file}\r\nContent-Type: image/jpeg\r\n\r\n"
    whole = body.encode() + picture + f"\r\n--{BOUNDARY}--\r\n".encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(whole)}\r\n"
    return f"{head}Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n".encode() + whole
