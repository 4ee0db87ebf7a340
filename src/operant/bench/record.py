"""What a published number needs beside it: the command, the commit, the machine and the time."""

from __future__ import annotations

import difflib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from operant.errors import ConfigError, UnknownApplication

__all__ = ["check_measured", "median", "percentile", "provenance", "read_json", "write_json"]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least that share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def check_measured(names: Iterable[str], measured: Iterable[str]) -> None:
    """Refuse an application that a measurement does not know."""
    known = sorted(measured)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1) or known
            raise UnknownApplication(f"{name!r} is not measured", hint=f"one of: {', '.join(near)}")


def provenance() -> dict[str, Any]:
    """Where the numbers come from."""
    with open("/proc/meminfo") as file:
        memory_gb = int(file.readline().split()[1]) / (1 << 20)
    return {
        "command": _command(),
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "memory_gb": round(memory_gb, 1),
            "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(),
            "load_before": round(os.getloadavg()[0], 2),
        },
    }


def _command() -> str:
    program = Path(sys.argv[0])
    began = ["python", f"{program.parent.name}/{program.name}"] if program.suffix == ".py" else ["operant"]
    return shlex.join([*began, *sys.argv[1:]])


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _commit() -> str | None:
    """The commit of the checkout that this package runs from, with a mark if files were changed since."""
    here = Path(__file__).parent
    try:
        name = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return name.stdout.strip() or None


def write_json(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """A measurement that ``write_json`` wrote."""
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} holds no measurement: {error}", hint="name another file") from error
    if not isinstance(result, dict):
        raise ConfigError(f"{path} holds no measurement", hint="name another file")
    return result
