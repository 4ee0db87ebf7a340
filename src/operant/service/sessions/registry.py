"""All sessions: leasing desktops, finding sessions by name, ending unused ones."""

from __future__ import annotations

import collections
import re
import threading
import uuid
from collections.abc import Callable

from loguru import logger

from operant.config.desktop import Profile
from operant.config.local import LocalConfig
from operant.desktop.local import LocalDesktop
from operant.desktop.pool import DesktopPool
from operant.errors import (
    ConfigError,
    DesktopError,
    LiveScreenRefused,
    RequestForbidden,
    ServiceNotReady,
    SessionBusy,
    SessionExpired,
    UnknownSession,
)
from operant.service.sessions.approvals import Approvals
from operant.service.sessions.session import Session

__all__ = ["DEFAULT", "LIVE", "TASK", "Sessions"]

DEFAULT, LIVE = "default", "live"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
TASK = "task-"  # begins the names of desktops that attempts lease for themselves
EXPIRED_KEPT = 1000


class Sessions:
    """``pool`` is asked for when it is needed, because it comes up after the service does."""

    def __init__(
        self,
        pool: Callable[[], DesktopPool],
        *,
        ttl_s: float,
        lease_timeout_s: float,
        approvals: Approvals,
        allow_live: bool = False,
        open_live: Callable[[], LocalDesktop] | None = None,
    ) -> None:
        self._pool = pool
        self._ttl_s = ttl_s
        self._lease_timeout_s = lease_timeout_s
        self._approvals = approvals
        self._allow_live = allow_live
        self._open_live = open_live or (lambda: LocalDesktop(LocalConfig(), allow_live=True))
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._expired: collections.deque[str] = collections.deque(maxlen=EXPIRED_KEPT)
        self.expired = 0
        self.returned = 0
        """Desktops handed back, and so reset."""
        self._closed = False

    def create(
        self,
        identity: str | None = None,
        *,
        ttl_s: float | None = None,
        timeout_s: float | None = None,
        profile: Profile | None = None,
    ) -> Session:
        """Lease a desktop; waits for a free one, but not for long. ``profile`` is the pool's unless given."""
        if identity is not None and self._known(identity) is not None:
            raise _taken(identity)
        timeout_s = self._lease_timeout_s if timeout_s is None else timeout_s
        ttl_s = self._ttl_s if ttl_s is None else ttl_s
        lease = self._pool().lease(timeout_s=timeout_s, ttl_s=ttl_s + 60.0)
        if profile is not None:
            try:
                lease.desktop.use_profile(profile)
            except BaseException:
                lease.release()
                raise
        name = identity or uuid.uuid4().hex[:12]
        return self._add(
            Session(
                name,
                lease.desktop,
                ttl_s,
                renew=lease.renew,
                release=lease.release,
                confirm=self._approvals.confirm,
            )
        )

    def _add(self, session: Session) -> Session:
        with self._lock:
            before = self._sessions.get(session.id)
            taken = before is not None and not before.closed
            if not self._closed and not taken:
                self._sessions[session.id] = session
                return session
        session.close()
        raise _taken(session.id) if taken else ServiceNotReady("the service is stopping")

    def check_name(self, name: str) -> None:
        """Whether a client may call a new session so; an error if not."""
        if NAME.fullmatch(name) is None:
            raise ConfigError(
                f"{name[:80]!r} can't be the name of a session",
                hint="letters, digits, - and _, at most 64, and no - or _ at the beginning",
            )
        if name in (DEFAULT, LIVE) or name.startswith(TASK):
            raise RequestForbidden(
                f"{name!r} is a name that the service gives itself",
                hint=f"any other name that does not begin with {TASK!r} will do",
            )
        if self._known(name) is not None:
            raise _taken(name)

    def find(self, identity: str | None) -> Session:
        """The session of that name. ``default`` and ``live`` are opened when they are first asked for."""
        identity = identity or DEFAULT
        session = self._known(identity)
        if session is not None:
            return session
        if identity in (DEFAULT, LIVE):
            with self._opening:
                return self._known(identity) or (self._live() if identity == LIVE else self.create(DEFAULT))
        if identity in self._expired:
            raise SessionExpired(
                f"the session {identity} has ended", hint="POST /api/v1/sessions leases another desktop"
            )
        raise UnknownSession(
            f"there is no session {identity[:60]!r}", hint="POST /api/v1/sessions leases a desktop"
        )

    def _known(self, identity: str) -> Session | None:
        with self._lock:
            session = self._sessions.get(identity)
        return session if session is not None and not session.closed else None

    def _live(self) -> Session:
        if not self._allow_live:
            raise LiveScreenRefused(
                "this service may not look at or operate the screen of its machine",
                hint="start it with operant serve --allow-live, or leave use_live_screen away",
            )
        desktop = self._open_live()
        return self._add(
            Session(
                LIVE,
                desktop,
                self._ttl_s,
                release=desktop.close,
                approve=self._approvals.require,
                confirm=self._approvals.confirm,
            )
        )

    def list(self) -> list[Session]:
        with self._lock:
            return sorted(self._sessions.values(), key=lambda session: session.created)

    def end(self, session: Session) -> None:
        """Hand a desktop back."""
        with self._lock:
            if self._sessions.pop(session.id, None) is not None:
                self.returned += 1
            self._expired.append(session.id)
        session.close()

    def broken(self, session: Session, error: DesktopError) -> None:
        """A desktop failed under its user: the pool replaces it, and the session is over."""
        logger.warning("the desktop of session {} failed: {}", session.id, error.message)
        self.end(session)

    def expire(self) -> None:
        """End unused sessions. Called every second."""
        for session in self.list():
            if session.closed or (session.expires_in_s <= 0 and session.attempt is None):
                logger.info("session {} has expired", session.id)
                self.expired += 1
                self.end(session)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close()


def _taken(name: str) -> SessionBusy:
    return SessionBusy(f"there is a session {name!r} already", hint="use it, end it, or choose another name")
