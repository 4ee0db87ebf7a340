"""``operant mcp`` as clients meet it: the official client, over pipes and over HTTP, on real desktops."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest
from mcp.shared.exceptions import MCPError
from PIL import Image

from mcp import Client, StdioServerParameters
from operant.config.desktop import DesktopConfig
from operant.errors import InvalidAction, InvalidPath
from operant.mcp.offer import Offer
from operant.mcp.session import DesktopSession
from operant.mcp.tools import tools_of
from operant.rollout.store import find_episodes, read_episode
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Outcome

TASK = "core/files-new-folder-v1"
WAIT_S = 60.0


def command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "operant", "mcp", *flags]


def stdio(*flags: str) -> StdioServerParameters:
    program, *rest = command(*flags)
    return StdioServerParameters(command=program, args=rest, env=dict(os.environ))


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def picture_of(result: Any) -> Image.Image:
    (data,) = [part.data for part in result.content if part.type == "image"]
    return Image.open(io.BytesIO(base64.b64decode(data)))


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def supervisors(pid: int) -> list[str]:
    """Desktops of a process: their supervisors name it in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if re.search(rb"OPERANT_DESKTOP_OF=%d\b" % pid, environment):
                found.append(entry.name)
    return found


# Without X.


@pytest.fixture
def fake() -> DesktopSession:
    return DesktopSession(Offer(DesktopConfig(width=3840, height=2160), factory=FakeDesktop.factory))


def use(session: DesktopSession, name: str, **arguments: Any) -> Any:
    return tools_of(session.offer)[name].call(session, arguments)


def test_pixels_of_a_scaled_screenshot_are_mapped_to_the_screen(fake: DesktopSession) -> None:
    shown = fake.frame.shown
    assert max(shown) <= 1568
    use(fake, "move", x=shown.width - 1, y=shown.height // 2)
    with fake.using() as desktop:
        x, y = desktop.pointer()
    assert fake.frame.to_shown(x, y) == (shown.width - 1, shown.height // 2)


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "a/../../x", "/home/user2/x", "x\0y"])
def test_paths_outside_home_are_refused(fake: DesktopSession, path: str) -> None:
    for name, more in (("read_file", {}), ("list_files", {}), ("write_file", {"text": "x"})):
        with pytest.raises(InvalidPath):
            use(fake, name, path=path, **more)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("click", {}),
        ("click", {"x": "left", "y": 1}),
        ("click", {"x": 1, "y": 1, "nonsense": True}),
        ("click", {"x": -1, "y": 5}),
        ("click", {"x": 1e9, "y": 5}),
        ("click", {"x": float("nan"), "y": 5}),
        ("click", {"x": 1, "y": 1, "modifiers": ["no-such-key"]}),
        ("type", {"text": "x" * 20_001}),
        ("type", {"text": ""}),
        ("key", {"keys": "ctrl+nonsense"}),
        ("scroll", {"x": 1, "y": 1, "direction": "inwards"}),
        ("wait", {"seconds": 1e6}),
        ("screenshot", {"region": [10, 10, 5, 5]}),
        ("run", {"command": "true", "timeout_s": 1e9}),
        ("write_file", {"path": "a", "base64": "not base64!"}),
        ("write_file", {"path": "a"}),
        ("focus_window", {"window": "no such window"}),
    ],
)
def test_bad_arguments_are_named(fake: DesktopSession, name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidAction):
        use(fake, name, **arguments)


def test_a_mistyped_argument_gets_the_nearest_name(fake: DesktopSession) -> None:
    with pytest.raises(InvalidAction) as caught:
        use(fake, "type", txt="hello")
    assert "no argument 'txt'" in caught.value.message
    assert "did you mean 'text'?" in (caught.value.hint or "")
    with pytest.raises(InvalidAction, match="text: it is missing"):
        use(fake, "type")


def test_schemas_are_plain(fake: DesktopSession) -> None:
    for tool in tools_of(fake.offer).values():
        said = json.dumps(tool.schema())
        assert "anyOf" not in said
        assert "$ref" not in said


# Over pipes.


@pytest.mark.x11
def test_a_client_uses_a_desktop_over_pipes(tmp_path: Path) -> None:
    async def play() -> None:
        async with Client(stdio("--record", str(tmp_path))) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"screenshot", "click", "type", "widgets", "run", "reset"} <= names
            assert not names & {"submit", "begin_task"}
            assert picture_of(await client.call_tool("screenshot", {})).size == (1280, 800)
            part = await client.call_tool("screenshot", {"region": [0, 0, 64, 32]})
            assert picture_of(part).size == (64, 32)

            opened = await client.call_tool("launch", {"application": "mousepad", "screenshot": False})
            assert not opened.is_error, text_of(opened)
            assert all(part.type == "text" for part in opened.content)
            await client.call_tool("type", {"text": "Grüße ß 東京"})
            await client.call_tool("key", {"keys": "ctrl+a"})
            assert "Grüße ß 東京" in text_of(await client.call_tool("widgets", {"role": "text"}))
            assert "mousepad" in text_of(await client.call_tool("windows", {})).lower()

            await client.call_tool("write_file", {"path": "notes/a.txt", "text": "hello"})
            assert text_of(await client.call_tool("read_file", {"path": "notes/a.txt"})) == "hello"
            assert "a.txt" in text_of(await client.call_tool("list_files", {"path": "notes"}))
            ran = text_of(await client.call_tool("run", {"command": "cat notes/a.txt; exit 3"}))
            assert "exit code 3" in ran
            assert "hello" in ran
            late = await client.call_tool("run", {"command": "sleep 60", "timeout_s": 0.2})
            assert late.is_error
            assert "did not end" in text_of(late)
            await client.call_tool("write_clipboard", {"text": "copied"})
            assert text_of(await client.call_tool("read_clipboard", {})) == "copied"

            wrong = await client.call_tool("launch", {"application": "mousepda"})
            assert wrong.is_error
            assert "mousepad" in text_of(wrong)
            missing = await client.call_tool("read_file", {"path": "nothing"})
            assert missing.is_error
            assert "Errno" not in text_of(missing)
            assert "No such file" in text_of(missing)
            unknown = await client.call_tool("clik", {})
            assert unknown.is_error
            assert "did you mean 'click'?" in text_of(unknown)
            with pytest.raises(MCPError, match="desktop://screen"):
                await client.read_resource("desktop://scren")

            lines = (await client.read_resource("desktop://episode")).contents[0].text.splitlines()
            assert "mousepad" in lines[0]
            screen = (await client.read_resource("desktop://screen")).contents[0]
            assert base64.b64decode(screen.blob).startswith(b"\x89PNG")
            assert not (await client.call_tool("reset", {})).is_error
            assert text_of(await client.call_tool("windows", {})) == "No window is open."

    anyio.run(play)
    first, *_ = find_episodes(tmp_path)
    episode = read_episode(first)
    assert episode.agent.startswith("mcp:")
    assert episode.steps[0].action is not None
    assert episode.steps[0].action.function == "launch"


@pytest.mark.x11
def test_a_task_is_solved_and_judged(tmp_path: Path) -> None:
    async def play() -> None:
        flags = ("--task", TASK, "--record", str(tmp_path))
        async with Client(stdio(*flags), mode="legacy") as client:
            (prompt,) = (await client.list_prompts()).prompts
            assert prompt.name == TASK
            said = await client.get_prompt(TASK)
            found = re.search(r"called (\w+)", said.messages[0].content.text)
            assert found is not None
            early = json.loads(text_of(await client.call_tool("submit", {})))
            assert early["outcome"] == "failure"
            over = await client.call_tool("click", {"x": 5, "y": 5})
            assert over.is_error
            assert "reset" in text_of(over)
            await client.call_tool("reset", {})
            await client.call_tool("key", {"keys": "ctrl+shift+n"})
            await client.call_tool("type", {"text": found[1]})
            await client.call_tool("key", {"keys": "enter"})
            verdict = json.loads(text_of(await client.call_tool("submit", {})))
            assert verdict["success"], verdict
            assert verdict["steps"] == 4

    anyio.run(play)
    outcomes = {read_episode(path).outcome for path in find_episodes(tmp_path)}
    assert outcomes == {Outcome.FAILURE, Outcome.SUCCESS}


@pytest.mark.x11
@pytest.mark.parametrize("how", ["eof", "term"])
def test_nothing_is_left_when_the_client_goes(how: str) -> None:
    process = subprocess.Popen(
        command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "screenshot", "arguments": {}},
        },
    ]
    try:
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert answers[1]["result"]["content"][1]["type"] == "image"
        assert supervisors(process.pid)
        if how == "eof":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)
        wait_until(lambda: not supervisors(process.pid))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# Over HTTP.


def runs(*argv: str) -> bool:
    """Whether a process has this command line; those of desktops are seen from outside."""
    said = "\0".join(argv).encode() + b"\0"

    def line(entry: Path) -> bytes:
        try:
            return (entry / "cmdline").read_bytes()
        except OSError:
            return b""

    return any(line(entry) == said for entry in Path("/proc").iterdir() if entry.name.isdecimal())


async def begin_and_cancel(client: Client, command: str, seconds: str) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "run", {"command": command, "timeout_s": 280})
        await anyio.to_thread.run_sync(wait_until, lambda: runs("sleep", seconds))
        tasks.cancel_scope.cancel()


async def cancel_a_command(client: Client) -> None:
    told = await client.call_tool("run", {"command": "exit 3"})
    assert "exit code 3" in text_of(told)
    seconds = f"250.{os.getpid()}"
    await begin_and_cancel(client, f"sleep 1{seconds} & sleep {seconds}; echo no > late", seconds)
    with anyio.fail_after(WAIT_S):
        left = await client.call_tool("run", {"command": "ls"})
    assert not left.is_error, text_of(left)
    assert "late" not in text_of(left)
    assert not runs("sleep", seconds)
    assert not runs("sleep", f"1{seconds}"), "its children are ended with it"


@pytest.mark.x11
def test_a_cancelled_command_frees_the_session_over_pipes() -> None:
    async def play() -> None:
        async with Client(stdio()) as client:
            await cancel_a_command(client)

    anyio.run(play)


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    token, flags = request.param
    process = subprocess.Popen(
        command("--http", "--port", "0", *flags),
        stderr=subprocess.PIPE,
        env={**os.environ, "OPERANT_TOKEN": token},
    )
    assert process.stderr is not None
    try:
        url = ""
        while not url:
            line = process.stderr.readline().decode()
            assert line, "the server did not start"
            found = re.search(r"http://[\w.:]+/mcp", line)
            url = found[0] if found else ""
        yield url, process
    finally:
        process.terminate()
        process.wait(WAIT_S)
        process.stderr.close()


@pytest.mark.x11
@pytest.mark.parametrize("served", [("", ("--max-desktops", "1"))], indirect=True)
def test_clients_have_desktops_of_their_own_over_http(served: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = served

    async def play() -> None:
        async with Client(url) as one:  # finds out by itself that sessions need an earlier revision
            await one.call_tool("write_file", {"path": "a.txt", "text": "mine"})
            async with Client(url) as other:
                full = await other.call_tool("screenshot", {})
                assert full.is_error
                assert "--max-desktops" in text_of(full)
            assert text_of(await one.call_tool("read_file", {"path": "a.txt"})) == "mine"
        async with Client(url) as other:  # the first session has ended and left nothing
            files = await other.call_tool("list_files", {})
            assert not files.is_error, text_of(files)
            assert "a.txt" not in text_of(files)
        async with Client(url, mode="2026-07-28") as modern:
            with pytest.raises(MCPError, match="sessions"):
                await modern.call_tool("screenshot", {})

    anyio.run(play)
    wait_until(lambda: not supervisors(process.pid))
    evil = httpx.post(url, json={}, headers={"host": "evil.example"}, timeout=WAIT_S)
    assert evil.status_code in (403, 421)
    page = httpx.post(url, json={}, headers={"origin": "http://evil.example"}, timeout=WAIT_S)
    assert page.status_code == 403


@pytest.mark.x11
@pytest.mark.parametrize("served", [("", ("--max-desktops", "1"))], indirect=True)
def test_a_cancelled_command_frees_the_session_over_http(served: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = served

    async def play() -> None:
        async with Client(url) as client:
            await cancel_a_command(client)
            seconds = f"260.{os.getpid()}"
            await begin_and_cancel(client, f"sleep {seconds}", seconds)

    anyio.run(play)
    wait_until(lambda: not supervisors(process.pid))


@pytest.mark.parametrize("served", [("a-long-secret-token", ())], indirect=True)
def test_a_wrong_token_is_refused(served: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, _ = served
    assert httpx.post(url, json={}, timeout=WAIT_S).status_code == 401
    assert (
        httpx.post(url, json={}, headers={"authorization": "Bearer wrong"}, timeout=WAIT_S).status_code == 401
    )
    right = httpx.post(url, json={}, headers={"authorization": "Bearer a-long-secret-token"}, timeout=WAIT_S)
    assert right.status_code not in (401, 403)


def test_others_need_a_token() -> None:
    ended = subprocess.run(
        command("--http", "--host", "0.0.0.0"), capture_output=True, timeout=WAIT_S, check=False
    )
    assert ended.returncode == 2
    assert b"token" in ended.stderr


def test_functions_of_applications_are_tools_where_calls_are_allowed() -> None:
    def session(**config: Any) -> DesktopSession:
        return DesktopSession(Offer(DesktopConfig(**config), factory=FakeDesktop.factory))

    assert "files_move" not in tools_of(session().offer)
    both, only = (session(actions=mode) for mode in ("both", "api"))
    assert {"files_move", "click"} <= set(tools_of(both.offer))
    assert "click" not in tools_of(only.offer)
    assert tools_of(only.offer)["files_move"].schema()["required"] == ["source", "target"]
    assert "anyOf" not in json.dumps([tool.schema() for tool in tools_of(both.offer).values()])
    with both.using() as desktop:
        assert isinstance(desktop, FakeDesktop)
        desktop.answers["files.read"] = "what it says"
    assert use(both, "files_read", path="a.txt").text == "what it says"
    with pytest.raises(InvalidAction, match="path must be a text"):
        use(both, "files_read", path=3)
    assert '"files.read"' in both.journal()
