"""Type-checks code of a model by mypy, where that is installed. mypy reads code; it imports and runs none of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

__all__ = ["TypeChecker"]

CHECK_S = 180.0
MOST_SAID = 20  # lines


class TypeChecker:
    """Keeps mypy's cache for one build: the second check takes a fraction of the first."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="operant-types-")
        self.how = "annotations and mypy" if importlib.util.find_spec("mypy") else "annotations only"

    def problems(self, code: str, name: str) -> list[str]:
        """What mypy says of the code; empty where it is not installed, or has nothing to say."""
        if self.how == "annotations only":
            return []
        file = Path(self._place.name) / f"{name}.py"
        file.write_text(code, encoding="utf-8")
        argv = [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--strict", "--no-error-summary"]
        argv += ["--no-color-output", "--cache-dir", f"{self._place.name}/cache", file.name]
        # Only what lies beside the function is found, and no plugin: there is no file of settings.
        beside = str(resources.files("operant.calls") / "inside")
        kept = {one: os.environ[one] for one in ("PATH", "HOME") if one in os.environ}
        try:
            done = subprocess.run(
                argv,
                env={**kept, "MYPYPATH": beside},
                cwd=self._place.name,
                capture_output=True,
                text=True,
                timeout=CHECK_S,
            )
        except subprocess.TimeoutExpired:
            return ["the type check did not end in time"]
        own = f"{file.name}:"
        lines = [line for line in done.stdout.splitlines() if line.startswith(own) and ": error:" in line]
        said = [line.removeprefix(own).strip() for line in lines[:MOST_SAID]]
        if done.returncode > 1 and not said:
            return [f"mypy could not check it: {(done.stdout + done.stderr).strip()[-300:]}"]
        return [f"line {line}" for line in said]

    def close(self) -> None:
        self._place.cleanup()
