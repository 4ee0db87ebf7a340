"""Settings from the environment: ``.env`` under variables, and no variable of ours that means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.config.evaluation import EvaluationConfig
from operant.config.service import ServiceConfig
from operant.config.settings import check_level, read_environment, read_variable
from operant.errors import ConfigError
from operant.types import Size


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("OPERANT_DEVISE", "did you mean OPERANT_DEVICE?"),
        ("OPERANT_TOKN", "did you mean OPERANT_TOKEN?"),
        ("OPERANT_DESKTOP", "did you mean OPERANT_DESKTOPS?"),
        ("OPERANT_LOGLEVEL", "did you mean OPERANT_LOG_LEVEL?"),
        ("OPERANT_XYZZY", "docs/service.md"),
    ],
)
def test_a_mistyped_variable_is_an_error_with_the_nearest_name(name: str, hint: str) -> None:
    for read in (
        lambda: read_environment({name: "1"}),
        lambda: ServiceConfig.load(environ={name: "1"}),
        lambda: EvaluationConfig.load(environ={name: "1"}),
    ):
        with pytest.raises(ConfigError, match=name) as caught:
            read()
        assert hint in str(caught.value.hint)
    Path(".env").write_text(f"{name}=1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"\.env"):
        read_environment({})


def test_names_of_others_and_our_own_marks_are_left_alone() -> None:
    said = {
        "OPERANT_DESKTOP_OF": "1.2",
        "OPERANT_REQUEST_ID": "x",
        "OPERANTS": "y",
        "MY_OPERANT_X": "z",
        "EMPTY": "",
    }
    assert read_environment(said).keys() == said.keys() - {"EMPTY"}
    with pytest.raises(ConfigError):
        read_environment({"OPERANT_MY_KEY": "k"})
    assert read_environment({"OPERANT_MY_KEY": "k"}, also=["OPERANT_MY_KEY"])


def test_levels_are_known_by_name() -> None:
    assert check_level("debug") == "DEBUG"
    with pytest.raises(ValueError, match="did you mean WARNING"):
        check_level("WARNIN")


def test_an_evaluation_takes_flags_over_variables_over_the_file() -> None:
    file = Path("eval.yaml")
    file.write_text("device: cuda\nlog_level: error\ndesktop: {width: 800, height: 600, network: true}\n")
    said = {"DEVICE": "cuda:1"}
    found = EvaluationConfig.load(file, environ=said)
    assert (found.device, found.log_level, found.desktop.size) == ("cuda:1", "ERROR", Size(800, 600))
    section = {"size": "1920x1080", "width": None, "height": None}
    found = EvaluationConfig.load(
        file, environ=said, flags={"device": "cpu", "log_level": None, "desktop": section}
    )
    assert (found.device, found.desktop.size, found.desktop.network) == ("cpu", Size(1920, 1080), True)
    assert EvaluationConfig.load(environ={}, flags={"device": None}) == EvaluationConfig()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dekstop: {width: 1}", "did you mean 'desktop'"),
        ("desktop: {widht: 800}", "did you mean 'width'"),
        ("desktop: 800", "desktop"),
        ("log_level: loud", "levels are"),
        ("- 1", "holds no settings"),
        ("desktop: {", "can't be read"),
    ],
)
def test_mistakes_in_a_file_are_named(text: str, says: str) -> None:
    Path("bad.yaml").write_text(text, encoding="utf-8")
    for model in (EvaluationConfig.load, lambda file: ServiceConfig.load(file, environ={})):
        with pytest.raises(ConfigError) as caught:
            model(Path("bad.yaml"))
        assert "bad.yaml" in caught.value.message
        assert says in str(caught.value)
    with pytest.raises(ConfigError, match="no file"):
        EvaluationConfig.load(Path("none.yaml"), environ={})


def test_the_service_takes_a_file_too() -> None:
    Path("service.yaml").write_text("port: 9000\ndesktops: 3\ndevice: cuda\ndesktop: {size: 1920x1080}\n")
    said = {"OPERANT_CONFIG": "service.yaml", "OPERANT_PORT": "9001", "DEVICE": "cpu", "LOG_LEVEL": "debug"}
    config = ServiceConfig.load(environ=said, flags={"desktops": 4})
    assert (config.port, config.desktops, config.device, config.log_level) == (9001, 4, "cpu", "DEBUG")
    assert config.desktop.size == Size(1920, 1080)
    with pytest.raises(ConfigError, match="log_level"):
        ServiceConfig.load(environ={"LOG_LEVEL": "loud"})


def test_a_variable_that_settings_name_may_stand_in_the_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DESKTOP_KEY", raising=False)
    assert read_variable("DESKTOP_KEY") is None
    (tmp_path / ".env").write_text("DESKTOP_KEY=from-the-file\n")
    assert read_variable("DESKTOP_KEY") == "from-the-file"
    monkeypatch.setenv("DESKTOP_KEY", "from-the-process")
    assert read_variable("DESKTOP_KEY") == "from-the-process"
