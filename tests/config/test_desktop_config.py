"""Settings of a desktop: what is refused, and how clearly."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.config.desktop import DesktopConfig
from operant.errors import ConfigError
from operant.types import Monitor, Size


def test_the_defaults_are_one_monitor_over_the_whole_screen() -> None:
    config = DesktopConfig()
    assert config.size == Size(1280, 800)
    assert config.regions == (Monitor(0, 0, 1280, 800),)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"widht": 100}, "did you mean 'width'"),
        ({"settle": {"quiet": 5}}, "did you mean 'quiet_ms'"),
        ({"limits": {"memory": 5}}, "did you mean 'memory_mb'"),
        ({"width": 0}, "width"),
        ({"width": "wide"}, "width"),
        ({"height": 10**6}, "height"),
        ({"width": float("nan")}, "width"),
        ({"monitors": [{"x": 0, "y": 0, "width": 1281, "height": 100}]}, "beyond the 1280x800 screen"),
        ({"monitors": [{"x": -1, "y": 0, "width": 100, "height": 100}]}, "monitors"),
        ({"monitors": [{"x": 0, "y": 0, "width": 100}]}, "height"),
        ({"home": Path("/nonexistent/place")}, "not a directory"),
        ({"environment": {"A=B": "x"}}, "not a name"),
        ({"settle": {"quiet_ms": -1}}, "quiet_ms"),
    ],
)
def test_a_mistake_is_named_with_its_field(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        DesktopConfig.build(**settings)
    assert says in str(caught.value)


def test_every_field_explains_itself() -> None:
    for name, field in DesktopConfig.model_fields.items():
        assert field.description, name
