"""``operant desktop serve``: which desktops are offered, by flags and by a file; nothing is started here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.cli import main
from operant.config.desktop import DesktopConfig
from operant.types import Size


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[DesktopConfig]:
    """The settings of each host that would have been served."""
    found: list[DesktopConfig] = []

    def host(count: int, config: DesktopConfig, **more: Any) -> None:
        found.append(config)

    monkeypatch.setattr("operant.service.desktops.host.DesktopHost", host)
    monkeypatch.setattr("operant.service.desktops.server.serve_desktops", lambda *_, **__: None)
    return found


def serve(*args: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["desktop", "serve", *args])
    assert left.value.code == 0


def test_desktops_have_the_usual_size(offered: list[DesktopConfig]) -> None:
    serve()
    assert offered == [DesktopConfig()]


def test_monitors_decide_the_size(offered: list[DesktopConfig]) -> None:
    serve("--monitors", "1920x1080,1280x1024")
    assert offered[0].size == Size(3200, 1080)
    assert len(offered[0].monitors) == 2


def test_a_file_says_what_flags_do_not(offered: list[DesktopConfig], tmp_path: Path) -> None:
    file = tmp_path / "desktops.yaml"
    file.write_text("desktop:\n  width: 1024\n  height: 768\n  profile: full\n")
    serve("--config", str(file), "--width", "800")
    assert (offered[0].width, offered[0].height, offered[0].profile) == (800, 768, "full")


def test_the_help_of_serve_shows_the_profile_that_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    start = told.index("--profile")
    assert "[default: full]" in told[start : start + 300]
