"""From an image to its best edge map: thresholds of detectors, chosen by measures."""
