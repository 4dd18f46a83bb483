"""What was measured before: a line for every bar of every run, in bench-results/history.jsonl.

python benchmarks/history.py [PATTERN]  shows how the rows that hold the pattern went, the oldest first.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bars import ROOT, Bar

HISTORY = ROOT / "bench-results" / "history.jsonl"


@functools.cache
def revision() -> str:
    """Return the revision of the working tree, with ``-dirty`` where it was changed; empty without git."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


@functools.cache
def machine() -> str:
    """Return processor and number of cores in words; no name of a host."""
    text = ""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpu.read_text(encoding="utf-8", errors="replace"))
        text = found[1].strip() if found else ""
    return f"{text or platform.processor() or platform.machine()}, {os.cpu_count()} cores"


@dataclass(frozen=True)
class History:
    """A file of lines of JSON that only grows; None keeps nothing."""

    file: Path | None
    quick: bool = False

    def add(self, bar: Bar, **more: Any) -> None:
        """Write one line, if the bar has a number that can be compared."""
        if self.file is None or bar.number is None:
            return
        line = {
            "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "revision": revision(),
            "machine": machine(),
            "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
            "quick": self.quick,
            "part": bar.part,
            "row": bar.what,
            "value": bar.number,
            "better": bar.better,
            "measured": bar.measured,
            "bar": bar.bar,
            "met": bar.met,
            **more,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{json.dumps(line, ensure_ascii=False)}\n")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Go through what was kept; a line that a kill has cut is left out."""
        if self.file is None or not self.file.exists():
            return
        for text in self.file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(text)
            except ValueError:
                continue


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in History(HISTORY).lines():
        if re.search(pattern, line["row"]):
            rows.setdefault((line["part"], line["row"]), []).append(line)
    for (part, row), lines in rows.items():
        print(f"{part}: {row} ({lines[-1]['bar']})")
        for line in lines:
            conditions = f"{line['machine']}, load {line['load']}{', quick' * line['quick']}"
            beside = f", {line['ratio']:.3f} of {line['base']}" if "ratio" in line else ""
            print(f"  {line['date']}  {line['revision']:<18} {line['measured']}{beside}  ({conditions})")


if __name__ == "__main__":
    main()
