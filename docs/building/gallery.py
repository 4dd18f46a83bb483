"""Draw the figures of the gallery anew: ``make gallery``.

Everything is generated from seeds, so that a figure changes only when the program does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter

import edgecritic
from edgecritic.cli.main import main as command
from edgecritic.datasets import synthetic, write_image, write_map
from edgecritic.protocols.sweep import candidate_at

HERE = Path(__file__).resolve().parents[1] / "gallery"
WIDEST = 900


def matching(work: Path) -> Path:
    """Hits, false alarms and misses over the image."""
    scene = synthetic.scene(3, (110, 150), grey=True, overlap=True, count=7, blur=0.8, snr=18.0)
    candidate = edgecritic.detect(scene.image, "canny(sigma=1.5)").binary(0.12)
    found = edgecritic.match(candidate, scene.truth, tolerance=2)
    return _enlarged(found.overlay(np.clip(scene.image, 0, 1)), work / "matching.png")


def strategies(work: Path) -> Path:
    """One candidate under six strategies."""
    scene = synthetic.scene(3, (70, 100), grey=True, overlap=True, count=4, blur=0.8, snr=8.0)
    thin = edgecritic.detect(scene.image, "canny(sigma=1.2)").binary(0.3)
    thick = thin | np.roll(thin, 1, axis=0) | np.roll(thin, 1, axis=1)
    candidate = np.concatenate([thick[:, :50], thin[:, 50:]], axis=1)
    ids = ("exact(tolerance=2)", "eps(window=5)", "closest(window=5)")
    ids += ("distance(tolerance=2)", "area(tolerance=2)", "validation(tolerance=2)")
    drawn = [edgecritic.match(candidate, scene.truth, strategy=name).overlay() for name in ids]
    framed = [np.pad(one, ((2, 2), (2, 2), (0, 0)), constant_values=200) for one in drawn]
    rows = [np.concatenate(framed[i : i + 3], axis=1) for i in (0, 3)]
    return _enlarged(np.concatenate(rows), work / "strategies.png", 3)


def curve(work: Path) -> Path:
    """Precision and recall of three detectors."""
    synthetic.write(work / "data", 4)
    folders = [str(work / "data" / "predictions" / name) for name in synthetic.DETECTORS]
    _run("bench", *folders, "--truth", str(work / "data" / "truth"), "--out", str(work / "run"))
    return work / "run" / "pr.png"


def worst(work: Path) -> Path:
    """What a report shows of an image with five annotators."""
    from edgecritic.report.pictures import matching_picture

    case = synthetic.dataset(2)[1]
    candidate = edgecritic.thin(synthetic.detect(case.image, "noisy") >= 0.35)
    found = [edgecritic.match(candidate, truth) for truth in case.truths]
    matched = np.any([one.matched_candidate for one in found], axis=0)
    missed = [truth & ~one.matched_truth for truth, one in zip(case.truths, found, strict=True)]
    png = matching_picture(candidate, matched, case.truths, missed, case.image)
    (work / "worst.png").write_bytes(png)
    return _enlarged(np.asarray(Image.open(work / "worst.png").convert("RGB")), work / "annotated.png", 3)


def tuning(work: Path) -> Path:
    """Measures over the threshold."""
    return _tuned(work) / "curves.png"


def montage(work: Path) -> Path:
    """The best maps, as each measure sees it."""
    return _tuned(work) / "montage.png"


def rates(work: Path) -> Path:
    """Hits against false alarms."""
    return _tuned(work) / "rates.png"


def displacement(work: Path) -> Path:
    """How measures grow with the displacement of an edge."""
    from edgecritic.report.displacement import displacement_figure
    from edgecritic.studies.displacement import displacement as study

    picture = work / "displacement.png"
    picture.write_bytes(displacement_figure(study(reach=16)).content["png"])
    return picture


def labels(work: Path) -> Path:
    """How strong the labels of an image are."""
    synthetic.write(work / "labelled", 2)
    folder = work / "labelled"
    _run(
        "annotators", str(folder / "truth"), "--images", str(folder / "images"), "--out", str(folder / "out")
    )
    return folder / "out" / "labels.png"


def surfaces(work: Path) -> Path:
    """A disc cut by thick rows: what stands for its border."""
    from edgecritic.figures import COLOURS, GREY, axes_of, save_figure
    from edgecritic.measures.polygons import of_mask

    spacing, centre, radius = np.array([3.0, 1.0]), np.array([16.4, 16.8]), 13.0
    places = np.stack(np.meshgrid(np.arange(12), np.arange(34), indexing="ij"), axis=-1) * spacing
    mask = ((places - centre) ** 2).sum(axis=-1) <= radius**2
    ax = axes_of(None, (7.0, 6.0))
    ax.pcolormesh(
        np.arange(35) - 0.5,
        (np.arange(13) - 0.5) * 3,
        mask,
        cmap="Greys",
        vmin=0,
        vmax=6,
        edgecolor="#eeeeee",
    )
    turn = np.linspace(0, 2 * np.pi, 400)
    ax.plot(
        centre[1] + radius * np.cos(turn),
        centre[0] + radius * np.sin(turn),
        "--",
        color=GREY,
        label="the disc",
    )
    rim = places[edgecritic.maps.border(mask)]
    ax.plot(rim[:, 1], rim[:, 0], "s", color=COLOURS[0], label="voxel")
    corners = np.pad(mask, 1)
    full = sum(corners[i : i + 13, j : j + 35].astype(int) for i in (0, 1) for j in (0, 1))
    cut = np.argwhere((full > 0) & (full < 4)) * spacing - spacing / 2
    ax.plot(cut[:, 1], cut[:, 0], ".", color=COLOURS[1], label="subvoxel")
    mesh = of_mask(mask, tuple(spacing))
    for number, start in enumerate(mesh.starts[:-1]):
        line = mesh.points[start : start + 2, 1:] - spacing
        ax.plot(line[:, 1], line[:, 0], color=COLOURS[2], lw=2, label="mesh" if number == 0 else None)
    ax.set(aspect="equal", xlabel="mm", ylabel="mm", title="Pixels of 3 × 1 mm")
    ax.legend(loc="upper right")
    save_figure(ax.figure, work / "surfaces.png")
    return work / "surfaces.png"


def sweep(target: Path) -> None:
    """A threshold falls: matched pixels, and the curve that grows; and its best picture alone."""
    scene = synthetic.scene(3, (104, 140), grey=True, overlap=True, count=9, blur=0.8, snr=3.0)
    strength = edgecritic.detect(scene.image, "canny(sigma=1.2)").thin
    shown = np.clip(gaussian_filter(scene.image, 2.0), 0, 1)  # noise would make the file large
    points: list[tuple[float, float, float]] = []
    frames = []
    for threshold in np.geomspace(0.9, 0.04, 36):
        found = edgecritic.match(candidate_at(strength, threshold), scene.truth, tolerance=2)
        points.append((found.recall, found.precision, found.f()))
        frames.append(_frame(found.overlay(shown), points, threshold))
    best = frames[max(range(len(points)), key=lambda each: points[each][2])]
    lasts = [*[110] * len(frames), 3000]
    frames[0].save(
        target / "sweep.webp",
        save_all=True,
        append_images=[*frames[1:], best],
        duration=lasts,
        loop=3,
        quality=55,
        method=6,
    )
    best.save(target / "sweep-still.webp", quality=80, method=6)


def _frame(overlay: np.ndarray, points: list[tuple[float, float, float]], threshold: float) -> Image.Image:
    """Return one picture of the sweep: the map on the left, the curve on the right."""
    canvas = Image.new("RGB", (760, 340), "white")
    left = Image.fromarray(overlay)
    canvas.paste(left.resize((left.width * 3, left.height * 3), Image.Resampling.NEAREST), (10, 14))
    draw, large, small = ImageDraw.Draw(canvas), ImageFont.load_default(17), ImageFont.load_default(13)
    x0, y0, side = 480, 280, 250
    for share in (0.0, 0.5, 1.0):
        draw.line([(x0, y0 - share * side), (x0 + side, y0 - share * side)], fill="#dddddd")
        draw.line([(x0 + share * side, y0), (x0 + share * side, y0 - side)], fill="#dddddd")
    places = [(x0 + recall * side, y0 - precision * side) for recall, precision, _ in points]
    if len(places) > 1:
        draw.line(places, fill="#0072b2", width=3, joint="curve")
    number = max(range(len(points)), key=lambda each: points[each][2])
    for place, colour in ((places[-1], "#0072b2"), (places[number], "#d55e00")):
        draw.ellipse([place[0] - 5, place[1] - 5, place[0] + 5, place[1] + 5], fill=colour)
    draw.text((x0 + side / 2, y0 + 6), "recall", font=small, fill="#333333", anchor="ma")
    draw.text((x0, y0 - side - 18), "precision", font=small, fill="#333333", anchor="la")
    draw.text((x0, y0 + 28), f"threshold {threshold:.2f}", font=large, fill="#000000", anchor="la")
    draw.text(
        (x0 + side, y0 + 28), f"best F {points[number][2]:.3f}", font=large, fill="#b34700", anchor="ra"
    )
    return canvas


FIGURES: tuple[Callable[[Path], Path], ...] = (
    matching, strategies, curve, worst, tuning, montage, rates, displacement, labels, surfaces,
)  # fmt: skip


def _tuned(work: Path) -> Path:
    home = work / "tuned" / "photo"
    if not home.exists():
        scene = synthetic.scene(7, (100, 130), grey=True, overlap=True, snr=12.0)
        write_image(work / "photo.png", scene.image)
        write_map(work / "truth.png", scene.truth)
        _run(
            *("tune", str(work / "photo.png"), "--truth", str(work / "truth.png"), "--thresholds", "41"),
            *("--detectors", "sobel", "canny", "canny(sigma=2)", "steerable"),
            *("--measures", "f", "fom", "sk", "baddeley", "--out", str(work / "tuned")),
        )
    return home


def _run(*words: str) -> None:
    if command(words) != 0:
        raise SystemExit(f"edgecritic {' '.join(words)} failed")


def _enlarged(array: np.ndarray, path: Path, scale: int = 4) -> Path:
    picture = Image.fromarray(array)
    picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST).save(path)
    return path


def _small(source: Path, target: Path) -> None:
    """Copy a picture, not wider than a page and with few colours."""
    picture = Image.open(source).convert("RGB")
    if picture.width > WIDEST:
        height = round(picture.height * WIDEST / picture.width)
        picture = picture.resize((WIDEST, height), Image.Resampling.LANCZOS)
    picture.quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    """Draw all figures."""
    HERE.mkdir(exist_ok=True)
    sweep(HERE)
    with tempfile.TemporaryDirectory() as folder:
        for figure in FIGURES:
            _small(figure(Path(folder)), HERE / f"{figure.__name__}.png")


if __name__ == "__main__":
    main()
