"""The analysis of a folder: bad images are named, the others are kept, runs go on."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest

from edgecritic import atomic
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import write_map
from edgecritic.errors import DataError
from edgecritic.run.annotators import run_annotators


@pytest.fixture
def truth(tmp_path):
    return write(tmp_path / "data", 4, truth="png") / "truth"


def test_bad_images_are_named_and_the_others_counted(truth):
    write_map(truth / "synthetic-1" / "6.png", np.eye(20) > 0)
    write_map(truth / "alone" / "1.png", np.eye(20) > 0)
    write_map(truth / "empty" / "1.png", np.zeros((20, 20), bool))
    write_map(truth / "empty" / "2.png", np.zeros((20, 20), bool))
    run = run_annotators(truth, jobs=1)
    assert run.failed
    (failure,) = run.results["failures"]
    assert failure["id"] == "synthetic-1"
    assert "shape" in failure["message"]
    assert run.results["single"] == ["alone"]
    assert [row["id"] for row in run.results["per_image"]] == [
        "empty",
        "synthetic-2",
        "synthetic-3",
        "synthetic-4",
    ]
    assert run.results["per_image"][0]["orphan_share"] is None
    json.dumps(run.results, allow_nan=False)


def test_a_single_annotator_everywhere_is_refused(tmp_path):
    write_map(tmp_path / "t" / "1.png", np.eye(20) > 0)
    with pytest.raises(DataError, match="no image has two annotators"):
        run_annotators(tmp_path / "t")


def test_a_full_disk_keeps_finished_images(truth, tmp_path, monkeypatch):
    whole = run_annotators(truth, out=tmp_path / "whole", jobs=1).results
    real = atomic._new_part
    calls = []

    def full(*args, **more):
        calls.append(args)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **more)

    monkeypatch.setattr(atomic, "_new_part", full)
    with pytest.raises(DataError, match="No space left"):
        run_annotators(truth, out=tmp_path / "out", jobs=1)
    kept = sorted(path.name for path in (tmp_path / "out" / "records" / "@annotators").iterdir())
    assert len(kept) == 2
    monkeypatch.setattr(atomic, "_new_part", real)
    stamps = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "records" / "@annotators").iterdir()
    }
    assert run_annotators(truth, out=tmp_path / "out", jobs=2).results == whole
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert (tmp_path / "out" / "annotators.json").read_bytes() == (
        tmp_path / "whole" / "annotators.json"
    ).read_bytes()
