"""Teams: a coordinator hands parts of a task to members, each any agent, and a reviewer sends back what is not done."""

from operant.agents.team.agent import PrivilegedTeam, TeamAgent
from operant.agents.team.loading import load, make_team

__all__ = ["PrivilegedTeam", "TeamAgent", "load", "make_team"]
