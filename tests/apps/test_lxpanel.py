"""The panel's state is read from outside."""

from __future__ import annotations

import pytest

from operant.apps import load_app
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop


@pytest.mark.x11
def test_its_state_is_read_from_outside() -> None:
    app = load_app("lxpanel")
    with SandboxDesktop() as desktop:
        desktop.reset("full")
        assert app.is_ready(View(desktop))
        desktop.launch(["xterm", "-T", "Notes"])
        desktop.settle()
        state = app.state(desktop)
        assert (state.menu, state.windows) == (False, ("Notes",))
