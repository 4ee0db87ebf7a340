"""Everything is kept in one directory, which one setting names; the current directory stays clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.cli import main
from operant.config.places import VARIABLE, data_dir
from operant.config.service import ServiceConfig
from operant.desktop.providers.sandbox import SandboxProvider
from operant.tasks.suites import SUITES
from operant.testing import FakeDesktop
from operant.train.config import TrainConfig


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, a data directory of the user, and no setting."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_the_place_is_the_users_data_directory_unless_it_is_set(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_dir() == tmp_path / "share" / "operant"
    monkeypatch.setenv(VARIABLE, "~/things")
    assert data_dir() == Path.home() / "things"
    monkeypatch.delenv(VARIABLE)
    (here / ".env").write_text(f"{VARIABLE}=/srv/operant\n")
    assert data_dir() == Path("/srv/operant")
    monkeypatch.delenv("XDG_DATA_HOME")
    (here / ".env").unlink()
    assert data_dir() == Path.home() / ".local" / "share" / "operant"


def test_one_setting_moves_everything(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (data_dir(), Path("/srv/operant")):
        service, run = ServiceConfig.load(), TrainConfig.load().run
        assert (service.data_dir, service.results_dir) == (place, place / "results")
        assert service.checkpoints_dir == run.save_dir == place / "checkpoints"
        assert run.log_dir == place / "logs"
        monkeypatch.setenv(VARIABLE, "/srv/operant")
    flag = ServiceConfig.load(flags={"data_dir": Path("/data"), "results_dir": Path("/results")})
    assert (flag.data_dir, flag.results_dir) == (Path("/data"), Path("/results"))
    assert flag.checkpoints_dir == Path("/data/checkpoints")


def test_an_evaluation_leaves_the_current_directory_clean(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SUITES, "pretend", "operant.testing:FAKE_TEMPLATES")
    monkeypatch.setattr(SandboxProvider, "start", lambda _, config: FakeDesktop.factory(config))
    with pytest.raises(SystemExit) as left:
        main(["eval", "--agent", "done", "--suite", "pretend", "--limit", "1"])
    assert not left.value.code
    assert not list(here.iterdir())
    results = tmp_path / "share" / "operant" / "results"
    assert list(results.rglob("episode.json"))
    assert f"operant results show {results}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["results", "show", "--no-report"])
    assert not left.value.code
    assert not list(here.iterdir())
