"""Desktops of other machines: the same calls, the same answers and the same failures as at home."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.remote_servers import SMALL, TOKEN, DesktopServer

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import ALL
from operant.desktop.remote import RemoteDesktop, RemoteFleet
from operant.envs.task_environment import TaskEnvironment
from operant.errors import (
    AccessibilityError,
    ConfigError,
    InvalidAction,
    InvalidPath,
    UnknownApplication,
)
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Caret, Outcome, Point


@pytest.fixture(scope="module")
def server() -> Iterator[DesktopServer]:
    with DesktopServer(2) as server:
        yield server


@pytest.fixture
def desktop(server: DesktopServer) -> Iterator[RemoteDesktop]:
    with RemoteDesktop(server.url, SMALL) as desktop:
        yield desktop


def test_it_is_a_desktop(desktop: RemoteDesktop) -> None:
    assert desktop.capabilities == ALL
    assert desktop.size == SMALL.size
    assert desktop.monitors == SMALL.regions
    desktop.check()


def test_caret_and_selection_are_told(desktop: RemoteDesktop) -> None:
    assert desktop.caret() is None
    desktop.launch("mousepad")
    desktop.perform(Action.type("ten words"))
    assert desktop.caret() == Caret("ten words", 9)


def test_what_is_seen_is_what_is_there(desktop: RemoteDesktop) -> None:
    twin = FakeDesktop(SMALL)
    assert np.array_equal(desktop.frame(), twin.frame())
    assert desktop.launch("mousepad") == twin.launch("mousepad")
    for action in (
        Action.type("Straße 🙂"),
        Action.click(Point(0.5, 0.5)),
        Action.key("ctrl", "a"),
        Action.wait(0.01),
        Action.scroll(Point(0.4, 0.4), dy=3),
    ):
        assert np.array_equal(desktop.perform(action), twin.perform(action))
        assert desktop.last_step == twin.last_step
        assert desktop.pointer() == twin.pointer()
    assert desktop.windows() == twin.windows()
    assert desktop.accessibility() == twin.accessibility()
    assert desktop.accessibility("desktop") == twin.accessibility("desktop")
    assert desktop.processes() == twin.processes()
    assert np.array_equal(desktop.glance(), twin.glance())
    assert desktop.settle() == twin.settle()


def test_a_frame_that_was_handed_out_stays_as_it_is(desktop: RemoteDesktop) -> None:
    before = desktop.frame()
    copy = before.copy()
    desktop.launch("galculator")
    after = desktop.frame()
    assert np.array_equal(before, copy)
    assert not np.array_equal(before, after)
    after[:] = 0
    assert desktop.frame().any()


def test_windows_clipboard_files_and_commands(desktop: RemoteDesktop) -> None:
    window = desktop.launch("galculator")
    desktop.place_window(window, 40, 50, 200, 120)
    (placed,) = desktop.windows()
    assert (placed.x, placed.y, placed.width, placed.height) == (40, 50, 200, 120)
    desktop.activate_window(placed)
    desktop.close_window(placed)
    assert desktop.windows() == []
    assert desktop.clipboard.get() is None
    desktop.clipboard.set("copied")
    assert desktop.clipboard.get() == "copied"
    desktop.files.write("notes/one.bin", bytes(range(256)))
    assert desktop.files.read("notes/one.bin") == bytes(range(256))
    assert desktop.files.read("notes/one.bin", limit=3) == b"\0\1\2"
    assert [entry.name for entry in desktop.files.list("notes")] == ["one.bin"]
    info = desktop.files.info("notes/one.bin")
    assert info is not None
    assert (info.size, info.is_dir) == (256, False)
    assert not desktop.files.exists("nothing")
    assert desktop.run(["echo", "hello"]).output == "hello\n"
    assert desktop.start("mousepad") > 0
    desktop.reset()
    assert desktop.windows() == []
    assert not desktop.files.exists("notes")


def test_failures_are_those_of_a_desktop_at_home(desktop: RemoteDesktop) -> None:
    with pytest.raises(UnknownApplication, match="no program 'nonesuch'") as unknown:
        desktop.launch("nonesuch")
    assert unknown.value.hint
    with pytest.raises(FileNotFoundError):
        desktop.files.read("nothing")
    with pytest.raises(IsADirectoryError):
        desktop.files.read(".")
    with pytest.raises(InvalidPath):
        desktop.files.read("a\0b")
    with pytest.raises(AccessibilityError):
        desktop.accessibility(app="nobody")
    with pytest.raises(InvalidAction):
        desktop.perform(Action.type("\x01"))
    with pytest.raises(InvalidAction, match="selection"):
        desktop.clipboard.get("--version")
    desktop.check()  # and goes on


@pytest.mark.parametrize("call", ["__init__", "_open", "eval", "close", ""])
def test_only_the_listed_calls_can_be_made(desktop: RemoteDesktop, call: str) -> None:
    with pytest.raises(ConfigError, match="has no call"):
        desktop._call(call)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("run", {"command": "ls"}),
        ("run", {"command": ["ls"], "seconds": -1}),
        ("run", {"command": ["ls"], "limit": 1 << 40}),
        ("run", {"command": ["ls"], "shell": True}),
        ("perform", {"action": {"kind": "no such"}}),
        ("perform", {"action": 3}),
        ("perform", {}),
        ("files_read", {"path": 7}),
        ("files_write", {"path": "a", "data": b"", "mode": 0o4755}),
        ("place_window", {"window": {}, "x": 0, "y": 0, "width": 1, "height": 1}),
    ],
)
def test_arguments_are_checked_before_the_desktop_sees_them(
    desktop: RemoteDesktop, call: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(InvalidAction):
        desktop._call(call, **arguments)
    desktop.check()


@pytest.mark.parametrize("template", FAKE_TEMPLATES, ids=lambda template: template.id)
def test_a_task_runs_unchanged(template: object) -> None:
    """The oracle solves every fake task over HTTP, through the loop that all agents use."""
    from operant.agents.oracle import OracleAgent
    from operant.rollout.loop import run_episode

    config = DesktopConfig()
    with DesktopServer(config=config) as server, RemoteDesktop(server.url, config) as desktop:
        environment = TaskEnvironment(desktop, with_tree=True)  # type: ignore[arg-type]
        result = run_episode(OracleAgent(), environment, template.instance(3))  # type: ignore[attr-defined]
    assert result.outcome is Outcome.SUCCESS, result.why


def test_a_pool_over_several_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", TOKEN)
    with DesktopServer(2, token=TOKEN) as one, DesktopServer(2, token=TOKEN) as other:
        fleet = RemoteFleet([one.url, other.url], token_variable="SOME_TOKEN")
        with DesktopPool(4, SMALL, factory=fleet.lease) as pool:
            pool.wait_ready()
            assert one.host.about()["leased"] == other.host.about()["leased"] == 2
            with pool.lease() as desktop:
                desktop.launch("mousepad")
            with pool.lease() as desktop:
                assert desktop.windows() == []
        assert one.host.about()["leased"] == other.host.about()["leased"] == 0
        fleet.close()
