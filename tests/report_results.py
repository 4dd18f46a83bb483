"""Made-up but realistic benchmark results for the tests of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("gPb-owt-ucm", "HED (my run)", "Canny σ=2", "Sobel", "PiDiNet-tiny", "RCF", "BDCN", "CATS")


def _curve(skill: float, steps: int = 99) -> dict[str, list[float]]:
    t = np.linspace(1 / (steps + 1), steps / (steps + 1), steps)
    recall = 0.99 * (1 - t ** (1.6 * skill)) ** (0.9 - 0.35 * skill) * (0.82 + 0.18 * skill)
    precision = 1 - (1 - 0.22 * skill) * (1 - t) ** (0.5 + 2.2 * skill) * (1.05 - 0.3 * skill)
    precision = np.clip(precision, 0.02, 0.995)
    f = 2 * recall * precision / (recall + precision)
    columns = {"threshold": t, "recall": recall, "precision": precision, "f": f}
    return {key: [round(float(x), 6) for x in value] for key, value in columns.items()}


def _detector(name: str, skill: float, images: int, rng: np.random.Generator) -> dict[str, Any]:
    curve = _curve(skill)
    best = int(np.argmax(curve["f"]))
    ods = {key: curve[key][best] for key in ("f", "precision", "recall", "threshold")}
    rows = []
    for number in range(images):
        precision, recall = np.clip(rng.normal((ods["precision"], ods["recall"] + 0.02), 0.11), 0.1, 0.99)
        f = float(2 * precision * recall / (precision + recall))
        rows.append(
            {
                "id": str(3096 + 971 * number),
                "threshold": float(rng.integers(5, 60)) / 100,
                "recall": float(recall),
                "precision": float(precision),
                "f": f,
                "annotators": int(rng.integers(4, 8)),
                "prediction_hash": f"{number:064x}",
                "truth_hash": f"{number + 7:064x}",
            }
        )
    f, ap = ods["f"], float(ods["f"] + 0.011)
    half = float(rng.uniform(0.008, 0.016))
    return {
        "name": name,
        "images": images,
        "ods": ods,
        "ois": {"f": f + 0.021, "precision": ods["precision"] + 0.02, "recall": ods["recall"] + 0.021},
        "ap": ap,
        "ap_rule": "interpolated-101",
        "ap_rules": {
            "interpolated-101": ap,
            "interpolated-101+zero": None,
            "interpolated-100": ap - 0.004,
            "max-precision-100": ap + 0.002,
        },
        "r50": min(0.99, f + 0.17),
        "intervals": {
            "level": 0.95,
            "ods": [f - half, f + 0.9 * half],
            "ois": [f + 0.021 - half, f + 0.021 + half],
            "ap": [ap - 1.3 * half, ap + 1.2 * half],
        },
        "curve": curve,
        "crispness": {"mean": 0.3 + 0.5 * skill, "min": 0.2, "max": 0.9, "images": images},
        "ceval": {
            "ods": {"f": f - 0.09, "precision": ods["precision"] - 0.1, "recall": ods["recall"] - 0.08},
            "ois": {"f": f - 0.07, "precision": ods["precision"] - 0.08, "recall": ods["recall"] - 0.06},
            "ap": ap - 0.14,
        },
        "tolerances": [
            {
                "relative_tolerance": relative,
                "pixels": relative * 578.3,
                "ods": f * (0.55 + 0.45 * (relative / 0.0075) ** 0.3),
                "ois": (f + 0.021) * (0.56 + 0.44 * (relative / 0.0075) ** 0.3),
            }
            for relative in (0.001875, 0.003, 0.00375, 0.0075)
        ],
        "per_image": rows,
    }


def make_results(
    detectors: int = 3, images: int = 100, *, names: Any = None, seed: int = 7
) -> dict[str, Any]:
    """Return results as `edgecritic bench` writes them, for any number of detectors and images."""
    rng = np.random.default_rng(seed)
    names = list(names or (NAMES[n] if n < len(NAMES) else f"net {n}" for n in range(detectors)))
    skills = [0.86 - 0.62 * (n / max(len(names), 3)) ** 1.6 for n in range(len(names))]
    made = [_detector(name, skill, images, rng) for name, skill in zip(names, skills, strict=True)]
    comparisons = []
    for first in range(len(made)):
        for second in range(first + 1, len(made)):
            pair: dict[str, Any] = {"first": made[first]["name"], "second": made[second]["name"]}
            for score in ("ods", "ois", "ap"):
                one, two = (d[score]["f"] if score != "ap" else d["ap"] for d in (made[first], made[second]))
                gap = one - two
                pair[score] = {
                    "difference": gap,
                    "low": gap - 0.012,
                    "high": gap + 0.012,
                    "p": 0.0004 if gap > 0.03 else 0.021 if gap > 0.012 else 0.34,
                }
            comparisons.append(pair)
    return {
        "schema": 1,
        "protocol": {
            "id": "bsds",
            "title": "BSDS500 boundary benchmark",
            "relative_tolerance": 0.0075,
            "tolerance": None,
            "thresholds": 99,
            "threshold_floor": 0.0,
            "zero_threshold": False,
            "thin": True,
            "nms": "none",
            "ap_rule": "interpolated-101",
            "duplicates": "first",
            "source": "BSDS500 benchmark code of 2011",
            "notes": "Maps are taken as they are; apply NMS first if they are thick.",
            "digest": "3f1c" * 16,
            "tolerance_pixels": [4.3372, 4.3372],
        },
        "versions": {
            "edgecritic": "0.1.0",
            "python": "3.11.7",
            "numpy": "2.1.0",
            "numba": "0.60.0",
            "scipy": "1.14.1",
        },
        "truth": "BSDS500/groundTruth/val",
        "human": {"f": 0.787, "precision": 0.897659, "recall": 0.700762, "images": images},
        "detectors": made,
        "comparisons": comparisons,
        "curves": [{"name": "SE (published)", **_curve(0.7), "threshold": None}],
        "failures": [
            {"detector": "Sobel", "id": "42049", "message": "42049.png: 320×481, but the truth is 321×481"}
        ],
        "notes": ["Confidence intervals: 1000 draws over images, percentile, seed 0."],
    }
