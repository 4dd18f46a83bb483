"""Who may do what: the owner's password, invitations, browser sessions, and limits on guessing."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.studio.database import keep
from edgecritic.studio.models import Experiment, Invitation, LoginSession, Secret, now
from edgecritic.studio.problems import NotNow

__all__ = [
    "Pace",
    "RateLimit",
    "Recent",
    "check_length",
    "check_password",
    "end_session",
    "ending",
    "find_invitation",
    "has_password",
    "hash_token",
    "is_link",
    "new_link",
    "new_token",
    "session_of",
    "set_password",
    "start_session",
    "use_link",
    "why_ended",
]

_PASSWORD = "owner_password"
_LINK = "owner_link"
_LEAST_LENGTH = 10
_MOST_LENGTH = 1024
_hasher = PasswordHasher()


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is stored of a token. It is random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_length(password: str) -> None:
    """Refuse a password that is too short or too long."""
    if not _LEAST_LENGTH <= len(password) <= _MOST_LENGTH:
        raise InputError(f"the password must have at least {_LEAST_LENGTH} characters")


def set_password(session: Session, password: str) -> None:
    """Store the argon2 hash of the owner's password; end the owner's sessions and the link."""
    check_length(password)
    session.merge(Secret(name=_PASSWORD, value=_hasher.hash(password)))
    session.execute(delete(Secret).where(Secret.name == _LINK))
    session.execute(delete(LoginSession).where(LoginSession.invitation_id.is_(None)))


def new_link(session: Session) -> str:
    """Return the token of a link that makes one browser the owner's, once; an earlier one ends."""
    token = new_token()
    session.merge(Secret(name=_LINK, value=hash_token(token)))
    return token


def is_link(session: Session, token: str) -> bool:
    """Tell whether this is the token of the owner's link, without using it up."""
    found = session.get(Secret, _LINK)
    return found is not None and secrets.compare_digest(found.value, hash_token(token))


def use_link(session: Session, token: str) -> bool:
    """Use the owner's link up; of several callers at once it is true for one."""
    query = select(Secret).where(Secret.name == _LINK, Secret.value == hash_token(token)).with_for_update()
    found = session.scalar(query)
    if found is not None:
        session.delete(found)
    return found is not None


def has_password(session: Session) -> bool:
    """Tell whether an owner's password is set."""
    return session.get(Secret, _PASSWORD) is not None


def check_password(session: Session, password: str) -> bool:
    """Tell whether this is the owner's password."""
    stored = session.get(Secret, _PASSWORD)
    if stored is None or len(password) > _MOST_LENGTH:
        return False
    try:
        return _hasher.verify(stored.value, password)
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


def start_session(session: Session, invitation: Invitation | None, hours: int) -> str:
    """Return the secret of a new browser session, for the owner or for an invited person."""
    session.execute(delete(LoginSession).where(LoginSession.expires < now()))
    secret = new_token()
    session.add(
        LoginSession(
            secret_hash=hash_token(secret),
            invitation_id=None if invitation is None else invitation.id,
            expires=now() + timedelta(hours=hours),
        )
    )
    return secret


def session_of(session: Session, secret: str | None) -> LoginSession | None:
    """Return the session a secret belongs to, if it has not ended."""
    if not secret:
        return None
    found = session.scalar(select(LoginSession).where(LoginSession.secret_hash == hash_token(secret)))
    return found if found is not None and found.expires > now() else None


def end_session(session: Session, secret: str | None) -> None:
    """Forget a browser."""
    if secret:
        session.execute(delete(LoginSession).where(LoginSession.secret_hash == hash_token(secret)))


def find_invitation(session: Session, token: str) -> Invitation | None:
    """Return the invitation of a token, open or not; a session that writes holds it."""
    wanted = select(Invitation).where(Invitation.token_hash == hash_token(token))
    if session.info.get("writes"):
        wanted = wanted.with_for_update(key_share=True)
    return session.scalar(wanted)


def why_ended(session: Session, invitation: Invitation) -> str:
    """Return why an invitation gives no access any more, as a code of `problems.ENDED`; empty if it does."""
    closed = None
    if invitation.experiment_id is not None:
        experiment = keep(session, Experiment, invitation.experiment_id)
        closed = now() if experiment is None else experiment.closed
    return ending(invitation, closed)


def ending(invitation: Any, closed: datetime | None) -> str:
    """Return the code of `problems.ENDED` for an invitation and its experiment; empty if both are open.

    The invitation may be a row that has its `deleted`, `revoked` and `expires` only.
    """
    if invitation.deleted is not None:
        return "deleted"
    if invitation.revoked is not None:
        return "revoked"
    if closed is not None:
        return "closed"
    expires = invitation.expires
    return "expired" if expires is not None and expires <= now() else ""


class RateLimit:
    """At most `count` wrong attempts in `seconds` per caller; remembers a bounded number of callers.

    Right attempts do not ask it, so it locks nobody out who has a right token.

    Examples
    --------
    >>> limit = RateLimit(1, 60)
    >>> limit.check("somebody")
    >>> limit.check("somebody")
    Traceback (most recent call last):
    edgecritic.studio.problems.NotNow: too many attempts; wait a minute and try again
    """

    def __init__(self, count: int, seconds: float, most_callers: int = 10_000) -> None:
        self.count, self.seconds, self.most_callers = count, seconds, most_callers
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, caller: str) -> None:
        """Count a wrong attempt, or refuse it."""
        clock = time.monotonic()
        with self._lock:
            seen = self._seen.setdefault(caller, deque())
            self._seen.move_to_end(caller)
            while seen and seen[0] <= clock - self.seconds:
                seen.popleft()
            if len(seen) >= self.count:
                raise NotNow("too many attempts; wait a minute and try again")
            seen.append(clock)
            while len(self._seen) > self.most_callers:
                self._seen.popitem(last=False)


class Recent:
    """Browser sessions that were found lately: not even their first look costs a query.

    Who is in it may send a body; what is done with it is decided by the database.
    """

    def __init__(self, seconds: float = 60, most: int = 10_000) -> None:
        self.seconds, self.most = seconds, most
        self._until: OrderedDict[tuple[int, str], float] = OrderedDict()

    def has(self, invitation_id: int, secret: str) -> bool:
        """Tell whether a session of this invitation was found lately."""
        return self._until.get((invitation_id, hash_token(secret)), 0.0) > time.monotonic()

    def add(self, invitation_id: int, secret: str) -> None:
        """Remember a session that was found."""
        self._until[invitation_id, hash_token(secret)] = time.monotonic() + self.seconds
        while len(self._until) > self.most:
            self._until.popitem(last=False)


@dataclass(slots=True)
class _Lane:
    """The attempts of one caller: when the next may begin, and when the wrong ones were."""

    free_at: float = 0.0
    wrong: deque[float] = field(default_factory=deque)


class Pace:
    """One attempt of a caller at a time, with a `pause` between them after `count` wrong ones in `seconds`.

    A password that can be guessed needs a limit, but one that refuses would let a stranger lock the owner out
    where both have one address. So attempts are slowed down and none is refused unheard, except if it has
    waited for longer than `patience`; among those who wait chance decides.
    """

    def __init__(self, count: int, seconds: float, *, pause: float = 3.0, patience: float = 20.0) -> None:
        self.count, self.seconds, self.pause, self.patience = count, seconds, pause, patience
        self._seen: OrderedDict[str, _Lane] = OrderedDict()

    async def attempt(self, caller: str, is_right: Callable[[], Awaitable[bool]]) -> bool:
        """Tell whether an attempt is right, in its turn; `NotNow` if it is wrong and one of too many."""
        lane = await self._turn(caller)
        right = False
        try:
            right = await is_right()
        finally:
            clock = time.monotonic()
            if not right:
                lane.wrong.append(clock)
            many = len(lane.wrong) > self.count
            lane.free_at = clock + (self.pause if many and not right else 0.0)
        if many and not right:
            raise NotNow(
                "that is not the password, and there were many attempts; each takes some seconds now"
            )
        return right

    async def _turn(self, caller: str) -> _Lane:
        end = time.monotonic() + self.patience
        while (clock := time.monotonic()) < end:
            lane = self._seen.setdefault(caller, _Lane())
            if lane.free_at <= clock:
                while lane.wrong and lane.wrong[0] <= clock - self.seconds:
                    lane.wrong.popleft()
                lane.free_at = math.inf
                self._seen.move_to_end(caller)
                self._forget()
                return lane
            await asyncio.sleep(random.uniform(0.02, 0.2))
        raise NotNow("too many attempts at once; try again")

    def _forget(self, most_callers: int = 10_000) -> None:
        while len(self._seen) > most_callers:
            self._seen.popitem(last=False)
