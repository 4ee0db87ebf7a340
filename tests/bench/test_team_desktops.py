"""The four parts that teams are timed with: they share no file and no place, and each finds its own oracle."""

from __future__ import annotations

import pytest

from operant.agents.base import TaskView
from operant.bench.team_desktops import PARTS, PartOracle, four_parts, team_on
from operant.errors import AgentError, ConfigError
from operant.tasks.setup import Launch, WriteFile
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Observation, Size


def test_parts_share_no_file_and_no_window_covers_another() -> None:
    whole, parts = four_parts()
    assert len(parts) == PARTS
    written = [step.path for step in whole.setup if isinstance(step, WriteFile)]
    assert len(written) == len(set(written)) == 12
    places = [step.place for step in whole.setup if isinstance(step, Launch)]
    assert len(set(places)) == len(places) == 12
    assert all(part.instruction in whole.instruction for part in parts)


def test_a_template_without_files_can_not_be_joined() -> None:
    with pytest.raises(ConfigError, match="no files"):
        four_parts("core/calculator-average-v1")


def test_a_team_on_four_desktops_has_the_parts_in_its_plan() -> None:
    _, parts = four_parts()
    team = team_on(4, parts, 0.0, FakeDesktop.factory)
    assert [part.instruction for part in team.settings.parts] == [part.instruction for part in parts]
    assert team.settings.desktops == 4
    team.close()


def test_an_instruction_that_names_no_part_is_an_error() -> None:
    _, parts = four_parts()
    agent = PartOracle(parts, 0.0)
    desktop = FakeDesktop()
    agent.attach(desktop, parts[0])
    agent.begin(TaskView("something else", 5, Size(1280, 800)))
    with pytest.raises(AgentError, match="names no part"):
        agent.act(Observation(desktop.frame(), "something else", 0, 5, pointer=None))  # type: ignore[arg-type]
