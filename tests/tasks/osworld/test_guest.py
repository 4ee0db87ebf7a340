from __future__ import annotations

import pytest

from operant.errors import TaskError
from operant.tasks.osworld import guest


def test_commands_are_words_and_shells_get_stand_ins() -> None:
    assert guest.argv_of("ls -l '/a b'", shell=False) == ["ls", "-l", "/a b"]
    assert guest.argv_of(["cat", "~/x"], shell=False) == ["cat", "/home/user/x"]
    assert guest.argv_of(["python", "a.py"], shell=False) == ["python3", "a.py"]
    assert guest.argv_of(["sudo", "-S", "mkdir", "a"], shell=False) == ["mkdir", "a"]
    assert guest.argv_of(["pkill", "chrome"], shell=False) == ["pkill", "chrom(e|ium)"]
    assert guest.argv_of("a | b", shell=True) == ["/bin/bash", "-c", guest.PRELUDE + "a | b"]
    chrome = guest.argv_of(["google-chrome", "--remote-debugging-port=1337"], shell=False)
    assert chrome[0] == "chromium"
    assert chrome[-2:] == ["--user-data-dir=/home/user/.config/google-chrome", "--remote-debugging-port=1337"]
    for wrong in ("'", ""):
        with pytest.raises(TaskError):
            guest.argv_of(wrong, shell=False)


@pytest.mark.parametrize(
    ("command", "shell", "shown"),
    [
        ("VLC_VERBOSE=-1 vlc --no-audio", True, "vlc"),
        (["libreoffice", "--calc"], False, "libreoffice"),
        (["libreoffice", "--headless", "--convert-to", "csv", "a.xlsx"], False, None),
        (["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"], False, None),
        ("ls", True, None),
    ],
)
def test_only_programs_with_windows_are_waited_for(command, shell: bool, shown: str | None) -> None:
    assert guest.window_program(guest.argv_of(command, shell)) == shown
