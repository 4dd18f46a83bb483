"""``edgecritic studio``: label edges and let people judge them, in a browser."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.studio.settings import Settings

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Start the studio, a small web application: label edges with help of a proposal, and run forced-choice
experiments. Without options it opens on a file of its own with synthetic images, for this computer only,
and logs your browser in by a link that works once.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "studio", help="label edges and let people judge them, in a browser", description=_DESCRIPTION
    )
    parser.add_argument("--data", metavar="FOLDER", help="of the embedded database (default: ./studio)")
    parser.add_argument(
        "--db",
        default="",
        metavar="URL",
        help="another database, such as postgresql+psycopg://user@host/name",
    )
    address = parser.add_argument_group("address")
    address.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    address.add_argument("--port", type=int, default=8600, help="default: 8600; 0 takes any free one")
    address.add_argument(
        "--public-url", default="", metavar="URL", help="address that people use, behind a proxy"
    )
    address.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="of a reverse proxy (or a network, may be repeated) whose word on who the caller is counts",
    )
    address.add_argument(
        "--proxy-user-header",
        default="",
        metavar="NAME",
        help="header in which that proxy names the owner it has authenticated",
    )
    address.add_argument("--no-browser", action="store_true", help="do not open a browser")
    care = parser.add_argument_group("care")
    care.add_argument("--migrate", action="store_true", help="bring an older database up to date, then end")
    care.add_argument("--set-password", action="store_true", help="ask for the owner's password, then end")
    care.add_argument(
        "--link", action="store_true", help="print a link that logs one browser in as the owner, then end"
    )
    care.add_argument("--no-example", action="store_true", help="leave a new studio empty")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.errors import DataError, needs_extra

    with needs_extra("the studio", "studio"):
        from sqlalchemy.exc import DatabaseError

        from edgecritic.studio import serve  # noqa: F401 - to see whether all it needs is there
    try:
        return _run(args)
    except DatabaseError as error:
        raise DataError(f"the database cannot be used: {error.orig}") from error


def _run(args: argparse.Namespace) -> int:
    from edgecritic.errors import InputError
    from edgecritic.studio import serve
    from edgecritic.studio.database import migrate
    from edgecritic.web.serving import listen

    try:
        settings = _settings(args)
    except InputError as error:
        sys.stderr.write(f"edgecritic studio: {error}\n")
        return 2
    command = _command(args)
    if args.migrate:
        print(f"the database has schema {migrate(settings.database_url)} now")
        return 0
    if args.set_password:
        return _set_password(settings, command)
    if args.link:
        return _print_link(settings, command)
    sockets = listen(settings.host, settings.port)
    try:
        database = serve.prepare(settings, command=command, example=not args.no_example)
        path = serve.login_path(settings, database)
    except BaseException:
        for one in sockets:
            one.close()
        raise
    serve.serve(
        settings, database, lambda address: _say_ready(settings, address, path, args.no_browser), sockets
    )
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    from pathlib import Path

    from edgecritic.studio.settings import Settings

    return Settings(
        data=Path(args.data or "studio"),
        db=args.db,
        host=args.host,
        port=args.port,
        public_url=args.public_url,
        trusted_proxies=tuple(args.trusted_proxy),
        proxy_user_header=args.proxy_user_header,
    )


def _command(args: argparse.Namespace) -> str:
    """Return the command that opens this database, without the password of the URL."""
    from edgecritic.studio.database import shown_url

    parts = ["edgecritic", "studio"]
    if args.data:
        parts += ["--data", args.data]
    if args.db:
        parts += ["--db", shown_url(args.db)]
    return shlex.join(parts)


def _set_password(settings: Settings, command: str) -> int:
    from edgecritic.errors import InputError
    from edgecritic.studio import auth
    from edgecritic.studio.database import open_database

    first = _ask("new password of the owner: ")
    auth.check_length(first)
    if _ask("the same again: ") != first:
        raise InputError("the two passwords differ; nothing was changed")
    database = open_database(settings.database_url, f"{command} --migrate")
    try:
        database.write(lambda session: auth.set_password(session, first))
    finally:
        database.close()
    print("the password is set")
    return 0


def _ask(prompt: str) -> str:
    """Ask for a password; refuse where it would be shown or where there is nobody to ask."""
    import warnings
    from getpass import GetPassWarning, getpass

    from edgecritic.errors import InputError
    from edgecritic.studio.serve import PASSWORD_VARIABLE

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GetPassWarning)
            return getpass(prompt)
    except (GetPassWarning, EOFError) as error:
        raise InputError(
            "--set-password asks at a terminal, and there is none",
            remedy=f"start the studio with the password in the variable {PASSWORD_VARIABLE} instead",
        ) from error


def _print_link(settings: Settings, command: str) -> int:
    from edgecritic.errors import DataError
    from edgecritic.studio import serve
    from edgecritic.studio.database import open_database

    if settings.is_new:
        raise DataError(f"there is no studio in {settings.data} yet", remedy=f"start it with {command}")
    database = open_database(settings.database_url, f"{command} --migrate")
    try:
        print(f"{settings.address}{database.write(serve.link_path)}")
    finally:
        database.close()
    sys.stderr.write("It works once.\n")
    return 0


def _say_ready(settings: Settings, address: str, path: str, no_browser: bool) -> None:
    from edgecritic.web.serving import open_browser

    print(f"EdgeCritic studio: {address}{path}", flush=True)
    if path:
        sys.stderr.write("The link works once and makes your browser the owner's; show it to nobody.\n")
    sys.stderr.write("What maps need is compiled in the background; the first map may wait for it.\n")
    sys.stderr.write("Ctrl+C ends it; everything shown as saved is kept.\n")
    if settings.local and not settings.public_url and not no_browser:
        open_browser(f"{address}{path}")
