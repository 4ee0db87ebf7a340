"""Programs, folders and settings of OSWorld's image, on a desktop of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from operant.config.desktop import DesktopConfig
from operant.desktop.osworld.machine_image import (
    MACHINE_VARIABLES,
    SETTINGS,
    STAND_INS,
    machine_files,
    machine_links,
    prepare_home,
)
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Window

LONGEST_S = 30.0


def test_every_link_leads_to_a_file_and_every_stand_in_is_named() -> None:
    files, links = machine_files(), machine_links()
    assert all(f"bin/{target}" in files for target in links.values())
    assert {f"bin/{name}" for name in STAND_INS} <= files.keys() | links.keys()
    assert not files.keys() & links.keys()


@pytest.fixture(scope="module")
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop(DesktopConfig(environment=dict(MACHINE_VARIABLES))) as one:
        yield one


def wait_for(desktop: SandboxDesktop, meant: Callable[[Window], bool]) -> Window:
    deadline = time.monotonic() + LONGEST_S
    while True:
        windows = desktop.windows()
        for window in windows:
            if meant(window):
                return window
        assert time.monotonic() < deadline, windows
        time.sleep(0.05)


def wait_until_gone(desktop: SandboxDesktop, wm_class: str) -> None:
    deadline = time.monotonic() + LONGEST_S
    while any(window.wm_class == wm_class for window in desktop.windows()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.x11
class TestOnADesktop:
    def test_python_and_sudo_run(self, desktop: SandboxDesktop) -> None:
        assert desktop.run(["python", "-c", "print(6 * 7)"]).output == "42\n"
        piped = desktop.run(["sh", "-c", "echo password | sudo -S -u root sh -c 'echo $1' sh here"])
        assert (piped.returncode, piped.output) == (0, "here\n")
        assert desktop.run(["sudo", "false"]).returncode == 1
        assert desktop.run(["sudo", "-k"]).returncode == 0

    def test_a_terminal_takes_gnomes_options_and_ends_by_gnomes_name(self, desktop: SandboxDesktop) -> None:
        desktop.reset()
        desktop.start(["gnome-terminal", "--maximize", "--working-directory=/tmp"])
        wait_for(desktop, lambda window: window.wm_class == "XTerm" and window.width > 1200)
        shells = desktop.run(["sh", "-c", 'readlink /proc/$(pgrep -P "$(pgrep -x xterm)")/cwd'])
        assert shells.output == "/tmp\n"
        assert desktop.run(["killall", "gnome-terminal-server"]).returncode == 0
        wait_until_gone(desktop, "XTerm")
        wrong = desktop.run(["gnome-terminal", "--no-such-option"])
        assert wrong.returncode == 2
        assert b"--no-such-option" in wrong.stderr

    @pytest.mark.parametrize("name", ["nautilus", "gedit"])
    def test_programs_of_gnome_have_a_window(self, desktop: SandboxDesktop, name: str) -> None:
        desktop.reset()
        desktop.start([name])
        wait_for(desktop, lambda window: window.wm_class.lower() == STAND_INS[name])

    def test_what_has_no_stand_in_says_so(self, desktop: SandboxDesktop) -> None:
        said = desktop.run([f"{MACHINE_VARIABLES['PATH'].partition(':')[0]}/stand-in"])
        assert said.returncode == 127
        assert b"stand-in" in said.stderr

    def test_home_keeps_its_own_settings_and_gets_the_images_once(self, desktop: SandboxDesktop) -> None:
        desktop.reset()
        own = desktop.files.read_text("/home/user/.config/vlc/vlcrc")
        assert own, "Qt's settings come with a desktop"
        prepare_home(desktop)
        prepare_home(desktop)
        text = desktop.files.read_text("/home/user/.config/vlc/vlcrc")
        assert text == own.rstrip() + "\n" + SETTINGS[".config/vlc/vlcrc"]
        assert desktop.run(["ls", "/home/user"]).output.split() == [
            "Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos",
        ]  # fmt: skip
