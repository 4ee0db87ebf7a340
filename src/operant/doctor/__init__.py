"""What this machine still lacks before desktops can run on it, and the command that fixes each.

``operant doctor`` prints it. Knows what the rest of Operant needs by name; imports none of it, so that it
works where the rest does not.
"""

from operant.doctor.checks import Check, CheckStatus, can_run, examine
from operant.doctor.machine import Machine, ThisMachine

__all__ = ["Check", "CheckStatus", "Machine", "ThisMachine", "can_run", "examine"]
