"""Deliberate mistakes: each is answered in words, with a hint and a code, and leaves nothing behind.

Flags, settings, task files and checkpoints go through the command line in this process; requests through a service
over fake desktops; what the machine does to us (kill, full disk, port in use, missing display, directories that can't
be written) through real processes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from operant.agents.hierarchical.agent import DEFAULT
from operant.cli import main
from operant.config.service import ServiceConfig
from operant.service.app import create_app
from operant.service.runtime import Runtime
from operant.testing import FAKE_TEMPLATES, FakeDesktop

TYPED, FAILED, INTERRUPTED = 2, 1, 130


@dataclass(frozen=True)
class Mistake:
    """A command line in a directory with these files, and what is said to it."""

    args: str
    said: str
    hint: str = ""
    code: int = TYPED
    files: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.args} {' '.join(self.files.values())}"[:60]


def task(**changed: Any) -> str:
    """A file of one task, with some of its fields changed; None leaves a field out."""
    fields = {
        "id": 1,
        "instruction": "Open the calculator",
        "difficulty": "EASY",
        "success_criteria": {"window_title": "Calculator"},
        **changed,
    }
    return json.dumps([{name: value for name, value in fields.items() if value is not None}])


TINY = Path(__file__).parents[1] / "config" / "vlm_tiny_cpu.yaml"
RANDOM = "eval --agent random --suite core"
FLAGS = [
    Mistake("evl", "No such command 'evl'", "Did you mean 'eval'?"),
    Mistake("desktop shoot", "No such command 'shoot'", "Did you mean 'shot'?"),
    Mistake("eval --agnet random", "No such option: --agnet", "--agent"),
    Mistake("eval --agent random", "name the suite to play", "a file of tasks is one, too"),
    Mistake("eval --suite core", "name an agent or a checkpoint, and not both"),
    Mistake("eval --agent randm --suite core", "there is no agent 'randm'", "did you mean 'random'?"),
    Mistake("eval --agent random --suite coer", "there is no suite 'coer'", "did you mean 'core'?"),
    Mistake(f"{RANDOM} --task core/calc-ad-v1", "there is no task 'core/calc-ad-v1'", "did you mean 'core/"),
    Mistake(
        f"{RANDOM} --only nosuch", "no task of the suite 'core' has 'nosuch' in its id", "operant tasks list"
    ),
    Mistake(f"{RANDOM} --difficulty EASIER", "'EASIER' is not a difficulty", "did you mean 'EASY'?"),
    Mistake(f"{RANDOM} --split test", "'test' is not a split", "splits are train and heldout"),
    Mistake(f"{RANDOM} --episodes many", "Invalid value for '--episodes'"),
    Mistake(f"{RANDOM} --num-workers 0", "Invalid value for '--num-workers'"),
    Mistake(f"{RANDOM} --screen wide", "a size is written WIDTHxHEIGHT"),
    Mistake(f"{RANDOM} --profile fulll", "desktop.profile", "did you mean 'full'?"),
    Mistake(f"{RANDOM} --proxy proxy", "a proxy is written SCHEME://HOST:PORT"),
    Mistake(f"{RANDOM} --log-level LOUD", "levels are TRACE, DEBUG, INFO"),
    Mistake(
        "eval --agent nosuch_module:make --suite core", "nosuch_module can't be imported", "current directory"
    ),
    Mistake(
        "eval --agent hierarchical --device cuda:7 --suite core",
        "no device 'cuda:7'",
        "devices of this machine",
    ),
    Mistake(
        "tasks show core/nosuch-v1", "there is no task 'core/nosuch-v1' in the suite 'core'", "did you mean"
    ),
    Mistake("tasks list --app mousepat", "no task of the suite 'core' is of the application", "'mousepad'?"),
    Mistake("apps show moosepad", "there is no application 'moosepad'", "did you mean 'mousepad'?"),
    Mistake("results show nowhere", "nowhere is not a directory", "operant eval --result-dir"),
    Mistake("results compare . .", ". holds no results", "operant eval"),
    Mistake("serve --token short", "token: a token has at least 16 characters"),
    Mistake(
        "eval --agent team:t.yaml --suite core",
        "t.yaml: members.clerk: there is no agent 'orcle'",
        "'oracle'?",
        files={"t.yaml": "members: {clerk: {agent: orcle}}"},
    ),
    Mistake("replay nowhere", "nowhere holds no episode", "episode.json"),
    Mistake("train clone --demos nowhere --out a.pt", "'--demos'"),
    Mistake("train clone --demos . --out a.pt", "there is nothing to learn from", "operant demos collect"),
    Mistake("train hierarchical --num-envs 0", "training.num_envs", "see config/config.yaml"),
    Mistake("train hierarchical --curriculum steps", "curriculum.strategy", "did you mean 'stages'?"),
    Mistake("train hierarchical --device tpu", "there is no device 'tpu' here", "devices of this machine"),
    Mistake("train vlm", "Missing option '--config'"),
    Mistake("serve --port 99999", "Invalid value for '--port'"),
    Mistake("serve --host 0.0.0.0", "lets others in: set a token"),
    Mistake("desktop serve --suite core", "only sessions of --protocol ui-rl have tasks"),
    Mistake("mcp --split test", "there is no split 'test'", "train or heldout"),
    Mistake("serve --desktops 0", "Invalid value for '--desktops': it must be at least 1"),
    Mistake("train dagger --demos . --out a.pt --beta 3", "'--beta': it must be at most 1"),
    Mistake("train clone --demos . --out a.pt --learning-rate -1", "Invalid value for '--learning-rate'"),
    Mistake("train clone --demos . --out a.pt --minutes soon", "'--minutes': it must be a number"),
    Mistake("train vlm --config c.yaml --mode fast", "'fast' is not one of 'async', 'sync'"),
    Mistake(f"train vlm --config {TINY} --cluster nope", "there is no cluster 'nope'", "ray://HOST:PORT"),
    Mistake(
        f"train vlm --config {TINY} --output d --cluster ray://127.0.0.1:1",
        "the cluster ray://127.0.0.1:1 can't be reached: Connection refused",
        "is it up?",
        FAILED,
    ),
    Mistake(f"train vlm --config {TINY} --output d --suite nope", "there is no suite 'nope'", "suites: core"),
    Mistake(f"train vlm --config {TINY} --output d --resume", "d has nothing to go on from", "--resume out"),
    Mistake(
        "train dagger --demos . --out a.pt", "there is nothing to learn from in .", "operant demos collect"
    ),
    Mistake(
        "demos collect --out d --only zzz", "no task of the suite 'core' has 'zzz' in its id", "tasks list"
    ),
    Mistake("demos collect --out d --agent nope", "there is no agent 'nope'", "did you mean 'noop'?"),
    Mistake(
        "eval --agent antropic:x --suite core", "antropic can't be imported", "did you mean 'anthropic:x'?"
    ),
    Mistake("eval --agent vlm: --suite core", "the agent vlm needs a model", "vlm:PATH"),
    Mistake(
        "eval --agent json:loads --suite core", "could not be made: TypeError", "without arguments", FAILED
    ),
    Mistake("eval --agent json:nofn --suite core", "json has no nofn", "it has dump"),
    Mistake(f"{RANDOM} --screen 10x10", "desktop.width must be at least 64 (got 10)"),
    Mistake(f"{RANDOM} --actions all", "desktop.actions must be 'gui', 'api' or 'both' (got 'all')"),
    Mistake(f"{RANDOM} --proxy http://a:1", "a proxy needs the network: set network: true"),
    Mistake(
        f"{RANDOM} --prices p.yaml", "inptu is not a setting", "'input'?", files={"p.yaml": "x: {inptu: 3}"}
    ),
    Mistake("mcp --port 80", "Invalid value for --port: only --http listens for clients"),
    Mistake("mcp --task core/nosuch-v1", "there is no task 'core/nosuch-v1'", "did you mean"),
    Mistake("mcp --http --port 0 --host 0.0.0.0", "listening on 0.0.0.0 lets others in: set a token"),
    Mistake("apps api fils", "there is no function 'fils' (did you mean files?)"),
    Mistake("apps api files.mve", "there is no function 'files.mve' (did you mean files.move?)"),
    Mistake("apps discover mosepad", "there is no application 'mosepad'", "did you mean 'mousepad'?"),
    Mistake("apps revoke a.b", "no function 'a.b' was admitted"),
    Mistake("apps survey e.txt", "e.txt names no command", "one command a line", files={"e.txt": "# none\n"}),
    Mistake(
        "apps build mousepad --tasks t.txt --model oracle",
        "oracle is not asked for plain text",
        "chat:MODEL",
        files={"t.txt": "count words\n"},
    ),
    Mistake(
        "apps build mousepad --tasks t.txt --model chat:x",
        "t.txt names no task",
        "one task a line",
        files={"t.txt": ""},
    ),
    Mistake("bench desktp", "No such command 'desktp'", "Did you mean 'desktop'"),
    Mistake("hub pull a/b/c", "'a/b/c' is no name of a repository", "OWNER/NAME"),
    Mistake("tasks check --agents oracel", "'oracel' is not one of oracle, noop, done, random"),
    Mistake("doctor xclap", "the doctor has no row 'xclap'", "did you mean 'xclip'?"),
]


def config(command: str, text: str, said: str, hint: str = "") -> Mistake:
    return Mistake(f"{command} --config c.yaml", said, hint, files={"c.yaml": text})


SETTINGS = [
    Mistake("serve --config nowhere.yaml", "there is no file nowhere.yaml", "operant init"),
    config(RANDOM, "siute: core\n", "siute is not a setting", "did you mean 'suite'?"),
    config(RANDOM, "desktop: {widht: 10}\n", "desktop.widht is not a setting", "did you mean 'width'?"),
    config(RANDOM, "a: [1\nb: 2", "c.yaml can't be read, it is not YAML"),
    config(RANDOM, "- a\n", "c.yaml holds no settings", "write sections"),
    config("train vlm", "modle: {}\n", "c.yaml: modle is not a setting", "did you mean 'model'?"),
    config("train hierarchical", "training: {gama: 0.9}\n", "training.gama is not a setting", "'gamma'?"),
    config("train hierarchical", "training: {gamma: 2}\n", "training.gamma", "see config/config.yaml"),
    config("train hierarchical", "run: {when_disk_full: pray}\n", "'stop' or 'go_on'", "see config/config.yaml"),
    config("serve", "desktops: none\n", "desktops must be a whole number (got 'none')"),
    config("serve", "token: short\n", "a token has at least 16 characters"),
    Mistake("eval --agent team:t.yaml --suite core", "memebers is not a setting", "did you mean 'members'?",
            files={"t.yaml": "memebers: []\n"}),
    Mistake("eval --agent team:t.yaml --suite core", "members is missing", files={"t.yaml": ""}),
    Mistake("eval --agent team:t.yaml --suite core", "members must not be empty", files={"t.yaml": "members: {}\n"}),
    Mistake("eval --agent team:t.yaml --suite core", "t.yaml: planner: there is no member 'b'",
            files={"t.yaml": "members: {a: {agent: random}}\nplanner: b\n"}),
    Mistake("eval --agent team:t.yaml --suite core", "t.yaml: rounds must be at least 1 (got 0)",
            files={"t.yaml": "members: {a: {agent: random}}\nrounds: 0\n"}),
    Mistake("eval --agent a.yaml --suite core", "a.yaml: vendor must be 'anthropic'", "did you mean 'anthropic'?",
            files={"a.yaml": "vendor: anthropc\nmodel: x\n"}),
    Mistake("eval --agent a.yaml --suite core", "a.yaml: modle is not a setting", "did you mean 'model'?",
            files={"a.yaml": "vendor: chat\nmodle: x\n"}),
]  # fmt: skip


def tasks(text: str, said: str, hint: str = "") -> Mistake:
    return Mistake("tasks list --suite t.json", f"t.json{said}", hint, files={"t.json": text})


LAUNCH = [{"launch": {"command": ["nosuch"]}}]
OUTSIDE = [{"write_file": {"path": "/etc/passwd", "text": ""}}]
TASK_FILES = [
    Mistake("tasks list --suite nowhere.yaml", "nowhere.yaml can't be read", "operant init"),
    tasks("", ", line 1: Expecting value"),
    tasks("[]", ": there are no tasks in it", "a list of tasks"),
    tasks(task(instruction="hi {who}"), ": task 1.instruction: no parameter fills the blank '{who}'", "{{who}}"),
    tasks(task(instruction=None), ": task 1.instruction: it is missing"),
    tasks(task(success_criteria=None), ": task 1.success_criteria: it is missing"),
    tasks(task(sucess={}), ": task 1: 'sucess' is not a field of a task", "did you mean 'success'?"),
    tasks(task(success_criteria={"window_titel": "a"}), ": task 1.success_criteria.window_titel", "'window_title'?"),
    tasks(task(difficulty="SIMPLE"), ": task 1.difficulty: 'SIMPLE' is not a difficulty", "EASY, MEDIUM, HARD"),
    tasks(task(max_steps=0), ": task 1.max_steps: 0 is not a number of steps"),
    tasks(task(profile="ful"), ": task 1.profile: 'ful' is not a profile", "did you mean 'full'?"),
    tasks(task(apps=["mousepat"]), ": task 1.apps: no application 'mousepat'", "did you mean 'mousepad'?"),
    tasks(task(setup=[{"lunch": {}}]), ": task 1.setup[0]: 'lunch' is not a set-up step", "did you mean 'launch'?"),
    tasks(task(setup=LAUNCH), ": task 1.setup[0].launch.command: no application 'nosuch'", "installed here: "),
    tasks(task(setup=OUTSIDE), ": task 1.setup[0].write_file.path", "relative paths start at HOME"),
    tasks(task(oracle=[{"key": "ctrl+nonsense"}]), ": task 1.oracle[0].key: unknown key: 'nonsense'"),
    tasks(task(parameters={"a": {"wrod": "nouns"}}), ": task 1.parameters.a: 'wrod'", "did you mean 'word'?"),
    Mistake("eval --agent oracle --suite t.json", "1 of 1 tasks have no oracle to play: t/1-v1", "give them one",
            files={"t.json": task()}),
]  # fmt: skip

CHECKPOINTS = [
    Mistake("eval --agent hierarchical:nowhere.pt --suite core", "there is no checkpoint nowhere.pt"),
    Mistake("eval --checkpoint d --suite core", "d holds no checkpoint", "a .pt file", files={"d/a": ""}),
    Mistake("eval --agent vlm:nowhere --suite core", "there is no model directory nowhere", "a directory or a hub name"),
    Mistake("eval --agent hierarchical:j.pt --suite core", "j.pt is not a checkpoint", "training wrote",
            FAILED, {"j.pt": "junk\n"}),
    Mistake("eval --agent hierarchical:e.pt --suite core", "e.pt is empty, not a checkpoint", "training wrote",
            FAILED, {"e.pt": ""}),
    Mistake("export j.pt --out a.pt", "j.pt is not a checkpoint", "training wrote", FAILED, {"j.pt": "junk"}),
    Mistake("train hierarchical --init-from j.pt", "j.pt is not a checkpoint", "training wrote",
            FAILED, {"j.pt": "junk"}),
    Mistake("train hierarchical --resume --save-dir d", "d has no checkpoint to go on from", "leave --resume out"),
    Mistake("train hierarchical --save-dir d", "d holds the checkpoints of another run", "--resume",
            files={"d/checkpoint_1.pt": "junk"}),
    Mistake("hub push j.pt a/b", "j.pt is not a checkpoint", "training wrote", FAILED, {"j.pt": "junk"}),
    Mistake("eval --agent vlm:d --suite core", "d holds no model", "a model has a config.json", files={"d/x": ""}),
    Mistake("replay d", "d/episode.json can't be read", code=FAILED, files={"d/episode.json": "junk"}),
    Mistake("hub push nowhere a/b", "there is no checkpoint nowhere", "a .pt file"),
]  # fmt: skip

# A file where a directory should be: no user can write below it, not even root.
UNWRITABLE = [
    Mistake(f"{RANDOM} --result-dir file/d", "can't be written: Not a directory", "another --result-dir",
            files={"file": ""}),
    Mistake("train hierarchical --save-dir file/d", "save_dir file/d can't be written: Not a directory", "--save-dir",
            files={"file": ""}),
    Mistake("train hierarchical --log-dir file/d", "log_dir file/d can't be written: Not a directory", "--log-dir",
            files={"file": ""}),
    Mistake("demos collect --out file/d", "out file/d can't be written: Not a directory", "with --out",
            files={"file": ""}),
    Mistake("train clone --demos . --out file/a.pt", "out file/a.pt can't be written: Not a directory", "with --out",
            files={"file": ""}),
    Mistake("train clone --demos . --out .", "out . can't be written: it is a directory", "another file"),
    Mistake("train dagger --demos . --out file/a.pt", "out file/a.pt can't be written", "with --out", files={"file": ""}),
    Mistake("tasks check --out file/a.json", "out file/a.json can't be written", "with --out", files={"file": ""}),
    Mistake("tasks try core/x-v1 --picture file/a.png", "picture file/a.png can't be written", "with --picture",
            files={"file": ""}),
    Mistake("bench desktop --out file/a.json", "out file/a.json can't be written", "with --out", files={"file": ""}),
    Mistake("desktop shot --out file/a.png", "out file/a.png can't be written", "with --out", files={"file": ""}),
    Mistake("mcp --record file/d", "record file/d can't be written", "with --record", files={"file": ""}),
    Mistake("replay d --gif file/a.gif", "gif file/a.gif can't be written", "with --gif", files={"file": ""}),
    Mistake("init file", "file/config/after_imitation.yaml can't be written", files={"file": ""}),
    Mistake(f"export {DEFAULT} --out file/a.pt", "file/a.pt can't be written", files={"file": ""}),
]  # fmt: skip


@contextmanager
def nothing_left(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No new file or directory, no temporary file, no child process, no shared memory of this process."""
    temporary = place / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    files, running = sorted(place.rglob("*")), children(os.getpid())
    yield
    # PyTorch makes a directory for its compiler when it is first imported.
    assert [one for one in sorted(place.rglob("*")) if "torchinductor" not in one.name] == files
    assert children(os.getpid()) <= running
    assert not [one for one in Path("/dev/shm").iterdir() if str(os.getpid()) in one.name]


def children(pid: int) -> set[int]:
    """Processes below one, their own children included."""
    found: set[int] = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found |= {int(one) for one in listed.read_text().split()}
        except (FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            continue
    return found.union(*(children(one) for one in found))


@pytest.mark.parametrize("mistake", [*FLAGS, *SETTINGS, *TASK_FILES, *CHECKPOINTS, *UNWRITABLE], ids=str)
def test_a_mistake_on_the_command_line_is_told(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "300")
    for name, text in mistake.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with nothing_left(tmp_path, monkeypatch), pytest.raises(SystemExit) as left:
        main(mistake.args.split())
    printed = capsys.readouterr()
    said = " ".join(printed.err.replace("│", " ").split())
    assert left.value.code == mistake.code, said
    assert printed.out == ""
    assert mistake.said in said
    _, colon, hint = said.rpartition("hint: ")
    # Mistakes in flags themselves are answered by usage and an error in a box, which holds the hint.
    assert mistake.hint in (hint if colon and "Usage:" not in said else said)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("command", "name", "flag"),
    [("desktop shot", "desktop", "--out"), ("apps check true", "true", "--picture")],
)
def test_a_data_directory_that_cannot_be_written_is_told_before_a_desktop_starts(
    command: str,
    name: str,
    flag: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("OPERANT_DATA_DIR", str(tmp_path / "file" / "d"))
    with nothing_left(tmp_path, monkeypatch), pytest.raises(SystemExit) as left:
        main(command.split())
    assert left.value.code == TYPED
    assert capsys.readouterr().err.splitlines() == [
        f"error: {tmp_path}/file/d/pictures/{name}.png can't be written: Not a directory",
        f"hint: choose a file with {flag}, or a directory with OPERANT_DATA_DIR",
    ]


# Requests.

API = "/api/v1"
REQUESTS: list[tuple[str, str, Any, int, str, str]] = [
    ("POST", "/agent/complete-task", {}, 422, "invalid_request", "instruction"),
    ("POST", "/agent/complete-task", {"instrucion": "x"}, 422, "invalid_request", "instrucion"),
    (
        "POST",
        "/agent/complete-task",
        {"instruction": "x", "max_steps": 0},
        422,
        "invalid_request",
        "max_steps",
    ),
    ("POST", "/agent/complete-task", b"{", 422, "invalid_request", ""),
    ("POST", "/agent/complete-task", {"task_id": "fake/compute-v2"}, 404, "unknown_task", "fake/compute-v1"),
    (
        "POST",
        "/agent/predict",
        {"instruction": "x", "screenshot": "AAAA"},
        422,
        "bad_picture",
        "PNG, JPEG or WebP",
    ),
    ("POST", "/agent/execute", {"action": {"kind": "dance"}}, 422, "invalid_action", "dance"),
    ("POST", "/agent/models", {"name": "hierarchcal"}, 404, "unknown_model", "hierarchical"),
    ("POST", "/agent/models", {"name": "junk.pt"}, 422, "bad_checkpoint", "junk.pt"),
    ("GET", "/tasks?suite=coer", None, 404, "unknown_suite", "did you mean 'core'?"),
    ("GET", "/tasks/fake/nosuch-v1", None, 404, "unknown_task", "did you mean"),
    ("GET", "/episodes/nope", None, 404, "unknown_episode", "/api/v1/episodes lists them"),
    ("GET", "/sessions/nope", None, 404, "unknown_session", "/api/v1/sessions leases a desktop"),
    ("POST", "/training/start", {"device": "cuda:9"}, 422, "invalid_setting", "devices of this machine"),
    ("POST", "/training/start", {"nmu_envs": 2}, 422, "invalid_request", "nmu_envs"),
    ("POST", "/training/stop", None, 404, "no_training", "/api/v1/training/start begins one"),
    ("GET", "/nope", None, 404, "not_found", ""),
    ("GET", "/agent/complete-task", None, 405, "method_not_allowed", ""),
]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., TestClient]]:
    place, clients = tmp_path_factory.mktemp("service"), []
    (place / "checkpoints").mkdir()
    (place / "checkpoints" / "junk.pt").write_text("junk")

    def make(**settings: Any) -> TestClient:
        service = ServiceConfig(
            data_dir=place / "data",
            results_dir=place / "results",
            checkpoints_dir=place / "checkpoints",
            desktops=1,
            dashboard=False,
            agent="random",
            **settings,
        )
        runtime = Runtime(service, desktops=FakeDesktop.factory, templates=FAKE_TEMPLATES)
        client = TestClient(create_app(service, runtime))
        client.__enter__()
        clients.append(client)
        wait_for(lambda: runtime.ready)
        return client

    yield make
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def service(serve: Callable[..., TestClient]) -> TestClient:
    return serve()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "said"), REQUESTS, ids=lambda part: str(part)[:30]
)
def test_a_mistake_in_a_request_is_told(
    service: TestClient, method: str, path: str, body: Any, status: int, code: str, said: str
) -> None:
    sent = (
        {"content": body, "headers": {"content-type": "application/json"}}
        if isinstance(body, bytes)
        else {"json": body}
    )
    answer = service.request(method, f"{API}{path}", **({} if body is None else sent))
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    assert said in f"{problem['message']} {problem['hint']}"
    assert problem["message"]
    assert service.get(f"{API}/sessions").json() == []  # no desktop is held


def test_a_missing_token_is_told_from_a_wrong_one(serve: Callable[..., TestClient]) -> None:
    client = serve(token="0123456789abcdef")
    missing = client.get(f"{API}/sessions")
    wrong = client.get(f"{API}/sessions", headers={"Authorization": "Bearer 0123456789abcdee"})
    assert (missing.status_code, wrong.status_code) == (401, 401)
    assert "wants a token" in missing.json()["message"]
    assert "is wrong" in wrong.json()["message"]
    assert all("Authorization: Bearer" in answer.json()["hint"] for answer in (missing, wrong))


# What the machine does to us.


def command(*args: object, inside: tuple[object, ...] = (), **options: Any) -> subprocess.Popen[str]:
    """The command as people call it; ``inside`` is a command that runs it."""
    return subprocess.Popen(
        [*map(str, inside), sys.executable, "-m", "operant", *map(str, args)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **{"stdout": subprocess.PIPE, "env": {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}, **options},
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=100)
    assert "Traceback" not in err
    return process.returncode, out, err


def wait_for(satisfied: Callable[[], Any], timeout_s: float = 60.0) -> Any:
    deadline = time.monotonic() + timeout_s
    while not (found := satisfied()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("verb", [("serve",), ("desktop", "serve"), ("mcp", "--http")], ids=" ".join)
def test_a_port_in_use(verb: tuple[str, ...], tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        code, out, err = ended(command(*verb, "--port", other.getsockname()[1], cwd=tmp_path))
    assert (code, out) == (TYPED, ""), err
    assert "Address already in use" in err
    assert "hint: choose another --port" in err
    assert not list(tmp_path.iterdir())


def small_disk(place: Path, size: int) -> tuple[object, ...]:
    return ("bwrap", "--dev-bind", "/", "/", "--size", size, "--tmpfs", place)


@pytest.mark.x11
@pytest.mark.parametrize(
    ("args", "code"), [(("init", "DISK"), FAILED), (("export", str(DEFAULT), "--out", "DISK/a.pt"), FAILED)]
)
def test_a_full_disk(args: tuple[str, ...], code: int, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    # The disk is gone when the command has ended: the shell looks at what it has left there.
    shell = ("sh", "-c", '"$@"; code=$?; find "$0" -name ".*" -type f; exit $code', disk)
    named = [one.replace("DISK", str(disk)) for one in args]
    left, out, err = ended(command(*named, inside=(*small_disk(disk, 16384), *shell)))
    assert (left, out) == (code, ""), err
    assert f"error: no space left on {disk}/" in err


@pytest.mark.parametrize("args", [("tasks", "list"), ("apps", "list", "--json"), ("--help",)], ids=" ".join)
def test_a_full_disk_under_what_is_printed(args: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        process = command(*args, stdout=full)
        code, _, err = ended(process)
    assert (code, err) == (FAILED, "error: no space left for what is printed\n")


@pytest.mark.x11
@pytest.mark.parametrize(
    "args",
    [
        ("init", "DIR"),
        (*RANDOM.split(), "--result-dir", "DIR"),
        ("serve", "--port", "0", "--data-dir", "DIR"),
    ],
    ids=lambda args: args[0],
)
def test_a_read_only_directory(args: tuple[str, ...], tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    named = [one.replace("DIR", str(place / "new")) for one in args]
    code, out, err = ended(
        command(*named, inside=("bwrap", "--dev-bind", "/", "/", "--ro-bind", place, place))
    )
    assert (code, out) == (TYPED, ""), err
    assert "Read-only file system" in err
    assert not list(place.iterdir())


def test_a_display_that_can_not_be_started(tmp_path: Path) -> None:
    """Every program but Xvfb is there."""
    for name in ("bwrap", "openbox", "dbus-daemon", "xclip", "xkbcomp", "python3"):
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    environment = {**os.environ, "PATH": str(tmp_path), "NO_COLOR": "1"}
    before = sorted(tmp_path.iterdir())
    code, out, err = ended(command("desktop", "run", "true", cwd=tmp_path, env=environment))
    assert (code, out) == (FAILED, ""), err
    assert "desktops are made of programs that are not installed: xvfb" in err
    assert "apt-get install -y xvfb" in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.x11
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_killed_takes_its_desktop_along(how: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = command("desktop", "run", "--profile", "bare", "--", "sleep", "300", env=environment)
    try:
        # The desktop and, inside it, the command.
        wait_for(lambda: any(_runs(pid, "sleep") for pid in children(process.pid)))
        below = children(process.pid)
    finally:
        process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert out == ""
    if how is signal.SIGKILL:
        assert process.returncode == -how
    else:
        assert (process.returncode, err) == (INTERRUPTED, "interrupted\n")
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))
    assert not list(tmp_path.iterdir())


def _runs(pid: int, program: str) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == program
    except OSError:
        return False


def test_there_are_many_mistakes() -> None:
    """What is asked of this file: 60 over flags, settings, task files, checkpoints, requests and the machine."""
    groups = (FLAGS, SETTINGS, TASK_FILES, CHECKPOINTS, UNWRITABLE, REQUESTS)
    assert all(groups)
    assert sum(map(len, groups)) >= 60
