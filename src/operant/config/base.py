"""What every configuration model does alike: unknown keys fail with the nearest valid name."""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from operant.config.plain_words import choices, got, plain, reason
from operant.errors import ConfigError

__all__ = ["Config", "differences"]


class Config(BaseModel):
    """A frozen model whose mistakes are told in one line."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def build(cls, **values: Any) -> Any:
        """Build one, turning pydantic's report into a ConfigError."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise config_error(cls, error) from error


def differences(theirs: BaseModel, ours: BaseModel, within: str = "") -> list[str]:
    """Every setting that differs between two models of one type, by its dotted name."""
    told: list[str] = []
    for name in type(ours).model_fields:
        one, other = getattr(theirs, name), getattr(ours, name)
        if isinstance(one, BaseModel) and type(one) is type(other):
            told += differences(one, other, f"{within}{name}.")
        elif one != other:
            told.append(f"{within}{name} is {one!r} there and {other!r} here")
    return told


def config_error(model: type[BaseModel], error: ValidationError) -> ConfigError:
    found_errors = error.errors()
    # A mistyped key is also a missing one; its nearest name is what helps.
    unknown = (one for one in found_errors if one["type"] == "extra_forbidden")
    first = next(unknown, found_errors[0])
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        owner: Any = model
        for part in first["loc"][:-1]:
            if not hasattr(owner, "model_fields"):
                owner = _held_model(owner)  # the part is a key of a dict, or a place in a tuple
            elif (found := owner.model_fields.get(part)) is not None:
                owner = found.annotation
        names = list(owner.model_fields) if hasattr(owner, "model_fields") else []
        near = difflib.get_close_matches(str(first["loc"][-1]), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"valid keys: {', '.join(names)}"
        return ConfigError(f"{where} is not a setting", hint=hint)
    given = first.get("input")
    if first["type"] == "model_type":
        return ConfigError(f"{where} must be a section with settings{got(where, given)}")
    if said := plain(first):
        told = f"{where} {said}"
    elif first["loc"]:
        told = f"{where}: {reason(first)}"
    else:  # about several settings: their names are in the words of the check
        told = reason(first)
    shown = "" if first["type"] == "missing" or not first["loc"] else got(where, given)
    return ConfigError(told + shown, hint=_nearest(first, given))


def _held_model(annotation: Any) -> Any:
    """The model that a dict or a tuple of models holds, such as ``dict[str, MemberSettings]``."""
    return next((one for one in get_args(annotation) if hasattr(one, "model_fields")), None)


def _nearest(error: Any, given: Any) -> str | None:
    """The name that was meant, where only some are possible."""
    if error["type"] != "literal_error" or not isinstance(given, str):
        return None
    near = difflib.get_close_matches(given.lower(), choices(error), 1)
    return f"did you mean {near[0]!r}?" if near else None
