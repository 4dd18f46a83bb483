"""Edge detectors and the pieces they share."""
