"""Counts of pyEdgeEval, run by a Python that has it: python classes_peer.py GIVEN.npz FOUND.npz.

Given are `labels` (images, rows, columns) with the numbers of classes from 0 on, 254 for no class and 255 for
ignored pixels, `maps` (images, classes, rows, columns) of 8 bits, `thresholds`, `tolerance` as a share of the
diagonal, `radius` and `thin`. Found are the counts (images, classes, 4, thresholds), the truths and the
seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np


def main(given: str, found: str) -> None:
    from pyEdgeEval.common.multi_label.evaluate_boundaries import evaluate_boundaries_threshold
    from pyEdgeEval.edge_tools import loop_mask2edge

    content = np.load(given)
    labels, maps, thin = content["labels"], content["maps"], bool(content["thin"])
    count = maps.shape[1]
    counts = np.zeros((*maps.shape[:2], 4, content["thresholds"].size))
    truths = np.zeros(maps.shape, dtype=bool)
    start = time.process_time()
    for image, (one, stack) in enumerate(zip(labels, maps)):  # noqa: B905 - for Python 3.8
        layers = [one == number for number in range(count)]
        masks = np.stack([*layers, one == 255]).astype(np.uint8)
        edges = loop_mask2edge(masks, [count], int(content["radius"]), thin=thin, use_cv2=False)
        truths[image] = edges[:count] > 0
        for number in range(count):
            counts[image, number] = evaluate_boundaries_threshold(
                content["thresholds"],
                stack[number] / 255,
                truths[image, number],
                max_dist=float(content["tolerance"]),
                apply_thinning=thin,
            )
    np.savez(found, counts=counts, truths=truths, seconds=time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
