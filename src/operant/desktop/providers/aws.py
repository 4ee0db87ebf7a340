"""Desktops on EC2 instances, by boto3: one instance of an AMI for each desktop.

A reset replaces the instance, unless its guest can reset itself. Instances bear tags with their owner and the time at
which they expire; both are swept at the next start. They also shut themselves down when they expire, so that an owner
which never comes back costs no more than that. Nothing is started beyond ``max_cost``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from loguru import logger
from pydantic import Field, field_validator

from operant.config.desktop import DesktopConfig
from operant.config.settings import read_variable
from operant.desktop.providers.guests import PORTS, Guest
from operant.desktop.providers.machines import (
    MachineConfig,
    MachineProvider,
    ProvidedMachine,
    is_orphan,
    owner_label,
)
from operant.errors import (
    DesktopStartError,
    MissingDependency,
    ProviderUnavailable,
    SpendingLimit,
    UnknownImage,
)
from operant.extras import install_extra

__all__ = ["AwsProvider", "AwsSettings", "Spending"]

OWNER, EXPIRES = "operant:owner", "operant:expires"
ALIVE = ("pending", "running", "stopping", "stopped")
LEAST_S = 60.0  # what EC2 bills at least
POLL_S = 2.0
T = TypeVar("T")


class AwsSettings(MachineConfig):
    """Section ``aws``."""

    image: str = Field(pattern=r"^ami-[0-9a-z]+$")
    """The AMI, such as ami-0123456789abcdef0; its guest answers when the instance has booted."""
    instance_type: str = "t3.xlarge"
    """Type of the instances."""
    region: str | None = None
    """Region; left out, AWS_DEFAULT_REGION or the profile's."""
    profile: str | None = None
    """Profile of the shared credentials file."""
    subnet: str | None = None
    """Subnet of the instances."""
    security_groups: tuple[str, ...] = ()
    """Their security groups: they must let the guest's port in from here, and nothing else."""
    key_name: str | None = None
    """A key pair, to look at an instance by hand."""
    address: Literal["public", "private"] = "private"
    """Which address of an instance is used."""
    url: str = "http://{address}:{port}"
    """Where the guest answers."""
    port: int | None = Field(None, ge=1, le=65535)
    """Port of the guest; left out, 5000 with the protocol osworld and 8765 with operant."""
    token_variable: str = "OPERANT_TOKEN"
    """Environment variable with the guest's token, with the protocol operant."""
    guest: Literal["linux", "windows"] = "linux"
    """What the instances run: decides how they shut themselves down."""
    price_per_hour: float = Field(gt=0)
    """What an instance costs in an hour, in dollars; AWS is not asked."""
    max_cost: float = Field(gt=0)
    """Dollars that all instances of one run may cost. At that sum they are ended, and no further one is started."""
    lifetime_h: float = Field(12.0, gt=0)
    """Hours after which an instance shuts itself down, whatever became of its owner."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Further tags."""
    user_data: Path | None = None
    """A script that instances run when they boot, in place of the one that shuts them down after ``lifetime_h``."""
    boot_timeout_s: float = Field(600.0, gt=0)
    """Seconds from the start of an instance until its guest answers."""

    @field_validator("url")
    @classmethod
    def _a_form(cls, url: str) -> str:
        try:
            url.format(address="a", port=1)
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError("only {address} and {port} can be filled in") from error
        return url


class Spending:
    """What instances have cost so far, and whether another one fits. Safe for threads."""

    def __init__(
        self, price_per_hour: float, max_cost: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.price_per_hour, self.max_cost = price_per_hour, max_cost
        self._clock = clock
        self._running: dict[str, float] = {}
        self._ended = 0.0
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        with self._lock:
            return self._spent()

    def _spent(self) -> float:
        now = self._clock()
        running = sum(self._cost(now - began) for began in self._running.values())
        return self._ended + running

    def _cost(self, seconds: float) -> float:
        return max(seconds, LEAST_S) / 3600 * self.price_per_hour

    def begin(self, name: str) -> None:
        """Count an instance that is about to start; refuse it where even a minute of it costs too much."""
        with self._lock:
            spent, least = self._spent(), self._cost(0.0)
            if spent + least > self.max_cost:
                raise SpendingLimit(
                    f"another instance does not fit: {spent:.2f} of max_cost {self.max_cost:.2f} dollars are spent, "
                    f"and a minute costs {least:.4f}",
                    hint="raise max_cost in the section aws, or use fewer desktops",
                )
            self._running[name] = self._clock()

    def end(self, name: str) -> None:
        with self._lock:
            began = self._running.pop(name, None)
            if began is not None:
                self._ended += self._cost(self._clock() - began)

    def seconds_left(self) -> float:
        """Until the limit, if what runs now goes on running."""
        with self._lock:
            if not self._running:
                return float("inf")
            rate = len(self._running) * self.price_per_hour / 3600
            return max(0.0, (self.max_cost - self._spent()) / rate)


class AwsProvider(MachineProvider[AwsSettings]):
    """Starts instances of one AMI."""

    name: ClassVar[str] = "aws"
    settings_type = AwsSettings

    def __init__(self, settings: AwsSettings) -> None:
        super().__init__(settings)
        self.spending = Spending(settings.price_per_hour, settings.max_cost)
        self._ec2: Any = None
        self._ec2_lock = threading.Lock()
        self._numbers = 0

    def check(self, config: DesktopConfig) -> None:
        """Credentials work, the AMI exists, the spending limit allows a minute of one instance."""
        said, client = self.settings, self._client()
        found = _asked(f"the image {said.image}", lambda: client.describe_images(ImageIds=[said.image]))
        if not found["Images"]:
            raise UnknownImage(f"AWS has no image {said.image} in {client.meta.region_name}")
        probe = Spending(said.price_per_hour, said.max_cost)
        probe.begin("the first")

    def boot(self, config: DesktopConfig) -> ProvidedMachine:
        with self._ec2_lock:
            self._numbers += 1
            key = f"instance {self._numbers}"
        self.spending.begin(key)
        try:
            machine = _Instance(self._client(), self.settings, lambda: self.spending.end(key))
        except BaseException:
            self.spending.end(key)
            raise
        self._watch()
        return machine

    def _watch(self) -> None:
        """End everything when the money is used up."""
        left = self.spending.seconds_left()
        timer = threading.Timer(min(left, threading.TIMEOUT_MAX), self._limit)
        timer.daemon = True
        with self._ec2_lock:
            before, self._timer = getattr(self, "_timer", None), timer
        if before is not None:
            before.cancel()
        timer.start()

    def _limit(self) -> None:
        if self.spending.seconds_left() > POLL_S:
            self._watch()
            return
        logger.error("max_cost {} is reached: all instances are ended", self.settings.max_cost)
        with self._lock:
            hosts = list(self._hosts)
        for host in hosts:
            host.destroy()

    def sweep(self) -> int:
        """Instances whose owner is gone, and those of any owner whose time is up."""
        client = self._client()
        filters = [
            {"Name": "tag-key", "Values": [OWNER]},
            {"Name": "instance-state-name", "Values": list(ALIVE)},
        ]
        found = []
        for page in _asked(
            "instances", lambda: list(client.get_paginator("describe_instances").paginate(Filters=filters))
        ):
            for one in (one for group in page["Reservations"] for one in group["Instances"]):
                tags = {tag["Key"]: tag["Value"] for tag in one["Tags"]}
                if is_orphan(tags[OWNER]) or _expired(tags.get(EXPIRES, "")):
                    found.append(one["InstanceId"])
        if found:
            _asked("instances", lambda: client.terminate_instances(InstanceIds=found))
        return len(found)

    def close(self) -> None:
        super().close()
        timer = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()

    def _client(self) -> Any:
        with self._ec2_lock:
            if self._ec2 is None:
                self._ec2 = _connect(self.settings)
            return self._ec2


def _connect(said: AwsSettings) -> Any:
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise MissingDependency(
            "the provider aws needs the Python package boto3, which is not installed",
            hint=install_extra("aws"),
        ) from error
    try:
        session = boto3.Session(profile_name=said.profile, region_name=said.region)
        credentials = session.get_credentials()
        if credentials is None:
            raise ProviderUnavailable(
                "there are no AWS credentials",
                hint="aws configure, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or profile: in the section aws",
            )
        if session.region_name is None:
            raise ProviderUnavailable("no AWS region is chosen", hint="set region in the section aws")
        return session.client("ec2")
    except BotoCoreError as error:
        raise ProviderUnavailable(f"AWS can't be used: {error}", hint="aws configure") from error


#: What AWS says of things that do not exist, and of callers that may not.
UNKNOWN = ("InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable")
REFUSED = ("AuthFailure", "UnauthorizedOperation", "InvalidClientTokenId", "ExpiredToken", "OptInRequired")


def _asked(what: str, call: Callable[[], T]) -> T:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call()
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        said = error.response.get("Error", {}).get("Message", str(error))
        if code in UNKNOWN:
            raise UnknownImage(f"AWS does not know {what}: {said}") from error
        if code in REFUSED:
            raise ProviderUnavailable(
                f"AWS refuses {what}: {said}", hint="may these credentials use EC2?"
            ) from error
        raise DesktopStartError(f"AWS: {what}: {code}: {said}") from error
    except BotoCoreError as error:
        raise DesktopStartError(f"AWS can't be reached: {what}: {error}") from error


class _Instance(ProvidedMachine):
    def __init__(self, client: Any, said: AwsSettings, on_end: Callable[[], None]) -> None:
        self._client, self._said, self._on_end = client, said, on_end
        started = _asked("a new instance", lambda: client.run_instances(**_request(said)))
        self.id: str = started["Instances"][0]["InstanceId"]
        self.name = f"instance {self.id}"
        try:
            self.guest = self._find_guest()
        except BaseException:
            self._terminate()
            raise

    def _find_guest(self) -> Guest:
        """Wait until it runs and has an address."""

        said, deadline = self._said, time.monotonic() + self._said.boot_timeout_s
        field = "PublicIpAddress" if said.address == "public" else "PrivateIpAddress"
        while True:
            about = self._about()
            state = about.get("State", {}).get("Name", "gone")
            if state == "running" and about.get(field):
                break
            if state not in ("pending", "running"):
                why = about.get("StateReason", {}).get("Message", "no reason was given")
                raise DesktopStartError(f"{self.name} is {state}: {why}")
            if time.monotonic() > deadline:
                raise DesktopStartError(
                    f"{self.name} has no {said.address} address after {said.boot_timeout_s:g} s",
                    hint="address: says which one is used; a subnet may give no public ones",
                )
            time.sleep(POLL_S)
        token = read_variable(said.token_variable) if said.protocol == "operant" else None
        url = said.url.format(address=about[field], port=said.port or PORTS[said.protocol])
        return Guest(url, said.protocol, token, said.call_timeout_s)

    def _about(self) -> dict[str, Any]:
        found = _asked(self.name, lambda: self._client.describe_instances(InstanceIds=[self.id]))
        return next((one for group in found["Reservations"] for one in group["Instances"]), {})

    def ended(self) -> str | None:
        try:
            state = self._about().get("State", {}).get("Name", "gone")
        except DesktopStartError as error:
            return error.message
        return None if state in ("pending", "running") else f"it is {state}"

    def destroy(self) -> None:
        self._terminate()

    def _terminate(self) -> None:
        _asked(self.name, lambda: self._client.terminate_instances(InstanceIds=[self.id]))
        self._on_end()


def _request(said: AwsSettings) -> dict[str, Any]:
    """What is asked of EC2."""
    expires = str(int(time.time() + said.lifetime_h * 3600))
    tags = {**said.tags, "Name": "operant desktop", OWNER: owner_label(), EXPIRES: expires}
    labels = [{"Key": key, "Value": value} for key, value in tags.items()]
    request: dict[str, Any] = {
        "ImageId": said.image,
        "InstanceType": said.instance_type,
        "MinCount": 1,
        "MaxCount": 1,
        "InstanceInitiatedShutdownBehavior": "terminate",
        "UserData": _user_data(said),
        "TagSpecifications": [
            {"ResourceType": "instance", "Tags": labels},
            {"ResourceType": "volume", "Tags": labels},
        ],
    }
    if said.subnet is not None:
        request["SubnetId"] = said.subnet
    if said.security_groups:
        request["SecurityGroupIds"] = list(said.security_groups)
    if said.key_name is not None:
        request["KeyName"] = said.key_name
    return request


def _user_data(said: AwsSettings) -> str:
    if said.user_data is not None:
        return said.user_data.read_text(encoding="utf-8")
    if said.guest == "windows":
        return f"<powershell>shutdown /s /t {int(said.lifetime_h * 3600)}</powershell>"
    return f"#!/bin/sh\nshutdown -h +{max(1, int(said.lifetime_h * 60))}\n"


def _expired(text: str) -> bool:
    return text.isdigit() and int(text) < time.time()
