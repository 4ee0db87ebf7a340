# ruff: noqa: E501  (scripts for other programs stay in one piece)
"""The next episode finds nothing of the last one, however hard that one tried to stay."""

from __future__ import annotations

import statistics
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action, ActionKind, Button, Point

pytestmark = pytest.mark.x11

LONGEST_RESET_S = 4.0  # a tenth of it on a machine that has nothing else to do

#: What a curious program could look at for traces of an earlier one.
LOOKS = {
    "files": "cd /; find home tmp run dev/shm var mnt operant -printf '%p %y %m %s\\n' | sort",
    "disk": "df --output=target,used,iused /home/user /tmp /dev/shm /run/user/1000 | grep -v ^Mounted",
    "shared memory": "cat /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg | awk '{print $1}' | sort",
    "sockets": "cat /proc/net/tcp /proc/net/udp | wc -l; awk '{print $8}' /proc/net/unix | sort | uniq -c",
    "mounts": "sed 's/^[0-9]* [0-9]* [0-9:]* //; s/bindfile[^ ]*//' /proc/self/mountinfo | sort",
    "names": "hostname; id; pwd; umask; env | sort; ulimit -a",
    "keyboard": "xmodmap -pke; xmodmap -pm; xmodmap -pp; setxkbmap -query",
    "settings": "xset q",
    "root": "xprop -root | grep -v -e _OPENBOX_PID -e _NET_SUPPORTING_WM_CHECK | sort; xwininfo -root -children | grep -v 0x",
    "screen": "xrandr --verbose | grep -v Timestamp",
    "connections": "xlsclients | wc -l",
}


def look(desktop: SandboxDesktop) -> dict[str, object]:
    # In one go, which is quicker. What one look says is between its name and the next one's.
    script = "\n".join(f"echo '=== {name}'; ({look}) 2>/dev/null" for name, look in LOOKS.items())
    said = desktop.run(["sh", "-c", script]).output.split("=== ")[1:]
    found: dict[str, object] = dict(part.split("\n", 1) for part in said)
    assert found.keys() == LOOKS.keys()
    found["processes"] = sorted(process.name for process in desktop.processes())
    found["windows"] = desktop.windows()
    found["clipboard"] = [desktop.clipboard.get(name) for name in ("clipboard", "primary", "secondary")]
    found["pointer"] = desktop.pointer()
    # The look itself left its programs' names in the kernel's last pid and such, and nothing on the screen.
    found["frame"] = desktop.frame().tobytes()
    return found


@pytest.fixture(scope="module")
def untouched() -> dict[str, object]:
    """A fresh desktop, once the window manager has made all of its own windows."""
    with SandboxDesktop() as desktop:
        seen = look(desktop)
        for _ in range(20):
            time.sleep(0.2)
            before, seen = seen, look(desktop)
            if before == seen:
                return seen
    raise AssertionError("a fresh desktop does not come to rest")


def python(script: str) -> list[str]:
    return ["/usr/bin/python3", "-c", textwrap.dedent(script)]


def x11(script: str) -> list[str]:
    """A program that talks to the X server itself, with ``x`` for libX11 and ``d`` for a display."""
    head = """
    import ctypes, os, sys, time
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    for name in ("XDefaultRootWindow", "XCreateSimpleWindow", "XInternAtom", "XCreatePixmap"):
        getattr(x, name).restype = ctypes.c_ulong
    d = ctypes.c_void_p(x.XOpenDisplay(None))
    root = ctypes.c_ulong(x.XDefaultRootWindow(d))
    """
    return python(textwrap.dedent(head) + textwrap.dedent(script))


PERMANENT = 1  # RetainPermanent
TRACES: dict[str, list[list[str]]] = {
    "a daemon": [["sh", "-c", "setsid sh -c 'while :; do sleep 0.01; touch /tmp/alive; done' & exit 0"]],
    "a double fork": [python("""
        import os, time
        if os.fork(): os._exit(0)
        os.setsid()
        if os.fork(): os._exit(0)
        time.sleep(600)""")],
    "a fork loop": [python("""
        import os, time
        if os.fork(): os._exit(0)
        while True:
            if os.fork(): os._exit(0)
            time.sleep(0.0005)""")],
    "a respawning pair": [["sh", "-c", "setsid sh -c 'while :; do sleep 600 & wait; done' >/dev/null 2>&1 & exit 0"]],
    "a deaf program": [["sh", "-c", "trap '' TERM HUP INT QUIT; setsid sleep 600 & exit 0"]],
    "a stopped program": [["sh", "-c", "sleep 600 & kill -STOP $!"]],
    "read-only files": [["sh", "-c", "mkdir -p a/b/c && touch a/b/c/d && chmod 400 a/b/c/d && chmod 500 a/b/c a/b a"]],
    "files that nobody may touch": [["sh", "-c", "mkdir secret && touch secret/x && chmod 000 secret/x secret; touch /tmp/x; chmod 000 /tmp/* ~"]],
    "files with odd names": [["sh", "-c", "touch -- -rf '*' \"$(printf 'a\\nb')\" \"$(printf '\\377')\" /tmp/.hidden; ln -s / loop; mkfifo pipe"]],
    "changed settings files": [["sh", "-c", "echo broken > .config/gtk-3.0/settings.ini; rm -rf .Xdefaults; echo exit > .profile"]],
    "a full /tmp": [["sh", "-c", "head -c 600M /dev/zero > /tmp/big; true"]],
    "a full HOME": [["sh", "-c", "head -c 600M /dev/zero > big; head -c 600M /dev/zero > /dev/shm/big; true"]],
    "ten thousand files": [python("""
        import os
        for place in (".", "/tmp"):
            for i in range(5000): os.close(os.open(f"{place}/f{i}", os.O_CREAT | os.O_WRONLY))""")],
    "files wherever they can be": [["sh", "-c", "find / \\( -path /proc -o -path /usr/share \\) -prune -o -type d -writable -print 2>/dev/null |"
                                    "while read -r d; do echo mark > $d/mark; done; true"]],
    "a hidden mount point": [["sh", "-c", "mkdir -p /var/mark /dev/mark /run/mark /home/mark /mnt/mark; true"]],
    "deep directories": [python("""
        import os
        for i in range(1000): os.mkdir("d"); os.chdir("d")""")],
    "another layout": [["setxkbmap", "-layout", "de,ru", "-option", "grp:alt_shift_toggle"]],
    "keys that mean others": [["xmodmap", "-e", "keycode 38 = b B", "-e", "keycode 56 = a A"]],
    "modifiers that mean others": [["xmodmap", "-e", "remove lock = Caps_Lock", "-e", "add control = Caps_Lock"]],
    "keyboard actions": [["sh", "-c", "xkbcomp -I :0 -o m.xkb -xkb $DISPLAY >/dev/null 2>&1; xkbcomp $DISPLAY m.xkb 2>/dev/null;"
                          "sed -i 's/interpret Any+AnyOf(all)/interpret F5+AnyOf(all) { action= SetMods(modifiers=Shift); }; interpret Any+AnyOf(all)/' m.xkb;"
                          "xkbcomp m.xkb $DISPLAY >/dev/null 2>&1; true"]],
    "swapped buttons": [["xmodmap", "-e", "pointer = 3 2 1"]],
    "a fast pointer": [["xset", "m", "20", "1"]],
    "a slow keyboard": [["xset", "r", "rate", "2000", "1"], ["xset", "-r", "38"]],
    "a screen saver": [["xset", "s", "1", "1"], ["xset", "s", "activate"]],
    "lights": [["xset", "led", "3"]],
    "another background": [["xsetroot", "-solid", "red"]],
    "a background to come": [x11("x.XSetWindowBackground(d, root, ctypes.c_ulong(0xFF0000)); x.XSync(d, 0)")],
    "another cursor": [["xsetroot", "-cursor_name", "watch"]],
    "root properties": [["xprop", "-root", "-f", "MARK", "8s", "-set", "MARK", "I was here"],
                        ["xprop", "-root", "-f", "_NET_DESKTOP_NAMES", "8s", "-set", "_NET_DESKTOP_NAMES", "I was here"]],
    "resources": [["sh", "-c", "echo 'xterm*background: red' | xrdb -merge"]],
    "cut buffers": [x11("x.XStoreBuffer(d, b'I was here', 10, 0); x.XSync(d, 0)")],
    "a long property": [x11("""
        data = b"x" * 200000
        x.XChangeProperty(d, root, x.XInternAtom(d, b"LONG", 0), 31, 8, 0, data, len(data)); x.XSync(d, 0)""")],
    "a window that stays": [x11(f"""
        x.XSetCloseDownMode(d, {PERMANENT})
        w = x.XCreateSimpleWindow(d, root, 10, 10, 300, 300, 0, 0, 0xFF)
        x.XMapWindow(d, ctypes.c_ulong(w)); x.XSync(d, 0); os._exit(0)""")],
    "a hidden window that stays": [x11(f"""
        x.XSetCloseDownMode(d, {PERMANENT})
        w = x.XCreateSimpleWindow(d, root, 10, 10, 300, 300, 0, 0, 0xFF)
        x.XStoreName(d, ctypes.c_ulong(w), b"I was here"); x.XSync(d, 0); os._exit(0)""")],
    "a pixmap that stays": [x11(f"""
        x.XSetCloseDownMode(d, {PERMANENT})
        x.XCreatePixmap(d, root, 2000, 2000, 24); x.XSync(d, 0); os._exit(0)""")],
    "a window on top": [x11("""
        import struct
        w = ctypes.c_ulong(x.XCreateSimpleWindow(d, root, 0, 0, 1280, 800, 0, 0, 0xFF))
        attributes = ctypes.create_string_buffer(112)
        attributes[88] = 1  # override_redirect of XSetWindowAttributes
        x.XChangeWindowAttributes(d, w, ctypes.c_ulong(1 << 9), attributes)
        x.XMapRaised(d, w); x.XSync(d, 0)
        if os.fork(): os._exit(0)
        time.sleep(600)""")],
    "many windows": [["sh", "-c", "for i in 1 2 3 4 5 6; do xmessage -geometry +$((i*50))+50 $i & done; exit 0"]],
    "a grabbed server": [x11("x.XGrabServer(d); x.XSync(d, 0)\nif os.fork(): os._exit(0)\ntime.sleep(600)")],
    "a grabbed keyboard and pointer": [x11("""
        x.XGrabKeyboard(d, root, 0, 1, 1, 0); x.XGrabPointer(d, root, 0, 0, 1, 1, 0, 0, 0); x.XSync(d, 0)
        if os.fork(): os._exit(0)
        time.sleep(600)""")],
    "an owned selection": [["sh", "-c", "printf secret | xclip -selection clipboard; printf secret | xclip -selection primary"]],
    "a changed focus": [x11("x.XSetInputFocus(d, ctypes.c_ulong(1), 0, 0); x.XSync(d, 0)")],
    "a changed access list": [["xhost", "+"]],
    "a new video mode": [["xrandr", "--newmode", "mine", "50", "800", "801", "802", "803", "600", "601", "602", "603"]],
    "another screen size": [["xrandr", "--fb", "800x600"], ["xrandr", "-s", "640x480"]],
    "another monitor": [["xrandr", "--setmonitor", "mine", "100/100x100/100+0+0", "none"]],
    "gamma": [["xrandr", "--output", "screen", "--gamma", "0.3:0.3:0.3"]],
    "more desktops": [["xprop", "-root", "-f", "_NET_NUMBER_OF_DESKTOPS", "32c", "-set", "_NET_NUMBER_OF_DESKTOPS", "7"]],
    "System V objects": [["ipcmk", "-M", "100000"], ["ipcmk", "-S", "3"], ["ipcmk", "-Q"]],
    "POSIX queues and shared memory": [python("""
        import ctypes, os
        librt = ctypes.CDLL("librt.so.1", use_errno=True)
        assert librt.mq_open(b"/mine", os.O_CREAT | os.O_RDWR, 0o600, None) >= 0
        open("/dev/shm/mine", "w").write("I was here")""")],
    "listening sockets": [python("""
        import os, socket, time
        tcp = socket.create_server(("127.0.0.1", 8080))
        hidden = socket.socket(socket.AF_UNIX); hidden.bind("\\0mine"); hidden.listen()
        if os.fork(): os._exit(0)
        time.sleep(600)""")],
    "a stolen bus name": [["sh", "-c", "kill $(pidof dbus-daemon)"]],
}  # fmt: skip


@pytest.mark.parametrize("trace", TRACES)
def test_a_reset_leaves_nothing_of(desktop: SandboxDesktop, untouched: dict[str, object], trace: str) -> None:
    for command in TRACES[trace]:
        desktop.run(command, timeout_s=20.0)
    before = time.monotonic()
    desktop.reset()
    took = time.monotonic() - before
    found = look(desktop)
    assert [name for name in untouched if found[name] != untouched[name]] == [], {
        name: (found[name], untouched[name])
        for name in untouched
        if name != "frame" and found[name] != untouched[name]
    }
    assert took < LONGEST_RESET_S


@pytest.mark.parametrize(
    "trace", ["another layout", "a fork loop", "root properties", "a window that stays", "swapped buttons"]
)
def test_the_traces_are_really_there_before_the_reset(
    desktop: SandboxDesktop, untouched: dict[str, object], trace: str, eventually: Callable[..., Any]
) -> None:
    for command in TRACES[trace]:
        assert desktop.run(command).returncode == 0

    # A process that lives for half a millisecond and hands on to its child is not in every list of processes.
    def differs() -> bool:
        found = look(desktop)
        return any(found[name] != untouched[name] for name in untouched)

    eventually(differs)


def test_killing_the_window_manager_over_x_is_undone(
    desktop: SandboxDesktop, untouched: dict[str, object]
) -> None:
    killed = desktop.run(
        x11("""
        import re, subprocess
        said = subprocess.run(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"], capture_output=True, text=True).stdout
        x.XKillClient(d, ctypes.c_ulong(int(re.search(r"0x[0-9a-f]+", said)[0], 16))); x.XSync(d, 0)""")
    )
    assert killed.returncode == 0
    desktop.reset()
    desktop.check()
    assert look(desktop)["frame"] == untouched["frame"]
    assert desktop.launch("mousepad").focused


def test_the_background_is_as_it_was_also_where_it_is_drawn_anew(
    desktop: SandboxDesktop, untouched: dict[str, object]
) -> None:
    desktop.run(TRACES["a background to come"][0])
    desktop.reset()
    desktop.run(x11("x.XClearWindow(d, root); x.XSync(d, 0)"))
    assert desktop.frame().tobytes() == untouched["frame"]


@pytest.mark.parametrize("how", ["--exit", "--restart", "--reconfigure"])
def test_telling_the_window_manager_what_to_do_is_undone(
    desktop: SandboxDesktop, untouched: dict[str, object], how: str
) -> None:
    desktop.run(["openbox", how], timeout_s=5.0)
    desktop.reset()
    desktop.check()
    found = look(desktop)
    assert [name for name in untouched if found[name] != untouched[name]] == []
    assert desktop.launch("mousepad").focused


def test_cutting_the_owner_off_the_display_is_undone(
    desktop: SandboxDesktop, untouched: dict[str, object]
) -> None:
    ours = desktop._seat.display.connection.get_setup().resource_id_base
    desktop.run(
        x11(
            f"x.XKillClient(d, ctypes.c_ulong({ours | 1})); x.XKillClient(d, ctypes.c_ulong({ours})); x.XSync(d, 0)"
        )
    )
    desktop.reset()
    desktop.check()
    assert look(desktop)["frame"] == untouched["frame"]


@pytest.mark.parametrize(
    "stuck",
    [
        [Action(ActionKind.KEY_DOWN, keys=("shift",))],
        [Action(ActionKind.KEY_DOWN, keys=("ctrl", "alt"))],
        [Action(ActionKind.KEY_DOWN, keys=("é",))],
        [Action(ActionKind.MOUSE_DOWN, point=Point(0.1, 0.1))],
        [
            Action(ActionKind.MOUSE_DOWN, button=Button.RIGHT),
            Action(ActionKind.MOUSE_DOWN, button=Button.BACK),
        ],
        [Action.key("capslock"), Action.key("numlock")],
    ],
    ids=["shift", "ctrl-alt", "bound key", "button", "buttons", "locks"],
)
def test_nothing_stays_pressed_or_locked(
    desktop: SandboxDesktop, edit: Callable[..., Any], stuck: list[Action]
) -> None:
    editor = edit(desktop)
    for action in stuck:
        desktop.perform(action)
    displays = desktop.resets_of_display
    desktop.reset()
    editor = edit(desktop)
    editor.type("Aa <é")
    editor.expect("Aa <é")
    desktop.perform(Action.key("a"))
    desktop.perform(Action.click(editor.place(3)))
    editor.expect("Aa <éa")
    desktop.reset()
    assert desktop.resets_of_display == displays  # letting go is enough


def test_an_application_starts_the_same_after_a_reset(
    desktop: SandboxDesktop, edit: Callable[..., Any]
) -> None:
    first = edit(desktop).window
    frame = desktop.frame()
    for _ in range(2):
        desktop.perform(Action.type("some é text"))
        desktop.reset()
        window = edit(desktop).window
        assert (window.title, window.x, window.y, window.width) == (
            first.title,
            first.x,
            first.y,
            first.width,
        )
        assert np.array_equal(desktop.frame(), frame)


def test_resets_are_quick_and_keep_the_display(desktop: SandboxDesktop) -> None:
    displays, took = desktop.resets_of_display, []
    for _ in range(12):
        before = time.monotonic()
        desktop.reset()
        took.append(time.monotonic() - before)
    assert desktop.resets_of_display == displays
    assert statistics.median(took) < 0.4  # 0.02 on a machine that has nothing else to do


def test_a_reset_with_an_application_keeps_the_display(desktop: SandboxDesktop) -> None:
    displays = desktop.resets_of_display
    for name in ("mousepad", "galculator", "xterm", "pcmanfm"):
        desktop.launch(name)
        desktop.perform(Action.type("12é"))
        desktop.reset()
        assert desktop.windows() == []
    assert desktop.resets_of_display == displays


def test_a_reset_in_the_middle_of_a_start_is_clean(
    desktop: SandboxDesktop, untouched: dict[str, object]
) -> None:
    for delay in (0.0, 0.02, 0.05, 0.1):
        desktop.start("mousepad")
        began = time.monotonic()
        while time.monotonic() - began < delay:  # the moment matters here, not any state
            desktop.frame()
        desktop.reset()
        assert desktop.windows() == []
    assert look(desktop)["frame"] == untouched["frame"]


def test_the_home_template_comes_back(fresh: Callable[..., SandboxDesktop], tmp_path: Any) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("as it was")
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (tmp_path / "run.sh").chmod(0o755)
    desktop = fresh(home=str(tmp_path))
    for _ in range(2):
        assert desktop.files.read_text("sub/a.txt") == "as it was"
        assert desktop.run("./run.sh").output == "hi\n"
        desktop.run(["sh", "-c", "echo spoilt > sub/a.txt; rm run.sh; chmod 500 sub"])
        desktop.reset()


def test_output_of_the_last_episode_reaches_nobody(desktop: SandboxDesktop) -> None:
    desktop.start(["sh", "-c", "while :; do echo noise; done"])
    desktop.reset()
    assert desktop.run("echo quiet").output == "quiet\n"
