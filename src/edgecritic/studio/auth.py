"""Who may do what: the owner's password, invitations, browser sessions, and limits on guessing."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict, deque
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.studio.database import keep
from edgecritic.studio.models import Experiment, Invitation, LoginSession, Secret, now
from edgecritic.studio.problems import NotNow

__all__ = [
    "RateLimit",
    "check_password",
    "end_session",
    "find_invitation",
    "has_password",
    "hash_token",
    "new_token",
    "session_of",
    "set_password",
    "start_session",
]

_PASSWORD = "owner_password"
_LEAST_LENGTH = 10
_MOST_LENGTH = 1024
_hasher = PasswordHasher()


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is stored of a token. It is random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def set_password(session: Session, password: str) -> None:
    """Store the argon2 hash of the owner's password and end the owner's sessions."""
    if not _LEAST_LENGTH <= len(password) <= _MOST_LENGTH:
        raise InputError(f"the password must have at least {_LEAST_LENGTH} characters")
    session.merge(Secret(name=_PASSWORD, value=_hasher.hash(password)))
    session.execute(delete(LoginSession).where(LoginSession.invitation_id.is_(None)))


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
    """Hold the invitation of a token unless it was revoked, has expired or its experiment is closed."""
    wanted = select(Invitation).where(Invitation.token_hash == hash_token(token))
    found = session.scalar(wanted.with_for_update(key_share=True))
    return found if found is not None and is_open(session, found) else None


def is_open(session: Session, invitation: Invitation) -> bool:
    """Tell whether an invitation still gives access."""
    if invitation.revoked is not None or (invitation.expires is not None and invitation.expires <= now()):
        return False
    if invitation.experiment_id is None:
        return True
    experiment = keep(session, Experiment, invitation.experiment_id)
    return experiment is not None and experiment.closed is None


class RateLimit:
    """At most `count` wrong attempts in `seconds` per caller; remembers a bounded number of callers.

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
        """Count an attempt, or refuse it."""
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

    def take_back(self, caller: str) -> None:
        """Do not count the last attempt: it has succeeded, and only wrong ones are limited."""
        with self._lock:
            seen = self._seen.get(caller)
            if seen:
                seen.pop()
