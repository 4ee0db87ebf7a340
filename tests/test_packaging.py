"""What set-up installs: the lock file agrees with pyproject.toml, and the built wheel works without the repository."""

from __future__ import annotations

import email
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from operant.extras import EXTRAS

ROOT = Path(__file__).parents[1]
LOCKED = re.compile(r"([a-z0-9-]+)==([0-9][0-9a-z.]*)")


@pytest.fixture(scope="module")
def locked() -> dict[str, str]:
    lines = (ROOT / "requirements" / "lock.txt").read_text().splitlines()
    found = [LOCKED.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(found), "a line of requirements/lock.txt is more than a name and a version"
    return {match[1]: match[2] for match in found if match}


def test_every_requirement_is_locked(locked: dict[str, str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for lines in project["optional-dependencies"].values() for line in lines),
    ]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if name == "operant" or (
            requirement.marker and not requirement.marker.evaluate({"sys_platform": "linux"})
        ):
            continue
        assert name in locked, f"{name} is not in requirements/lock.txt: make lock"
        assert requirement.specifier.contains(locked[name]), (
            f"{requirement} excludes {locked[name]}: make lock"
        )


def test_a_missing_package_names_the_extra_that_brings_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = {
        extra: {canonicalize_name(Requirement(line).name) for line in lines}
        for extra, lines in project["optional-dependencies"].items()
    }
    imported_as = {
        "google": "google-genai",
        "multipart": "python-multipart",
        "docx": "python-docx",
        "pptx": "python-pptx",
    }
    for module, extra in EXTRAS.items():
        assert canonicalize_name(imported_as.get(module, module)) in brought[extra]
    named = {canonicalize_name(imported_as.get(module, module)) for module in EXTRAS}
    own = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]} | {"operant"}
    for extra in set(brought) - {"dev", "docs"}:
        assert brought[extra] - own <= named, f"operant.extras.EXTRAS lacks packages of {extra}"


def test_without_pytorch_the_shipped_agent_names_its_extra(tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['torch'] = None\n"  # an import of it fails as if it were not installed
        "from operant.cli import main; main(sys.argv[1:])"
    )
    for verb in (
        ["eval", "--agent", "hierarchical", "--suite", "core"],
        ["export", "absent.pt", "--out", "a.pt"],
    ):
        ended = subprocess.run(
            [sys.executable, "-c", hidden, *verb], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode == 1, ended.stderr
        assert "needs the Python package torch, which is not installed" in ended.stderr
        assert ended.stderr.endswith('hint: pip install "operant[learn]"\n')
    assert not list(tmp_path.iterdir())


def test_the_lock_holds_what_is_constrained(locked: dict[str, str]) -> None:
    for line in (ROOT / "requirements" / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            assert locked[name] == version


def test_the_lock_has_no_build_for_gpus(locked: dict[str, str]) -> None:
    assert not [name for name in locked if name.startswith(("nvidia", "cuda", "triton"))]


# The wheel in an environment that has nothing else, and without the repository.

WHEEL_EXTRAS = "learn,service"
TASKS = [
    {
        "id": 1,
        "instruction": "Open the calculator",
        "difficulty": "EASY",
        "num_steps": 3,
        "success_criteria": {"window_title": "Calculator"},
    }
]


class Installed:
    """An environment with the wheel in it; commands run in an empty directory and see no variable of the tests."""

    def __init__(self, place: Path) -> None:
        self.programs = place / "venv" / "bin"
        self.directory = place / "work"
        self.directory.mkdir()
        self.variables = {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.directory),
            "NO_COLOR": "1",
        }

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.programs / command[0]), *command[1:]],
            cwd=self.directory,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def run(self, *command: str) -> str:
        process = self.start(*command)
        told, _ = process.communicate(timeout=120)
        assert process.returncode == 0, told
        return told


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("wheel")
    environment = {**os.environ, "PYTHON": sys.executable}
    environment.pop("PYTHONPATH", None)

    def uv(*args: str) -> None:
        command = ["sh", "scripts/uv.sh", *args]
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
        )
        assert ended.returncode == 0, ended.stderr

    uv("build", "-q", "--wheel", "--out-dir", str(place))
    uv("venv", "-q", "--python", sys.executable, str(place / "venv"))
    (wheel,) = place.glob("operant-*.whl")
    python = str(place / "venv" / "bin" / "python")
    locked = (
        ("-c", "requirements/lock.txt")
        if sys.version_info[:2] == (3, 11)
        else ("-c", "requirements/constraints.txt")
    )
    uv("pip", "install", "-q", "--python", python, *locked, f"{wheel}[{WHEEL_EXTRAS}]")
    return Installed(place)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", text)


def test_links_of_the_readme_lead_to_files() -> None:
    text = (ROOT / "README.md").read_text()
    relative = [link.partition("#")[0] for link in links(text) if not link.startswith(("http", "#"))]
    assert len(relative) > 10
    assert not [link for link in relative if not (ROOT / link).exists()]


@pytest.mark.slow
def test_the_wheels_description_has_links_that_work_anywhere(tmp_path: Path) -> None:
    """As a package index shows it: absolute where the repository is known, and names of files where it is not."""
    place = "https://example.org/someone/operant"
    for repository in (place, ""):
        ended = subprocess.run(
            ["sh", "scripts/uv.sh", "build", "-q", "--wheel", "--out-dir", str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "PYTHON": sys.executable, "REPOSITORY_URL": repository},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert ended.returncode == 0, ended.stderr
        (wheel,) = tmp_path.glob("operant-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            described = email.message_from_bytes(archive.read(name))
        wheel.unlink()
        text = str(described.get_payload())
        assert described["Description-Content-Type"] == "text/markdown"
        assert "# Operant" in text
        relative = [link for link in links(text) if not link.startswith("http")]
        assert not relative, f"dead on an index page: {relative}"
        assert (f"{place}/blob/main/docs/training.md" in text) is bool(repository)
        assert ("![" in text) is bool(repository)
        assert f"{place}/raw/main/docs/pictures/demo.gif" in text or not repository


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_brings_all_that_it_needs(installed: Installed) -> None:
    place = installed.run("python", "-c", "import operant; print(operant.__file__)").strip()
    assert Path(place).is_relative_to(installed.programs.parent)
    report = json.loads(installed.run("operant", "doctor", "--json"))
    assert report["ok"], report


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_evaluates_the_shipped_agent(installed: Installed) -> None:
    (installed.directory / "tasks.json").write_text(json.dumps(TASKS))
    told = installed.run(
        "operant", "eval", "--agent", "hierarchical", "--suite", "tasks.json", "--episodes", "2"
    )
    assert "100" in told, told


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_holds_the_samples(installed: Installed) -> None:
    assert "next: operant tasks check" in installed.run("operant", "init", "samples")
    written = {path.name for path in (installed.directory / "samples" / "config").iterdir()}
    assert written == {path.name for path in (ROOT / "config").iterdir()} - {"notes.yaml"}
    listed = json.loads(installed.run("operant", "tasks", "list", "--suite", "samples/notes.yaml", "--json"))
    assert [row["id"] for row in listed] == ["notes/write-note-v1"]
    shipped = "from operant.bench.recorded_latencies import Latencies as L, shipped_latencies as s; print(L.load(s()).mean_s)"
    assert float(installed.run("python", "-c", shipped)) > 0


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_serves(installed: Installed) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = installed.start("operant", "serve", "--port", str(port), "--desktops", "1")
    try:
        deadline = time.monotonic() + 120.0
        while not _answers(f"http://127.0.0.1:{port}/ready"):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, "the service was not ready within 120 s"
            time.sleep(0.2)
        assert _answers(f"http://127.0.0.1:{port}/")  # the dashboard
    finally:
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == 0, told
    assert "Traceback" not in told


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10.0) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
