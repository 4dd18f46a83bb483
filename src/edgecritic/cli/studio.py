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
experiments. Without options it opens on a file of its own with synthetic images, for this computer only.
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
        "--proxy-user-header",
        default="",
        metavar="NAME",
        help="header in which your reverse proxy names the owner it has authenticated",
    )
    address.add_argument(
        "--proxy-address",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where that proxy is (default: 127.0.0.1)",
    )
    care = parser.add_argument_group("care")
    care.add_argument("--migrate", action="store_true", help="bring an older database up to date, then end")
    care.add_argument("--set-password", action="store_true", help="ask for the owner's password, then end")
    care.add_argument("--no-example", action="store_true", help="leave a new studio empty")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.errors import MissingExtraError

    try:
        from edgecritic.studio import serve
        from edgecritic.studio.database import migrate
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("edgecritic"):
            raise
        raise MissingExtraError.of("the studio", "studio") from error
    settings = _settings(args)
    if args.migrate:
        print(f"the database has schema {migrate(settings.database_url)} now")
        return 0
    if args.set_password:
        return _set_password(settings, _command(args))
    database = serve.prepare(settings, command=_command(args), example=not args.no_example)
    serve.serve(settings, database, _say_ready)
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
        proxy_user_header=args.proxy_user_header,
        proxy_address=args.proxy_address,
    )


def _command(args: argparse.Namespace) -> str:
    """Return the command that opens this database."""
    parts = ["edgecritic", "studio"]
    if args.data:
        parts += ["--data", args.data]
    if args.db:
        from sqlalchemy import make_url

        parts += ["--db", make_url(args.db).render_as_string(hide_password=True)]
    return shlex.join(parts)


def _set_password(settings: Settings, command: str) -> int:
    from getpass import getpass

    from edgecritic.errors import InputError
    from edgecritic.studio import auth
    from edgecritic.studio.database import open_database

    database = open_database(settings.database_url, f"{command} --migrate")
    try:
        first = getpass("new password of the owner: ")
        if getpass("the same again: ") != first:
            raise InputError("the two passwords differ; nothing was changed")
        with database.session() as session:
            auth.set_password(session, first)
    finally:
        database.close()
    print("the password is set")
    return 0


def _say_ready(address: str) -> None:
    print(f"EdgeCritic studio: {address}", flush=True)
    sys.stderr.write("Ctrl+C ends it; everything shown as saved is kept.\n")
