"""Functions of applications, called on real desktops: what they do, how they fail, and what they can't reach."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from operant.calls.declaration import Function
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed, CallTimeout, InvalidAction
from operant.types import Action

pytestmark = pytest.mark.x11

Call = Callable[..., Any]


def test_files_are_listed_written_moved_copied_renamed_and_trashed(
    desktop: SandboxDesktop, call: Call
) -> None:
    call("files.make_folder", path="notes/old")
    call("files.write", path="notes/a.txt", text="one\ntwo\nthree\n")
    assert call("files.read", path="~/notes/a.txt", first_line=2, lines=1) == "two\n"
    assert [(one["name"], one["kind"]) for one in call("files.list_folder", folder="notes")] == [
        ("a.txt", "file"),
        ("old", "folder"),
    ]
    assert (
        call("files.copy", source="notes/a.txt", target="notes/old")
        == "copied ~/notes/a.txt to ~/notes/old/a.txt"
    )
    call("files.rename", path="notes/old/a.txt", name="b.txt")
    call("files.move", source="notes/a.txt", target="c.txt")
    assert (
        desktop.files.read_text("notes/old/b.txt") == desktop.files.read_text("c.txt") == "one\ntwo\nthree\n"
    )
    assert call("files.find", name="B.TXT") == ["~/notes/old/b.txt"]
    call("files.trash", path="c.txt")
    assert not desktop.files.exists("c.txt")
    assert desktop.files.read_text(".local/share/Trash/files/c.txt").startswith("one")
    assert "Path=/home/user/c.txt" in desktop.files.read_text(".local/share/Trash/info/c.txt.trashinfo")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("files.read", {"path": "nothing.txt"}, "there is no ~/nothing.txt"),
        ("files.read", {"path": "pipe"}, "is not a file"),
        ("files.list_folder", {"folder": "a.txt"}, "is not a folder"),
        ("files.move", {"source": "a.txt", "target": "b.txt"}, "overwrite=True"),
        ("files.move", {"source": "a.txt", "target": "no/b.txt"}, "no folder ~/no"),
        ("files.rename", {"path": "a.txt", "name": "../b"}, "is not a name"),
        ("files.write", {"path": "/usr/x", "text": ""}, "Read-only file system"),
        ("files.trash", {"path": "~"}, "can't be moved to the trash"),
        ("files.read", {"path": "large.txt", "lines": 100_000}, "at most 65536 are returned"),
        ("windows.focus", {"window": "nothing"}, "there is no window 'nothing'"),
        ("windows.open_application", {"application": "no-such-program"}, "no program 'no-such-program'"),
        ("windows.open_application", {"application": "../usr/bin/xterm"}, "not the name of a program"),
        ("clipboard.get_text", {}, "no text on the clipboard"),
    ],
)
def test_what_can_not_be_done_is_said(
    desktop: SandboxDesktop, call: Call, name: str, arguments: dict[str, object], said: str
) -> None:
    for file in ("a.txt", "b.txt"):
        desktop.files.write(file, "text")
    desktop.files.write("large.txt", "line\n" * 50_000)
    desktop.run(["mkfifo", "/home/user/pipe"])
    with pytest.raises(CallFailed, match=said) as caught:
        call(name, **arguments)
    assert caught.value.message.startswith(f"{name}: ")
    assert call("files.read", path="a.txt") == "text"


def test_windows_are_opened_placed_tiled_focused_and_closed(desktop: SandboxDesktop, call: Call) -> None:
    desktop.files.write("a.txt", "text")
    assert "a.txt" in call("files.open_path", path="a.txt")
    call("windows.open_application", application="galculator")
    assert [one["application"] for one in call("windows.list_windows")] == ["Mousepad", "Galculator"]
    call("windows.tile", layout="columns", windows=["mousepad", "galculator"])
    editor, calculator = desktop.windows()
    assert editor.x + editor.width <= calculator.x
    call("windows.focus", window="a.txt")
    assert next(one for one in desktop.windows() if one.focused).wm_class == "Mousepad"
    call("windows.move", window="mousepad", x=200, y=100)
    call("windows.resize", window="mousepad", width=500, height=400)
    editor = desktop.windows()[-1]
    assert (editor.width, editor.height) == (500, 400)
    assert abs(editor.x - 200) < 10
    assert abs(editor.y - 100) < 40
    call("windows.minimize", window="mousepad")
    assert next(one for one in desktop.windows() if one.wm_class == "Mousepad").minimized
    call("windows.maximize", window="mousepad")
    call("windows.close", window="galculator")
    assert [one.wm_class for one in desktop.windows()] == ["Mousepad"]


def test_what_a_call_does_to_the_screen_is_seen(desktop: SandboxDesktop, call: Call) -> None:
    before = desktop.frame()
    frame = desktop.perform(Action.call("windows.open_application", {"application": "mousepad"}))
    assert desktop.last_step.changed
    assert (frame != before).any()
    call("clipboard.set_text", text="grüße\nzwei")
    assert call("clipboard.get_text") == "grüße\nzwei" == desktop.clipboard.get()
    desktop.perform(Action.key("ctrl", "v"))
    assert desktop.caret() is not None


def _function(name: str, api: str = "files", seconds: float = 10.0) -> Function:
    return Function(api, name, (), "", "str", seconds)


def test_a_call_that_does_not_return_is_ended_and_the_next_one_works(
    desktop: SandboxDesktop, call: Call
) -> None:
    call("files.list_folder")
    runner = desktop._calls
    assert runner is not None
    desktop.run(["pkill", "-STOP", "-f", "calls.zip"])
    began = time.monotonic()
    with pytest.raises(CallTimeout, match=r"did not return within 0\.2 s"):
        runner.call(_function("list_folder", seconds=0.2), {})
    assert time.monotonic() - began < 5
    assert call("files.list_folder") == []
    # A program of the agent ends the process: one call fails, and the next one works.
    desktop.run(["pkill", "-KILL", "-f", "calls.zip"])
    with pytest.raises(CallFailed, match="is gone"):
        call("files.list_folder")
    assert call("files.list_folder") == []
    desktop.reset()
    assert not [one for one in desktop.processes() if "calls.zip" in " ".join(one.command)]
    assert call("files.list_folder") == []


def test_the_process_itself_calls_nothing_but_functions_of_applications(
    desktop: SandboxDesktop, call: Call
) -> None:
    call("files.list_folder")
    runner = desktop._calls
    assert runner is not None
    for api, name in (
        ("files", "_existing"),
        ("files", "shutil"),
        ("files", "path_of"),
        ("files", "__builtins__"),
        ("nothing", "f"),
        ("..os", "system"),
    ):
        with pytest.raises(CallFailed):
            runner.call(_function(name, api), {})
    with pytest.raises(CallFailed, match="unexpected keyword argument"):
        runner.call(_function("list_folder"), {"x": 1})


def test_a_lying_process_is_not_believed(desktop: SandboxDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the agent may take the place of the process; what it answers is bounded."""
    for answer in (
        r"import sys,os; os.write(0, b'\xff\xff\xff\xff')",
        r"import os; os.write(0, b'\0\0\0\3abc')",
        r"import os; os.write(0, b'\0\0\0\2[]')",
        r"import os; os.write(0, b'\0\0\0\x1a' + b'{\"number\":1,\"result\":null}')",
        r"import os; d = b'[' * 100000; os.write(0, len(d).to_bytes(4, 'big') + d)",
    ):
        desktop.reset()
        monkeypatch.setattr(
            "operant.desktop.launch.call_runner_argv",
            lambda _, answer=answer: ["/usr/bin/python3", "-c", answer + "; import time; time.sleep(60)"],
        )
        with pytest.raises(CallFailed):
            desktop.perform(Action.call("files.list_folder"))
    monkeypatch.undo()
    desktop.reset()
    desktop.perform(Action.call("files.list_folder"))


def test_a_call_has_the_rights_of_the_desktops_own_programs(desktop: SandboxDesktop, call: Call) -> None:
    call("files.list_folder")
    (runner,) = (one for one in desktop.processes() if "calls.zip" in " ".join(one.command))
    other = desktop.start("sleep 1000")

    def facts(pid: int) -> tuple[object, ...]:
        read = ["cat", f"/proc/{pid}/status"]
        status = dict(line.split(":", 1) for line in desktop.run(read).output.splitlines() if ":" in line)
        kept = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
        spaces = desktop.run(
            ["readlink", *(f"/proc/{pid}/ns/{one}" for one in ("mnt", "pid", "net", "ipc", "user"))]
        )
        limits = desktop.run(["cat", f"/proc/{pid}/limits"])
        return tuple(status[one] for one in kept), spaces.output, limits.output

    assert facts(runner.pid) == facts(other)


def test_a_call_reaches_no_files_desktops_or_network_outside(desktop: SandboxDesktop, call: Call) -> None:
    with SandboxDesktop() as neighbour:
        neighbour.files.write("secret.txt", "of another desktop")
        assert call("files.find", name="secret", folder="/home") == []
        assert call("files.find", name="secret", folder="/tmp") == []
    for path in ("/root", "/operant/code", "/proc/1/root", "/proc/1/environ"):
        with pytest.raises(CallFailed):
            call("files.list_folder", folder=path) if "environ" not in path else call("files.read", path=path)
    for path in (
        "/etc/made-by-a-call",
        "/run/operant/calls.zip",
        "/made-by-a-call",
        "/proc/sys/kernel/hostname",
    ):
        with pytest.raises(CallFailed):
            call("files.write", path=path, text="x")
    devices = desktop.files.read_text("/proc/net/dev")
    assert call("files.read", path="/proc/net/dev").count(":") == devices.count(":") == 1, "the loopback only"


def test_calls_that_are_refused_start_nothing(desktop: SandboxDesktop) -> None:
    for action in (
        Action.call("files.__class__"),
        Action.call("os.system", {"command": "touch /home/user/made"}),
        Action.call("files.write", {"path": "made", "text": 3}),
        Action.call("files.write", {"path": "made", "text": "x", "mode": "r"}),
    ):
        with pytest.raises(InvalidAction):
            desktop.perform(action)
    assert desktop._calls is None
    assert not desktop.files.exists("made")
