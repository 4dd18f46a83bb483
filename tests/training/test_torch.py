"""The metrics of torchmetrics: the numbers of the plain accumulators, in every place that metrics go."""

from __future__ import annotations

import copy
import importlib
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic import training
from edgecritic.datasets import synthetic
from edgecritic.errors import InputError, MissingExtraError

SOURCE = Path(edgecritic.__file__).parents[1]
CASES = synthetic.dataset(5, size=(48, 60), annotator_count=3)
STRENGTHS = np.stack([synthetic.detect(case.image, "good") for case in CASES]).astype(np.float32)
TRUTHS = np.stack([np.stack(case.truths) for case in CASES])
IDS = [case.id for case in CASES]


@pytest.fixture
def metrics(torch):
    """The module with the metrics."""
    import edgecritic.torch

    return edgecritic.torch


@pytest.fixture
def data(torch):
    return torch.from_numpy(STRENGTHS), torch.from_numpy(TRUTHS)


def expected(strengths=STRENGTHS):
    loop = training.BoundaryBenchmark("bsds")
    loop.update(strengths, TRUTHS, ids=IDS)
    return loop


def fed(metric, data, size=2, **options):
    for start in range(0, len(IDS), size):
        part = slice(start, start + size)
        metric.update(data[0][part], data[1][part], ids=IDS[part], **options)
    return metric


def test_equals_the_plain_accumulator(metrics, data, torch):
    metric = fed(metrics.BoundaryBenchmark("bsds"), data)
    found, wanted = metric.compute(), expected().compute()
    assert {name: float(value) for name, value in found.items()} == wanted
    assert all(value.dtype is torch.float64 and value.ndim == 0 for value in found.values())
    assert metric.result(draws=50) == expected().result(draws=50)
    assert metric.higher_is_better
    assert not metric.is_differentiable


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_all_kinds_of_floats_with_gradients(metrics, data, torch, kind):
    strengths = data[0].to(getattr(torch, kind)).requires_grad_()
    rounded = strengths.detach().double().numpy()
    metric = fed(metrics.BoundaryBenchmark("bsds"), (strengths[:, None], data[1]))
    assert metric.result(draws=0).counts == expected(rounded).result(draws=0).counts


def test_logits_and_what_is_ignored(metrics, data, torch):
    targets = data[1].to(torch.uint8)
    targets[..., 40:] = 255
    logits = torch.logit(data[0].double(), eps=1e-9)
    metric = fed(metrics.BoundaryBenchmark("bsds", from_logits=True, ignore_index=255), (logits, targets))
    plain = training.BoundaryBenchmark("bsds", ignore_index=255)
    plain.update(STRENGTHS, targets.numpy(), ids=IDS)
    assert float(metric.compute()["ODS"]) == pytest.approx(plain.compute()["ODS"], abs=1e-3)


def test_the_batch_may_be_overwritten_at_once(metrics, data):
    metric = metrics.BoundaryBenchmark("bsds", workers=1)
    strengths, truths = data[0].clone(), data[1].clone()
    metric.update(strengths, truths, ids=IDS)
    strengths.zero_()
    truths.zero_()
    assert metric.result(draws=50) == expected().result(draws=50)


def test_forward_gives_the_numbers_of_the_batch(metrics, data):
    metric, alone = metrics.BoundaryBenchmark("bsds"), metrics.BoundaryBenchmark("bsds")
    metric.update(data[0][:2], data[1][:2], ids=IDS[:2])
    value = metric(data[0][2:], data[1][2:], ids=IDS[2:])
    alone.update(data[0][2:], data[1][2:])
    assert value["ODS"] == alone.compute()["ODS"]
    assert metric.result(draws=50) == expected().result(draws=50)


def test_reset_clone_pickle_and_state(metrics, data):
    metric = fed(metrics.BoundaryBenchmark("bsds"), data)
    twins = [metric.clone(), pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)]
    metric.persistent(True)
    loaded = metrics.BoundaryBenchmark("bsds")
    loaded.load_state_dict(metric.state_dict())
    assert hash(metric) == hash(metric) != hash(loaded)
    metric.reset()
    with pytest.raises(InputError, match="no image"):
        metric.result()
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert math.isnan(metric.compute()["ODS"])
    for other in (*twins, loaded):
        assert other.result(draws=50) == expected().result(draws=50)


def test_devices_and_types_leave_the_state_alone(metrics, data, torch):
    metric = fed(metrics.BoundaryBenchmark("bsds"), data).to("cpu").half()
    metric.set_dtype(torch.float16)
    assert metric.result(draws=50) == expected().result(draws=50)


def test_collections(metrics, data, torch):
    from torchmetrics import MetricCollection

    collection = MetricCollection(
        {
            "full": metrics.BoundaryBenchmark("bsds"),
            "again": metrics.BoundaryBenchmark("bsds"),
            "fast": metrics.BoundaryBenchmark("bsds", fast=True),
            "edges": metrics.EdgeScores(["fom", "hausdorff"]),
        },
        prefix="val/",
    )
    single = data[1][:, 0]
    for start in range(0, 5, 2):
        collection.update(data[0][start : start + 2], single[start : start + 2])
    found = collection.compute()
    plain = training.BoundaryBenchmark("bsds")
    plain.update(STRENGTHS, TRUTHS[:, 0])
    scores = training.EdgeScores(["fom", "hausdorff"])
    scores.update(STRENGTHS, TRUTHS[:, 0])
    quick = training.BoundaryBenchmark("bsds", fast=True)
    quick.update(STRENGTHS, TRUTHS[:, 0])
    for number in ("ODS", "AP", "R50"):
        shown = [float(value) for name, value in found.items() if name.endswith(number)]
        full = plain.compute()[number]
        assert sorted(shown) == sorted([full, full, quick.compute()[number]])
    assert quick.compute()["AP"] != plain.compute()["AP"]
    assert float(next(value for name, value in found.items() if "hausdorff" in name)) == pytest.approx(
        scores.compute()["hausdorff"]
    )
    collection.reset()
    assert len(collection["full"].records) == len(collection["fast"].records) == 0


def test_one_number_of_many(metrics, data):
    ods = metrics.BoundaryBenchmark("bsds")["ODS"]
    ods.update(*data)
    assert float(ods.compute()) == expected().compute()["ODS"]


@pytest.mark.filterwarnings("ignore::edgecritic.errors.UndefinedMeasureWarning")
def test_surfaces_of_volumes(metrics, torch):
    truths = torch.zeros(2, 8, 12, 12, dtype=torch.long)
    truths[:, 2:6, 3:9, 3:8] = 1
    truths[1, :, :2] = 2
    logits = torch.randn(2, 3, 8, 12, 12, generator=torch.Generator().manual_seed(1))
    metric = metrics.SurfaceScores(["dice", "hd95"], spacing=(3, 1, 1), labels=("liver", "lesion"))
    metric.update(logits.bfloat16(), truths)
    plain = training.SurfaceScores(["dice", "hd95"], spacing=(3, 1, 1), labels=("liver", "lesion"))
    plain.update(logits.bfloat16().float().numpy(), truths.numpy())
    assert {name: float(value) for name, value in metric.compute().items()} == plain.compute()
    assert metric.result() == plain.result()
    assert set(metric.compute()) == {f"{m}{o}" for m in ("dice", "hd95") for o in ("", "/liver", "/lesion")}


def test_lists_of_images_of_different_sizes(metrics, torch):
    sizes = ((20, 30), (24, 18))
    truths = [[torch.eye(*size, dtype=torch.bool)] * (1 + k) for k, size in enumerate(sizes)]
    maps = [0.7 * people[0] for people in truths]
    metric = metrics.BoundaryBenchmark("bsds")
    metric.update(maps, truths)
    assert float(metric.compute()["ODS"]) == 1.0


def test_what_is_wrong_is_told(metrics, data, torch):
    metric = metrics.BoundaryBenchmark("bsds")
    with pytest.raises(InputError, match="as many targets"):
        metric.update(data[0][:2], data[1][:1])
    metric.update(data[0][:1] - 2, data[1][:1])
    with pytest.raises(InputError, match="sigmoid of logits"):
        metric.compute()
    with pytest.raises((ValueError, TypeError), match="no_such_option"):
        metrics.BoundaryBenchmark("bsds", no_such_option=1)


RANKS = """
import json, sys
import numpy as np, torch
import torch.distributed as dist
from edgecritic.torch import BoundaryBenchmark, EdgeScores

rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
content = np.load(f"{folder}/data.npz")
strengths, truths = torch.from_numpy(content["strengths"]), torch.from_numpy(content["truths"])
said = []
for share in ([0, 1, 2], [3, 4]), ([0, 1, 2, 3, 4], []), ([0, 1, 2], [2, 3, 4]):
    boundary, edges = BoundaryBenchmark("bsds"), EdgeScores(["fom", "hausdorff"])
    for k in share[rank]:
        boundary.update(strengths[k : k + 1], truths[k : k + 1], ids=[str(k)])
        edges.update(strengths[k : k + 1], truths[k : k + 1], ids=[str(k)])
    numbers = {n: float(v) for m in (boundary, edges) for n, v in m.compute().items()}
    whole = boundary.result(draws=20)
    said.append([numbers, whole.as_dict(), len(boundary.records), edges.result().as_dict(draws=9)])
print(json.dumps(said))
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_ranks_equal_one_process(torch, tmp_path):
    """With an uneven division, one rank without any image, and an image on both."""
    np.savez(tmp_path / "data.npz", strengths=STRENGTHS, truths=TRUTHS)
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", RANKS, str(rank), str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "GLOO_SOCKET_IFNAME": "lo"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    told = [process.communicate(timeout=600) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], told
    one, other = (json.loads(out.splitlines()[-1]) for out, _ in told)
    ids = [str(k) for k in range(5)]
    boundary, edges = training.BoundaryBenchmark("bsds"), training.EdgeScores(["fom", "hausdorff"])
    boundary.update(STRENGTHS, TRUTHS, ids=ids)
    edges.update(STRENGTHS, TRUTHS, ids=ids)
    for place, own in enumerate(([3, 2], [5, 0], [3, 3])):
        for rank, said in enumerate((one, other)):
            numbers, whole, records, scores = said[place]
            assert numbers == {**boundary.compute(), **edges.compute()}
            assert whole == json.loads(json.dumps(boundary.result(draws=20).as_dict()))
            assert scores == json.loads(json.dumps(edges.result().as_dict(draws=9)))
            assert records == own[rank]  # each has its own images back


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lightning_logs_it_and_picks_the_checkpoint(torch, metrics, tmp_path):
    lightning = pytest.importorskip("lightning")

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(0.1))
            self.benchmark = metrics.BoundaryBenchmark("bsds", fast=True)
            self.ods = self.benchmark["ODS"]

        def training_step(self, batch, _):
            return ((self.scale * batch[0] - batch[1][:, 0].float()) ** 2).mean()

        def validation_step(self, batch, _):
            self.benchmark.update(torch.clamp(self.scale * batch[0], 0, 1), batch[1])
            self.log("val_ods", self.ods, on_epoch=True)

        def on_validation_epoch_end(self):
            self.log_dict({f"all/{name}": value for name, value in self.benchmark.compute().items()})

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    content = torch.utils.data.TensorDataset(torch.from_numpy(STRENGTHS), torch.from_numpy(TRUTHS))
    loader = torch.utils.data.DataLoader(content, batch_size=2)
    keep = lightning.pytorch.callbacks.ModelCheckpoint(tmp_path, monitor="val_ods", mode="max")
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        callbacks=[keep],
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    net = Net()
    trainer.fit(net, loader, loader)
    logged = trainer.callback_metrics
    assert float(logged["val_ods"]) == pytest.approx(float(logged["all/ODS"]), abs=1e-6)
    assert 0 < float(logged["val_ods"]) <= 1
    assert keep.best_model_score is not None
    assert float(keep.best_model_score) >= float(logged["val_ods"]) - 1e-6


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, "edgecritic.torch", raising=False)
    with pytest.raises(MissingExtraError, match=r'pip install "edgecritic\[torch\]"'):
        importlib.import_module("edgecritic.torch")
