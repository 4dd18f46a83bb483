"""What the person who starts the studio decides; fixed while it runs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from edgecritic.errors import InputError
from edgecritic.web.guard import is_loopback, names_loopback
from edgecritic.web.serving import address_of

__all__ = ["Settings"]

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
    trusted_proxies : tuple of str
        Addresses or networks of reverse proxies whose word counts: who the caller is (X-Forwarded-For), and
        whether it is the owner (`proxy_user_header`).
    proxy_user_header : str
        Header with which a trusted proxy names the owner it has authenticated; empty for none.
    upload_bytes, upload_pixels : int
        Largest file and largest picture that is taken.
    """

    data: Path
    db: str = ""
    host: str = "127.0.0.1"
    port: int = 8600
    public_url: str = ""
    trusted_proxies: tuple[str, ...] = ()
    proxy_user_header: str = ""
    upload_bytes: int = 64 * MEBIBYTE
    upload_pixels: int = 120_000_000
    session_hours: int = 24 * 30

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must lie in 0 … 65535, got {self.port}")
        if self.public_url and not _is_web_address(self.public_url):
            raise InputError(f"the public URL must start with http:// or https://, got {self.public_url!r}")
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise InputError(
                    f"a trusted proxy must be an address or a network, such as 10.0.0.0/8, got {proxy!r}"
                ) from None
        if self.proxy_user_header and not self.trusted_proxies:
            raise InputError(
                "the header of a proxy counts only from a known address", remedy="add --trusted-proxy ADDRESS"
            )

    @property
    def database_url(self) -> str:
        """The URL of the database, with the embedded file as the default."""
        return self.db or f"sqlite:///{(self.data / 'studio.db').absolute()}"

    @property
    def is_new(self) -> bool:
        """Whether the embedded database is not there yet."""
        return not self.db and not (self.data / "studio.db").exists()

    @property
    def address(self) -> str:
        """The address that people use, as far as it is known before the studio listens."""
        return self.public_url.rstrip("/") + "/" if self.public_url else address_of(self.host, self.port)

    @property
    def local(self) -> bool:
        """Whether only this computer can reach the server directly."""
        return is_loopback(self.host)

    @property
    def secure(self) -> bool:
        """Whether people use HTTPS."""
        return self.public_url.startswith("https://")

    @property
    def needs_password(self) -> bool:
        """Whether others can reach the server and no proxy says who the owner is."""
        return bool(not self.local or self.public_url) and not self.proxy_user_header

    def trusts(self, address: str) -> bool:
        """Tell whether an address is one of a trusted proxy.

        Examples
        --------
        >>> settings = Settings(data=Path("x"), trusted_proxies=("127.0.0.1", "10.0.0.0/8"))
        >>> settings.trusts("10.1.2.3"), settings.trusts("192.168.0.1"), settings.trusts("unknown")
        (True, False, False)
        """
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in ipaddress.ip_network(proxy) for proxy in self.trusted_proxies)

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
        return names_loopback(host) or (not self.local and not self.public_url)


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
