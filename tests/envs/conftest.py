"""Environments on fake desktops for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from operant.envs.desktop_env import DesktopEnv
from operant.testing import FAKE_TEMPLATES, FakeDesktop


@pytest.fixture
def make_env() -> Iterator[Callable[..., DesktopEnv]]:
    made: list[DesktopEnv] = []

    def make(**options: Any) -> DesktopEnv:
        made.append(DesktopEnv(**{"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory, **options}))
        return made[-1]

    yield make
    for env in made:
        env.close()
