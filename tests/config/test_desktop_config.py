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
        (
            {"size": "1280x800", "monitors": [{"x": 0, "y": 0, "width": 1281, "height": 100}]},
            "beyond the 1280x800 screen",
        ),
        ({"monitors": [{"x": 0, "y": 0, "width": 20000, "height": 100}]}, "width"),
        ({"monitors": "1920x1080,wide"}, "'wide' is not written WIDTHxHEIGHT"),
        ({"monitors": 2}, "monitors"),
        ({"size": "1920"}, "such as 1920x1080"),
        ({"size": [1920, 1080]}, "such as 1920x1080"),
        ({"size": "1920x1080", "width": 800}, "give one or the other"),
        ({"size": "1920x10"}, "height"),
        ({"proxy": "http://10.0.0.1:3128"}, "needs the network"),
        ({"network": True, "proxy": "10.0.0.1:3128"}, "SCHEME://HOST:PORT"),
        ({"network": True, "proxy": "ftp://10.0.0.1"}, "http, https, socks5"),
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


def test_sizes_and_monitors_have_short_forms() -> None:
    assert DesktopConfig.build(size="1920x1080").size == Size(1920, 1080)
    two = (Monitor(0, 0, 1920, 1080), Monitor(1920, 0, 1280, 1024))
    beside = DesktopConfig.build(monitors="1920x1080, 1280x1024")
    assert (beside.size, beside.regions) == (Size(3200, 1080), two)
    assert DesktopConfig.build(monitors=["1920x1080+0+0", "1280x1024+1920+0"]) == beside
    placed = DesktopConfig.build(size="1920x2000", monitors=["1920x1000+0+1000", "800x600+0+0", "800x600"])
    assert placed.regions[0] == Monitor(0, 1000, 1920, 1000)
    assert placed.regions[2] == Monitor(800, 0, 800, 600)


def test_a_proxy_is_told_to_programs_in_every_spelling() -> None:
    assert DesktopConfig(environment={"A": "b"}).variables == {"A": "b"}
    config = DesktopConfig.build(
        network=True,
        proxy="http://10.0.0.1:3128",
        no_proxy="localhost, .example.org",
        environment={"HTTP_PROXY": "mine"},
    )
    said = config.variables
    assert said["http_proxy"] == said["https_proxy"] == said["HTTPS_PROXY"] == "http://10.0.0.1:3128"
    assert said["no_proxy"] == said["NO_PROXY"] == "localhost,.example.org"
    assert said["HTTP_PROXY"] == "mine"
