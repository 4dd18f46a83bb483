"""Validation in training loops: the numbers of the benchmark, soon, and on several ranks."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bars import Figure, Given, boundaries, check, seconds, surroundings, ucm
from edgecritic import Benchmark
from edgecritic.protocols.sweep import sweep
from edgecritic.run.executor import run_tasks
from edgecritic.training import BoundaryBenchmark

PART = "torch"
NEEDS = ("bsds500", "torch", "torchmetrics")
BATCH = 8
SIZE = (321, 481)

Images = list[tuple[str, np.ndarray, list[np.ndarray]]]


@functools.cache
def images(data: Path, kind: str, count: int) -> Images:
    """Return name, strength and truths of val images, all lying; upright ones are turned."""
    from PIL import Image

    found: Images = []
    for path in sorted((data / "bsds500" / kind / "val").iterdir())[:count]:
        strength = ucm(path) if kind == "ucm2" else np.array(Image.open(path)) / 255
        truths = boundaries(data / f"bsds500/groundTruth/val/{path.stem}.mat")
        turned = strength.shape != SIZE
        found.append(
            (path.stem, strength.T if turned else strength, [one.T if turned else one for one in truths])
        )
    return found


def batches(maps: Images) -> Iterator[tuple[Any, Any, list[str]]]:
    """Yield (N, 1, H, W) tensors, lists of truths, and names."""
    import torch

    for start in range(0, len(maps), BATCH):
        part = maps[start : start + BATCH]
        strengths = torch.from_numpy(np.stack([np.ascontiguousarray(strength) for _, strength, _ in part]))
        truths = [[torch.from_numpy(np.ascontiguousarray(one)) for one in many] for _, _, many in part]
        yield strengths[:, None], truths, [name for name, _, _ in part]


def fed(metric: Any, prepared: list[tuple[Any, Any, list[str]]]) -> dict[str, float]:
    for strengths, truths, names in prepared:
        metric.update(strengths, truths, ids=names)
    return {name: float(value) for name, value in metric.compute().items()}


@check(
    PART,
    ("BoundaryBenchmark over 100 ucm2/val maps in batches of 8: numbers", "equal to those of the benchmark"),
    ("the same: time beside the sweeps alone, in as many threads", "overhead ≤ 10 %"),
    needs=NEEDS,
)
def overhead(given: Given) -> Iterator[Figure]:
    from edgecritic.torch import BoundaryBenchmark as Metric

    maps = images(given.data, "ucm2", given.size(16, 100))
    prepared = list(batches(maps))
    whole = Benchmark("bsds")

    def alone() -> None:
        whole.reset()
        for name, counted in run_tasks(lambda one: (one[0], sweep(one[1], one[2])), maps, jobs=2):
            whole.add_counts(name, counted)
        whole.result(draws=0)

    metric = Metric("bsds", workers=2)

    def measured() -> None:
        metric.reset()
        fed(metric, prepared)

    alone()
    measured()
    result = whole.result(draws=100)
    same = metric.result(draws=100) == result
    yield Figure(f"ODS {result.ods.f:.6f}; {'equal' if same else 'different'}, with intervals", same)
    times = [(seconds(measured), seconds(alone)) for _ in range(given.size(2, 5))]
    ours, theirs = (min(row[k] for row in times) for k in (0, 1))
    share = ours / theirs - 1
    yield Figure(f"{100 * share:+.1f} %: {ours:.2f} s and {theirs:.2f} s", share <= 0.1)


@check(
    PART,
    ("fast, 100 images of 481×321, 2 threads", "≤ 2 s"),
    ("fast on 100 ucm2 maps: ODS beside the full benchmark", "within .003"),
    ("fast on 40 gradient maps: ODS beside the full benchmark", "within .003"),
    ("fast on 40 gradient maps: time for 100", "none, for information"),
    needs=NEEDS,
)
def fast(given: Given) -> Iterator[Figure]:
    from edgecritic.torch import BoundaryBenchmark as Metric

    rows = []
    for kind, count in (("ucm2", given.size(16, 100)), ("gradient", given.size(8, 40))):
        maps = images(given.data, kind, count)
        prepared = list(batches(maps))
        quick, full = Metric("bsds", fast=True, workers=2), Metric("bsds", workers=2)
        found, wanted = fed(quick, prepared), fed(full, prepared)
        times = []
        for _ in range(given.size(2, 5)):
            quick.reset()
            times.append(seconds(lambda quick=quick, prepared=prepared: fed(quick, prepared)))
        rows.append((min(times) * 100 / len(maps), found, wanted))
    yield Figure(f"{rows[0][0]:.2f} s", rows[0][0] <= 2)
    for _, found, wanted in rows:
        apart = {name: found[name] - wanted[name] for name in ("ODS", "OIS", "AP", "R50")}
        told = ", ".join(f"{name} {value:+.4f}" for name, value in apart.items())
        yield Figure(f"{told} (ODS {wanted['ODS']:.4f})", abs(apart["ODS"]) <= 0.003)
    yield Figure(f"{rows[1][0]:.2f} s", None)


RANK = """
import json, sys
import numpy as np, torch
import torch.distributed as dist
from edgecritic.torch import BoundaryBenchmark

rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
said = []
for first in json.loads(sys.argv[3]):
    metric = BoundaryBenchmark("bsds", workers=1)
    names = json.load(open(f"{folder}/names.json"))
    for name in names[:first] if rank == 0 else names[first:]:
        content = np.load(f"{folder}/{name}.npz")
        metric.update(torch.from_numpy(content["strength"])[None], [list(content["truths"])], ids=[name])
    said.append(metric.result(draws=100).as_dict())
print(json.dumps(said))
dist.destroy_process_group()
"""


@check(
    PART,
    ("two gloo ranks, 100 maps divided 63 and 37, and 100 and 0", "equal to one process"),
    needs=NEEDS,
)
def ranks(given: Given) -> Iterator[Figure]:
    maps = images(given.data, "ucm2", given.size(12, 100))
    firsts = [round(0.63 * len(maps)), len(maps)]
    alone = BoundaryBenchmark("bsds")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "names.json").write_text(json.dumps([name for name, _, _ in maps]))
        for name, strength, truths in maps:
            np.savez(home / f"{name}.npz", strength=np.ascontiguousarray(strength), truths=np.stack(truths))
            alone.update([strength], [truths], ids=[name])
        started = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", RANK, str(rank), folder, json.dumps(firsts)],
                env=surroundings(GLOO_SOCKET_IFNAME="lo"),
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        told = [json.loads(process.communicate(timeout=900)[0].splitlines()[-1]) for process in started]
    expected = json.loads(json.dumps(alone.result(draws=100).as_dict()))
    same = sum(found == expected for said in told for found in said)
    yield Figure(
        f"{same} of {2 * len(firsts)} results equal, with every count and interval", same == 2 * len(firsts)
    )
