"""Runs over many images: the executor and the result store."""
