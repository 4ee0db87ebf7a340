"""Programs of every toolkit show their widgets and come to rest, and each is recognised by what it has loaded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from operant.desktop.launch import pack_home
from operant.desktop.sandbox import SandboxDesktop
from operant.desktop.toolkits import (
    TOOLKITS,
    mapped_files,
    recognise_toolkit,
    toolkit_environment,
    toolkit_home,
    toolkit_system,
)
from operant.types import Action

BLINK_S = 1.5  # longer than the caret of any toolkit stays on, or off


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"libgtk-3.so.0", "libX11.so.6"}, "gtk3"),
        ({"libxul.so", "libgtk-3.so.0"}, "mozilla"),
        ({"libmergedlo.so", "libgtk-3.so.0"}, "libreoffice"),
        ({"libwx_gtk3u_core-3.2.so.0", "libgtk-3.so.0"}, "wx"),
        ({"libQt5Gui.so.5", "libgtk-3.so.0"}, "qt5"),
        ({"libQt6Gui.so.6"}, "qt6"),
        ({"libgtk-x11-2.0.so.0"}, "gtk2"),
        ({"libgtk-4.so.1"}, "gtk4"),
        ({"libXaw.so.7", "libXt.so.6", "libX11.so.6"}, "xt"),
        ({"libX11.so.6"}, "x11"),
        ({"libc.so.6"}, None),
        (set(), None),
    ],
)
def test_a_toolkit_is_recognised_by_its_libraries(files: set[str], name: str | None) -> None:
    found = recognise_toolkit(files)
    assert (found.name if found else None) == name


def test_files_are_found_in_the_maps_of_a_process() -> None:
    maps = (
        "7f00-7f01 r--p 00000000 fe:00 12 /usr/lib/libgtk-3.so.0\n"
        "7f01-7f02 r-xp 00000000 fe:00 12 /usr/lib/libgtk-3.so.0\n"
        "7f02-7f03 rw-p 00000000 00:00 0 \n"
        "7f03-7f04 r--p 00000000 fe:00 13 /tmp/a file with spaces.so\n"
        "7f04-7f05 rw-p 00000000 00:00 0 [stack]\n"
    )
    assert mapped_files(maps) == {"libgtk-3.so.0", "a file with spaces.so"}


def test_toolkits_do_not_contradict_each_other() -> None:
    assert len({one.name for one in TOOLKITS}) == len(TOOLKITS)
    for merged, part in (
        (toolkit_environment(), "environment"),
        (toolkit_home(), "home"),
        (toolkit_system(), "system"),
    ):
        assert len(merged) == sum(len(getattr(one, part)) for one in TOOLKITS)


def test_a_template_of_home_wins_over_toolkits(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_text("theirs")
    entries, contents = pack_home({"sub/a": "ours", "sub/b": "kept", "c": ""}, tmp_path, None)
    data = os.pread(contents, 100, 0)
    os.close(contents)
    assert entries == [["c", 0o644, 0], ["sub", 0o755, -1], ["sub/a", 0o644, 6], ["sub/b", 0o644, 4]]
    assert data == b"theirskept"


@pytest.mark.x11
def test_settings_reach_every_episode(desktop: SandboxDesktop) -> None:
    for path, text in toolkit_home().items():
        assert desktop.files.read_text(path) == text
    said = desktop.run("env").stdout.decode().splitlines()
    for name, value in toolkit_environment().items():
        assert f"{name}={value}" in said


@pytest.mark.x11
@pytest.mark.parametrize(
    ("command", "toolkit"),
    [("featherpad", "qt5"), ("mousepad", "gtk3"), ("pcmanfm", "gtk2"), ("xterm", "xt"), ("wish", "tk")],
)
def test_a_running_program_is_recognised(desktop: SandboxDesktop, command: str, toolkit: str) -> None:
    window = desktop.launch(command)
    # Tk tells no pid; its program is the first that the episode started.
    pid = window.pid or next(one.pid for one in desktop.processes() if one.name.startswith("wish"))
    found = recognise_toolkit(mapped_files(desktop.files.read_text(f"/proc/{pid}/maps")))
    assert found is not None
    assert found.name == toolkit


@pytest.mark.x11
@pytest.mark.parametrize("command", ["featherpad", "mousepad"])
def test_a_caret_does_not_blink(desktop: SandboxDesktop, command: str) -> None:
    desktop.launch(command)
    before = desktop.perform(Action.type("Still")).copy()
    desktop.settle()
    before = desktop.frame().copy()
    end = time.monotonic() + BLINK_S
    while time.monotonic() < end:
        time.sleep(0.1)
        assert np.array_equal(desktop.frame(), before)
