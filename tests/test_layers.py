"""Who may import whom: the order of the layers, and the quarantine of third-party packages.

Reads the source as text and imports nothing, so that it also holds for imports inside functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "operant"

# Each layer imports only from those before it.
LAYERS = (
    "errors",
    "extras",
    "types",
    "atomic_files",
    "config",
    "calls",
    "actions",
    "pictures",
    "desktop",
    "apps",
    "tasks",
    "envs",
    "agents",
    "building",
    "rollout",
    "learn",
    "evaluation",
    "train",
    "testing",
    "cluster",
    "service",
    "mcp",
    "bench",
    "doctor",
    "cli",
)

# Although it comes later: what learns knows episodes, not where they come from.
NEVER = {"learn": {"envs", "desktop", "rollout"}, "doctor": set(LAYERS) - {"errors", "extras", "doctor"}}

# Third-party package -> the only layers that may import it.
QUARANTINE = {
    "xcffib": {"desktop"},
    "Xlib": {"desktop"},
    "jeepney": {"desktop"},
    "mss": {"desktop", "bench"},
    "pyautogui": {"desktop", "bench"},
    "ray": {"cluster", "bench"},  # bench simulates a cluster with the cluster's own actors
    "torch": {"agents", "learn", "cluster", "testing", "bench"},
    "transformers": {"agents", "learn", "cluster"},
    "tokenizers": {"agents"},
    "peft": {"agents", "learn", "cluster"},
    "huggingface_hub": {"agents"},
    # Vendors' packages: agents call them, strict servers check requests against their types.
    "anthropic": {"agents", "testing"},
    "openai": {"agents", "testing"},
    "google": {"agents", "testing"},
    "httpx": {"desktop", "bench", "agents"},
    "msgpack": {"desktop"},
    "docker": {"desktop"},
    "boto3": {"desktop"},
    "botocore": {"desktop"},
    "zstandard": {"rollout"},
    "tensorboard": {"learn"},
    "openpyxl": {"tasks"},
    "docx": {"tasks"},
    "pptx": {"tasks"},
    "rapidfuzz": {"tasks"},
    "pypdf": {"tasks"},
    "fastapi": {"service"},
    "starlette": {"service", "mcp"},
    "uvicorn": {"service", "mcp"},
    "nicegui": {"service"},
    "mcp": {"mcp", "bench"},
    "mcp_types": {"mcp"},
    "prometheus_client": {"service"},
    "typer": {"cli"},
    "rich": {"cli", "evaluation", "learn"},
}

# The package itself; ``python -m`` of anything is a way in as well.
ENTRANCES = {"__init__", "__main__"}


def layer_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything that a module imports, wherever it stands."""
    package = ("operant", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            origin = list(package[: len(package) - node.level + 1]) if node.level else []
            origin += node.module.split(".") if node.module else []
            for alias in node.names:
                yield node.lineno, ".".join([*origin, alias.name])


MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    layer = layer_of(path)
    if layer in ENTRANCES or path.stem == "__main__":
        return
    assert layer in LAYERS, f"give operant.{layer} its place in LAYERS"
    wrong = []
    for line, name in imports(path):
        top, *rest = name.split(".")
        if top == "operant" and rest and (imported := rest[0]) in LAYERS:
            later = LAYERS.index(imported) > LAYERS.index(layer)
            if later or imported in NEVER.get(layer, set()):
                wrong.append(f"line {line}: {layer} may not import {imported}")
        elif layer not in QUARANTINE.get(top, {layer}):
            wrong.append(f"line {line}: {top} belongs to {', '.join(sorted(QUARANTINE[top]))}")
    assert not wrong, "\n".join(wrong)


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {part.removesuffix(".py") for path in MODULES for part in path.relative_to(SOURCE).parts}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_what_it_is(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not source or ast.get_docstring(ast.parse(source))


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: found for name, found in places.items() if len(found) > 1}
