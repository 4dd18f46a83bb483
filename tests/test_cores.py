"""How many jobs run by default: what affinity and control groups allow."""

from __future__ import annotations

import os

import pytest

from edgecritic.cores import usable_cores
from edgecritic.run.executor import resolve_jobs


@pytest.fixture
def many(monkeypatch):
    """A machine of 64 cores, all of which the process may use."""
    monkeypatch.setattr(os, "process_cpu_count", lambda: 64, raising=False)


def system(root, groups, files):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/\n", {}, 64),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "50000 100000\n"}, 1),
        ("0::/../out\n", {"cpu.max": "400000 100000\n"}, 4),
        (
            "5:memory:/x\n4:cpu,cpuacct:/x\n",
            {"cpu,cpuacct/x/cpu.cfs_quota_us": "500000\n", "cpu,cpuacct/x/cpu.cfs_period_us": "100000\n"},
            5,
        ),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ("nonsense\n4:cpu\n", {"cpu.max": "what"}, 64),
    ],
)
@pytest.mark.usefixtures("many")
def test_control_groups(tmp_path, groups, files, cores):
    assert usable_cores(system(tmp_path, groups, files)) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity_is_respected_where_python_does_not_count_itself(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert usable_cores(tmp_path) == 1


def test_jobs_by_default_are_the_usable_cores():
    assert resolve_jobs(None) == usable_cores()
    assert resolve_jobs(3) == 3
