"""Any program is checked in bounded time: what is good about it, what is not, and what to do about that."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from operant.apps import App, app_names, load_app
from operant.apps.check import AppCheck, check_app
from operant.apps.describe import moves_of, state_fields
from operant.apps.moves import Move
from operant.desktop.sandbox import SandboxDesktop
from operant.desktop.toolkits import TOOLKITS
from operant.errors import UnknownApplication

#: Tk programs: one whose label changes ten times a second, one that works for ever after two seconds.
CLOCK = "label .a -width 20; pack .a; proc go {} {.a configure -text [clock clicks]; after 100 go}; go"
BUSY = "label .a -text still; pack .a; after 2000 {while 1 {}}"


def levels(report: AppCheck) -> dict[str, str]:
    return {one.check: one.level for one in report.findings}


def tk(script: str) -> list[str]:
    return ["sh", "-c", f"echo '{script}' > /tmp/it.tcl; exec wish /tmp/it.tcl"]


@pytest.mark.x11
def test_a_program_that_no_suite_uses_can_be_used() -> None:
    report = check_app(["featherpad"])
    assert report.level != "unusable", report.findings
    assert report.toolkit == "qt5"
    assert report.named is not None
    assert report.named > 20
    assert (report.typed, report.restless, report.left) == (True, 0, [])
    assert report.start_s is not None
    assert report.frame is not None
    assert set(levels(report)) == {"start", "window", "toolkit", "tree", "rest", "typing", "steps", "reset"}


@pytest.mark.x11
def test_what_is_weak_about_a_program_is_said_with_a_hint() -> None:
    report = check_app(tk(CLOCK))
    assert report.level == "weak"
    assert report.toolkit == "tk"
    assert report.restless is not None
    assert report.restless > 5
    hints = {one.check: one.hint for one in report.findings if one.level == "weak"}
    assert "pixels" in hints["tree"]  # Tk has no accessibility
    assert "animation" in hints["rest"]


@pytest.mark.x11
def test_a_program_that_hangs_is_left_in_bounded_time() -> None:
    began = time.monotonic()
    report = check_app(tk(BUSY))
    assert time.monotonic() - began < 60.0
    assert report.level != "ok"
    assert levels(report)["reset"] == "ok"


@pytest.mark.x11
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["true"], "it ended without a window"),
        (["sleep", "60"], "running: sleep"),
        (["sh", "-c", "echo no such file >&2; exit 3"], "no such file"),
    ],
)
def test_a_program_without_a_window_is_unusable(command: list[str], said: str) -> None:
    report = check_app(command, timeout_s=1.0)
    assert report.level == "unusable"
    (finding,) = [one for one in report.findings if one.check == "start"]
    assert said in finding.what
    assert finding.hint
    assert levels(report)["reset"] == "ok"


@pytest.mark.x11
def test_files_of_home_are_there_when_it_starts() -> None:
    script = ["sh", "-c", "test -f .settings/own || exit 4; exec xterm"]
    assert levels(check_app(script, home={".settings/own": "yes"}))["start"] == "ok"


@pytest.mark.x11
def test_no_such_program_raises() -> None:
    with pytest.raises(UnknownApplication, match="mousepat"):
        check_app(["mousepat"])


# What an application's module offers.


@dataclasses.dataclass(frozen=True)
class Shown:
    title: str
    lines: int


class Own(App):
    name: ClassVar[str] = "own"
    title: ClassVar[str] = "one of our own"
    command: ClassVar[tuple[str, ...]] = ("own",)
    wm_class: ClassVar[str] = "Own"

    def state(self, desktop: SandboxDesktop) -> Shown:
        return Shown("", 0)


def wink(times: int) -> Move:
    """Wink so many times.

    And no more.
    """
    return lambda view: None


def test_state_and_moves_are_read_from_the_module() -> None:
    assert state_fields(Own()) == {"title": "str", "lines": "int"}
    assert moves_of(Own()) == {"wink": "Wink so many times."}


def test_toolkits_of_applications_are_known() -> None:
    known = {one.name for one in TOOLKITS}
    assert {load_app(name).toolkit for name in app_names()} - {""} <= known


# The command line.


def operant(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "operant", "apps", *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


def test_applications_are_listed_and_shown() -> None:
    listed = json.loads(operant("list", "--json").stdout)
    assert "xterm" in {one["name"] for one in listed}
    shown = operant("show", "xterm")
    assert shown.returncode == 0
    assert "wm_class: XTerm" in shown.stdout
    wrong = operant("show", "xtrem")
    assert wrong.returncode == 2
    assert "did you mean 'xterm'" in wrong.stderr


@pytest.mark.x11
def test_check_prints_json_and_saves_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "deep" / "it.png"
    ended = operant("check", "--json", "--picture", str(picture), "l3afpad")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["level"] != "unusable"
    assert found["picture"] == str(picture)
    assert 0.0 < found["named_share"] <= 1.0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.x11
@pytest.mark.parametrize(("command", "code"), [(["--timeout", "1", "true"], 1), (["mousepat"], 2), ([], 2)])
def test_exit_codes(tmp_path: Path, command: list[str], code: int) -> None:
    ended = operant("check", "--picture", str(tmp_path / "it.png"), *command)
    assert ended.returncode == code
    assert "hint: " in ended.stdout + ended.stderr or not command


@pytest.mark.x11
def test_a_survey_checks_every_line_of_a_file(tmp_path: Path) -> None:
    listed = tmp_path / "apps.txt"
    listed.write_text("# two programs, one of them missing\ntrue  # shows no window\nmousepat --flag\n")
    out = tmp_path / "it.json"
    ended = operant("survey", str(listed), "--out", str(out), "--pictures", str(tmp_path), "--timeout", "1")
    assert ended.returncode == 0, ended.stderr
    assert "mousepat --flag: not installed" in ended.stderr
    (result,) = json.loads(out.read_text())["results"]
    assert (result["command"], result["level"]) == (["true"], "unusable")
    assert "| true | - |" in ended.stdout
    assert (tmp_path / "true.png").exists()
