"""What belongs to one map alone: thinning, suppression, border, distances, boundaries of labels."""
