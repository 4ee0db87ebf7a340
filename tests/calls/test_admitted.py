"""The store of admitted functions: kept, offered, refused when changed, revoked."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from operant.calls.admitted import admitted_functions, revoke, store, stored_functions
from operant.calls.catalog import find_function, offered_functions, packed_code
from operant.errors import UnknownFunction

CODE = 'def shout(text: str) -> str:\n    """Say it loudly."""\n    return text.upper()\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return store(
        "mousepad",
        "shout",
        CODE,
        tests=[],
        evidence={"types": "x"},
        provenance={"model": "m"},
        wm_class="Mousepad",
    )


def packed() -> list[str]:
    return zipfile.ZipFile(io.BytesIO(packed_code())).namelist()


def test_an_admitted_function_is_found_offered_and_packed(place: Path) -> None:
    function = find_function("mousepad.shout")
    assert (function.module, function.signature) == (
        "admitted.mousepad.shout",
        "mousepad.shout(text: str) -> str",
    )
    assert function in offered_functions("api", "Mousepad")
    assert function not in offered_functions("api", "Galculator")
    assert function in offered_functions("both", everything=True)
    assert "admitted/mousepad/shout.py" in packed()


def test_a_revoked_function_is_gone_and_its_files_stay(place: Path) -> None:
    assert revoke("mousepad.shout", "too loud").state == "revoked"
    with pytest.raises(UnknownFunction):
        find_function("mousepad.shout")
    assert "admitted/mousepad/shout.py" not in packed()
    assert json.loads((place / "revoked.json").read_text())["reason"] == "too loud"
    with pytest.raises(UnknownFunction, match=r"did you mean mousepad\.shout"):
        revoke("mousepad.shot")
    store("mousepad", "shout", CODE, tests=[], evidence={}, provenance={})
    assert find_function("mousepad.shout").name == "shout"


@pytest.mark.parametrize(
    ("file", "content", "state"),
    [
        ("code.py", CODE.replace("upper", "lower"), "changed"),
        ("code.py", "def shout(:", "unreadable"),
        ("code.py", CODE.replace("shout", "other"), "unreadable"),
        ("evidence.json", "[]", "unreadable"),
        ("evidence.json", "{", "unreadable"),
    ],
)
def test_what_is_not_as_admitted_is_not_loaded(place: Path, file: str, content: str, state: str) -> None:
    (place / file).write_text(content)
    assert [one.state for one in stored_functions()] == [state]
    assert admitted_functions() == []
    assert "admitted/mousepad/shout.py" not in packed()


def test_no_function_takes_the_place_of_one_that_is_built_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store("files", "move", CODE.replace("shout", "move"), tests=[], evidence={}, provenance={})
    assert find_function("files.move").module == ""
