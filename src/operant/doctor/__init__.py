"""What this machine still lacks before desktops can run on it, and the command that fixes each.

``operant doctor`` prints it. Knows what the rest of Operant needs by name; imports none of it, so that it
works where the rest does not.
"""

from operant.doctor.check import Check, CheckStatus, Command
from operant.doctor.checks import can_run, examine
from operant.doctor.fixes import commands_of, run_fixes
from operant.doctor.machine import Machine, ThisMachine

__all__ = [
    "Check",
    "CheckStatus",
    "Command",
    "Machine",
    "ThisMachine",
    "can_run",
    "commands_of",
    "examine",
    "run_fixes",
]
