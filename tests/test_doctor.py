"""The doctor finds each missing thing, names its fix, and says whether desktops can run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import tomllib

from operant.apps import load_app
from operant.cli import main
from operant.doctor import Check, CheckStatus, Machine, ThisMachine, can_run, commands_of, examine, run_fixes
from operant.doctor.checks import APPLICATIONS, GB, MB
from operant.doctor.machine import CommandResult
from operant.tasks.suites import load_suite, suite_names

PROGRAMS = (
    *("bwrap", "Xvfb", "xkbcomp", "openbox", "dbus-daemon", "xclip", "python3", "apt-get"),
    *(program for program, _, _ in APPLICATIONS),
)
REQUIREMENTS = (
    "numpy>=1.26",
    "xcffib>=1.5; sys_platform == 'linux'",
    "pyautogui>=0.9; sys_platform != 'linux'",
    "torch>=2.6; extra == 'vlm'",
    "operant[remote]; extra == 'vlm'",
    "httpx>=0.27; extra == 'remote'",
    "pytest>=8; extra == 'dev'",
)


PACKAGES = {"operant": "0.1", "pip": "26.0", "numpy": "2.0", "xcffib": "1.13"}


@dataclass
class Invented:
    """A healthy Debian machine, until a test takes something away from it."""

    system: str = "linux"
    python: tuple[int, int, int] = (3, 11, 2)
    executable: str = "/venv/bin/python"
    checkout: str | None = "/src/operant"
    is_root: bool = False
    temporary: str = "/tmp"
    open_files: int = 4096
    programs: set[str] = field(default_factory=lambda: set(PROGRAMS))
    paths: set[str] = field(default_factory=lambda: {"/dev/shm", "/tmp", "/usr/libexec/at-spi2-registryd"})
    read_only: set[str] = field(default_factory=set)
    room: dict[str, int] = field(default_factory=lambda: {"/dev/shm": GB, "/tmp": 50 * GB})
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    answers: dict[str, CommandResult] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=lambda: dict(PACKAGES))
    required: Sequence[str] = REQUIREMENTS
    ran: list[tuple[Sequence[str], bool]] = field(default_factory=list)

    def which(self, program: str) -> str | None:
        return f"/usr/bin/{program}" if program in self.programs else None

    def exists(self, path: str) -> bool:
        return path in self.paths

    def writable(self, path: str) -> bool:
        return path not in self.read_only

    def free(self, path: str) -> int:
        return self.room[path]

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def environ(self, name: str) -> str | None:
        return self.variables.get(name)

    def run(self, command: Sequence[str], *, as_desktop: bool = False) -> CommandResult:
        self.ran.append((command, as_desktop))
        return self.answers.get(command[0].rpartition("/")[2], CommandResult(0, ""))

    def package(self, name: str) -> str | None:
        return self.packages.get(name)

    def requirements(self) -> Sequence[str]:
        return self.required


def look(machine: Machine, name: str) -> Check:
    (check,) = (check for check in examine(machine) if check.name == name)
    return check


def test_a_healthy_machine_can_run_desktops() -> None:
    checks = examine(Invented())
    assert can_run(checks)
    assert {check.name for check in checks if check.status is not CheckStatus.OK} == {
        "live screen",
        "kvm",
        "docker",
        "vmrun",
        "aws credentials",
        "gpu",
        "extra vlm",
        "extra remote",
        "extra dev",
    }


@pytest.mark.parametrize(
    ("program", "fix"),
    [
        ("bwrap", "sudo apt-get install -y bubblewrap"),
        ("Xvfb", "sudo apt-get install -y xvfb"),
        ("xkbcomp", "sudo apt-get install -y x11-xkb-utils"),
        ("openbox", "sudo apt-get install -y openbox"),
        ("dbus-daemon", "sudo apt-get install -y dbus"),
        ("at-spi2-registryd", "sudo apt-get install -y at-spi2-core"),
        ("xclip", "sudo apt-get install -y xclip"),
    ],
)
def test_a_missing_part_of_a_desktop_stops_it(program: str, fix: str) -> None:
    machine = Invented()
    machine.programs.discard(program)
    machine.paths.discard(f"/usr/libexec/{program}")
    check = look(machine, program)
    assert (check.status, check.fix, check.required) == (CheckStatus.MISSING, fix, True)
    assert not can_run(examine(machine))


@pytest.mark.parametrize(("program", "package", "user"), APPLICATIONS)
def test_a_missing_application_does_not(program: str, package: str, user: str) -> None:
    machine = Invented()
    machine.programs.remove(program)
    check = look(machine, program)
    assert (check.status, check.fix) == (CheckStatus.MISSING, f"sudo apt-get install -y {package}")
    assert check.detail == f"not found; for {user}"
    assert can_run(examine(machine))


def test_root_needs_no_sudo() -> None:
    machine = Invented(is_root=True)
    machine.programs.remove("xclip")
    assert look(machine, "xclip").fix == "apt-get install -y xclip"


def test_without_apt_no_apt_command_is_given() -> None:
    machine = Invented()
    machine.programs -= {"xclip", "apt-get"}
    fix = look(machine, "xclip").fix
    assert fix is not None
    assert "apt-get" not in fix
    assert "xclip" in fix


def test_the_sandbox_is_really_tried_as_the_user_of_desktops() -> None:
    machine = Invented()
    assert look(machine, "user namespaces").status is CheckStatus.OK
    (tried,) = ((command, as_desktop) for command, as_desktop in machine.ran if "bwrap" in command[0])
    assert "--unshare-all" in tried[0]
    assert tried[1]


@pytest.mark.parametrize(
    ("files", "paths", "fix"),
    [
        (
            {"/proc/sys/kernel/unprivileged_userns_clone": "0"},
            set[str](),
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            {"/proc/sys/user/max_user_namespaces": "0"},
            set[str](),
            "sudo sysctl -w user.max_user_namespaces=15000",
        ),
        (
            {
                "/proc/sys/kernel/unprivileged_userns_clone": "1",
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
            },
            set[str](),
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ({}, {"/.dockerenv"}, "restart the container with --security-opt seccomp=unconfined"),
        ({}, set[str](), "ask who runs this machine"),
    ],
)
def test_forbidden_user_namespaces_are_told_apart(
    files: Mapping[str, str], paths: set[str], fix: str
) -> None:
    machine = Invented(answers={"bwrap": CommandResult(1, "bwrap: setting up uid map: Permission denied")})
    machine.files.update(files)
    machine.paths |= paths
    check = look(machine, "user namespaces")
    assert check.status is CheckStatus.MISSING
    assert check.detail == "bwrap: setting up uid map: Permission denied"
    assert check.fix is not None
    assert check.fix.startswith(fix)
    assert not can_run(examine(machine))


def test_a_hidden_proc_is_known_by_what_bwrap_says() -> None:
    said = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
    check = look(Invented(answers={"bwrap": CommandResult(1, said)}), "user namespaces")
    assert check.fix is not None
    assert "systempaths=unconfined" in check.fix


def change(**values: object) -> Callable[[Invented], None]:
    def apply(machine: Invented) -> None:
        for name, value in values.items():
            setattr(machine, name, value)

    return apply


@pytest.mark.parametrize(
    ("harm", "name", "status", "fix"),
    [
        (change(python=(3, 9, 2)), "python", CheckStatus.MISSING, "PYTHON="),
        (
            change(answers={"python3": CommandResult(1, "3.8")}),
            "desktop python",
            CheckStatus.MISSING,
            "install -y python3",
        ),
        (change(paths={"/tmp"}), "shared memory", CheckStatus.MISSING, "sudo mount -t tmpfs"),
        (change(read_only={"/dev/shm"}), "shared memory", CheckStatus.MISSING, "sudo chmod 1777 /dev/shm"),
        (
            change(room={"/dev/shm": 64 * MB, "/tmp": GB}),
            "shared memory",
            CheckStatus.WARN,
            "remount,size=1G",
        ),
        (change(read_only={"/tmp"}), "temporary files", CheckStatus.MISSING, "TMPDIR"),
        (change(room={"/dev/shm": GB, "/tmp": 10 * MB}), "temporary files", CheckStatus.MISSING, "TMPDIR"),
        (change(room={"/dev/shm": GB, "/tmp": 500 * MB}), "temporary files", CheckStatus.WARN, "TMPDIR"),
        (change(open_files=256), "open files", CheckStatus.WARN, "ulimit -n 4096"),
        (
            change(packages={**PACKAGES, "numpy": "1.20"}),
            "numpy",
            CheckStatus.MISSING,
            "-m pip install -e /src/operant -c",
        ),
        (
            change(packages={**PACKAGES, "numpy": "1.20"}, checkout=None),
            "numpy",
            CheckStatus.MISSING,
            "/venv/bin/python -m pip install operant",
        ),
        (
            change(packages={"xcffib": "1.13"}, programs={*PROGRAMS, "uv"}),
            "numpy",
            CheckStatus.MISSING,
            "uv pip install --python /venv/bin/python -e /src/operant",
        ),
        (
            change(packages={"xcffib": "1.13"}),
            "numpy",
            CheckStatus.MISSING,
            "/venv/bin/python -m ensurepip && /venv/bin/python -m pip install -e",
        ),
        (change(required=()), "operant", CheckStatus.WARN, "-m pip install -e /src/operant"),
        (change(variables={"DISPLAY": ":7"}), "live screen", CheckStatus.WARN, "unset DISPLAY"),
    ],
)
def test_every_other_lack_has_its_fix(
    harm: Callable[[Invented], None], name: str, status: CheckStatus, fix: str
) -> None:
    machine = Invented()
    harm(machine)
    check = look(machine, name)
    assert check.status is status
    assert check.fix is not None
    assert fix in check.fix
    assert can_run(examine(machine)) is (status is not CheckStatus.MISSING)


def test_elsewhere_than_on_linux_it_says_so_and_asks_nothing_else_of_the_system() -> None:
    machine = Invented(system="darwin", programs=set(), paths=set())
    checks = examine(machine)
    assert not can_run(checks)
    assert look(machine, "linux").status is CheckStatus.MISSING
    assert not {check.name for check in checks} & {"bwrap", "shared memory"}


def test_a_gpu_that_torch_cannot_use_is_a_warning() -> None:
    card = CommandResult(0, "NVIDIA A100")
    machine = Invented(answers={"nvidia-smi": card}, packages={"torch": "2.13.0+cpu"})
    machine.programs.add("nvidia-smi")
    check = look(machine, "gpu")
    assert check.status is CheckStatus.WARN
    assert check.fix is not None
    assert "TORCH=" in check.fix
    machine.packages["torch"] = "2.13.0+cu130"
    assert look(machine, "gpu").status is CheckStatus.OK


def test_an_extra_is_there_when_all_of_its_packages_are() -> None:
    machine = Invented()
    missing = look(machine, "extra vlm")
    assert (missing.status, missing.required) == (CheckStatus.MISSING, False)
    assert missing.detail == "torch is not installed; httpx is not installed; for vision-language models"
    machine.packages["torch"] = "2.13.0+cpu"
    assert look(machine, "extra vlm").status is CheckStatus.MISSING  # it holds the extra remote
    machine.packages["httpx"] = "0.28"
    assert look(machine, "extra vlm").status is CheckStatus.OK


def test_places_for_desktops_beside_the_sandbox_are_looked_for() -> None:
    machine = Invented(
        programs={*PROGRAMS, "docker", "vmrun"},
        paths={"/dev/shm", "/tmp", "/dev/kvm", "/home/u/.aws/credentials", "/usr/libexec/at-spi2-registryd"},
        variables={"HOME": "/home/u"},
        answers={"docker": CommandResult(0, "20.10.24")},
    )
    found = {name: look(machine, name) for name in ("kvm", "docker", "vmrun", "aws credentials")}
    assert {check.status for check in found.values()} == {CheckStatus.OK}
    assert found["docker"].detail == "an engine answers: 20.10.24"
    machine.answers |= {"docker": CommandResult(1, "Cannot connect"), "test": CommandResult(1, "")}
    assert look(machine, "docker").detail == "no engine answers: Cannot connect"
    assert look(machine, "kvm").status is CheckStatus.WARN
    assert not any(look(machine, name).required for name in found)


def test_a_wheel_is_told_from_a_checkout() -> None:
    assert look(Invented(), "operant").detail == "0.1, a checkout at /src/operant"
    wheel = Invented(checkout=None)
    assert look(wheel, "operant").detail == "0.1, an installed package"
    assert look(wheel, "extra vlm").fix == "/venv/bin/python -m pip install 'operant[vlm]'"
    assert "extra dev" not in {check.name for check in examine(wheel)}  # for work on Operant itself
    assert ThisMachine().checkout == str(Path(__file__).parents[1])


def test_there_is_a_row_for_every_extra_and_for_every_application_of_a_suite() -> None:
    rows = {check.name for check in examine(ThisMachine())}
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert {f"extra {extra}" for extra in project["optional-dependencies"]} <= rows
    for suite in suite_names():
        apps = {app for template in load_suite(suite) for app in template.apps}
        needed = {load_app({"panel": "lxpanel"}.get(app, app)) for app in apps}
        assert {app.command[0] for app in needed} <= rows, suite
        packages = {package for app in needed for package in app.packages}
        known = {package for _, package, _ in APPLICATIONS} | {"openbox"}
        assert packages <= known, suite


# --fix.


def test_fixes_are_run_once_each_and_debian_packages_in_one_go() -> None:
    machine = Invented(paths={"/tmp"})
    machine.programs -= {"bwrap", "xclip", "mousepad"}
    machine.packages.pop("numpy")
    assert commands_of(examine(machine)) == [
        "sudo apt-get update",
        "sudo apt-get install -y bubblewrap at-spi2-core xclip mousepad",
        "sudo mkdir -p /dev/shm",
        "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
        "/venv/bin/python -m pip install -e /src/operant -c /src/operant/requirements/constraints.txt",
        *(
            f"/venv/bin/python -m pip install -e '/src/operant[{extra}]' "
            "-c /src/operant/requirements/constraints.txt"
            for extra in ("vlm", "remote", "dev")
        ),
    ]
    assert commands_of(examine(Invented(room={"/dev/shm": GB, "/tmp": 10 * MB}))) == [
        command for command in commands_of(examine(Invented())) if "TMPDIR" not in command
    ]  # what only the user's own shell can do is not run


def test_fix_runs_what_is_printed_and_looks_again(tmp_path: Path) -> None:
    """A real run; ``apt-get`` is a script that says what it was asked, and installs xclip."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bwrap", "Xvfb", "python3", "sh", "touch", "chmod"):
        (programs / name).symlink_to(shutil.which(name) or f"/usr/bin/{name}")
    apt = programs / "apt-get"
    apt.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        f'case "$1" in install) touch {programs}/xclip; chmod +x {programs}/xclip;; esac\n'
    )
    apt.chmod(0o755)

    def doctor(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "operant", "doctor", *args],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": str(programs), "NO_COLOR": "1"},
            timeout=60,
        )

    before = doctor("xclip")
    assert before.returncode == 1
    assert "apt-get install -y xclip" in before.stdout
    assert not (tmp_path / "asked").exists()
    sudo = programs / "sudo"
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    fixed = doctor("xclip", "--fix")
    assert fixed.returncode == 0, fixed.stderr
    assert (tmp_path / "asked").read_text() == "update\ninstall -y xclip\n"
    assert "apt-get install -y xclip" in fixed.stderr
    assert fixed.stdout.startswith("ok ")
    again = doctor("xclip", "--fix")
    assert (again.returncode, again.stderr) == (0, "")


def test_a_fix_that_fails_is_told_and_the_others_are_run() -> None:
    said: list[str] = []
    ran: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> int:
        ran.append(command)
        return 3 if command[0] == "a" else 0

    assert run_fixes(["a 'b c'", "d"], said.append, run) == 1
    assert ran == [["a", "b c"], ["d"]]
    assert said == ["$ a 'b c'", "it ended with code 3", "$ d"]


def test_an_unknown_row_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["doctor", "xclap"])
    assert left.value.code == 2
    assert capsys.readouterr().err == "error: the doctor has no row 'xclap'\nhint: did you mean 'xclip'?\n"


def test_what_the_doctor_asks_for_is_what_set_up_installs() -> None:
    lists = [Path(__file__).parents[1] / "requirements" / name for name in ("apt.txt", "apt-office.txt")]
    lines = [line for one in lists for line in one.read_text(encoding="utf-8").splitlines()]
    installed = {line.partition("#")[0].strip() for line in lines} - {""}
    machine = Invented(programs={"apt-get"}, paths=set(), answers={"python3": CommandResult(1, "")})
    fixes = " ".join(check.fix or "" for check in examine(machine))
    asked = set(re.findall(r"apt-get install -y (\S+)", fixes))
    assert asked
    assert asked <= installed


def test_missing_things_are_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Invented()
    machine.programs.remove("bwrap")
    monkeypatch.setattr("operant.cli.doctor.ThisMachine", lambda: machine)
    with pytest.raises(SystemExit) as left:
        main(["doctor"])
    assert left.value.code == 1
    assert "fix: sudo apt-get install -y bubblewrap" in capsys.readouterr().out


@pytest.mark.x11
def test_this_machine_can_run_desktops() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "operant", "doctor", "--json"], capture_output=True, text=True, check=False
    )
    report = json.loads(ended.stdout)
    assert set(report) == {"ok", "checks"}
    for check in report["checks"]:
        assert set(check) == {"name", "status", "detail", "fix", "required"}
        assert check["status"] in {"ok", "warn", "missing"}
    assert report["ok"], ended.stdout
    assert ended.returncode == 0
