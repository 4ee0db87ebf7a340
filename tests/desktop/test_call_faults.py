"""Functions and applications that misbehave: the agent reads why, and the next call works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from operant.calls.admitted import code_files, declared
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed
from operant.types import Action

pytestmark = pytest.mark.x11

FAULTS = {
    "absent": ("import no_such_module\n", "return 1", "no_such_module"),
    "broken": ("raise RuntimeError('while it is loaded')\n", "return 1", "while it is loaded"),
    "huge": ("", "return 'x' * (100 << 20)", "at most 65536 are returned"),
    "endless": ("", "return [endless() for _ in range(2)]", "RecursionError"),
    "odd": ("", "return object()", "not JSON serializable"),
    "ended": ("import os\n", "os._exit(3)", "the process that carries out calls is gone"),
}


def test_functions_that_misbehave_are_told_of_and_the_next_call_works() -> None:
    sources = {
        name: f'"""Faults."""\n\n{head}\n\ndef {name}() -> object:\n    """Fail."""\n    {body}\n'
        for name, (head, body, _) in FAULTS.items()
    }
    files: dict[str, bytes] = {}
    for name, source in sources.items():
        files |= code_files("mousepad", name, source)
    with SandboxDesktop(functions=files) as desktop:
        for name, (_, _, said) in FAULTS.items():
            with pytest.raises(CallFailed, match=said):
                desktop.call(declared("mousepad", name, sources[name]), {})
            desktop.perform(Action.call("files.list_folder"))
        desktop.check()


def test_an_application_that_died_is_told_of(desktop: SandboxDesktop, eventually: Callable[..., Any]) -> None:
    window = desktop.launch("mousepad")
    desktop.perform(Action.call("mousepad.set_text", {"text": "kept?"}))
    pid = next(one.pid for one in desktop.processes() if one.name == "mousepad")
    desktop.run(["kill", "-9", str(pid)])
    eventually(lambda: window.id not in [one.id for one in desktop.windows()])
    with pytest.raises(CallFailed, match="mousepad is not running"):
        desktop.perform(Action.call("mousepad.get_text"))
    desktop.perform(Action.call("windows.open_application", {"application": "mousepad"}))
    desktop.perform(Action.call("mousepad.get_text"))
    assert desktop.last_step.text == ""
