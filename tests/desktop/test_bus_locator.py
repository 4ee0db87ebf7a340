"""Programs ask the session bus where the accessibility bus is, and whether accessibility is on."""

from __future__ import annotations

import pytest

from operant.desktop.sandbox import SandboxDesktop

pytestmark = pytest.mark.x11

ASK = [
    "dbus-send",
    "--session",
    "--print-reply",
    "--reply-timeout=5000",
    "--dest=org.a11y.Bus",
    "/org/a11y/bus",
]
GET = "org.freedesktop.DBus.Properties.Get"
# A call longer than any real one, after which the name is free.
LONG = f"{' '.join(ASK)} {GET} string:org.a11y.Status string:$(head -c 100000 /dev/zero | tr '\\0' x)"


def ask(desktop: SandboxDesktop, *question: str) -> str:
    done = desktop.run([*ASK, *question])
    return done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (["org.a11y.Bus.GetAddress"], 'string "unix:path=/run/user/1000/bus"'),
        ([GET, "string:org.a11y.Status", "string:IsEnabled"], "boolean true"),
        ([GET, "string:org.a11y.Status", "string:ScreenReaderEnabled"], "boolean false"),
        (["org.freedesktop.DBus.Properties.GetAll", "string:org.a11y.Status"], 'string "IsEnabled"'),
        (["org.a11y.Bus.Nonsense", "string:x"], "UnknownMethod"),
    ],
)
def test_a_call_is_answered(desktop: SandboxDesktop, question: list[str], answer: str) -> None:
    assert answer in ask(desktop, *question)


@pytest.mark.parametrize(
    "question", [[GET], [GET, "int32:7"], [GET, "string:one"], [GET, "array:string:a,b"]]
)
def test_a_call_with_other_arguments_does_no_harm(desktop: SandboxDesktop, question: list[str]) -> None:
    ask(desktop, *question)
    assert "unix:path=" in ask(desktop, "org.a11y.Bus.GetAddress")


def test_a_call_that_is_too_long_ends_the_service_and_not_the_episode(desktop: SandboxDesktop) -> None:
    done = desktop.run(["sh", "-c", LONG])
    assert b"Error" in done.stderr
    assert desktop.run(["echo", "alive"]).stdout == b"alive\n"
    desktop.reset()
    assert "unix:path=" in ask(desktop, "org.a11y.Bus.GetAddress"), "the next episode has it again"


def test_qt_6_shows_its_widgets(desktop: SandboxDesktop) -> None:
    desktop.launch("qt6ct")
    tree = desktop.accessibility(timeout_s=10.0)
    assert sum(1 for node in tree.walk() if node.name) > 20
    assert tree.find("page tab", "Fonts") is not None
