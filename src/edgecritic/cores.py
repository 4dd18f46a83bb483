"""How many cores this process may use, and who uses them."""

from __future__ import annotations

import math
import os
from pathlib import Path

__all__ = ["ONE_THREAD", "usable_cores"]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""What the libraries of linear algebra under NumPy look for in the environment when they are loaded.

Work is divided among threads by images. Threads of those libraries would take the cores from them, even
while they wait, and sums would depend on how many there are.
"""


def usable_cores(system: Path = Path("/")) -> int:
    """Return how many cores this process may use: at least one.

    That is the number of cores that the operating system gives to the process (its affinity), or fewer
    where a control group, as of a container or a batch system, allows less time than so many cores have.

    Parameters
    ----------
    system : Path
        Where ``proc`` and ``sys`` are.
    """
    counted = getattr(os, "process_cpu_count", None)
    if counted is not None:
        cores = counted()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return max(1, math.ceil(min(cores or 1, _quota(system))))


def _quota(system: Path) -> float:
    """Return the cores that the control groups of this process and all groups above allow."""
    found = math.inf
    for line in _text(system / "proc/self/cgroup").splitlines():
        _, names, place = (*line.split(":", 2), "", "")[:3]
        if names == "":  # version 2
            home, read = system / "sys/fs/cgroup", _share_2
        elif "cpu" in names.split(","):
            home, read = system / "sys/fs/cgroup" / names, _share_1
            home = home if home.exists() else system / "sys/fs/cgroup/cpu"
        else:
            continue
        group = home / place.strip().lstrip("/")
        inside = [folder for folder in (group, *group.parents) if folder.is_relative_to(home)]
        found = min(found, *(read(folder) for folder in inside or [home]))
    return found


def _share_2(group: Path) -> float:
    limit, _, period = _text(group / "cpu.max").strip().partition(" ")
    return _share(limit, period)


def _share_1(group: Path) -> float:
    return _share(_text(group / "cpu.cfs_quota_us").strip(), _text(group / "cpu.cfs_period_us").strip())


def _share(limit: str, period: str) -> float:
    """Return limit / period; infinity for ``max``, −1 and what is not there."""
    if not limit.isdigit() or not period.isdigit() or int(limit) == 0 or int(period) == 0:
        return math.inf
    return int(limit) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
