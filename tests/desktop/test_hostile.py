"""Applications that answer on D-Bus with anything: a tree comes out of it or a typed error, in bounded time and memory."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import OperantError
from operant.types import Node

pytestmark = pytest.mark.x11

APPLICATION = Path(__file__).with_name("hostile_application.py")
MODES = [
    "types",
    "names",
    "empty",
    "negative",
    "huge",
    "long",
    "chain",
    "cycle",
    "endless",
    "direct",
    "garbage",
    "impostor",
    "crowd",
    "sheet",
]
LIMIT = 2000
#: How many widgets of it are in the tree; of the others that answer with nothing usable, at most the application.
EXPECTED = {
    "negative": (51, 51),
    "huge": (1900, 2001),
    "chain": (201, 201),
    "cycle": (3, 3),
    "endless": (1900, 2001),
    "crowd": (202, 202),  # the first 200 of a billion children
    "sheet": (42, 42),  # the 4 x 10 of a billion cells that are in sight
}


def every(node: Node) -> Iterator[Node]:
    left = [node]
    while left:
        one = left.pop()
        yield one
        left += one.children


@pytest.mark.parametrize("mode", MODES)
def test_a_tree_or_a_typed_error_and_the_others_stay_readable(
    desktop: SandboxDesktop, eventually: Any, mode: str
) -> None:
    window = desktop.launch("mousepad")
    desktop.files.write("hostile.py", APPLICATION.read_bytes())
    desktop.start(["sh", "-c", f"exec /usr/bin/python3 hostile.py {mode} > said 2>&1"])
    eventually(lambda: desktop.files.exists("said") and "registered" in desktop.files.read_text("said"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2):
        began = time.monotonic()
        try:
            tree = desktop.accessibility("desktop", timeout_s=15.0, limit=LIMIT)
        except OperantError as error:
            if mode != "garbage" and "in time" not in error.message:
                raise
        else:
            nodes = list(every(tree))
            assert len(nodes) <= LIMIT + 10
            for node in nodes:
                assert isinstance(node.name, str)
                assert len(node.name) <= 10_000
                assert isinstance(node.role, str)
                assert node.value is None or math.isfinite(node.value)
                assert node.box is None or (node.box[2] > 0 and node.box[3] > 0)
            assert len(list(tree.walk())) == len(nodes)  # no deeper than recursion goes
            found = [len(list(every(child))) for child in tree.children if child.name != "mousepad"]
            least, most = EXPECTED.get(mode, (0, 1))
            assert least <= sum(found) <= most
        assert time.monotonic() - began < 60.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 800_000  # kilobytes

    def readable() -> bool:
        focused = desktop.accessibility(timeout_s=30.0)
        return focused.name == window.title and len(list(every(focused))) > 10

    eventually(readable, 20.0)
    desktop.check()
