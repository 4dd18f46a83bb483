"""The classic text files: published ones are read, ours round-trip, nonsense is refused by line."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.errors import DataError, InputError
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.summary import BestPoint, count_table, summarise
from edgecritic.report.classic import (
    ClassicCurve,
    ClassicSummary,
    read_counts,
    read_curve,
    read_image_scores,
    read_summary,
    write_all,
    write_counts,
    write_curve,
    write_image_scores,
    write_summary,
)

PUBLISHED = "  0.166667   0.602446   0.848564   0.704632   0.580778   0.908588   0.708608   0.307593\n"


def random_counts(seed=0, images=4, steps=9, size=1000):
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(images):
        whole = np.full(steps, rng.integers(size // 2, size))
        found = np.sort(rng.integers(1, size, steps))[::-1]
        hit_r, hit_p = rng.binomial(whole, np.linspace(0.9, 0.1, steps)), rng.binomial(found, 0.7)
        rows = [np.arange(1, steps + 1) / (steps + 1), hit_r, whole, hit_p, found]
        tables.append(Counts.from_rows(np.column_stack(rows)))
    return tables


@pytest.mark.parametrize("test", [1, 2, 3, 4])
def test_published_files_are_read_and_written_alike(data, tmp_path, test):
    folder = data / "bsds_bench" / f"test_{test}"
    again = tmp_path / "again.txt"
    summary = read_summary(folder / "eval_bdry.txt")
    write_summary(again, summary)
    assert again.read_bytes() == (folder / "eval_bdry.txt").read_bytes()
    curve = read_curve(folder / "eval_bdry_thr.txt")
    assert len(curve) == 5
    write_curve(again, curve)
    assert again.read_bytes() == (folder / "eval_bdry_thr.txt").read_bytes()
    images = read_image_scores(folder / "eval_bdry_img.txt")
    assert len(images) == 5
    assert summary.as_dict()["ap"] == summary.ap
    write_image_scores(again, images)
    assert again.read_bytes() == (folder / "eval_bdry_img.txt").read_bytes()


@pytest.mark.parametrize("read", [read_summary, read_curve, read_counts, read_image_scores])
def test_other_published_files_are_refused(data, read):
    for pattern in ("eval_cover*.txt", "eval_RI*.txt"):
        for path in sorted((data / "bsds_bench").glob(f"test_*/{pattern}")):
            with pytest.raises(DataError, match=path.name):
                read(path)


def test_one_line_read_by_hand(tmp_path):
    path = tmp_path / "eval_bdry.txt"
    path.write_text(PUBLISHED)
    assert read_summary(path) == ClassicSummary(
        ods=BestPoint(threshold=0.166667, recall=0.602446, precision=0.848564, f=0.704632),
        ois=BestPoint(recall=0.580778, precision=0.908588, f=0.708608),
        ap=0.307593,
    )


def test_forms_without_threshold(tmp_path):
    summary = summarise(random_counts())
    write_summary(tmp_path / "X_bdry.txt", summary, threshold=False)
    short = read_summary(tmp_path / "X_bdry.txt")
    assert short.ods.threshold is None
    assert short.ods.f == pytest.approx(summary.ods.f, rel=1e-5)
    write_curve(tmp_path / "X_bdry_thr.txt", summary, threshold=False)
    curve = read_curve(tmp_path / "X_bdry_thr.txt")
    assert curve.thresholds is None
    np.testing.assert_allclose(curve.precision, summary.precision, rtol=1e-5)
    with pytest.raises(InputError, match="threshold=False"):
        write_summary(tmp_path / "y", short)
    with pytest.raises(InputError, match="threshold=False"):
        write_curve(tmp_path / "y", curve)
    with pytest.raises(InputError, match="image 1"):
        write_image_scores(tmp_path / "y", [short.ods])


def test_a_summary_round_trips(tmp_path):
    table = count_table(random_counts(), names=["a", "b", "c", "d"])
    summary = summarise(table)
    files = write_all(tmp_path / "new" / "folder", summary, table)
    assert [file.name for file in files] == [
        "eval_bdry.txt",
        "eval_bdry_thr.txt",
        "eval_bdry_img.txt",
        "a_ev1.txt",
        "b_ev1.txt",
        "c_ev1.txt",
        "d_ev1.txt",
    ]
    assert write_all(tmp_path / "other", summary)[0].read_bytes() == files[0].read_bytes()
    read = read_summary(files[0])
    assert read.ap == pytest.approx(summary.ap, rel=1e-5)
    assert read.ois.f == pytest.approx(summary.ois.f, rel=1e-5)
    np.testing.assert_allclose(read_curve(files[1]).recall, summary.recall, rtol=1e-5)
    assert [point.f for point in read_image_scores(files[2])] == pytest.approx(
        [image.best.f for image in summary.images], rel=1e-5
    )
    again = summarise({name: read_counts(tmp_path / "new" / "folder" / f"{name}_ev1.txt") for name in "abcd"})
    assert again.ods.f == summary.ods.f
    assert again.aps == summary.aps


def test_large_counts_are_kept(tmp_path):
    rows = np.array([[0.25, 1234567, 2345678, 3, 4], [0.5, 1, 2345678, 1, 3]])
    write_counts(tmp_path / "x_ev1.txt", Counts.from_rows(rows))
    assert read_counts(tmp_path / "x_ev1.txt") == Counts.from_rows(rows)
    assert (tmp_path / "x_ev1.txt").read_text().splitlines()[1] == (
        "       0.5          1    2345678          1          3"
    )


def test_thresholds_may_come_in_any_order(tmp_path):
    (tmp_path / "x").write_text("0.5 1 2 3 4\r\n\r\n0 2 2 3 9\r\n")
    assert read_counts(tmp_path / "x").table().tolist() == [[0, 2, 2, 3, 9], [0.5, 1, 2, 3, 4]]


def test_images_are_put_in_order(tmp_path):
    (tmp_path / "x").write_text("2 0.2 0.5 0.5 0.5\n1 0.1 0.5 0.5 0.5\n")
    assert [point.threshold for point in read_image_scores(tmp_path / "x")] == [0.1, 0.2]


def test_no_ap_no_file(tmp_path):
    summary = ClassicSummary(ods=BestPoint(recall=1, precision=1, f=1), ois=None, ap=None)
    with pytest.raises(InputError, match="AP has no value"):
        write_summary(tmp_path / "x", summary)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_summary, "", "empty"),
        (read_summary, "1 2 3", "line 1: expected 7 or 8 numbers, got 3"),
        (read_summary, PUBLISHED * 2, "line 2: expected one row"),
        (read_summary, "0.5 0.5 0.5 0.5 0.5 0.5 0.5 1.5", r"line 1: AP must lie in \[0, 1.01\], got 1.5"),
        (read_summary, "0.5 0.5 0.5 9 0.5 0.5 0.5 0.5", r"line 1: R, P and F must lie in \[0, 1\]"),
        (
            read_curve,
            "0.1 0.2 0.3\n\n0.1 0.2 0.3 0.4",
            "line 3: expected 3 numbers as in the lines above, got 4",
        ),
        (read_curve, "0.1 0.5 0.5 0.5\n0.2 0.3 -1 0.2", "line 2: R, P and F"),
        (read_curve, "0.1 0.5 0.5 0.6", "line 1: R, P and F must fulfil"),
        (read_curve, "0.1 0.2 x", "line 1: expected a finite number, got 'x'"),
        (read_curve, "0.1 0.2 nan", "got 'nan'"),
        (read_image_scores, "1 0.5 0.5 0.5 0.5\n3 0.5 0.5 0.5 0.5", "line 2: images must be numbered 1 to 2"),
        (read_image_scores, "1 0.5 0.5 0.5 2", "line 1: R, P and F"),
        (read_counts, "0.1 1 2 3 4\n0.2 3 2 3 4", "line 2: expected threshold cntR sumR"),
        (read_counts, "0.1 1 2 3 4\n0.1 1 2 3 4", "line 2: the threshold 0.1 comes twice"),
        (read_counts, "0.1 1 2 -3 4", "line 1"),
    ],
)
def test_nonsense_is_refused(tmp_path, read, text, message):
    path = tmp_path / "some.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert "some.txt" in str(caught.value)


def test_unreadable_files(tmp_path):
    with pytest.raises(DataError, match=r"missing\.txt"):
        read_curve(tmp_path / "missing.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00\x9f")
    with pytest.raises(DataError, match=r"binary\.txt"):
        read_curve(tmp_path / "binary.txt")
    with pytest.raises(DataError, match="cannot be written"):
        write_counts(tmp_path / "binary.txt" / "no-folder.txt", Counts.from_rows([[0.1, 1, 2, 3, 4]]))


def test_curve_has_a_length():
    line = np.array([0.5])
    assert len(ClassicCurve(thresholds=None, recall=line, precision=line, f=line)) == 1
