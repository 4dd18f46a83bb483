"""What the person who starts the studio decides; fixed while it runs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from edgecritic.errors import InputError

__all__ = ["Settings", "is_loopback"]

MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one server.

    Attributes
    ----------
    data : Path
        Folder of the embedded database.
    db : str
        SQLAlchemy URL; the embedded SQLite file if empty.
    host, port : where to listen
    public_url : str
        Address that people type, if a reverse proxy stands before the studio.
    proxy_user_header : str
        Header with which the reverse proxy names the owner it has authenticated; empty for none. It
        counts only in requests that come from `proxy_address`.
    proxy_address : str
        Address of the reverse proxy.
    upload_bytes, upload_pixels : int
        Largest file and largest picture that is taken.
    """

    data: Path
    db: str = ""
    host: str = "127.0.0.1"
    port: int = 8600
    public_url: str = ""
    proxy_user_header: str = ""
    proxy_address: str = "127.0.0.1"
    upload_bytes: int = 24 * MEBIBYTE
    upload_pixels: int = 24_000_000
    session_hours: int = 24 * 30

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must lie in 0 … 65535, got {self.port}")
        if self.public_url and urlsplit(self.public_url).scheme not in ("http", "https"):
            raise InputError(f"the public URL must start with http:// or https://, got {self.public_url!r}")

    @property
    def database_url(self) -> str:
        """The URL of the database, with the embedded file as the default."""
        return self.db or f"sqlite:///{(self.data / 'studio.db').absolute()}"

    @property
    def local(self) -> bool:
        """Whether only this computer can reach the server directly."""
        return is_loopback(self.host)

    @property
    def secure(self) -> bool:
        """Whether people use HTTPS."""
        return self.public_url.startswith("https://")

    def allows_host(self, host: str) -> bool:
        """Tell whether a Host header names this server, so that no other name can be bound to it.

        Examples
        --------
        >>> settings = Settings(data=Path("x"))
        >>> settings.allows_host("localhost:8600"), settings.allows_host("evil.example")
        (True, False)
        """
        if self.public_url and host == urlsplit(self.public_url).netloc:
            return True
        name = urlsplit(f"//{host}").hostname or ""
        return is_loopback(name) or (not self.local and not self.public_url)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this computer only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
