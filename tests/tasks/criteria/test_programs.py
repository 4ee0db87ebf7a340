"""Programs that run or only pretend to, the clipboard and its owners, and what commands say."""

from __future__ import annotations

import time

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import DesktopError, TaskError
from operant.tasks.criteria import ClipboardEquals, CommandOutput, Not, ProcessRunning, World
from operant.types import Action

pytestmark = pytest.mark.x11

RENAME = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'galculator', 0, 0, 0); time.sleep(60)"


# process_running


def test_a_program_runs(desktop, ask):
    assert not ask(ProcessRunning(name="galculator"))
    assert ask(ProcessRunning(name="galculator", running=False))
    desktop.launch("galculator")
    assert ask(ProcessRunning(name="galculator"))
    assert not ask(ProcessRunning(name="galculator", running=False))
    assert not ask(ProcessRunning(name="mousepad"))


def test_a_name_that_is_a_link_to_the_program(desktop, ask):
    desktop.start(["python3", "-c", "import time; time.sleep(60)"])
    assert ask(ProcessRunning(name="python3"))


def test_a_program_that_was_ended_does_not_run(desktop, ask, eventually):
    desktop.close_window(desktop.launch("galculator"))
    eventually(lambda: ask(ProcessRunning(name="galculator", running=False)))


@pytest.mark.parametrize(
    "cheat",
    [
        "exec -a galculator sleep 60",
        "exec -a /usr/bin/galculator sleep 60",
        "cp /usr/bin/sleep galculator; exec ./galculator 60",
        "mkdir -p usr/bin; cp /usr/bin/sleep usr/bin/galculator; exec usr/bin/galculator 60",
        "cp /usr/bin/sleep /tmp/galculator; /tmp/galculator 60 & rm /tmp/galculator; wait",
        "printf '#!/bin/sh\\nsleep 60\\n' > galculator; chmod +x galculator; exec ./galculator",
        f'exec python3 -c "{RENAME}"',
        "exec xterm -e 'sleep 60; galculator'",
    ],
)
def test_a_process_that_only_calls_itself_so(desktop, ask, cheat):
    desktop.start(["bash", "-c", cheat])
    time.sleep(0.3)
    assert not ask(ProcessRunning(name="galculator"))


def test_a_program_under_another_name_still_runs(desktop, ask):
    desktop.launch(["bash", "-c", "exec -a something galculator"])
    assert not ask(ProcessRunning(name="galculator", running=False))
    assert ask(ProcessRunning(name="galculator"))


def test_the_name_of_a_program_is_a_name(ask):
    with pytest.raises(TaskError):
        ProcessRunning(name="/usr/bin/galculator")


# clipboard_equals


def test_the_clipboard_equals(desktop, ask):
    assert not ask(ClipboardEquals(text="hello")), "nothing was copied yet"
    desktop.clipboard.set("hello\n")
    assert ask(ClipboardEquals(text="hello"))
    assert not ask(ClipboardEquals(text="hello", strip=False))
    assert not ask(ClipboardEquals(text="hell"))


def test_an_agent_copies(desktop, ask):
    desktop.launch("mousepad")
    for action in (Action.type("grün 42"), Action.key("ctrl", "a"), Action.key("ctrl", "c")):
        desktop.perform(action)
    assert ask(ClipboardEquals(text="grün 42"))


@pytest.mark.parametrize(
    "cheat",
    [
        "printf right | xclip -selection primary -i",  # selected, not copied
        "printf 'wrong right' | xclip -selection clipboard -i",
        "printf 'right\\0more' | xclip -selection clipboard -i",
    ],
)
def test_what_is_not_quite_on_the_clipboard(ask, shell, cheat):
    shell(cheat + " > /dev/null 2>&1")
    assert not ask(ClipboardEquals(text="right"))


def test_an_owner_that_hangs_holds_nobody_up(ask, shell):
    shell("printf right | xclip -selection clipboard -i > /dev/null 2>&1; kill -STOP $(pidof xclip)")
    before = time.monotonic()
    verdict = ask(ClipboardEquals(text="right"))
    assert time.monotonic() - before < 6
    assert not verdict
    assert not Not(of=_Always(verdict)).check(None), "nor is it known that something else is there"


class _Always(ClipboardEquals):
    """Gives a verdict that was given before."""

    def __init__(self, verdict):
        super().__init__(text="")
        object.__setattr__(self, "_verdict", verdict)

    def check(self, world):
        return self._verdict


# command_output


def test_what_a_command_says(desktop, ask):
    desktop.files.write("a.txt", "one\ntwo\n")
    assert ask(CommandOutput(command=["cat", "a.txt"], equals="one\ntwo"))
    assert ask(CommandOutput(command=["wc", "-l", "a.txt"], contains="2 a.txt"))
    assert not ask(CommandOutput(command=["cat", "a.txt"], equals="one"))
    assert not ask(CommandOutput(command=["cat", "a.txt"], contains="three"))


def test_no_shell_reads_a_command(desktop, ask):
    assert ask(CommandOutput(command=["echo", "$(id); `id` > x"], equals="$(id); `id` > x"))
    assert desktop.files.list(".") == [] or not desktop.files.exists("x")


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "echo right; exit 1"],
        ["sh", "-c", "echo right >&2"],
        ["sh", "-c", "echo right; sleep 60"],
        ["sh", "-c", "echo right; yes right | head -c 3000000"],
        ["sh", "-c", "echo right; kill -9 $$"],
        ["no-such-program"],
        ["./script"],  # a link to nowhere
    ],
)
def test_a_command_that_does_not_end_well(ask, shell, command):
    shell("ln -s nowhere script")
    assert not ask(CommandOutput(command=command, contains="right", timeout_s=1))


def test_programs_of_the_agent_do_not_stand_in_for_the_system(desktop, ask, shell):
    shell(
        "mkdir -p bin .local/bin; for d in bin .local/bin .; do printf '#!/bin/sh\\necho right'>$d/date; done"
    )
    shell("chmod +x bin/date .local/bin/date date; echo 'export PATH=$HOME/bin:$PATH' | tee .profile .bashrc")
    assert not ask(CommandOutput(command=["date"], equals="right"))


def test_a_command_output_asks_something():
    for bad in ({"command": ["ls"]}, {"command": [""], "equals": ""}, {"command": ["a\0"], "equals": ""}):
        with pytest.raises(TaskError):
            CommandOutput(**bad)


def test_a_dead_desktop_is_nobodys_failure():
    desktop = SandboxDesktop()
    desktop.close()
    for criterion in (
        ProcessRunning(name="x"),
        ClipboardEquals(text="x"),
        CommandOutput(command=["ls"], equals=""),
    ):
        with pytest.raises(DesktopError):
            criterion.check(World(desktop))
