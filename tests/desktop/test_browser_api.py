"""Functions of the browser over DevTools, on a real desktop; pages are files, and looked at from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from operant.apps.chromium import APP
from operant.calls.inside.devtools import DevToolsError
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed

pytestmark = pytest.mark.x11

Call = Callable[..., Any]
FORM = """<title>Form</title><form action="b.html">
<label>Name <input name=n></label> <label>Size <select><option>Small<option>Large</select></label>
<label><input type=checkbox> Gift</label> <label>Day <input type=date></label> <label>Code <input readonly></label>
<button type=button onclick="alert('boo')">Shout</button> <button>Send</button></form><a href=b.html>Other page</a>"""


@pytest.fixture(name="call")
def call_browser(call: Call) -> Call:
    return lambda name, /, **arguments: call(f"chromium.{name}", **arguments)


@pytest.fixture
def browser(desktop: SandboxDesktop) -> SandboxDesktop:
    desktop.files.write("a.html", FORM)
    desktop.files.write("b.html", "<title>Sent</title>bee <script>document.write(location.search)</script>")
    desktop.launch(APP.argv("file:///home/user/a.html"), timeout_s=30)
    return desktop


def test_a_form_is_read_filled_in_and_sent(browser: SandboxDesktop, call: Call) -> None:
    names = {(one["role"], one["name"]) for one in call("list_elements")}
    assert {("textbox", "Name"), ("combobox", "Size"), ("checkbox", "Gift"), ("link", "Other page")} <= names
    call("fill_form", values={"Size": "Large", "Gift": "true", "Day": "2026-11-18", "Name": 'Ann "x" & ü'})
    said = {one["name"]: one for one in call("list_elements")}
    assert (said["Size"]["value"], said["Gift"]["checked"]) == ("Large", True)
    shown = [node.text for node in browser.accessibility(app="Chromium").walk() if node.name == "Name"]
    assert 'Ann "x" & ü' in shown, "what a call wrote is on the screen"
    for field, value, why in (
        ("Nme", "x", "did you mean 'Name'"),
        ("Size", "Huge", "options: Small, Large"),
        ("Day", "soon", "a field for date"),
        ("Gift", "maybe", 'takes "true" or "false"'),
        ("Code", "1", "can't be changed"),
    ):
        with pytest.raises(CallFailed, match=why):
            call("fill", field=field, value=value)
    assert call("click", name="Send")["title"] == "Sent"
    assert "n=Ann" in call("read_page")
    assert call("back")["title"] == "Form"
    with pytest.raises(CallFailed, match="no page to go back"):
        call("back")


def test_a_dialog_of_a_page_is_named_and_answered(browser: SandboxDesktop, call: Call) -> None:
    assert call("click", name="Shout") == {"dialog": "This page says"}
    began = time.monotonic()
    with pytest.raises(CallFailed, match="dialog 'This page says' of the browser is open"):
        call("read_page")
    assert time.monotonic() - began < 2.5
    with pytest.raises(CallFailed, match="buttons: OK"):
        call("answer_dialog", button="Maybe")
    call("answer_dialog")
    assert "Other page" in call("read_page")
    with pytest.raises(CallFailed, match="shows no dialog"):
        call("answer_dialog")


def test_tabs_bookmarks_and_downloads(browser: SandboxDesktop, call: Call) -> None:
    browser.files.write("x.zip", b"PK\5\6" + b"\0" * 18)
    assert call("open_tab", url="~/b.html")["title"] == "Sent"
    assert [(one["title"], one["shown"]) for one in call("list_tabs")] == [("Form", False), ("Sent", True)]
    call("switch_tab", tab="form")
    assert call("get_page")["title"] == "Form"
    with pytest.raises(CallFailed, match="tabs: 'Form', 'Sent'"):
        call("switch_tab", tab="Nothing")
    call("close_tab", tab="2")
    with pytest.raises(CallFailed, match="the only tab"):
        call("close_tab")
    call("add_bookmark")
    call("add_bookmark", title="Zed", url="example.org")
    assert [one["title"] for one in call("list_bookmarks")] == ["Form", "Zed"]
    assert call("download", url="file:///home/user/x.zip") == "downloaded ~/Downloads/x.zip"
    assert browser.files.read("Downloads/x.zip").startswith(b"PK")
    assert call("list_downloads") == [{"file": "x.zip", "bytes": 22, "complete": True}]
    for url, why in (
        ("javascript:alert(1)", "addresses begin with"),
        ("ssh://a/b", "addresses begin with"),
        ("a b", "is not an address"),
        ("http://nowhere.test/", "can't be opened"),
    ):
        with pytest.raises(CallFailed, match=why):
            call("navigate", url=url)
    assert len(call("list_tabs")) == 1


def test_only_process_1_holds_the_pipe_and_no_port_is_open(
    browser: SandboxDesktop, call: Call, eventually: Callable[..., Any]
) -> None:
    listening = browser.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout.decode()
    assert not [line for line in listening.splitlines() if line.split()[3:4] == ["0A"]]
    with browser.devtools() as tools:
        assert tools.command("Browser.getVersion")["product"].startswith("Chrome/")
        # What the owner leaves unread does not disturb a call.
        tools.command("Target.setDiscoverTargets", {"discover": True})
    assert call("get_page")["title"] == "Form"
    # A program that registers what is no browser gets nothing, and what it says is not believed.
    fake = (
        "import os, socket; a, b = socket.socketpair(); s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM);"
        "s.connect(os.environ['XDG_RUNTIME_DIR'] + '/devtools'); socket.send_fds(s, [b'x'], [b.fileno()]);"
        "b.close(); a.sendall(b'[1]\\0{\"id\": 1}\\0' + b'{' * 100000 + b'\\0'); a.recv(1 << 20); print('asked')"
    )
    pid = browser.start(["/usr/bin/python3", "-c", fake])
    with pytest.raises(CallFailed, match="the browser is gone"):
        eventually(lambda: call("get_page")["title"] != "Form", 10)
    eventually(lambda: pid not in [one.pid for one in browser.processes()])
    assert call("get_page")["title"] == "Form"
    for window in browser.windows():
        browser.close_window(window)
    with pytest.raises((CallFailed, DevToolsError), match=r"no browser can be asked|gone"):
        eventually(lambda: browser.devtools().command("Browser.getVersion") is None, 10)
    with pytest.raises(CallFailed, match="the browser is not running"):
        call("get_page")
    browser.check()
