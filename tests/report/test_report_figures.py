"""The precision-recall figure and the pictures of matchings."""

from __future__ import annotations

import io
import re
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from edgecritic.errors import InputError, MissingExtraError
from edgecritic.figures import FALSE_ALARM, HIT, MISS, drawing_settings, figure_bytes, leave_out, new_figure
from edgecritic.report.pictures import matching_picture, ranked_picture

matplotlib = pytest.importorskip("matplotlib")

from edgecritic.report.bench import write_benchmark  # noqa: E402
from edgecritic.report.figures import precision_recall_figure, write_pr  # noqa: E402


def legend_texts(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_the_legend_beside_the_plot_is_inside_the_figure(make_results):
    names = [f"W{'M' * 30}_network_of_a_long_name_{number:03}" for number in range(12)]
    figure = precision_recall_figure(make_results(names=names))
    figure.canvas.draw()
    legend = figure.axes[0].get_legend().get_window_extent()
    assert 0 < legend.x0 < legend.x1 <= figure.bbox.x1
    assert len({text.get_text()[8:] for text in figure.axes[0].get_legend().get_texts()}) == 12 + 2


def test_figure_shows_iso_lines_human_and_legend_in_order(make_results):
    results = make_results(3)
    figure = precision_recall_figure(results)
    axes = figure.axes[0]
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)
    assert [text.get_text() for text in axes.texts] == [f".{n}" for n in range(1, 10)]
    found = legend_texts(figure)
    assert found[0] == f"[F={results['human']['f']:.3f}] Human".replace("0.", ".")
    scores = [float(text[3:7]) for text in found[1:]]
    assert scores == sorted(scores, reverse=True)
    assert len(found) == 1 + 3 + 1
    # Every point of an iso line has its F.
    for number, line in enumerate(axes.lines[:9], start=1):
        recall, precision = line.get_data()
        np.testing.assert_allclose(2 * recall * precision / (recall + precision), number / 10)


def test_best_curve_is_drawn_last_and_curves_differ(make_results):
    results = make_results(12, 2)
    axes = precision_recall_figure(results).axes[0]
    curves = [line for line in axes.lines[9:] if len(line.get_xdata()) > 9]
    best = max(results["detectors"], key=lambda d: d["ods"]["f"])
    top = max(curves, key=lambda line: line.get_zorder())
    np.testing.assert_array_equal(top.get_xdata(), best["curve"]["recall"])
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in curves}
    assert len(looks) == len(curves) == 13
    dots = {(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "o"}
    assert {(d["ods"]["recall"], d["ods"]["precision"]) for d in results["detectors"]} <= dots


def test_files_are_reproducible_and_settings_stay(make_results, tmp_path):
    results = make_results(names=["$\\broken{math$", "_hidden", "邊\n\x00", "n" * 200])
    before = dict(matplotlib.rcParams)
    first = [path.read_bytes() for path in write_pr(results, tmp_path / "a")]
    with matplotlib.rc_context({"lines.linewidth": 9, "savefig.dpi": 30, "svg.hashsalt": "other"}):
        second = [path.read_bytes() for path in write_pr(results, tmp_path / "b")]
    assert first == second
    assert dict(matplotlib.rcParams) == before
    assert first[0].startswith(b"<?xml")
    assert first[1].startswith(b"%PDF")
    assert b"<dc:date>" not in first[0]
    assert b"CreationDate" not in first[1]
    assert Image.open(io.BytesIO(first[2])).size[1] == 1000
    assert "matplotlib.pyplot" not in sys.modules or not matplotlib.pyplot.get_fignums()


def test_empty_results_make_an_empty_frame(make_results):
    results = {**make_results(1, 1), "detectors": [], "comparisons": [], "curves": [], "human": None}
    assert precision_recall_figure(results).axes[0].get_legend() is None


def test_missing_matplotlib_names_the_extra(make_results, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"edgecritic\[report\]"):
        write_pr(make_results(1, 1), tmp_path)


def test_a_report_without_matplotlib_leaves_the_figures_out(make_results, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    leave_out.cache_clear()
    with pytest.warns(UserWarning, match=r"figures are left out: .*edgecritic\[report\]"):
        written = write_benchmark(tmp_path, make_results(1, 1))
    assert {path.name for path in written} == {
        "table.csv",
        "table.tex",
        "rows.tex",
        "report.html",
        "report.md",
    }


def picture(**changes):
    shape = (6, 8)
    candidate, matched = np.zeros(shape, bool), np.zeros(shape, bool)
    candidate[2, :4] = True
    matched[2, :2] = True
    truths = [np.zeros(shape, bool) for _ in range(4)]
    for truth in truths:
        truth[2, :2] = True
    truths[3][1, :2] = True  # drawn and matched: no miss
    missed = [np.zeros(shape, bool) for _ in range(4)]
    for number in range(3):
        truths[number][4, number:3] = True
        missed[number][4, number:3] = True
    given = {
        "candidate": candidate,
        "matched_candidate": matched,
        "truths": truths,
        "missed_truth_masks": missed,
        **changes,
    }
    return matching_picture(**given)


def test_picture_has_the_colours_of_a_matching():
    image = Image.open(io.BytesIO(picture()))
    assert image.mode == "P"
    assert image.size == (8, 6)
    colours = np.asarray(image.convert("RGB")).astype(int)
    assert (colours[2, :2] == HIT).all()
    assert (colours[2, 2:4] == FALSE_ALARM).all()
    assert (colours[:2] == 255).all()
    # One, two and three of four annotators: opacity .55, .7, .85.
    for column, opacity in enumerate((0.55, 0.7, 0.85)):
        wanted = opacity * np.array(MISS) + (1 - opacity) * 255
        np.testing.assert_allclose(colours[4, column], wanted, atol=0.51)


def test_a_miss_of_all_annotators_is_opaque():
    truth = np.eye(5, dtype=bool)
    data = matching_picture(np.zeros((5, 5), bool), np.zeros((5, 5), bool), [truth] * 30, [truth] * 30)
    colours = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert (colours[truth] == MISS).all()


@pytest.mark.parametrize("scale", [1, 255])
@pytest.mark.parametrize("annotators", [1, 6, 40])
def test_background_is_faint_and_in_order(scale, annotators):
    shape = (4, 50)
    nothing = np.zeros(shape, bool)
    ramp = np.tile(np.linspace(0, 1, 50), (4, 1)) * scale
    truths = [nothing] * annotators
    data = matching_picture(nothing, nothing, truths, truths, ramp.astype(np.uint8) if scale > 1 else ramp)
    grey = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert (np.diff(grey[0, :, 0]) >= 0).all()
    assert grey.min() >= 180
    assert grey.max() == 255
    assert (grey == grey[..., :1]).all()


def test_colour_images_are_accepted_as_background():
    assert picture(background=np.zeros((6, 8, 3), np.uint8)) == picture(background=np.zeros((6, 8)))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"truths": []}, "one missed mask for each"),
        ({"matched_candidate": np.zeros((3, 3), bool)}, "matched_candidate must have the shape"),
        ({"background": np.zeros((2, 2))}, "background must be"),
        ({"missed_truth_masks": [np.zeros((2, 2), bool)] * 4}, r"truths\[0\] and its missed mask"),
        ({"candidate": np.zeros((2, 6, 8), bool)}, "2-D maps"),
    ],
)
def test_wrong_input_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        picture(**changes)


def test_picture_record():
    one = ranked_picture("a", "b", 0.5, "best", picture())
    assert one.size == (8, 6)
    assert one.uri.startswith("data:image/png;base64,iVBOR")
    with pytest.raises(InputError, match="PNG"):
        ranked_picture("a", "b", 0.5, "best", b"<svg>")


def test_fonts_in_pdf_files_have_glyphs_and_nothing_about_setting_text():
    from fontTools.subset import Options
    from fontTools.ttLib import TTFont

    before = Options().drop_tables
    with drawing_settings():
        figure = new_figure((2, 1))
        figure.text(0, 0.5, "AV 0.75")
        content = figure_bytes(figure, "pdf")
    assert Options().drop_tables == before
    streams = [zlib.decompress(one) for one in re.findall(rb"stream\r?\n(x.*?)endstream", content, re.DOTALL)]
    fonts = [TTFont(io.BytesIO(one)) for one in streams if one.startswith(b"\0\1\0\0")]
    assert all({"glyf", "loca", "hmtx"} < set(font.keys()) for font in fonts)
    assert all(set(font.keys()).isdisjoint({"GDEF", "GPOS", "GSUB", "MATH", "kern"}) for font in fonts)
    shapes = [one for font in fonts for one in font.getGlyphOrder() if font["glyf"][one].numberOfContours]
    assert len(shapes) >= len(set("AV0.75"))
