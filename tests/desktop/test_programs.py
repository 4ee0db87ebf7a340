"""Commands, files, processes, the clipboard and windows of a desktop, with walls and without."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CommandTimeout, UnknownApplication
from operant.types import Action

pytestmark = pytest.mark.x11


def test_a_command_says_what_it_says(desktop: SandboxDesktop) -> None:
    result = desktop.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (result.returncode, result.stdout, result.stderr, result.truncated) == (
        7,
        b"out\n",
        b"err\n",
        False,
    )
    assert desktop.run(["sh", "-c", "kill -SEGV $$"]).returncode == -11
    assert desktop.run("cat", stdin=b"\0\xff given").stdout == b"\0\xff given"
    assert desktop.run("pwd", cwd="/tmp").output == "/tmp\n"
    assert desktop.run(["sh", "-c", "echo $X"], env={"X": "a b"}).output == "a b\n"
    assert desktop.run("printf '%s|' a 'b c' \"d\"").output == "a|b c|d|"
    assert desktop.run(["printf", "%s", "$(id); `id`"]).output == "$(id); `id`"


def test_a_string_never_meets_a_shell(desktop: SandboxDesktop) -> None:
    assert desktop.run("echo a; touch b && c > d").output == "a; touch b && c > d\n"
    assert [entry.name for entry in desktop.files.list() if not entry.name.startswith(".")] == []


def test_large_input_and_output_pass(desktop: SandboxDesktop) -> None:
    data = os.urandom(3 << 20)
    assert desktop.run("cat", stdin=data, limit=4 << 20).stdout == data
    assert (
        len(desktop.run(["sh", "-c", "head -c 2M /dev/zero; head -c 2M /dev/zero >&2"], limit=4 << 20).stderr)
        == 2 << 20
    )


def test_children_that_keep_the_output_open_do_not_keep_the_command(desktop: SandboxDesktop) -> None:
    began = time.monotonic()
    assert desktop.run(["sh", "-c", "sleep 600 & echo started"]).output == "started\n"
    assert time.monotonic() - began < 1.0


def test_a_program_that_closes_its_output_is_still_waited_for(desktop: SandboxDesktop) -> None:
    assert desktop.run(["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 4"]).returncode == 4


def test_commands_of_several_threads_do_not_mix(desktop: SandboxDesktop) -> None:
    said: dict[int, str] = {}

    def speak(number: int) -> None:
        said[number] = desktop.run(["sh", "-c", f"sleep 0.0{number}; echo {number}"]).output

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)
    assert said == {number: f"{number}\n" for number in range(8)}


def test_a_long_command_does_not_keep_others_waiting(desktop: SandboxDesktop) -> None:
    def wait() -> None:
        with pytest.raises(CommandTimeout):
            desktop.run("sleep 600", timeout_s=0.6)

    thread = threading.Thread(target=wait)
    thread.start()
    began = time.monotonic()
    desktop.perform(Action.key("a"))
    desktop.run("true")
    assert time.monotonic() - began < 0.5
    thread.join()


def test_files_go_in_and_out(desktop: SandboxDesktop) -> None:
    files = desktop.files
    data = os.urandom(1 << 20)
    files.write("some/where/new.bin", data)
    assert files.read("some/where/new.bin") == data
    assert files.read("some/where/new.bin", limit=10) == data[:10]
    files.write("some/where/new.bin", "short ü")
    assert files.read_text("/home/user/some/where/new.bin") == "short ü"
    files.write("run.sh", "#!/bin/sh\necho ran\n", mode=0o755)
    assert desktop.run("./run.sh").output == "ran\n"
    assert [(entry.name, entry.is_dir) for entry in files.list("some")] == [("where", True)]
    info = files.info("run.sh")
    assert info is not None
    assert (info.name, info.size, info.is_dir, info.is_link) == ("run.sh", 19, False, False)
    assert not files.exists("nothing")
    assert not files.exists("run.sh/below")
    for missing in ("nothing", "/no/such/place"):
        with pytest.raises(FileNotFoundError):
            files.read(missing)
    with pytest.raises(OSError, match="Read-only"):
        files.write("/etc/passwd", "x")
    with pytest.raises(IsADirectoryError):
        files.read("some")


def test_names_of_files_may_be_anything(desktop: SandboxDesktop) -> None:
    for name in ("with space", "ümläut 漢😀", "-rf", "a'b\"c", "new\nline", "%s$(x)"):
        desktop.files.write(name, name)
        assert desktop.files.read_text(name) == name
        assert name in [entry.name for entry in desktop.files.list()]
    desktop.run(["sh", "-c", "touch \"$(printf 'not-utf8-\\377')\""])
    assert len(desktop.files.list()) >= 7


def test_many_files_are_listed_up_to_a_limit(desktop: SandboxDesktop) -> None:
    desktop.run(
        ["/usr/bin/python3", "-c", "for i in range(3000): open(f'a-rather-long-name-{i:05}', 'w').close()"]
    )
    assert len(desktop.files.list(limit=1000)) == 1000
    assert len(desktop.files.list()) >= 3000


def test_processes_are_the_agents_and_no_others(desktop: SandboxDesktop) -> None:
    pid = desktop.start("sleep 600")
    found = {process.pid: process for process in desktop.processes()}
    assert found[pid].command == ("sleep", "600")
    names = {process.name for process in found.values()}
    assert not names & {"Xvfb", "openbox", "bwrap"}


def test_the_clipboard_is_set_and_read(editor: Any) -> None:
    desktop = editor.desktop
    assert desktop.clipboard.get() is None
    text = "clip <é> 漢字 😀\nsecond line"
    desktop.clipboard.set(text)
    assert desktop.clipboard.get() == text
    desktop.perform(Action.key("ctrl", "v"))
    editor.expect(text)
    desktop.perform(Action.key("ctrl", "a"))
    desktop.perform(Action.key("delete"))
    editor.type("from inside")
    desktop.perform(Action.key("ctrl", "a"))
    desktop.perform(Action.key("ctrl", "c"))
    assert desktop.clipboard.get() == "from inside"
    desktop.clipboard.set("")
    assert not desktop.clipboard.get()
    long = "long " * 100_000
    desktop.clipboard.set(long)
    assert desktop.clipboard.get() == long


def test_the_clipboard_survives_a_kill_of_everything(desktop: SandboxDesktop) -> None:
    desktop.clipboard.set("safe")
    desktop.run(["sh", "-c", "kill -9 -1"])
    assert desktop.clipboard.get() == "safe"
    desktop.reset()
    assert desktop.clipboard.get() is None


def test_windows_are_listed_from_bottom_to_top(desktop: SandboxDesktop, eventually: Any) -> None:
    assert desktop.windows() == []
    first = desktop.launch("mousepad")
    second = desktop.launch(["xterm", "-T", "Ä title", "-geometry", "40x10+20+30"])
    listed = desktop.windows()
    assert [window.id for window in listed] == [first.id, second.id]
    assert [window.focused for window in listed] == [False, True]
    assert (second.title, second.wm_class) == ("Ä title", "XTerm")
    assert second.pid in {process.pid for process in desktop.processes() if process.name == "xterm"}
    assert (first.wm_class, first.title) == ("Mousepad", "Untitled 1 - Mousepad")
    desktop.perform(Action.key("super", "down"))
    eventually(lambda: any(window.minimized for window in desktop.windows()))
    desktop.perform(Action.key("alt", "f4"))
    eventually(lambda: len(desktop.windows()) == 1)


@pytest.mark.parametrize("name", ["mousepad", "galculator", "pcmanfm", "xterm"])
def test_an_application_that_is_launched_is_drawn(desktop: SandboxDesktop, name: str) -> None:
    empty = desktop.frame()
    window = desktop.launch(name)
    frame = desktop.frame()
    assert window.focused
    inside = (slice(window.y, window.y + window.height), slice(window.x, window.x + window.width))
    assert (frame[inside] != empty[inside]).any(axis=2).mean() > 0.9
    assert desktop.memory()


def test_a_launcher_may_leave_the_window_to_another_program(desktop: SandboxDesktop) -> None:
    assert desktop.launch(["sh", "-c", "xterm & exit 0"]).wm_class == "XTerm"


# Without walls.


def test_a_bare_desktop_works_and_leaves_nothing(
    fresh: Callable[..., SandboxDesktop], edit: Callable[..., Any], pids_of: Any, alive: Any
) -> None:
    desktop = fresh(isolated=False)
    base = desktop._supervised._base
    assert base is not None
    assert os.path.isdir(base)
    frame = desktop.frame()
    for _ in range(2):
        editor = edit(desktop)
        editor.type("bare <é漢")
        editor.expect("bare <é漢")
        desktop.files.write("note", "x")
        assert desktop.run("cat note").output == "x"
        assert desktop.run(["sh", "-c", "echo $HOME"]).output.startswith(base)
        desktop.start(["sh", "-c", "trap '' TERM; setsid sh -c 'while :; do sleep 0.05; done'"])
        desktop.run(["sh", "-c", "mkdir -p a/b && chmod 500 a/b a"])
        desktop.clipboard.set("x")
        desktop.reset()
        assert desktop.windows() == []
        assert not desktop.files.exists("note")
        assert not desktop.files.exists("a")
        assert desktop.clipboard.get() is None
        assert (desktop.frame() == frame).all()
        assert {process.name for process in desktop.processes()} <= {"dbus-daemon"}
    with pytest.raises(UnknownApplication):
        desktop.launch("no-such-program")
    desktop.check()
    pids = pids_of(desktop)
    desktop.close()
    assert alive(pids) == []
    assert not os.path.exists(base)


def test_two_bare_desktops_do_not_meet(fresh: Callable[..., SandboxDesktop]) -> None:
    first, second = fresh(isolated=False), fresh(isolated=False)
    first.launch("xterm")
    assert second.windows() == []
    second.reset()
    assert len(first.windows()) == 1


def test_programs_are_found_on_the_path_of_the_desktop(fresh: Any) -> None:
    desktop = fresh(environment={"PATH": "/home/user/own programs:/usr/bin:/bin"})
    desktop.files.write("own programs/greet", "#!/bin/sh\necho hello\n", mode=0o755)
    assert desktop.run("greet").stdout == b"hello\n"
