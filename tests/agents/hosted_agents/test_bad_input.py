"""What servers and users may do wrong: an error before desktops start, an invalid step or an infra error; never a key."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from operant.agents.hosted import make
from operant.cli import main
from operant.config.hosted import HostedSettings
from operant.desktop.pool import DesktopPool
from operant.errors import ModelServerError
from operant.rollout.episode import EpisodeResult
from operant.rollout.player import EpisodePlayer, Job, PooledDesktops
from operant.rollout.store import EpisodeWriter
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.vendors import ScriptedMind, VendorServer
from operant.testing.vendors.lineup import KEY, LINEUP
from operant.types import Action, Outcome, Point

from .scripted_server import scripted_server

SECRET = "sk-secret-9f8e7d6c5b4a"
VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
MODELS = {
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-6-astra",
    "gemini": "gemini-3.5-flash",
    "chat": "local-vlm",
}
TASK = FAKE_TEMPLATES[0].instance(0)


@pytest.fixture(scope="module")
def pool() -> Iterator[DesktopPool]:
    with DesktopPool(1, factory=FakeDesktop.factory) as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with VendorServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_desktop_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)


def evaluate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: dict[str, Any]
) -> tuple[int, str]:
    """``operant eval`` with a settings file, and all that it said. A desktop that starts is a failure."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("a desktop was started")

    monkeypatch.setattr("operant.desktop.pool.DesktopPool.__init__", started)
    Path("agent.yaml").write_text(json.dumps(file), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["eval", "--agent", "agent.yaml", "--suite", "core", "--result-dir", "results"])
    said = capsys.readouterr()
    return int(str(ended.value.code)), said.out + said.err


@pytest.mark.parametrize("vendor", VARIABLES)
def test_no_key_is_told_before_a_desktop_starts(
    vendor: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = evaluate(capsys, monkeypatch, {"vendor": vendor, "model": MODELS[vendor]})
    assert code == 2
    assert "needs a key" in said
    assert VARIABLES[vendor] in said


@pytest.mark.parametrize(
    ("vendor", "wrong"),
    # Servers of open models list other names than they take, so for chat the first request shows it.
    [
        (vendor, wrong)
        for vendor in MODELS
        for wrong in ("key", "model")
        if (vendor, wrong) != ("chat", "model")
    ],
)
def test_a_wrong_key_and_an_unknown_model_are_told_before_a_desktop_starts(
    server: VendorServer,
    vendor: str,
    wrong: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = {"chat": "chat_json"}.get(vendor, vendor if vendor != "anthropic" else "anthropic_toolset")
    conversation = server.open(LINEUP[name].serve())
    variable = VARIABLES.get(vendor, "OPENAI_API_KEY")
    monkeypatch.setenv(variable, SECRET if wrong == "key" else KEY)
    model = MODELS[vendor] if wrong == "key" else "no-such-model"
    code, said = evaluate(
        capsys, monkeypatch, {"vendor": vendor, "model": model, "base_url": conversation.base_url}
    )
    assert code in (1, 2)
    assert "hint:" in said
    assert SECRET not in said
    assert KEY not in said
    assert ("key" if wrong == "key" else "model") in said.lower()


@pytest.mark.parametrize("vendor", MODELS)
def test_a_web_page_is_told_before_a_desktop_starts(
    vendor: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLES.get(vendor, "OPENAI_API_KEY"), SECRET)
    with scripted_server() as page:
        for _ in range(3):
            page.then(b"<!doctype html><html>Welcome</html>", 200, content_type="text/html")
        code, said = evaluate(
            capsys, monkeypatch, {"vendor": vendor, "model": MODELS[vendor], "base_url": page.url}
        )
    assert code == 1
    assert "base_url" in said
    assert SECRET not in said


# During an episode.


class RawServer:
    """Answers every POST with these bytes, in any manner; says the key back where the bytes hold one."""

    def __init__(self, body: bytes, *, announce: int | None = None, endless: bool = False) -> None:
        ended = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                if not endless:
                    self.send_header("Content-Length", str(announce or len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                    while endless and not ended.wait(0.05):
                        self.wfile.write(b" " * 1000)
                except OSError:
                    pass  # the client has had enough

            def log_message(self, *_: object) -> None:
                pass

        self._ended = ended
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def said_by(vendor: str, text: str) -> bytes:
    """A reply of plain text in the vendor's form."""
    replies: dict[str, Any] = {
        "anthropic": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": "end_turn",
        },
        "openai": {
            "id": "r",
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
            if text
            else [],
        },
        "gemini": {
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}] if text else []}}],
        },
        "chat": {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]},
    }
    return json.dumps(replies[vendor]).encode()


def play(
    pool: DesktopPool, directory: Path, vendor: str, url: str, max_steps: int = 3, **more: Any
) -> EpisodeResult:
    """An episode that is kept on disk, then searched for the key."""
    settings = {"max_retries": 0, "timeout_s": 2.0, **more}
    base = url + ("/v1" if vendor in ("openai", "chat") else "")
    agent = make(
        HostedSettings.build(vendor=vendor, model=MODELS[vendor], base_url=base, **settings), key=SECRET
    )
    writer = EpisodeWriter(directory / "episode", {"agent": vendor})
    player = EpisodePlayer(
        PooledDesktops[Job](pool), lambda job: agent, make_recorder=lambda job, agent: writer
    )
    result = player.play(Job(replace(TASK, max_steps=max_steps))).result
    no_key(directory, repr(result), agent.fingerprint)
    return result


def no_key(directory: Path, *texts: str) -> None:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
    assert all(SECRET not in text for text in texts)


@pytest.mark.parametrize("vendor", MODELS)
@pytest.mark.parametrize(
    "how",
    ["endless", "cut", "not UTF-8", "a picture", "a web page", "no object"],
)
def test_a_reply_that_is_none_is_an_infra_error(
    pool: DesktopPool, tmp_path: Path, vendor: str, how: str
) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    body, more = {
        "endless": (b'{"id": "', {"endless": True}),
        "cut": (b'{"id": "' + SECRET.encode(), {"announce": 100_000}),
        "not UTF-8": (b'{"id": "\xff\xfe\xfa"}', {}),
        "a picture": (picture.getvalue(), {}),
        "a web page": (b"<html>" + SECRET.encode() + b"</html>", {}),
        "no object": (b"[1, 2]", {}),
    }[how]
    began = time.monotonic()
    with RawServer(body, **more) as server:  # type: ignore[arg-type]
        result = play(pool, tmp_path, vendor, server.url)
    assert result.outcome is Outcome.INFRA_ERROR, result.why
    assert vendor in result.why
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("vendor", MODELS)
def test_an_empty_reply_is_an_invalid_step(pool: DesktopPool, tmp_path: Path, vendor: str) -> None:
    with RawServer(said_by(vendor, "")) as server:
        result = play(pool, tmp_path, vendor, server.url)
    assert (result.outcome, result.invalid_steps) == (Outcome.TRUNCATED, 3)


@pytest.mark.parametrize("vendor", ["anthropic", "openai", "gemini"])
def test_a_reply_that_repeats_the_key_is_kept_without_it(
    pool: DesktopPool, tmp_path: Path, vendor: str
) -> None:
    with RawServer(said_by(vendor, f"The key is {SECRET}.")) as server:
        result = play(pool, tmp_path, vendor, server.url)
    assert result.outcome is Outcome.FAILURE
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json*"))
    assert "•••" in kept or "\\u2022" in kept


def test_an_action_that_holds_the_key_is_neither_performed_nor_kept(
    pool: DesktopPool, tmp_path: Path
) -> None:
    with RawServer(said_by("chat", json.dumps({"kind": "type", "text": f"The key is {SECRET}."}))) as server:
        result = play(pool, tmp_path, "chat", server.url)
    assert (result.outcome, result.invalid_steps) == (Outcome.TRUNCATED, 3)
    assert "must not hold the key" in "".join(path.read_text() for path in tmp_path.rglob("*.json*"))


@pytest.mark.parametrize("name", ["anthropic_toolset", "openai", "gemini", "chat_function_tools"])
def test_a_batch_of_500_actions_is_cut_or_refused_and_the_model_is_told(
    pool: DesktopPool, server: VendorServer, name: str
) -> None:
    """At most 100 are performed, every call gets its result, and the episode goes on."""
    batch = [Action.click(Point(0.01, 0.01))] * 500
    conversation = server.open(LINEUP[name].serve(ScriptedMind([batch])))
    settings = LINEUP[name].hosted_settings(conversation.base_url, max_retries=0)
    agent = make(settings, key=KEY)
    agent.still_ms = 0  # type: ignore[misc]
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: agent)
    result = player.play(Job(replace(TASK, max_steps=150))).result
    # The newer name for the length of a reply is found out by asking.
    declined = [one.message for one in conversation.problems if "max_completion_tokens" not in one.message]
    assert declined == []
    assert result.turns == 2
    assert result.steps <= 101
    assert result.outcome is Outcome.FAILURE  # it said that it was done, and was not


def test_a_model_that_refuses_the_tool_is_an_error_that_says_so(
    pool: DesktopPool, server: VendorServer
) -> None:
    refused = LINEUP["chat_function_tools"]
    conversation = server.open(refused.serve())
    settings = HostedSettings.build(
        vendor="chat", model="gpt-6-astra", base_url=conversation.base_url, dialect="function_tools"
    )
    agent = make(settings, key=KEY)
    result = EpisodePlayer(PooledDesktops[Job](pool), lambda job: agent).play(Job(TASK)).result
    assert result.outcome is Outcome.INFRA_ERROR
    assert "/v1/responses" in result.why


@pytest.mark.parametrize("vendor", MODELS)
def test_a_page_that_is_not_found_is_told_before_desktops_start(vendor: str) -> None:
    """A chat server may have no list of models, but it does not answer with pages."""
    with scripted_server() as server:
        server.then(b"<!DOCTYPE HTML><title>Not found</title>", 404, content_type="text/html;charset=utf-8")
        settings = HostedSettings.build(
            vendor=vendor, model=MODELS[vendor], base_url=server.url, max_retries=0
        )
        agent = make(settings, key=SECRET)
        with pytest.raises(ModelServerError) as caught:
            agent.preflight()
        agent.close()
    assert "404" in caught.value.message
    assert "base_url" in (caught.value.hint or "")
    if vendor != "gemini":  # its SDK tells neither the kind of the reply nor its text
        assert "a web page" in caught.value.message


@pytest.mark.parametrize("vendor", MODELS)
def test_the_key_is_in_no_log(vendor: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with RawServer(b"[1]") as server:
        base = server.url + ("/v1" if vendor in ("openai", "chat") else "")
        settings = HostedSettings.build(vendor=vendor, model=MODELS[vendor], base_url=base, max_retries=0)
        agent = make(settings, key=SECRET)
        with pytest.raises(ModelServerError) as caught:
            agent.preflight()
        agent.close()
    assert SECRET not in caplog.text
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value.__cause__)
