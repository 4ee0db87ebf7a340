"""What a toolkit is to a desktop: how its programs are recognised, and the settings that make them usable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Toolkit"]

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One toolkit.

    The settings turn accessibility on, and blinking carets, animations, first-run pages and update checks off.
    They apply to every program of a desktop, whether an agent, a task or the panel started it.
    """

    name: str
    """How applications and results name it, such as ``gtk3``."""
    title: str
    """Its usual name, with the major version."""
    libraries: tuple[str, ...]
    """How the names of files begin that only programs of this toolkit map into their memory."""
    environment: Texts = field(default_factory=dict)
    """Environment variables of every program."""
    home: Texts = field(default_factory=dict)
    """Files of HOME: path -> text."""
    system: Texts = field(default_factory=dict)
    """Configuration files of the machine, where they exist: path -> lines that the desktop sees at their end."""
    accessible: bool = True
    """Whether its programs can show their widgets."""
    advice: str = ""
    """What to do when a program of this toolkit shows no widgets."""
