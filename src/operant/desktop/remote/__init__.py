"""Desktops of other machines, over HTTP: the client's half, and what both halves say to each other.

The server's half is ``operant.service.desktops``; ``operant desktop serve`` starts one.
"""

from __future__ import annotations

from operant.desktop.remote.client import RemoteDesktop
from operant.desktop.remote.fleet import RemoteFleet

__all__ = ["RemoteDesktop", "RemoteFleet"]
