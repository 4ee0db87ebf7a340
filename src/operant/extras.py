"""Which extra of Operant brings a Python package: what to install where an import fails.

``tests/test_packaging.py`` compares the table with ``pyproject.toml``.
"""

from __future__ import annotations

from operant.errors import MissingDependency

__all__ = ["EXTRAS", "install_extra", "missing_package"]

#: name to import -> the smallest extra that brings it
EXTRAS: dict[str, str] = {
    "torch": "learn",
    "safetensors": "learn",
    "tensorboard": "learn",
    "transformers": "vlm",
    "tokenizers": "vlm",
    "peft": "vlm",
    "accelerate": "vlm",
    "huggingface_hub": "vlm",
    "httpx": "remote",
    "msgpack": "remote",
    "fastapi": "service",
    "uvicorn": "service",
    "nicegui": "service",
    "prometheus_client": "service",
    "multipart": "service",
    "websockets": "service",
    "anthropic": "hosted",
    "openai": "hosted",
    "google": "hosted",
    "mcp": "mcp",
    "ray": "cluster",
    "docker": "docker",
    "boto3": "aws",
    "openpyxl": "office",
    "docx": "office",
    "pptx": "office",
    "rapidfuzz": "osworld",
    "pypdf": "osworld",
    "lxml": "osworld",
    "cssselect": "osworld",
}


def install_extra(extra: str) -> str:
    """What to type."""
    return f'pip install "operant[{extra}]"'


def missing_package(
    what: str, error: BaseException | None, extra: str | None = None
) -> MissingDependency | None:
    """The error of something whose import failed because an extra is not installed; None if that is not the reason.

    ``extra`` is the one that brings all that is needed, if it is more than the package that was missed first.
    """
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    package = error.name.partition(".")[0]
    if package not in EXTRAS:
        return None
    return MissingDependency(
        f"{what} needs the Python package {package}, which is not installed",
        hint=install_extra(extra or EXTRAS[package]),
    )
