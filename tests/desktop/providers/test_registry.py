"""Providers by name: their files, their mixes, and what is wrong with them before anything starts."""

from __future__ import annotations

import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from operant.config import entry_points
from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig, ProviderSettings
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.providers import make_provider, open_provider, provider_name, provider_names
from operant.desktop.providers.base import Provider
from operant.desktop.providers.mixed import ProviderMix
from operant.errors import ConfigError, DesktopStartError, PoolExhausted, SpendingLimit, UnknownProvider
from operant.testing import FakeDesktop


class FakeSettings(PlaceConfig):
    colour: str = "green"


class FakeProvider(Provider[FakeSettings]):
    name = "first"
    settings_type = FakeSettings
    failure: Exception | None = None

    def start(self, config: DesktopConfig) -> Desktop:
        if self.failure is not None:
            raise self.failure
        return FakeDesktop.factory(config)


class OtherProvider(FakeProvider):
    name = "second"


def fakes(**limits: int | None) -> tuple[FakeProvider, OtherProvider]:
    return (
        FakeProvider(FakeSettings(desktops=limits.get("first"))),
        OtherProvider(FakeSettings(desktops=limits.get("second"))),
    )


def names(mix: ProviderMix) -> dict[str, int]:
    return {name: sum(one is not None for one in made) for name, made in mix._made.items()}


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownProvider, match="no provider 'sandbx'") as caught:
        make_provider(["sandbx"])
    assert caught.value.hint == "did you mean 'sandbox'?"


def test_an_unknown_section_or_setting_names_its_place(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("remot: {urls: [http://x:1]}")
    with pytest.raises(ConfigError, match=r"providers.yaml: there is no provider 'remot'") as caught:
        make_provider(["sandbox"], file)
    assert caught.value.hint == "did you mean 'remote'?"
    file.write_text("remote: {url: [http://x:1]}")
    with pytest.raises(ConfigError, match=r"providers.yaml: remote: url is not a setting") as caught:
        make_provider(["remote"], file)
    assert caught.value.hint == "did you mean 'urls'?"
    with pytest.raises(ConfigError, match=r"provider remote: urls") as caught:
        make_provider(["remote"])
    assert "--provider-config" in (caught.value.hint or "")


def test_names_twice_are_refused() -> None:
    with pytest.raises(ConfigError, match="named twice"):
        make_provider(["sandbox", "sandbox"])


def test_without_a_name_the_sections_of_the_file_are_used(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("sandbox: {desktops: 1}\nremote: {urls: ['http://127.0.0.1:9']}")
    assert provider_name(ProviderSettings(provider_config=file)) == "sandbox,remote"
    assert provider_name(ProviderSettings()) == "sandbox"
    assert provider_name(ProviderSettings(path_to_vm=Path("x.qcow2"))) == "vm"


def test_a_path_to_a_machine_is_for_the_provider_vm() -> None:
    settings = ProviderSettings.build(provider="sandbox", path_to_vm="x.qcow2")
    with pytest.raises(ConfigError, match="--path-to-vm is for the provider vm, not for sandbox"):
        open_provider(settings, DesktopConfig())


def test_a_package_brings_a_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = types.ModuleType("their_provider")
    module.FakeProvider = FakeProvider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "their_provider", module)
    entry = EntryPoint("theirs", "their_provider:FakeProvider", "operant.providers")
    monkeypatch.setattr(
        entry_points, "entry_points", lambda group: [entry] if group == "operant.providers" else []
    )
    assert "theirs" in provider_names()
    file = tmp_path / "providers.yaml"
    file.write_text("theirs: {colour: red}")
    provider = make_provider(["theirs"], file)
    assert isinstance(provider, FakeProvider)
    assert provider.settings.colour == "red"


# Mixes.


def test_a_pool_mixes_providers_within_their_limits() -> None:
    mix = ProviderMix(fakes(first=1))
    with DesktopPool(4, DesktopConfig(), factory=mix.start) as pool:
        pool.wait_ready()
        assert names(mix) == {"first": 1, "second": 3}


def test_providers_without_limits_share() -> None:
    mix = ProviderMix(fakes())
    made = [mix.start(DesktopConfig()) for _ in range(4)]
    assert names(mix) == {"first": 2, "second": 2}
    for one in made:
        one.close()
    mix.start(DesktopConfig())
    assert sum(names(mix).values()) == 1, "closed desktops make room"


def test_a_provider_that_fails_is_passed_over() -> None:
    first, second = fakes()
    first.failure = DesktopStartError("the first is down")
    mix = ProviderMix([first, second])
    mix.start(DesktopConfig())
    assert names(mix) == {"first": 0, "second": 1}
    second.failure = SpendingLimit("enough is spent")
    with pytest.raises(DesktopStartError, match="the first is down"):
        mix.start(DesktopConfig())


def test_a_full_mix_says_so() -> None:
    mix = ProviderMix(fakes(first=1, second=1))
    kept = [mix.start(DesktopConfig()) for _ in range(2)]
    with pytest.raises(PoolExhausted, match="room for 2 desktops"):
        mix.start(DesktopConfig())
    kept[0].close()
    mix.start(DesktopConfig())


def test_too_little_room_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("sandbox: {desktops: 2}")
    settings = ProviderSettings.build(provider_config=file)
    with pytest.raises(ConfigError, match="3 desktops are wanted at once, and the providers have room for 2"):
        open_provider(settings, DesktopConfig(), 3)
    with open_provider(settings, DesktopConfig(), 2) as provider:
        assert provider.sweep() == 0


def test_a_pool_does_not_repeat_what_no_try_can_mend() -> None:
    class Broke(FakeProvider):
        asked = 0

        def start(self, config: DesktopConfig) -> Desktop:
            Broke.asked += 1
            if Broke.asked > 1:
                raise SpendingLimit("enough is spent")
            return super().start(config)

    with DesktopPool(2, DesktopConfig(), factory=Broke(FakeSettings()).start) as pool:
        with pool.lease() as desktop:
            desktop.close()
        with pytest.raises((SpendingLimit, PoolExhausted), match="enough is spent"):
            pool.lease(timeout_s=2)
        assert Broke.asked <= 3, "one for the second desktop, one for the replacement"


def test_settings_are_kept_in_a_word() -> None:
    settings: Any = ProviderSettings.build(provider="docker, remote")
    assert settings.provider == ("docker", "remote")
