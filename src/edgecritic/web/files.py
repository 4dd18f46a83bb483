"""Static files of the package: those of an application, and those that all share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

__all__ = ["Static"]

_SHARED = Path(__file__).parent / "static"


class Static(StaticFiles):
    """Files of the package, looked up anew on every use but sent only when they have changed.

    What is not in the folder of the application is looked for among the shared ones.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder)
        self.all_directories = [*self.all_directories, _SHARED]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one file."""

        async def send_checked(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"cache-control", b"no-cache"))
            await send(message)

        await super().__call__(scope, receive, send_checked)
