"""What all requests and answers have in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Criteria", "Given", "Pair", "Taken"]

#: x and y, or width and height. A list, because tools disagree on how OpenAPI describes a tuple.
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
#: Success criteria in the form of task files; ``operant.service.attempts.criteria`` reads them.
Criteria = dict[str, Any] | list[dict[str, Any]] | None


class Taken(BaseModel):
    """A request: an unknown field is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Given(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, protected_namespaces=())
