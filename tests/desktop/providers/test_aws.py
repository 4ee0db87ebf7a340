"""Instances of an EC2 that moto plays: tags, the spending guard, sweeping, and what AWS refuses."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("moto", reason="moto plays EC2")
pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.providers.places import AMI, AWS_VARIABLES, SMALL, AwsPlace, aws, instances, provider_of

from operant.desktop.providers.aws import EXPIRES, OWNER, AwsProvider, AwsSettings, Spending
from operant.desktop.providers.machines import owner_label
from operant.errors import ConfigError, DesktopStartError, ProviderUnavailable, SpendingLimit, UnknownImage

PRICES = {"price_per_hour": 0.36, "max_cost": 1.0}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[AwsPlace]:
    with aws(tmp_path) as made:
        assert isinstance(made, AwsPlace)
        yield made


def tags_of(provider: Any, id: str) -> dict[str, str]:
    about = provider._client().describe_instances(InstanceIds=[id])["Reservations"][0]["Instances"][0]
    return {tag["Key"]: tag["Value"] for tag in about["Tags"]}


def test_without_credentials_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*AWS_VARIABLES, "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    provider = AwsProvider(AwsSettings(image=AMI, **PRICES))
    with pytest.raises(ProviderUnavailable, match="no AWS credentials"):
        provider.check(SMALL)
    with pytest.raises(ProviderUnavailable, match="none-such"):
        AwsProvider(AwsSettings(image=AMI, profile="none-such", **PRICES)).check(SMALL)


def test_prices_must_be_said() -> None:
    with pytest.raises(ConfigError, match="price_per_hour"):
        AwsSettings.build(image=AMI, max_cost=1)


def test_an_image_that_does_not_exist_is_named(place: AwsPlace, tmp_path: Path) -> None:
    with (
        provider_of("aws", tmp_path, image="ami-0123456789", region="us-east-1", **PRICES) as provider,
        pytest.raises(UnknownImage, match="ami-0123456789"),
    ):
        provider.check(SMALL)


def test_instances_bear_owner_and_end_and_shut_themselves_down(place: AwsPlace) -> None:
    with place.provider.start(SMALL) as desktop:
        id = desktop.machine.id  # type: ignore[attr-defined]
        tags = tags_of(place.provider, id)
        assert tags[OWNER] == owner_label()
        assert 11.9 * 3600 < int(tags[EXPIRES]) - time.time() <= 12 * 3600
        client = place.provider._client()  # type: ignore[attr-defined]
        data = client.describe_instance_attribute(InstanceId=id, Attribute="userData")["UserData"]["Value"]
        assert base64.b64decode(data).decode() == "#!/bin/sh\nshutdown -h +720\n"


def test_a_reset_replaces_the_instance(place: AwsPlace) -> None:
    with place.provider.start(SMALL) as desktop:
        before = desktop.machine.id  # type: ignore[attr-defined]
        desktop.reset()
        after = desktop.machine.id  # type: ignore[attr-defined]
        assert before != after
        assert instances(place.provider) == [after]
        desktop.check()


def test_instances_of_owners_that_are_gone_or_late_are_swept(place: AwsPlace) -> None:
    client = place.provider._client()  # type: ignore[attr-defined]

    def run(**tags: str) -> str:
        listed = [{"Key": f"operant:{key}", "Value": value} for key, value in tags.items()]
        started = client.run_instances(
            ImageId=AMI,
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": listed}],
        )
        return str(started["Instances"][0]["InstanceId"])

    later = str(int(time.time() + 3600))
    machine, namespace, _ = owner_label().split("/")
    gone = run(owner=f"{machine}/{namespace}/999999.1", expires=later)
    late = run(owner="another-machine/1/2.3", expires="1000")
    kept = {run(owner="another-machine/1/2.3", expires=later), run(owner=owner_label(), expires=later)}
    foreign = client.run_instances(ImageId=AMI, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    assert place.provider.sweep() == 2
    left = set(instances(place.provider))
    assert left == kept | {foreign}
    assert not left & {gone, late}


def test_a_guest_that_never_answers_costs_its_instance(place: AwsPlace, tmp_path: Path) -> None:
    settings = {"image": AMI, "url": "http://127.0.0.1:9", "boot_timeout_s": 0.3, **PRICES}
    with provider_of("aws", tmp_path, **settings) as provider:
        with pytest.raises(DesktopStartError, match="the guest of instance i-"):
            provider.start(SMALL)
        assert instances(provider) == []


def test_over_budget_nothing_starts(place: AwsPlace, tmp_path: Path) -> None:
    with provider_of("aws", tmp_path, image=AMI, price_per_hour=36, max_cost=0.5) as provider:
        with pytest.raises(SpendingLimit, match=r"max_cost 0\.50"):
            provider.check(SMALL)
        with pytest.raises(SpendingLimit):
            provider.start(SMALL)
        assert instances(provider) == []


def test_at_the_limit_all_instances_end(place: AwsPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    provider: Any = place.provider
    with provider.start(SMALL):
        assert instances(provider)
        monkeypatch.setattr(provider.spending, "max_cost", 0.0)
        provider._limit()
        assert instances(provider) == []
        with pytest.raises(SpendingLimit):
            provider.start(SMALL)


def test_spending_is_counted_by_time() -> None:
    now = 0.0
    spending = Spending(3.6, 1.0, clock=lambda: now)  # 0.001 dollars a second
    spending.begin("a")
    assert spending.spent == pytest.approx(0.06), "a minute is billed at least"
    now = 100.0
    spending.begin("b")
    assert spending.spent == pytest.approx(0.16)
    now = 300.0
    assert spending.spent == pytest.approx(0.5)
    assert spending.seconds_left() == pytest.approx(250)
    spending.end("a")
    spending.end("a")
    now = 1000.0
    assert spending.spent == pytest.approx(1.2)
    with pytest.raises(SpendingLimit, match=r"1\.20 of max_cost 1\.00"):
        spending.begin("c")
