"""Files and directories: what is there, what it says, and what only looks like it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from operant.errors import TaskError
from operant.tasks.criteria import DirectoryContains, FileContains, FileEquals, FileExists, FileNotExists, Not
from operant.tasks.criteria.places import inside

pytestmark = pytest.mark.x11


# file_exists


def test_a_file_exists(desktop, ask):
    assert not ask(FileExists(path="notes.txt"))
    desktop.files.write("notes.txt", "")
    assert ask(FileExists(path="notes.txt"))
    assert ask(FileExists(path="~/notes.txt"))
    assert ask(FileExists(path="/home/user/notes.txt", kind="any"))
    assert not ask(FileExists(path="notes.txt", kind="directory"))


def test_a_directory_exists(ask, shell):
    shell("mkdir -p a/b")
    assert ask(FileExists(path="a/b", kind="directory"))
    assert ask(FileExists(path="a/b", kind="any"))
    verdict = ask(FileExists(path="a/b"))
    assert not verdict
    assert "is a directory" in verdict.why


@pytest.mark.parametrize(
    "cheat",
    [
        "mkdir out.txt",
        "ln -s /etc/passwd out.txt",
        "ln -s missing out.txt",
        "touch other; ln -s other out.txt",
        "mkfifo out.txt",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"out.txt\")'",
        "touch 'out.txt '",
        "touch OUT.TXT",
        "ln -s out.txt out.txt",
    ],
)
def test_what_is_not_a_file_does_not_pass_for_one(ask, shell, cheat):
    shell(cheat)
    assert not ask(FileExists(path="out.txt"))


@pytest.mark.parametrize("cheat", ["mkfifo out", "ln -s /usr out", "ln -s /etc/passwd out"])
def test_neither_file_nor_directory_is_nothing_at_all(ask, shell, cheat):
    shell(cheat)
    assert not ask(FileExists(path="out", kind="any"))
    assert not ask(FileExists(path="out", kind="directory"))


def test_a_directory_that_is_a_link_does_not_count(ask, shell):
    shell("mkdir real; touch real/x; ln -s real linked")
    assert ask(FileExists(path="real/x"))
    assert not ask(FileExists(path="linked/x"))


# file_not_exists


def test_a_file_does_not_exist(desktop, ask, shell):
    desktop.files.write("old.txt", "x")
    assert not ask(FileNotExists(path="old.txt"))
    shell("rm old.txt")
    assert ask(FileNotExists(path="old.txt"))
    assert ask(FileNotExists(path="nowhere/old.txt"))


@pytest.mark.parametrize(
    "cheat",
    [
        "chmod 000 d",  # it can't be seen, but it is there
        "rm d/old.txt; ln -s missing d/old.txt",
        "rm d/old.txt; mkdir d/old.txt",
        "chmod 000 d/old.txt",
    ],
)
def test_what_is_hidden_is_not_gone(desktop, ask, shell, cheat):
    desktop.files.write("d/old.txt", "x")
    shell(cheat)
    assert not ask(FileNotExists(path="d/old.txt"))


# file_contains


def test_a_file_contains_a_text(desktop, ask):
    desktop.files.write("a.txt", "one Two two\n")
    assert ask(FileContains(path="a.txt", text="two"))
    assert not ask(FileContains(path="a.txt", text="three"))
    assert ask(FileContains(path="a.txt", text="TWO", ignore_case=True))
    assert ask(FileContains(path="a.txt", text="two", ignore_case=True, times=2))
    assert not ask(FileContains(path="a.txt", text="two", times=2))
    assert not ask(FileContains(path="missing.txt", text="two"))


def test_a_search_text_is_no_pattern(desktop, ask):
    desktop.files.write("a.txt", "abc")
    assert not ask(FileContains(path="a.txt", text="a.c"))


@pytest.mark.parametrize(
    "cheat",
    [
        "touch a.txt",
        "mkdir a.txt; touch a.txt/root",
        "ln -s /etc/passwd a.txt",
        "mkfifo a.txt",
        "touch a.txt; echo root > .a.txt.swp",
        "mkdir d; echo root > d/a.txt",
    ],
)
def test_a_text_that_is_not_in_the_file_does_not_pass(ask, shell, cheat):
    shell(cheat)
    assert not ask(FileContains(path="a.txt", text="root"))


def test_a_file_beyond_measure_is_not_read(ask, shell):
    shell("printf root > big.txt; truncate -s 400M big.txt")
    verdict = ask(FileContains(path="big.txt", text="root"))
    assert not verdict
    assert "more than are looked at" in verdict.why
    assert not ask(Not(of=FileContains(path="big.txt", text="absent"))), (
        "what is unknown is not refuted either"
    )


def test_taking_away_the_permission_does_not_take_away_the_text(desktop, ask, shell):
    desktop.files.write("a.txt", "secret")
    shell("chmod 000 a.txt")
    assert not ask(Not(of=FileContains(path="a.txt", text="secret")))


# file_equals


def test_a_file_equals_a_text(desktop, ask):
    desktop.files.write("a.txt", "Dear Anna,\nhello\n")
    assert ask(FileEquals(path="a.txt", text="Dear Anna,\nhello"))
    assert not ask(FileEquals(path="a.txt", text="Dear Anna,\nhello", strip=False))
    assert not ask(FileEquals(path="a.txt", text="dear anna,\nhello"))
    assert not ask(FileEquals(path="b.txt", text=""))


@pytest.mark.parametrize(
    "content",
    [b"", b"42 or 43", b"42\n43", b" 42", b"42\n\x00", b"\xff\xfe4\x002\x00", b"42\xff", "42​".encode()],
)
def test_garbage_around_the_text_does_not_pass(desktop, ask, content):
    desktop.files.write("a.txt", content)
    assert not ask(FileEquals(path="a.txt", text="42"))


def test_a_link_to_the_original_is_not_a_copy(desktop, ask, shell):
    desktop.files.write("original.txt", "text")
    shell("ln -s original.txt copy.txt")
    assert not ask(FileEquals(path="copy.txt", text="text"))
    shell("rm copy.txt; cp original.txt copy.txt")
    assert ask(FileEquals(path="copy.txt", text="text"))


# directory_contains


def test_a_directory_contains_names(desktop, ask):
    desktop.files.write("d/a.txt", "")
    desktop.files.write("d/sub/b.txt", "")
    assert ask(DirectoryContains(path="d", names=("a.txt",)))
    assert ask(DirectoryContains(path="d", names=("a.txt", "sub/"), exactly=True))
    assert not ask(DirectoryContains(path="d", names=("a.txt",), exactly=True))
    assert not ask(DirectoryContains(path="d", names=("b.txt",)))
    assert not ask(DirectoryContains(path="d", names=("a.txt/",)))
    assert not ask(DirectoryContains(path="missing", names=("a.txt",)))
    assert not ask(DirectoryContains(path="d/a.txt", names=("a.txt",)))


@pytest.mark.parametrize(
    "cheat",
    [
        "mkdir d; ln -s ../a.txt d/a.txt",
        "mkdir d; mkfifo d/a.txt",
        "mkdir d; cp a.txt d/a.txt; touch d/.hidden",
        "mkdir e; cp a.txt e; ln -s e d",
        "mkdir -p d/a.txt/x; rm -r d/a.txt; ln -s a.txt d/a.txt",
    ],
)
def test_links_and_hidden_leftovers_do_not_pass(desktop, ask, shell, cheat):
    desktop.files.write("a.txt", "")
    shell(cheat)
    assert not ask(DirectoryContains(path="d", names=("a.txt",), exactly=True))


def test_a_flood_of_files_is_not_taken_apart(ask, shell):
    shell("mkdir d; cd d; seq 21000 | xargs touch")
    assert not ask(DirectoryContains(path="d", names=("1",), exactly=True))


# Paths.


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../x",
        "..",
        "a/../../x",
        "/tmp/../etc/x",
        "/",
        "",
        "a\0b",
        "/tmp",
        "/home/user2/x",
        "~root/../../x",
        "/home/user/../x",
        "/proc/1/environ",
    ],
)
def test_paths_outside_the_sandbox_are_refused_when_the_criterion_is_made(path):
    for make in (FileExists, FileNotExists):
        with pytest.raises(TaskError):
            make(path=path)


def test_paths_are_relative_to_home_or_below_tmp():
    assert inside("~/a//b/./c") == "a/b/c"
    assert inside("/home/user/a") == "a"
    assert inside("/tmp/x/../y") == "/tmp/y"
    assert inside("~") == "."


def test_a_name_that_leads_elsewhere_is_refused():
    for name in ("", "a/b", "..", "/"):
        with pytest.raises(TaskError):
            DirectoryContains(path="d", names=(name,))
    with pytest.raises(ValidationError):
        DirectoryContains(path="d", names=())


def test_files_in_tmp_count_too(ask, shell):
    shell("mkdir /tmp/d; echo hi > /tmp/d/x")
    assert ask(FileEquals(path="/tmp/d/x", text="hi"))
