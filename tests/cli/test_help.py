"""The command line answers at once, imports nothing heavy for it, and fails in words."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import typer

from operant.cli import main, root
from operant.cli.help_style import style_help
from operant.errors import ConfigError, MissingProgram

HEAVY = {
    *("numpy", "PIL", "pydantic", "yaml", "loguru", "xcffib", "jeepney", "mss", "pyautogui"),
    *("gymnasium", "torch", "transformers", "peft", "ray", "fastapi", "uvicorn", "scipy"),
}

# Runs the command as its entry point does, then tells on stderr what it has imported.
TELL = """
import sys
from operant.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
    print(*sorted(name for name in sys.modules if name.startswith("operant")), file=sys.stderr)
"""


def operant(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "operant", *args],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
        timeout=30,
    )


def test_help_lists_every_verb_and_imports_nothing_heavy() -> None:
    started = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", TELL, "--help"], capture_output=True, text=True, check=False, timeout=30
    )
    took = time.perf_counter() - started
    assert ended.returncode == 0
    for verb in root.VERBS:
        assert f" {verb} " in ended.stdout
    packages, own = (set(line.split()) for line in ended.stderr.splitlines()[-2:])
    assert not packages & HEAVY
    assert own == {"operant", "operant.cli", "operant.cli.help_style", "operant.cli.root", "operant.errors"}
    # About 0.2 s; the rest is for a machine with other things to do.
    assert took < 2.0


@pytest.mark.parametrize("verb", root.VERBS)
def test_every_verb_explains_itself(verb: str) -> None:
    ended = operant(verb, "--help")
    assert ended.returncode == 0, ended.stderr
    assert f"operant {verb}" in ended.stdout
    assert "--install-completion" not in ended.stdout


def parameters(command: Any) -> Iterator[tuple[str, Any]]:
    for part in getattr(command, "commands", {}).values():
        yield from parameters(part)
    for parameter in command.params:
        yield f"{command.name} {parameter.opts[0]}", parameter


@pytest.mark.parametrize("verb", root.VERBS)
def test_help_has_one_style(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flags have no type, defaults look alike, and every parameter says what it is."""
    command = style_help(root.Verb(verb, *root.VERBS[verb]).load())
    context = typer.Context(command)
    for name, parameter in parameters(command):
        assert parameter.help, f"{name} does not say what it is"
        if getattr(parameter, "is_flag", False):
            assert parameter.metavar == "", f"{name} is a flag and takes no {parameter.metavar}"
        assert parameter.show_default is False, f"{name} tells its default in another style"
        assert "unless given" not in parameter.help, f"{name} tells its default in words"
        assert not parameter.required or "[default:" not in parameter.help
    assert command.get_help_option(context).metavar == ""


def test_help_shows_flags_defaults_and_what_is_required(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for args, lines in (
        (
            ["train", "clone"],
            ["*  --demos", "[required]", "How long to learn at most. [default: 15, or none with --updates]"],
        ),
        (["train", "hierarchical"], ["--num-envs <int> Desktops that are played on at once. [default: 8]"]),
        (["eval"], ["--json Print", "--suite <str> Required, here or in --config", "[default: no-network]"]),
    ):
        with pytest.raises(SystemExit):
            main([*args, "--help"])
        told = capsys.readouterr().out
        assert "<bool>" not in told
        assert "default: (" not in told
        for line in lines:
            assert " ".join(line.split()) in " ".join(told.replace("│", " ").split())


def test_version() -> None:
    from operant import __version__

    assert operant("--version").stdout == f"operant {__version__}\n"


def test_no_color_means_no_escape_sequences() -> None:
    wanted = operant("--help", env={"FORCE_COLOR": "1", "NO_COLOR": ""})
    unwanted = operant("--help", env={"FORCE_COLOR": "", "NO_COLOR": "1"})
    assert "\x1b[" in wanted.stdout
    assert "\x1b[" not in unwanted.stdout


@pytest.mark.parametrize("args", [["dotcor"], ["doctor", "--jason"], ["init", "a", "surplus"]])
def test_bad_usage_is_code_2_and_goes_to_stderr(args: list[str]) -> None:
    ended = operant(*args)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Usage:" in ended.stderr


class Raises:
    """Stands for the whole command line."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def __call__(self, **_: object) -> None:
        raise self.failure


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (
            MissingProgram("no Xvfb", hint="apt-get install xvfb"),
            1,
            "error: no Xvfb\nhint: apt-get install xvfb\n",
        ),
        (MissingProgram("no Xvfb"), 1, "error: no Xvfb\n"),
        (ConfigError("no such key"), 2, "error: no such key\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_failures_end_in_words_and_a_code(
    failure: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(root, "command", lambda: Raises(failure))
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == code
    printed = capsys.readouterr()
    assert printed.err == said
    assert printed.out == ""


def test_a_verb_can_be_a_group_and_its_failures_reach_the_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verb = ModuleType("invented_verb")
    verb.app = app = typer.Typer()  # type: ignore[attr-defined]

    @app.command()
    def walk(steps: int) -> None:
        typer.echo(f"walked {steps}")

    @app.command()
    def fall() -> None:
        raise MissingProgram("no floor", hint="build one")

    monkeypatch.setitem(sys.modules, "invented_verb", verb)
    monkeypatch.setitem(root.VERBS, "go", ("invented_verb", "Go."))
    for args, code in ((["go", "walk", "3"], 0), (["go", "walk", "far"], 2), (["go", "fall"], 1)):
        with pytest.raises(SystemExit) as left:
            main(args)
        assert left.value.code == code, args
    printed = capsys.readouterr()
    assert printed.out == "walked 3\n"
    assert printed.err.endswith("error: no floor\nhint: build one\n")


def test_ctrl_c_in_a_verb_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    import operant.cli.doctor as doctor

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", interrupted)
    with pytest.raises(SystemExit) as left:
        main(["doctor"])
    assert left.value.code == 130
