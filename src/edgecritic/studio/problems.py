"""What the services refuse, each with the status a browser gets."""

from __future__ import annotations

from edgecritic.errors import EdgeCriticError

__all__ = ["Problem", "NotFound", "Refused", "Conflict", "NotNow"]


class Problem(EdgeCriticError):  # noqa: N818 - a reply, not a fault
    """A request that cannot be served; the message is shown to the person."""

    status = 400


class NotFound(Problem):
    """Nothing of this id is there, or it is not this person's."""

    status = 404


class Refused(Problem):
    """The person may not do this."""

    status = 403


class Conflict(Problem):
    """The state has changed meanwhile."""

    status = 409


class NotNow(Problem):
    """Too many attempts."""

    status = 429
