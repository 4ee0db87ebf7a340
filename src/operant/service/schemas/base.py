"""What all requests and answers have in common."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from operant.agents.base import Usage
from operant.types import Outcome

__all__ = ["Criteria", "FieldProblem", "Given", "OutcomeName", "Pair", "Taken", "UsageView"]

#: x and y, or width and height. A list, because tools disagree on how OpenAPI describes a tuple.
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
#: Success criteria in the form of task files; ``operant.service.attempts.criteria`` reads them.
Criteria = dict[str, Any] | list[dict[str, Any]] | None
#: How an attempt or an episode ended.
if TYPE_CHECKING:
    OutcomeName = str
else:
    OutcomeName = Literal[tuple(outcome.value for outcome in Outcome)]


class Taken(BaseModel):
    """A request: an unknown field is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Given(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, protected_namespaces=())


class FieldProblem(Given):
    """What is wrong with one field of a request."""

    field: str
    """Its name, such as ``max_steps`` or ``formats.0``; empty for the body as a whole."""
    message: str
    hint: str | None = None


class UsageView(Given):
    """What a model behind an API used."""

    input_tokens: int
    cached_tokens: int
    """Part of the input that the server had read before."""
    output_tokens: int
    requests: int
    cost: float | None
    """US dollars; null if the price is unknown."""

    @classmethod
    def of(cls, usage: Usage | None) -> UsageView | None:
        """None for an agent that does not count."""
        return None if usage is None else cls.model_validate(asdict(usage))
