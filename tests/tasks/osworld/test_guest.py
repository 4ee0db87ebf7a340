from __future__ import annotations

from types import SimpleNamespace

import pytest

from operant.errors import TaskError
from operant.tasks.osworld import guest
from operant.types import Size

SIZE = SimpleNamespace(size=Size(1920, 1080))


def test_placeholders_are_filled_in_and_what_is_no_command_is_refused() -> None:
    assert guest.words_of("click {SCREEN_WIDTH_HALF} '{SCREEN_HEIGHT}'", False, SIZE) == [
        "click",
        "960",
        "1080",
    ]
    assert guest.words_of(["cat", "~/x"], False, SIZE) == ["cat", "/home/user/x"]
    assert guest.words_of("a | b", True, SIZE) == ["/bin/sh", "-c", "a | b"]
    for wrong in ("'", "", 3, [None]):
        with pytest.raises(TaskError):
            guest.words_of(wrong, False, SIZE)


@pytest.mark.parametrize(
    ("command", "shell", "shown"),
    [
        ("VLC_VERBOSE=-1 vlc --no-audio", True, "vlc"),
        (["libreoffice", "--calc"], False, "libreoffice"),
        (["libreoffice", "--headless", "--convert-to", "csv", "a.xlsx"], False, None),
        (["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"], False, None),
        ("gnome-terminal --maximize --working-directory=/home/user", True, "gnome-terminal"),
        (["bash", "-c", "/usr/bin/gimp a.png"], False, "gimp"),
        ("ls", True, None),
        ("echo 'open", True, None),
    ],
)
def test_only_programs_with_windows_are_waited_for(command, shell: bool, shown: str | None) -> None:
    assert guest.window_program(guest.words_of(command, shell, SIZE)) == shown
