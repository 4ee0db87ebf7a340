"""What all requests and answers have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Given", "Taken"]


class Taken(BaseModel):
    """A request: an unknown field is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Given(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, protected_namespaces=())
