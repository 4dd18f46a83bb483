"""What the services refuse, each with the status a browser gets."""

from __future__ import annotations

from edgecritic.errors import EdgeCriticError

__all__ = ["ENDED", "Problem", "NotFound", "Refused", "Conflict", "NotNow", "coded", "ended"]

ENDED = {
    "closed": "this experiment was closed, and no more answers are taken",
    "revoked": "this invitation was taken back by the owner of the studio",
    "expired": "this invitation has expired; ask for a new link",
    "deleted": "all that was kept of you in this experiment was deleted",
    "early": "the consent and the questions come before the trials; open your link again",
    "unknown": "this invitation is not valid (any more); open your link again, or ask for a new one",
}
"""Why a guest may not go on, by the code that the pages know it by."""


class Problem(EdgeCriticError):  # noqa: N818 - a reply, not a fault
    """A request that cannot be served; the message is shown to the person.

    `code` tells pages what has happened where they have to know, `status` is that of the reply. `words` are
    language, title and text for a subject, who reads them in place of the message.
    """

    status = 400
    code = ""
    words: tuple[str, str, str] | None = None


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


def ended(kind: type[Problem], code: str) -> Problem:
    """Return the problem of a guest who may not go on, with the reason of `ENDED`."""
    return coded(kind(ENDED[code]), code)


def coded(problem: Problem, code: str) -> Problem:
    """Give a problem the code that pages know it by, and return it."""
    problem.code = code
    return problem
