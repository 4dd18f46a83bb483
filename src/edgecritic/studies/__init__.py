"""The experiments of the source papers, one file each."""
