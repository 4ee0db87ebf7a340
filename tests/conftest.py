"""What all tests share: those on real desktops and in a real browser get a second try, which the summary counts as a rerun.

Real applications on a busy machine are now and then late. A test that needs its second try is reported, and one
that fails twice fails.
"""

from __future__ import annotations

import signal

import pytest

# Whoever runs tests in the background of a shell may have Ctrl-C ignored, which children would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.get_closest_marker(name) is not None for name in ("x11", "browser")):
            item.add_marker(pytest.mark.flaky(reruns=1))
