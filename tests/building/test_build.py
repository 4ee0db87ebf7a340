"""Functions that a scripted model offers, built on real desktops: exactly the good ones are admitted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from operant.calls.catalog import find_function, offered_functions
from operant.cli import main
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import UnknownFunction
from operant.testing.chat_server import ChatServer
from operant.types import Action

from .offers import BAD, GOOD

Command = Callable[..., tuple[str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*args: str, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(list(args))
        printed = capsys.readouterr()
        assert (left.value.code or 0) == code, printed.err
        return printed.out, printed.err

    return run


def answer(request: Mapping[str, Any]) -> str:
    """The list of all functions first, then the reply for the function that is asked for."""
    turns = [one["content"] for one in request["messages"] if one["role"] == "user"]
    asked = re.search(r"^Write the function (\w+)", turns[0], re.MULTILINE)
    if asked is None:
        listed = [{"name": name, "doc": f"The function {name}."} for name in (*GOOD, *BAD)]
        return f"```json\n{json.dumps({'functions': listed})}\n```"
    name = asked[1]
    replies = GOOD[name] if name in GOOD else [BAD[name][0]]
    return replies[min(len(turns), len(replies)) - 1]


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_exactly_the_good_functions_are_admitted(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tasks.txt").write_text("# words\nHow many words does notes.txt have?\n")
    with ChatServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        said, _ = command(
            *("apps", "build", "mousepad", "--tasks", "tasks.txt", "--model", "chat:scripted"),
            *("--rounds", "2", "--functions", "20", "--json"),
        )
        sent_back = [one for request in server.asked for one in request["messages"][3:]]
    report = json.loads(said)
    found = {one["name"]: one for one in report["functions"]}
    assert {name for name, one in found.items() if one["admitted"]} == set(GOOD)
    assert {
        name: why for name, (_, why) in BAD.items() if why not in "\n".join(found[name]["problems"])
    } == {}
    assert found["join_files"]["rounds"] == 2
    assert any("c.txt is not as stated afterwards" in one["content"] for one in sent_back)

    # What was admitted is kept with its tests, evidence and origin, and can be called and revoked.
    place = tmp_path / "apis" / "mousepad" / "count_words"
    evidence = json.loads((place / "evidence.json").read_text())
    assert [len(runs) for runs in evidence["desktops"]] == [3, 3, 3]
    assert json.loads((place / "provenance.json").read_text())["model"] == "chat:scripted"
    assert {one["name"] for one in json.loads(command("apps", "built", "--json")[0])} == {
        f"mousepad.{name}" for name in GOOD
    }
    assert "mousepad.count_words" in {one.full_name for one in offered_functions("both", "Mousepad")}
    with SandboxDesktop() as desktop:
        desktop.files.write("a.txt", "a b c d")
        desktop.perform(Action.call("mousepad.count_words", {"path": "a.txt"}))
        assert desktop.last_step.text == "4"
        command("apps", "revoke", "mousepad.count_words", "--reason", "not needed")
        with pytest.raises(UnknownFunction):
            desktop.perform(Action.call("mousepad.count_words", {"path": "a.txt"}))
    assert find_function("mousepad.join_files").name == "join_files"


def test_a_build_ends_at_its_bounds(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.building.discovery.discover", lambda app: _Nothing())
    (tmp_path / "tasks.txt").write_text("Count words.\n")
    build = ("apps", "build", "mousepad", "--tasks", "tasks.txt", "--model", "chat:scripted")
    with ChatServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        report = json.loads(command(*build, "--max-tokens", "100", "--json", code=1)[0])
        assert "are allowed" in report["stopped"]
        assert len(server.asked) == 1
        assert "price" in command(*build, "--max-cost", "1", code=2)[1]
    with ChatServer(lambda request: "no list") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "block ```json" in command(*build, "--rounds", "2", code=1)[1]
        assert len(server.asked) == 2


def test_what_can_not_be_built_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "tasks.txt").write_text("# nothing\n")
    build = ("apps", "build", "mousepad", "--tasks", "tasks.txt", "--model")
    assert "names no task" in command(*build, "chat:scripted", code=2)[1]
    (tmp_path / "tasks.txt").write_text("Count words.\n")
    assert "is not asked for plain text" in command(*build, "random", code=2)[1]
    assert "was admitted" in command("apps", "revoke", "mousepad.nothing", code=2)[1]
    assert json.loads(command("apps", "built", "--json")[0]) == []


class _Nothing:
    def text(self) -> str:
        return "nothing"
