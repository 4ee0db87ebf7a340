"""The command in the tests' own process, on desktops without X."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from operant.cli import main
from operant.desktop.providers.sandbox import SandboxProvider
from operant.tasks.suites import SUITES
from operant.testing import FAKE_TEMPLATES, FakeDesktop


@pytest.fixture
def fake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, str]]:
    """The command in this process, with a suite called "pretend" on desktops without X."""
    pretend = ModuleType("pretend_suite")
    pretend.TEMPLATES = list(FAKE_TEMPLATES)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pretend_suite", pretend)
    monkeypatch.setitem(SUITES, "pretend", "pretend_suite:TEMPLATES")
    monkeypatch.setattr(SandboxProvider, "start", lambda _, config: FakeDesktop.factory(config))
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)

    def run(*args: str | Path, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        printed = capsys.readouterr()
        assert (left.value.code or 0) == code, printed.err
        return printed.out, printed.err

    return run
