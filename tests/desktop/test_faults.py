"""Everything that can break does, and each time: a typed error, in bounded time, and nothing left over."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import (
    AccessibilityError,
    ApplicationExited,
    ApplicationHung,
    CommandTimeout,
    ConfigError,
    DesktopClosed,
    DesktopDied,
    DesktopError,
    DesktopTimeout,
    OperantError,
    UnknownApplication,
    WindowTimeout,
)
from operant.types import Action, Point

pytestmark = pytest.mark.x11

CLOSED_S = 3.0  # how long closing may take, whatever state the desktop is in


class Timer:
    def __enter__(self) -> Timer:
        self.began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.took = time.monotonic() - self.began


# What somebody asked for.


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"width": 0}, "width"),
        ({"height": -5}, "height"),
        ({"width": 10**6}, "width"),
        ({"width": "wide"}, "width"),
        ({"width": 800.5}, "width"),
        ({"wdith": 800}, "width"),
        (
            {"width": 1280, "height": 800, "monitors": [{"x": 0, "y": 0, "width": 9999, "height": 100}]},
            "monitor 0",
        ),
        ({"monitors": [{"x": -1, "y": 0, "width": 100, "height": 100}]}, "x"),
        ({"monitors": "two"}, "monitors"),
        ({"environment": {"A=B": "c"}}, "environment"),
        ({"home": "/does/not/exist"}, "home"),
        ({"limits": {"memory_mb": 1}}, "memory_mb"),
    ],
)
def test_a_malformed_setting_is_named(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        DesktopConfig.build(**settings)


def test_an_unknown_application_comes_with_a_near_name(desktop: SandboxDesktop) -> None:
    with pytest.raises(UnknownApplication, match="mousepda") as caught:
        desktop.launch("mousepda")
    assert "mousepad" in (caught.value.hint or "")
    with pytest.raises(UnknownApplication):
        desktop.start("/home/user")
    with pytest.raises(UnknownApplication):
        desktop.run("")
    with pytest.raises(UnknownApplication):
        desktop.run("echo 'unfinished")
    with pytest.raises(UnknownApplication):
        desktop.run(["echo", "a\0b"])
    desktop.check()


def test_an_application_that_ends_at_once_is_quoted(desktop: SandboxDesktop) -> None:
    with Timer() as timer, pytest.raises(ApplicationExited, match=r"code 3.*no such luck"):
        desktop.launch(["sh", "-c", "echo no such luck >&2; exit 3"])
    assert timer.took < 2.0


def test_an_application_that_shows_no_window_times_out(desktop: SandboxDesktop) -> None:
    with Timer() as timer, pytest.raises(WindowTimeout, match="sleep"):
        desktop.launch("sleep 600", timeout_s=0.3)
    assert 0.3 <= timer.took < 1.5


def test_an_application_that_ends_well_without_a_window_does_not_take_the_whole_time(
    desktop: SandboxDesktop,
) -> None:
    """A launcher may hand over to a program that shows the window, so it is waited for, but not for ever."""
    with Timer() as timer, pytest.raises(WindowTimeout):
        desktop.launch("true", timeout_s=0.5)
    assert timer.took < 1.5


def test_a_command_that_does_not_end_is_killed_with_what_it_said(
    desktop: SandboxDesktop, eventually: Any
) -> None:
    with Timer() as timer, pytest.raises(CommandTimeout, match="halfway"):
        desktop.run(["sh", "-c", "echo halfway; sleep 600 & sleep 600"], timeout_s=0.3)
    assert timer.took < 1.5
    eventually(lambda: not any(process.name == "sleep" for process in desktop.processes()))


# Programs that hang.


def test_a_hung_application_does_not_hang_the_desktop(
    desktop: SandboxDesktop, edit: Callable[..., Any]
) -> None:
    editor = edit(desktop)
    desktop.run(["sh", "-c", "kill -STOP $(pidof mousepad)"])
    for action in (Action.click(editor.window and Point(0.4, 0.4)), Action.key("a"), Action.type("abc"),
                   Action.drag(Point(0.4, 0.4), Point(0.6, 0.6)), Action.scroll(dy=3)):  # fmt: skip
        with Timer() as timer:
            desktop.perform(action)
        assert timer.took < 2.0 + desktop.config.settle.cap_ms / 1000, action.kind
    with Timer() as timer, pytest.raises(AccessibilityError):
        desktop.accessibility(timeout_s=0.4)
    assert timer.took < 1.5
    assert len(desktop.windows()) == 1
    desktop.run(["sh", "-c", "kill -CONT $(pidof mousepad)"])
    editor.expect("aabc")


def test_typing_into_a_hung_application_never_gives_it_other_characters(
    desktop: SandboxDesktop, edit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.desktop.keyboard.DRAINED_S", 0.5)
    editor = edit(desktop)
    desktop.run(["sh", "-c", "kill -STOP $(pidof mousepad)"])
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 100)))
    with Timer() as timer, pytest.raises(ApplicationHung):
        desktop.perform(Action.type(text))
    assert timer.took < 3.0
    desktop.run(["sh", "-c", "kill -CONT $(pidof mousepad)"])
    desktop.settle()
    got = editor.text()
    assert got
    assert text.startswith(got)


def test_a_program_that_holds_the_server_gives_a_typed_error_and_a_reset_helps(
    fresh: Callable[..., SandboxDesktop],
) -> None:
    desktop = fresh()
    desktop._seat.display.timeout_s = 0.5
    desktop.run(["/usr/bin/python3", "-c", textwrap.dedent("""
        import ctypes, os, time
        x = ctypes.CDLL("libX11.so.6"); x.XOpenDisplay.restype = ctypes.c_void_p
        d = ctypes.c_void_p(x.XOpenDisplay(None)); x.XGrabServer(d); x.XSync(d, 0)
        if os.fork(): os._exit(0)
        time.sleep(600)""")])  # fmt: skip
    for use in (lambda: desktop.windows(), lambda: desktop.perform(Action.click(Point(0.5, 0.5)))):
        with Timer() as timer, pytest.raises(DesktopError) as caught:
            use()
        assert timer.took < 3.0
        assert isinstance(caught.value, (DesktopTimeout, DesktopDied))
    assert desktop.frame().shape == (800, 1280, 3)
    desktop.reset()
    desktop.check()
    assert desktop.launch("mousepad").focused


def test_a_stopped_window_manager_is_noticed(
    fresh: Callable[..., SandboxDesktop], pids_named: Callable[..., list[int]]
) -> None:
    desktop = fresh()
    os.kill(pids_named(desktop, "openbox")[0], signal.SIGSTOP)
    with Timer() as timer, pytest.raises(OperantError):
        desktop.launch("xterm", timeout_s=0.5)
    assert timer.took < 4.0
    with Timer() as timer:
        desktop.reset()
    assert timer.took < 4.0
    assert desktop.launch("mousepad").focused


@pytest.mark.parametrize("victim", ["Xvfb", "bwrap"])
def test_a_stopped_part_of_the_desktop_is_a_typed_error(
    fresh: Callable[..., SandboxDesktop],
    pids_named: Callable[..., list[int]],
    pids_of: Any,
    alive: Any,
    victim: str,
) -> None:
    desktop = fresh()
    pids = pids_of(desktop)
    if victim == "Xvfb":
        desktop._seat.display.timeout_s = 0.5
        os.kill(pids_named(desktop, victim)[0], signal.SIGSTOP)
        with Timer() as timer, pytest.raises(DesktopError):
            desktop.perform(Action.key("a"))
        assert timer.took < 3.0
    else:
        os.kill(desktop._supervised.process.pid, signal.SIGSTOP)
        desktop.perform(Action.key("a"))
    with Timer() as timer:
        desktop.close()
    assert timer.took < CLOSED_S
    assert alive(pids) == []


# Parts that die.

USES: dict[str, Callable[[SandboxDesktop], object]] = {
    "perform": lambda desktop: desktop.perform(Action.click(Point(0.5, 0.5))),
    "type": lambda desktop: desktop.perform(Action.type("é" * 100)),
    "frame": lambda desktop: desktop.frame(),
    "windows": lambda desktop: desktop.windows(),
    "accessibility": lambda desktop: desktop.accessibility("desktop"),
    "run": lambda desktop: desktop.run("true"),
    "launch": lambda desktop: desktop.launch("xterm", timeout_s=1.0),
    "clipboard": lambda desktop: desktop.clipboard.get(),
    "files": lambda desktop: desktop.files.list(),
    "processes": lambda desktop: desktop.processes(),
    "memory": lambda desktop: desktop.memory(),
    "check": lambda desktop: desktop.check(),
}


def victims(desktop: SandboxDesktop, victim: str, pids_named: Any, pids_of: Any) -> list[int]:
    """The machine's pids of a part: the outermost bwrap, the process 1 behind it, or a program."""
    if victim == "bwrap":
        return [desktop._supervised.process.pid]
    if victim == "supervisor":
        return pids_of(desktop)[1:2]
    if victim == "episode":
        return [pid for pid in pids_named(desktop, "python3") if pid not in pids_of(desktop)[:2]]
    return pids_named(desktop, victim)


@pytest.mark.parametrize("victim", ["Xvfb", "openbox", "supervisor", "bwrap", "dbus-daemon", "episode"])
def test_a_part_that_is_gone_gives_typed_errors_only(
    fresh: Callable[..., SandboxDesktop],
    pids_named: Any,
    pids_of: Any,
    alive: Any,
    eventually: Any,
    victim: str,
) -> None:
    desktop = fresh()
    desktop.run("true")
    everything = pids_of(desktop)
    killed = victims(desktop, victim, pids_named, pids_of)
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not alive(killed))
    raised = {}
    for name, use in USES.items():
        with Timer() as timer:
            try:
                use(desktop)
            except OperantError as error:
                raised[name] = error
        assert timer.took < 3.0, name
    must = {
        "Xvfb": {"perform", "windows", "launch", "check"},
        "openbox": {"check"},
        "supervisor": {"run", "check", "memory", "processes", "files"},
        "bwrap": {"run", "check", "memory", "processes", "files"},
        "dbus-daemon": {"accessibility"},
        "episode": {"run", "check", "processes", "files", "launch"},
    }[victim]
    assert must <= raised.keys(), raised
    if victim in ("Xvfb", "openbox", "dbus-daemon", "episode"):  # these can be replaced
        with Timer() as timer:
            desktop.reset()
        assert timer.took < 3.0
        desktop.check()
        assert desktop.launch("mousepad").focused
        everything += pids_of(desktop)
    else:
        with Timer() as timer, pytest.raises(DesktopError):
            desktop.reset()
        assert timer.took < 3.0
    with Timer() as timer:
        desktop.close()
    assert timer.took < CLOSED_S
    eventually(lambda: not alive(everything))


@pytest.mark.parametrize(
    ("victim", "use"),
    [
        *[
            (victim, use)
            for victim in ("Xvfb", "supervisor")
            for use in ("perform", "type", "run", "reset", "launch")
        ],
        *[(victim, use) for victim in ("openbox", "episode") for use in ("reset", "launch")],
        *[(victim, "accessibility") for victim in ("Xvfb", "supervisor", "episode")],
        ("bwrap", "perform"),
    ],
)
def test_a_part_that_dies_in_the_middle_gives_a_typed_error_or_none(
    fresh: Callable[..., SandboxDesktop],
    pids_named: Any,
    pids_of: Any,
    alive: Any,
    eventually: Any,
    victim: str,
    use: str,
) -> None:
    desktop = fresh()
    if use in ("perform", "type", "accessibility"):
        desktop.start("xterm")
    everything = pids_of(desktop)
    killed = victims(desktop, victim, pids_named, pids_of)
    raised: list[BaseException] = []
    uses = {**USES, "reset": lambda desktop: desktop.reset()}
    started = threading.Event()

    def keep_using() -> None:
        try:
            for _ in range(200):
                started.set()
                uses[use](desktop)
                if not alive(killed):
                    uses[use](desktop)
                    return
        except BaseException as error:  # noqa: BLE001 - what it is, is what the test looks at
            raised.append(error)

    thread = threading.Thread(target=keep_using)
    with Timer() as timer:
        thread.start()
        started.wait()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        thread.join(10.0)
    assert not thread.is_alive()
    assert timer.took < 8.0
    assert all(isinstance(error, OperantError) for error in raised), raised
    everything += pids_of(desktop)
    with Timer() as timer:
        desktop.close()
    assert timer.took < CLOSED_S
    eventually(lambda: not alive(everything))


def test_other_desktops_do_not_notice(fresh: Callable[..., SandboxDesktop], edit: Any, pids_of: Any) -> None:
    well, ill = fresh(), fresh()
    editor = edit(well)
    os.kill(pids_of(ill)[1], signal.SIGKILL)
    editor.type("still here é")
    editor.expect("still here é")
    with pytest.raises(DesktopError):
        ill.reset()
    well.reset()
    well.check()


# Closing.


def test_closing_twice_does_no_harm_and_what_is_closed_says_so(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh()
    desktop.close()
    desktop.close()
    assert desktop.closed
    for use in (*USES.values(), SandboxDesktop.reset, SandboxDesktop.settle):
        with pytest.raises(DesktopClosed):
            use(desktop)


@pytest.mark.parametrize(
    "use", ["perform", "run", "long run", "accessibility", "launch", "reset", "wait", "clipboard"]
)
def test_closing_while_another_thread_uses_it(
    fresh: Callable[..., SandboxDesktop], pids_of: Any, alive: Any, use: str
) -> None:
    desktop = fresh()
    uses: dict[str, Callable[[SandboxDesktop], object]] = {
        **USES,
        "reset": lambda desktop: desktop.reset(),
        "long run": lambda desktop: desktop.run("sleep 600"),
        "wait": lambda desktop: desktop.perform(Action.wait(0.5)),
        "launch": lambda desktop: desktop.launch("sleep 600", timeout_s=1.0),
    }
    raised: list[BaseException] = []
    started = threading.Event()

    def keep_using() -> None:
        try:
            while True:
                started.set()
                uses[use](desktop)
        except WindowTimeout:
            keep_using()
        except BaseException as error:  # noqa: BLE001 - what it is, is what the test looks at
            raised.append(error)

    pids = pids_of(desktop)
    thread = threading.Thread(target=keep_using)
    thread.start()
    started.wait()
    with Timer() as timer:
        desktop.close()
    assert timer.took < CLOSED_S
    thread.join(5.0)
    assert not thread.is_alive()
    assert [type(error) for error in raised] in ([DesktopClosed], [DesktopDied])
    assert alive(pids) == []


def test_a_forgotten_desktop_goes_away(
    fresh: Callable[..., SandboxDesktop], pids_of: Any, alive: Any, eventually: Any
) -> None:
    desktop = SandboxDesktop()
    desktop.launch("mousepad")
    pids = pids_of(desktop)
    assert len(pids) > 5
    del desktop
    gc.collect()
    eventually(lambda: not alive(pids))


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for temporary files that no other test uses. Its name is short, as names of sockets have to be."""
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        monkeypatch.setenv("TMPDIR", place)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(place)


def leftovers(*places: str | Path) -> set[str]:
    """What desktops could have left in places that other tests use as well, where they leave nothing either."""
    ours = ("operant", ".X", "xvfb", "dbus", "bwrap", "bindfile", "shm", "at-spi", "memfd")
    names = {f"{place}/{name}" for place in places if os.path.isdir(place) for name in os.listdir(place)}
    return {name for name in names if os.path.basename(name).startswith(ours)}


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.parametrize("isolated", [True, False])
def test_starting_and_closing_leaks_nothing(
    fresh: Callable[..., SandboxDesktop],
    open_files: Callable[[], int],
    eventually: Any,
    temporary: Path,
    isolated: bool,
) -> None:
    shared = ("/tmp/.X11-unix", "/dev/shm", "/run", "/var/tmp")

    def once() -> None:
        with fresh(isolated=isolated) as desktop:
            desktop.run("true")
            desktop.frame()
            desktop.accessibility("desktop")

    once()
    gc.collect()
    files, maps, threads, before = open_files(), mappings(), threading.active_count(), leftovers(*shared)
    for _ in range(20 if isolated else 5):
        once()
    gc.collect()
    assert threading.active_count() == threads
    assert list(temporary.iterdir()) == []
    eventually(lambda: leftovers(*shared) <= before)
    assert open_files() <= files
    assert mappings() < maps + 10


def test_resets_and_uses_leak_nothing(desktop: SandboxDesktop, open_files: Callable[[], int]) -> None:
    def once() -> None:
        desktop.run("true")
        desktop.clipboard.set("x")
        desktop.files.write("a", "b")
        desktop.files.read("a")
        desktop.accessibility("desktop")
        with pytest.raises(CommandTimeout):
            desktop.run("sleep 9", timeout_s=0.01)
        with pytest.raises(FileNotFoundError):
            desktop.files.read("missing")
        with pytest.raises(UnknownApplication):
            desktop.run("nonexistent")
        desktop.run("setxkbmap de")  # so that the display is replaced
        desktop.reset()

    once()
    gc.collect()
    before, maps = open_files(), mappings()
    for _ in range(6):
        once()
    gc.collect()
    assert open_files() <= before
    assert mappings() < maps + 10


def test_the_supervisor_leaks_no_descriptor(fresh: Callable[..., SandboxDesktop], pids_of: Any) -> None:
    desktop = fresh()
    supervisor = pids_of(desktop)[1]
    desktop.reset()

    def count() -> int:
        desktop.frame()
        desktop._open().programs.busy()  # lists anew whatever it watches
        return len(os.listdir(f"/proc/{supervisor}/fd"))

    before = count()
    for _ in range(15):
        desktop.run("true")
        desktop.clipboard.set("x")
        desktop.perform(Action.key("a"))
        desktop.reset()
    assert count() == before


def test_a_start_that_fails_leaves_nothing(
    open_files: Callable[[], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    (tmp_path / "bwrap").chmod(0o755)
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:-2]:
        parent.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    counts = []
    for _ in range(4):
        with Timer() as timer, pytest.raises(OperantError, match="namespace"):
            SandboxDesktop()
        assert timer.took < 2.0
        gc.collect()
        counts.append(open_files())
    assert counts[0] == counts[-1]


# Owners that die.

OWNER = """
import os, signal, sys, time
from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
desktops = [SandboxDesktop(DesktopConfig.build(isolated=sys.argv[2] == "isolated")) for _ in range(2)]
for desktop in desktops:
    desktop.launch("xterm")
    desktop.start(["sh", "-c", "trap '' TERM HUP INT; setsid sleep 600"])
child = 0
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        time.sleep(600)  # keeps every descriptor of the owner open
print(*(desktop._supervised.process.pid for desktop in desktops), child, flush=True)
if sys.argv[1] == "raise":
    sys.stdin.readline()
    raise RuntimeError("the owner's own fault")
if sys.argv[1] == "exit":
    sys.stdin.readline()
    os._exit(0)
while True:
    desktops[0].perform(__import__("operant.types").types.Action.key("a"))
"""


@pytest.fixture
def owner(temporary: Path) -> Iterator[Callable[[str, str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(how: str, walls: str) -> subprocess.Popen[str]:
        source = Path(sys.modules["operant"].__file__ or "").parents[1]
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", OWNER, how, walls],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(source)},
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


@pytest.mark.parametrize(
    ("how", "walls"),
    [
        *[(how, "isolated") for how in ("SIGKILL", "SIGTERM", "SIGINT", "raise", "exit", "fork")],
        *[(how, "bare") for how in ("SIGKILL", "SIGTERM", "raise", "fork")],
    ],
)
def test_nothing_outlives_its_owner(
    owner: Any, temporary: Path, pids_below: Any, alive: Any, eventually: Any, how: str, walls: str
) -> None:
    process = owner(how, walls)
    *supervisors, child = map(int, process.stdout.readline().split())
    pids = [pid for supervisor in supervisors for pid in pids_below(supervisor)]
    assert len(pids) > 10
    try:
        if how in ("raise", "exit"):
            process.stdin.write("\n")
            process.stdin.flush()
        else:
            process.send_signal(getattr(signal, how, signal.SIGKILL))
        process.wait(10.0)
        eventually(lambda: not alive(pids), 10.0)
        eventually(lambda: not list(temporary.iterdir()), 10.0)
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
