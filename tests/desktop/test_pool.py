"""The pool: leases, expiry, health checks, replacement, preparation, and a clean end."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
import time
from typing import Any

import pytest

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import (
    DesktopClosed,
    DesktopDied,
    DesktopStartError,
    PoolExhausted,
    PoolFailed,
    SandboxUnavailable,
    WindowTimeout,
)
from operant.types import Action, Point


class Stub:
    """A desktop that does nothing, and is sick when told so."""

    made: list[Stub]

    def __init__(self, config: DesktopConfig) -> None:
        self.sick = self.unresettable = self.closed = False
        self.resets = 0
        Stub.made.append(self)

    def check(self) -> None:
        if self.sick or self.closed:
            raise DesktopDied("sick")

    def reset(self) -> None:
        if self.sick or self.unresettable or self.closed:
            raise DesktopDied("can't be reset")
        self.resets += 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def stubs() -> list[Stub]:
    Stub.made = []
    return Stub.made


def pool_of(size: int, factory: Any = Stub, **more: Any) -> DesktopPool:
    return DesktopPool(size, factory=factory, **more)


def test_a_lease_gives_a_desktop_and_returns_it_reset(stubs: list[Stub]) -> None:
    with pool_of(1) as pool:
        for used in range(3):
            with pool.lease(timeout_s=5) as desktop:
                assert desktop is stubs[0]
                assert stubs[0].resets == used
        pool.wait_ready(timeout_s=5)
        assert stubs[0].resets == 3


def test_no_two_leases_share_a_desktop(stubs: list[Stub]) -> None:
    with pool_of(3) as pool:
        leases = [pool.lease(timeout_s=5) for _ in range(3)]
        assert len({id(lease.desktop) for lease in leases}) == 3
        with pytest.raises(PoolExhausted, match="no desktop became free"):
            pool.lease(timeout_s=0.05)
        leases[0].release()
        assert pool.lease(timeout_s=5).desktop is not None


def test_a_released_lease_gives_nothing_any_more(stubs: list[Stub]) -> None:
    with pool_of(1) as pool:
        lease = pool.lease(timeout_s=5)
        lease.release()
        lease.release()
        with pytest.raises(DesktopClosed):
            _ = lease.desktop


def test_a_lease_that_is_not_returned_ends_by_itself_and_the_desktop_is_replaced(stubs: list[Stub]) -> None:
    with pool_of(1) as pool:
        lease = pool.lease(timeout_s=5, ttl_s=0.05)
        again = pool.lease(timeout_s=5)
        assert again.desktop is stubs[1]
        assert stubs[0].closed
        with pytest.raises(DesktopClosed):
            _ = lease.desktop
        assert pool.status().expired == 1


def test_a_renewed_lease_lives_on(stubs: list[Stub]) -> None:
    with pool_of(1) as pool:
        lease = pool.lease(timeout_s=5, ttl_s=0.2)
        lease.renew(60)
        with pytest.raises(PoolExhausted):
            pool.lease(timeout_s=0.5)
        assert lease.desktop is stubs[0]


def test_a_desktop_that_died_while_idle_is_not_handed_out(stubs: list[Stub]) -> None:
    with pool_of(2) as pool:
        pool.wait_ready(timeout_s=5)
        stubs[0].sick = stubs[1].sick = True
        assert pool.lease(timeout_s=5).desktop in stubs[2:]
        pool.wait_ready(1, timeout_s=5)
        assert stubs[0].closed
        assert stubs[1].closed
        assert pool.status().replaced == 2


def test_a_desktop_that_can_not_be_reset_is_replaced(stubs: list[Stub]) -> None:
    with pool_of(1) as pool:
        with pool.lease(timeout_s=5):
            stubs[0].unresettable = True
        assert pool.lease(timeout_s=5).desktop is stubs[1]
        assert stubs[0].closed


def test_preparation_happens_in_the_background_and_a_desktop_that_fails_under_it_is_replaced(
    stubs: list[Stub],
) -> None:
    attempts = []

    def setup(desktop: Any) -> None:
        attempts.append(desktop)
        if len(attempts) == 1:
            raise DesktopDied("under the set-up")

    with pool_of(1) as pool:
        with pytest.raises(DesktopDied):
            pool.prepare(setup).result(timeout=5)
        lease = pool.prepare(setup).result(timeout=5)
        assert lease.desktop is attempts[1] is not attempts[0]
        assert pool.status().replaced == 1


def test_an_error_of_the_set_up_is_the_callers_and_the_desktop_goes_back(stubs: list[Stub]) -> None:
    def setup(desktop: Any) -> None:
        raise WindowTimeout("no window")

    with pool_of(1) as pool:
        with pytest.raises(WindowTimeout):
            pool.prepare(setup).result(timeout=5)
        pool.wait_ready(timeout_s=5)
        assert pool.status().replaced == 0


def test_a_machine_that_can_not_run_desktops_is_told_at_once() -> None:
    def refuse(config: DesktopConfig) -> Any:
        raise SandboxUnavailable("no namespaces", hint="allow them")

    with pytest.raises(SandboxUnavailable, match="no namespaces"):
        pool_of(4, refuse)


def test_waiting_ends_when_no_desktop_can_be_started_any_more(stubs: list[Stub]) -> None:
    def only_once(config: DesktopConfig) -> Any:
        if Stub.made:
            raise DesktopStartError("the machine is full")
        return Stub(config)

    with pool_of(1, only_once) as pool:
        with pool.lease(timeout_s=5):
            stubs[0].sick = True
        with pytest.raises(DesktopStartError, match="the machine is full"):
            pool.lease(timeout_s=5)


def test_what_could_not_be_started_is_made_up_for_later(
    stubs: list[Stub], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.desktop.pool.RETRY_S", 0.05)
    full = True

    def at_first_one(config: DesktopConfig) -> Any:
        if Stub.made and full:
            raise DesktopStartError("the machine is full")
        return Stub(config)

    with pool_of(3, at_first_one) as pool:
        pool.wait_ready(1, timeout_s=5)
        with pool.lease(timeout_s=5):
            stubs[0].sick = True
        with pytest.raises(DesktopStartError, match="the machine is full"):
            pool.lease(timeout_s=5)
        full = False
        deadline = time.monotonic() + 20
        while pool.status().ready < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_pool_that_could_not_be_filled_says_how_many_run_and_why(stubs: list[Stub]) -> None:
    def only_two(config: DesktopConfig) -> Any:
        if len(Stub.made) == 2:
            raise DesktopStartError("no memory", hint="close something")
        return Stub(config)

    with pool_of(3, only_two) as pool, pool.lease(timeout_s=5), pool.lease(timeout_s=5):
        with pytest.raises(PoolExhausted, match=r"only 2 of 3 run.*no memory") as told:
            pool.lease(timeout_s=0.3)
        assert told.value.hint == "close something"


def test_a_fault_of_the_upkeep_ends_the_pool_with_its_reason(stubs: list[Stub]) -> None:
    def faulty(config: DesktopConfig) -> Any:
        if Stub.made:
            raise ValueError("filedescriptor out of range")
        return Stub(config)

    with pool_of(2, faulty) as pool:
        with pool.lease(timeout_s=5), pytest.raises(PoolFailed, match="filedescriptor out of range"):
            pool.lease(timeout_s=60)
        with pytest.raises(PoolFailed):
            pool.wait_ready(2, timeout_s=60)
    assert all(stub.closed for stub in stubs)


def test_the_limit_on_open_files_is_raised_as_far_as_allowed(
    stubs: list[Stub], monkeypatch: pytest.MonkeyPatch
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = len(os.listdir("/proc/self/fd")) + 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
    try:
        with pool_of(100):
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 1200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 4096))
    with pytest.raises(DesktopStartError, match="the limit is 4096") as told:
        pool_of(1000)
    assert "324 desktops fit" in (told.value.hint or "")


def test_closing_wakes_those_who_wait_and_closes_leased_desktops_too(stubs: list[Stub]) -> None:
    pool = pool_of(1)
    lease = pool.lease(timeout_s=5)
    failures: list[BaseException] = []

    def wait() -> None:
        try:
            pool.lease(timeout_s=30)
        except DesktopClosed as error:
            failures.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    pool.close()
    waiter.join(5)
    assert failures
    assert stubs[0].closed
    with pytest.raises(DesktopClosed):
        _ = lease.desktop


def test_a_pool_without_desktops_is_refused() -> None:
    with pytest.raises(PoolExhausted, match="at least 1"):
        pool_of(0)


def test_many_threads_at_once_lose_no_desktop(stubs: list[Stub]) -> None:
    with pool_of(4) as pool:
        done = []

        def use() -> None:
            for turn in range(25):
                with pool.lease(timeout_s=30) as desktop:
                    if turn % 10 == 7:
                        desktop.sick = True  # type: ignore[attr-defined]
                    done.append(desktop)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(done) == 200
        pool.wait_ready(timeout_s=10)
        status = pool.status()
        assert (status.ready, status.leased, status.in_upkeep) == (4, 0, 0)


@pytest.mark.x11
class TestWithRealDesktops:
    def test_a_killed_desktop_is_replaced_and_the_others_do_not_notice(self) -> None:
        with DesktopPool(2) as pool:
            sick, well = pool.lease(), pool.lease()
            well.desktop.launch("xterm")
            victim = sick.desktop._supervised.process.pid
            os.kill(victim, signal.SIGKILL)
            sick.desktop._supervised.process.wait(10)
            with pytest.raises(DesktopDied):
                sick.desktop.perform(Action.click(Point(0.5, 0.5)))
            well.desktop.perform(Action.type("still here"))
            assert [window.wm_class for window in well.desktop.windows()] == ["XTerm"]
            sick.release()
            with pool.lease(timeout_s=20) as fresh:
                fresh.perform(Action.click(Point(0.5, 0.5)))
            assert pool.status().replaced == 1

    def test_descriptors_may_be_above_a_thousand(self) -> None:
        """As in a process with 128 desktops: programs are run, trees are read, steps settle."""
        with contextlib.ExitStack() as stack:
            while stack.enter_context(open(os.devnull)).fileno() < 1100:
                pass
            desktop = stack.enter_context(DesktopPool(1)).lease(timeout_s=60).desktop
            desktop.launch("galculator")
            assert desktop.accessibility(app="galculator", timeout_s=10.0).find(name="7") is not None
            desktop.perform(Action.type("12"))
            assert desktop.run(["echo", "yes"]).stdout == b"yes\n"

    def test_the_next_episode_is_prepared_while_this_one_runs(self) -> None:
        with DesktopPool(2) as pool:
            with pool.lease() as now:
                following = pool.prepare(lambda desktop: desktop.launch("xterm"))
                for _ in range(20):
                    now.perform(Action.move(Point(0.3, 0.3)))
                lease = following.result(timeout=20)
            assert isinstance(lease.desktop, SandboxDesktop)
            assert [window.wm_class for window in lease.desktop.windows()] == ["XTerm"]

    def test_no_process_is_left_when_the_pool_is_closed(self) -> None:
        with DesktopPool(3) as pool:
            pool.wait_ready()
            pids = [desktop._supervised.process.pid for desktop in pool._desktops]
            assert len(pids) == 3
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
