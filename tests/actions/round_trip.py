"""The property that every format has: what it can say comes back as it was, and it says what it can't."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from operant.errors import ActionNotExpressible
from operant.types import Action, Size


def check(
    module: Any, action: Action, screen: Size, can_say: Callable[[Action], bool], **options: Any
) -> None:
    if not can_say(action):
        with pytest.raises(ActionNotExpressible, match="can't express this"):
            module.render(action, screen, **options)
        return
    payload = module.render(action, screen, **options)
    # Half of the formats travel as JSON, and all of them as UTF-8.
    payload = json.loads(json.dumps(payload))
    assert module.parse(payload, screen, **options) == [action]
