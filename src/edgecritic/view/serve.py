"""Start the viewer: serve a gallery on this computer until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable

from edgecritic.view.app import create_app
from edgecritic.view.gallery import Gallery
from edgecritic.web.serving import Running, listen, run_server, server_config

__all__ = ["HOST", "serve"]

HOST = "127.0.0.1"
"""The viewer is for this computer only."""


def serve(gallery: Gallery, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address when it can be used. Port 0 takes any free one."""
    sockets = listen(HOST, port)

    def compile_first() -> None:
        from edgecritic.kernels._jit import always_compiled
        from edgecritic.matching import match
        from edgecritic.protocols.sweep import sweep
        from edgecritic.run.warmup import tiny_pair

        always_compiled()
        one, other = tiny_pair(2)
        match(one, other)
        sweep(one.astype(float), [other])

    def judge_rest() -> None:
        gallery.judge_rest(server.ended)

    server = Running(server_config(create_app(gallery), HOST, port), ready, [compile_first, judge_rest])
    run_server(server, sockets)
