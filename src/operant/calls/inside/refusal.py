"""The one error that functions raise on purpose."""

from __future__ import annotations


class Refused(Exception):
    """Why a call can't be carried out, in a sentence for the agent."""
