"""The studio's real command in its own process, and a PostgreSQL server for it."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bars import ROOT, MissingError, free_port, surroundings


class Server:
    """``edgecritic studio`` on a free port; it can be killed and started again."""

    def __init__(self, url: str, folder: Path) -> None:
        self.port = free_port()
        words = ["--db", url, "--port", str(self.port), "--no-example"]
        self.command = [sys.executable, "-m", "edgecritic", "studio", *words]
        self.log = (folder / "server.log").open("ab")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, env=surroundings())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        self.kill()
        raise RuntimeError(f"the studio did not answer within a minute; see {self.log.name}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        self.log.close()


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Start a private PostgreSQL server where its programs are installed; yield the URL."""
    script, place = ROOT / ".ci" / "postgres", folder / "pg"
    if not has_postgresql():
        raise MissingError("PostgreSQL is not installed")
    folder.chmod(0o755)
    started = subprocess.run([script, "start", place], capture_output=True, text=True, check=False)
    try:
        if started.returncode:
            said = started.stderr.strip().splitlines()
            raise MissingError(f"PostgreSQL does not start ({said[-1] if said else 'nothing said'})")
        yield started.stdout.strip()
    finally:
        subprocess.run([script, "stop", place], check=False, capture_output=True)


def has_postgresql() -> bool:
    import shutil

    return bool(shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb")))
