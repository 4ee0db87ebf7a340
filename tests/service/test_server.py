"""``operant serve`` with settings that can't work ends before it listens or starts a desktop."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.cli import main


@pytest.mark.parametrize(
    ("flags", "said", "hint"),
    [
        (["--agent", "nope"], "there is no agent 'nope'", "did you mean 'noop'?"),
        (["--agent", "hierarchical:{here}/junk.pt"], "junk.pt is not a checkpoint", "training wrote"),
        (["--agent", "junk.pt", "--checkpoints-dir", "{here}"], "is not a checkpoint", "training wrote"),
        (["--data-dir", "/proc/nowhere"], "data_dir /proc/nowhere can't be written", "--data-dir"),
        (["--data-dir", "{here}/junk.pt"], "junk.pt can't be written", "--data-dir"),
    ],
)
def test_what_cannot_work_is_refused(
    flags: list[str],
    said: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: pytest.fail("the service was started"))
    (tmp_path / "junk.pt").write_text("junk\n")
    words = [flag.format(here=tmp_path) for flag in flags]
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", "--no-dashboard", *words])
    assert ended.value.code in (1, 2)
    told = capsys.readouterr().err
    error, way_out = [line for line in told.splitlines() if line.startswith(("error: ", "hint: "))]
    assert said in error
    assert hint in way_out
    assert "Traceback" not in told
